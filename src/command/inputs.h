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
	size_t files, empty_files;	/* empty: of no bytes */
	const char *first;		/* name of the first, for sentences */
	const struct format_options *options;
	bool is_comparison;		/* the address of one */

	/* private */
	struct inputs_file { const char *name; uint32_t columns; } *list;	/* that had anything; a bit for each of
										 * `names` */
	size_t list_count, list_capacity;
	char names[PROFILE_COLUMNS][64];
	char column[64];		/* that an address names; "" if none does */
	size_t explained_empty;		/* addresses whose daemon has said why there is nothing */
	uint32_t warned;			/* a bit for each column that was reported as missing from files */
};

/* Reads `files`, or the default. Returns 0, or an exit code after printing the reason. */
int inputs_load(struct inputs *in, const struct command_spec *spec, char **files, size_t count);

/* The same with options for the readers, which must stay until inputs_done. */
int inputs_load_as(struct inputs *in, const struct command_spec *spec, const struct format_options *o, char **files,
		   size_t count);

/* The format called `name` for `--from`, NULL if that is NULL. Returns 0, or EXIT_USAGE after listing the
 * formats. */
int inputs_format(const struct command_spec *spec, const char *name, const struct format **ret_format);

/* Appends "from strobe folded …\n": the formats that are read, for command_spec.more_choices. */
void inputs_format_choices(struct buf *out);

void inputs_done(struct inputs *in);

/* Keeps stacks with a function that matches `focus` and none that matches `ignore`, extended regular expressions of
 * which either may be NULL. Returns 0, or an exit code after printing the reason: EXIT_NO_SAMPLES if none is left. */
int inputs_select(struct inputs *in, const struct command_spec *spec, const char *focus, const char *ignore);

/* Makes all function names printable, for commands that show them instead of writing a profile. */
void inputs_show_names(struct inputs *in);

/* `by_this` instead of the profile that is there, which is freed. */
void inputs_replace(struct inputs *in, struct profile *by_this);

/* Finds the column called `wanted`; "before" of a comparison that was scaled is what was measured. If it is NULL: the one that the first address names, if the profile has it, else the one
 * that profile_pick_column chooses; UINT32_MAX without columns. Returns 0, or an exit code after printing the existing columns.
 * Files that lack the column, while others have it, add nothing to it and are named, once. */
int inputs_column(struct inputs *in, const struct command_spec *spec, const char *wanted, uint32_t *ret_column);

/* For a difference, columns "before" and "after", if no other column is asked for: `*column` becomes that after, and
 * `*ret_before` that before. UINT32_MAX if it is no difference. */
void inputs_difference(const struct inputs *in, const char *wanted, uint32_t *column, uint32_t *ret_before);

/* For commands that use one column: prints a note if it is one side of a comparison, the second. */
void inputs_report_side(const struct profile *p, const struct command_spec *spec, uint32_t column);
void inputs_report_second_side(const struct command_spec *spec);	/* in any case */

/* Whether the column holds anything above zero, or with `any_sign` anything at all. If not it says so, and names
 * the inputs. */
bool inputs_have_values(const struct inputs *in, const struct command_spec *spec, uint32_t column, bool any_sign);

#endif
