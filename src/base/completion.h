/* completion.h: the tables of options as completion scripts for shells, as options_help makes --help of them.
 *
 * A script completes the names of commands and options, the operands that a usage line lists ("svgs|compress"), files and
 * folders where an option or command takes them, and the words of a command line behind "--". */
#ifndef BASE_COMPLETION_H
#define BASE_COMPLETION_H

#include "options.h"
#include <stddef.h>

/* Appends the script for `shell`: bash, zsh or fish; -EINVAL for another one. */
int completion_script(const char *shell, const struct command_spec *const *commands, size_t count, struct buf *out,
		      struct err *err);

#endif
