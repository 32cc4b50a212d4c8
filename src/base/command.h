/* command.h: shared by all commands: exit codes, option parsing, final messages. */
#ifndef BASE_COMMAND_H
#define BASE_COMMAND_H

#include "err.h"
#include "options.h"

enum exit_code {
	EXIT_OK = 0,
	EXIT_USAGE = 1,			/* invalid command line */
	EXIT_ERROR = 2,		/* prints the reason and the remedy */
	EXIT_DIFFERENCE = 3,		/* above the requested limit */
	EXIT_NO_SAMPLES = 4,		/* nothing was sampled */
};

/* Parses the command line like options_parse, and handles --help and errors. Returns -1 if the command should
 * continue, else its exit code:
 *	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
 *		return code;
 */
int command_options(const struct command_spec *spec, int argc, char **argv, bool stop_at_operand, int *ret_operands);

/* Prints "strobe NAME: sentence" to standard error. Returns EXIT_ERROR. */
int command_fail(const struct command_spec *spec, const struct err *err);

/* The same with another sentence and a hint to read --help. Returns EXIT_USAGE. */
int command_usage(const struct command_spec *spec, const char *format, ...) _printf_(2, 3);

/* The same for an invalid value of the option called `option`, which it names as it was typed: "invalid -n '-1'; use 0 (all) or
 * more". The format is what follows "use". */
int command_invalid(const struct command_spec *spec, const char *option, const char *use, ...) _printf_(3, 4);

/* Parses the DURATION of an option, which must be above 0; nothing is done if it is NULL. Returns 0 or EXIT_USAGE. */
int command_duration(const struct command_spec *spec, const char *option, const char *text, int64_t *ret_ns);

/* Sets the index of `value` in `names`, which end with NULL; 0, the default, if `value` is NULL. `option` is the
 * option's name: "width-of". Returns 0, or EXIT_USAGE after printing the nearest value, or all of them. */
int command_choice(const struct command_spec *spec, const char *option, const char *value, const char *const *names,
		   unsigned *ret);

/* Whether the descriptor is a terminal, and the environment does not ask for plain text (no-color.org): an empty NO_COLOR is none. */
bool command_wants_color(int fd);

/* Returns the number of columns of the descriptor's terminal; 0 for a file or a pipe, for which tables may have any
 * width. */
size_t command_terminal_width(int fd);

#endif
