/* commands.h: the table of commands, as main.c knows it.
 *
 * A command is one file, cmd_NAME.c, that defines `const struct command command_NAME`, which is declared below and
 * listed in main.c. Its option table also generates --help and the man page. Only commands print errors; everything
 * below returns them as a sentence.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "command.h"

struct command {
	const struct command_spec *spec;
	int (*run)(int argc, char **argv);	/* argv[0] is the command's name; returns the exit code */
};

extern const struct command command_run, command_record, command_serve, command_status, command_import;
extern const struct command command_flamegraph, command_collapse, command_convert, command_report;
extern const struct command command_diff;
extern const struct command command_doctor, command_dump, command_files, command_top;
extern const struct command command_annotate, command_callgraph;
extern const struct command command_collect;
extern const struct command command_export, command_grep;
extern const struct command command_completion;

extern const struct command *const commands[];		/* all of them, in the order of `strobe --help` */
extern const size_t command_count;

#endif
