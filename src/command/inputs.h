/* inputs.h: the input profiles of a command, merged into one.
 *
 * Commands that read profiles take any number of files of any known format, and of addresses of a daemon (profile_url.h), and
 * add them up. Without a file they read
 * standard input if it is a pipe or a file, and otherwise the profile that `strobe run` wrote here.
 */
#ifndef COMMAND_INPUTS_H
#define COMMAND_INPUTS_H

#include "command.h"
#include "format.h"
#include "profile.h"
#include "profile_url.h"

struct inputs {
	struct profile *profile;	/* never NULL after inputs_load */
	size_t files, empty_files;	/* empty_files: files of zero bytes */
	const char *first;		/* name of the first input, for messages */
	const struct format_options *options;
	bool is_comparison;		/* the URL of a comparison */

	/* private */
	struct inputs_file { const char *name; uint32_t columns; } *list;	/* inputs with values; a bit for each
										 * of `names` */
	size_t list_count, list_capacity;
	char names[PROFILE_COLUMNS][64];
	char column[64];		/* column named by a URL; "" if none */
	size_t explained_empty;		/* URLs whose daemon has explained why there is no data */
	uint32_t warned;			/* a bit for each column that was already reported as missing */
};

/* Reads `files`, or the default. Returns 0, or an exit code after printing the reason. */
int inputs_load(struct inputs *in, const struct command_spec *spec, char **files, size_t count);

/* Does the same with options for the readers, which must stay valid until inputs_done. */
int inputs_load_as(struct inputs *in, const struct command_spec *spec, const struct format_options *o, char **files,
		   size_t count);

/* Finds the format called `name` for `--from`; NULL if `name` is NULL. Returns 0, or EXIT_USAGE after listing the
 * formats. */
int inputs_format(const struct command_spec *spec, const char *name, const struct format **ret_format);

/* Appends "from strobe folded …\n": the input formats, for command_spec.more_choices. */
void inputs_format_choices(struct buf *out);

void inputs_done(struct inputs *in);

/* Keeps stacks with a function that matches `focus` and none that matches `ignore`, both extended regular expressions
 * that may be NULL. Returns 0, or an exit code after printing the reason: EXIT_NO_SAMPLES if no stack is left. */
int inputs_select(struct inputs *in, const struct command_spec *spec, const char *focus, const char *ignore);

/* Makes all function names printable, for commands that show them instead of writing a profile. */
void inputs_show_names(struct inputs *in);

/* Frees the profile and replaces it with `by_this`. */
void inputs_replace(struct inputs *in, struct profile *by_this);

/* Finds the column called `wanted`; "before" of a scaled comparison is the measured column. If it is NULL: the column
 * named by the first URL, if the profile has it, else the choice of profile_pick_column; UINT32_MAX without columns.
 * Returns 0, or an exit code after printing the existing columns. Files that lack the column while others have it are
 * reported once. */
int inputs_column(struct inputs *in, const struct command_spec *spec, const char *wanted, uint32_t *ret_column);

/* For a difference, selects the columns "before" and "after" unless `wanted` names another one: sets `*column` to
 * "after" and `*ret_before` to "before"; UINT32_MAX if the input is not a difference. */
void inputs_difference(const struct inputs *in, const char *wanted, uint32_t *column, uint32_t *ret_before);

/* For commands that use a single column: prints a note if it is the second side of a comparison. */
void inputs_report_side(const struct profile *p, const struct command_spec *spec, uint32_t column);
void inputs_report_second_side(const struct command_spec *spec);	/* prints the note unconditionally */

/* Whether the column has any value above zero, or with `any_sign` any value other than zero. If not, prints a message
 * that names the inputs. */
bool inputs_have_values(const struct inputs *in, const struct command_spec *spec, uint32_t column, bool any_sign);

#endif
