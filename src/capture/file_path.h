/* file_path.h: the name of a file, from the events of the programs. Pure. */
#ifndef CAPTURE_FILE_PATH_H
#define CAPTURE_FILE_PATH_H

#include "bpf/file_event.h"
#include "buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Appends the path as the process sees it, as /proc/PID/fd has it: "(unreachable)" before it where it lies outside of the process'
 * root, " (deleted)" behind it, "[...]" in place of what is missing. A name that the program gave is put below its directory, and
 * "." and double slashes are left out; ".." stays, as it may lead elsewhere behind a symbolic link. Sockets, pipes and anonymous
 * files are "[socket unix]", "[pipe]", "[anonymous NAME]". False, and nothing appended, if the event of `size` bytes is malformed. */
bool file_path_put(const struct file_event *e, size_t size, struct buf *out);

#endif
