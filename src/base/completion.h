/* completion.h: generates completion scripts for shells from the tables of options, like options_help generates --help.
 *
 * A script completes the names of commands and options, the operands that a usage line lists ("svgs|compress"), files
 * and folders for options and commands that accept them, and the command line after "--". */
#ifndef BASE_COMPLETION_H
#define BASE_COMPLETION_H

#include "options.h"
#include <stddef.h>

/* Appends the script for `shell`: bash, zsh or fish; returns -EINVAL for others. */
int completion_script(const char *shell, const struct command_spec *const *commands, size_t count, struct buf *out,
		      struct err *err);

#endif
