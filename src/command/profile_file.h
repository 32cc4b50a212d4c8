/* profile_file.h: writes a profile to a file, in the format of the name's suffix. */
#ifndef COMMAND_PROFILE_FILE_H
#define COMMAND_PROFILE_FILE_H

#include "buf.h"
#include "err.h"
#include "profile.h"
#include <stdbool.h>

/* Whether the name is that of a picture: .svg, .svgz, .svg.gz, .html. */
bool profile_file_is_picture(const char *path);

/* Whether a profile could be written to `path`: a known suffix, a directory that exists. Checked first, so that an
 * hour of sampling is not lost to a typo. */
int profile_file_check(const char *path, struct err *err);

/* Appends the labels of a recording from outside, which say how much was seen and lost, for the description (`notes`) of a
 * picture; nothing for other profiles. */
void profile_file_describe(const struct profile *p, struct buf *out);

/* Appends the content of such a file. More than 0 is how many stacks had no place in the format, and `err` says which. */
int profile_file_put(const char *path, const struct profile *p, struct buf *out, struct err *err);

/* Appends the sentence that names the file and the way to see it. */
void profile_file_put_next_step(const char *path, struct buf *out);

#endif
