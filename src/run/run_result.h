/* run_result.h: the messages and files of `strobe run` after its command has ended. */
#ifndef RUN_RUN_RESULT_H
#define RUN_RUN_RESULT_H

#include "err.h"
#include "run_recording.h"

struct run_result {
	const struct recording *recording;
	int64_t wall_ns, cpu_ns;	/* time of the command */
	double rate;			/* samples per second */
	const char *clock;		/* "wall", "cpu" */
	const char *php_version;
	int signal;			/* the signal that ended the command; 0: none */
	bool settings_ignored;		/* the command was `php -n …` */
	bool jit;			/* it was ended by a signal, and under the JIT nothing is sampled */
	const char *output;
	size_t rows;			/* rows of the table; 0: all */
	bool quiet, trace;
};

/* Checks whether the profile could be written to `path`: a known suffix, an existing directory. Done before the
 * command runs, so that a typo does not waste an hour of sampling. */
int run_result_check(const char *path, struct err *err);

/* Writes the profile and prints summary and table to standard error. If there are no samples, prints the reason, and
 * writes an empty profile unless that would replace one with samples, which it reports. */
int run_result_show(const struct run_result *r, struct err *err);

#endif
