/* upload.h: runs a command for each finished file, for example to copy it elsewhere.
 *
 * The command is split into words like simple words in a shell: at blanks, unless quoted by '…', "…" or \. No shell
 * is involved, and nothing else is special. "{}" in a word is replaced by the file, "{name}" and "{period}" by the
 * last component of its path and the one before; without "{}" the file is appended as the last word.
 */
#ifndef ARCLAMP_UPLOAD_H
#define ARCLAMP_UPLOAD_H

#include "buf.h"
#include "err.h"

#define UPLOAD_WORDS_MAX	64u

struct upload {
	char *words[UPLOAD_WORDS_MAX + 2];	/* NULL-terminated */
	size_t count;
	char *program;				/* path of the program words[0] */
	double timeout;				/* seconds; then it is killed with its descendants */
};

/* -EINVAL for an invalid command, -ENOENT if there is no such program. Call upload_done in any case. */
int upload_init(struct upload *u, const char *command, double timeout, struct err *err);
void upload_done(struct upload *u);

/* Runs the command and waits. Its output goes to standard error. Returns 0 if it exits with 0. */
int upload_run(const struct upload *u, const char *path, struct err *err);

#endif
