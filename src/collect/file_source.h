/* file_source.h: folded lines, a line per stack ("main;function 12"), of standard input or of a file that grows.
 *
 *	-[?…]			until its end, which is the end of the source
 *	file:/var/log/x[?…]	followed by name as `tail -F` does: through rotation, truncation, and its absence
 *
 * Parameters after the ? are those of line_options.h. The offset is saved in the state directory once everything before
 * it is durable; a line's ack token is its location (epoch, inode, offset), so that a restart neither loses nor
 * doubles a line. An epoch is one life of a file: truncation begins the next.
 */
#ifndef COLLECT_FILE_SOURCE_H
#define COLLECT_FILE_SOURCE_H

#include "source.h"

extern const struct source_ops stdin_source_ops, file_source_ops;

#endif
