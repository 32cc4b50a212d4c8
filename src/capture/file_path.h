/* file_path.h: the name of a file, from the events of the programs. Pure. */
#ifndef CAPTURE_FILE_PATH_H
#define CAPTURE_FILE_PATH_H

#include "bpf/file_event.h"
#include "buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Appends the path as the process sees it, in the form of /proc/PID/fd: with "(unreachable)" before it if it is
 * outside the process' root, " (deleted)" after it, and "[...]" for missing parts. A name given by the program is
 * appended to its directory, without "." and double slashes; ".." stays, since it may lead elsewhere after a symbolic
 * link. Sockets, pipes and anonymous files are "[socket unix]", "[pipe]", "[anonymous NAME]". Returns false, and
 * appends nothing, if the event of `size` bytes is malformed. */
bool file_path_put(const struct file_event *e, size_t size, struct buf *out);

#endif
