/* profile_file.h: writes a profile to a file, in the format of the name's suffix. */
#ifndef COMMAND_PROFILE_FILE_H
#define COMMAND_PROFILE_FILE_H

#include "buf.h"
#include "err.h"
#include "profile.h"
#include <stdbool.h>

/* Whether the name is a picture's: .svg, .svgz, .svg.gz, .html. */
bool profile_file_is_picture(const char *path);

/* Whether a profile could be written to `path`: checks for a known suffix and an existing directory. Call it first,
 * so that an hour of sampling is not lost to a typo. */
int profile_file_check(const char *path, struct err *err);

/* Appends labels of a system-wide recording, which tell how much was seen and lost, to the description (`notes`) of a
 * picture; nothing for other profiles. */
void profile_file_describe(const struct profile *p, struct buf *out);

/* Appends the file's content. A positive result is the number of stacks that the format cannot represent; `err` has
 * details. */
int profile_file_put(const char *path, const struct profile *p, struct buf *out, struct err *err);

/* Appends a sentence that names the file and how to view it. */
void profile_file_put_next_step(const char *path, struct buf *out);

#endif
