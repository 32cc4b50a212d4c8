/* recording_options.h: the common options of commands that inspect running processes: which processes, and which frames.
 *
 * Commands include the rows of a macro in their option tables and call the functions after parsing.
 */
#ifndef COMMAND_RECORDING_OPTIONS_H
#define COMMAND_RECORDING_OPTIONS_H

#include "command.h"
#include "recorder.h"

struct target_options {
	struct option_list pids, cgroups, containers;
	const char *pattern;
	bool fpm, all;
};

/* Does not include --all, whose meaning differs between commands. */
#define TARGET_OPTIONS(t)													\
	{ OPTION_LIST, 'p', "pid", "PID", &(t).pids, "This process; repeatable." },						\
	{ OPTION_STRING, 'P', "pattern", "REGEX", &(t).pattern,									\
	  "Processes whose command line matches, new ones too.",								\
	  "REGEX is an extended regular expression." },										\
	{ OPTION_FLAG, 0, "fpm", NULL, &(t).fpm, "Every php-fpm, all pools." },							\
	{ OPTION_LIST, 0, "cgroup", "CGROUP", &(t).cgroups,									\
	  "Processes in this cgroup (v2) and below; repeatable." },								\
	{ OPTION_LIST, 0, "container", "ID", &(t).containers,									\
	  "Processes in this container (id prefix); repeatable." }

/* Returns 0, or EXIT_USAGE after naming the options that exclude each other. */
int target_options_check(const struct target_options *t, const struct command_spec *spec, int operands);
void target_options_fill(const struct target_options *t, struct recorder_options *o);

struct frame_options {
	bool user, native, kernel;
	const char *language;
	u8 languages;			/* from --lang; 0: not given, or native */
};

#define FRAME_OPTIONS(f)													\
	{ OPTION_FLAG, 'u', "user", NULL, &(f).user,										\
	  "PHP, Perl and native frames (C, C++, Rust, JIT)." },	\
	{ OPTION_FLAG, 'n', "native", NULL, &(f).native, "Native frames without PHP's and Perl's." },				\
	{ OPTION_FLAG, 'k', "kernel", NULL, &(f).kernel, "Kernel frames; alone: only samples in the kernel." },			\
	{ OPTION_STRING, 0, "lang", "LANGUAGE", &(f).language,									\
	  "Frames of php, perl or native; kernel only with -k." }

bool frame_options_any(const struct frame_options *f);

/* Sets `languages`. Returns 0, or EXIT_USAGE after printing the error. */
int frame_options_check(struct frame_options *f, const struct target_options *t, const struct command_spec *spec);

/* Fills in the layers that were requested. */
void frame_options_fill(const struct frame_options *f, struct stack_registry_layers *ret);

/* Without a target, every PHP is recorded; named processes are recorded whatever they run. */
u8 recording_languages(const struct frame_options *f, const struct target_options *t);

/* Fills in the facts about layers that are known once the recorder is open. */
void recording_layers(const struct recorder_options *o, struct recorder *r, struct stack_registry_layers *layers);

/* Prints each fallback. -ENOTSUP if none of the requested frames are available. */
int recording_warn_fallback(const struct recorder_options *o, const struct recorder *r, const struct stack_registry_layers *layers,
			    struct err *err);

#endif
