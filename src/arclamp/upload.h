/* upload.h: a command that is run for each finished file, such as one that copies it somewhere else.
 *
 * The command is split into words as a shell would for simple words: at blanks, with '…', "…" and \ to keep them. There
 * is no shell: nothing else is special. "{}" in a word stands for the file, "{name}" and "{period}" for the last part of its path
 * and the one before; without a "{}" the file is the last word.
 */
#ifndef ARCLAMP_UPLOAD_H
#define ARCLAMP_UPLOAD_H

#include "buf.h"
#include "err.h"

#define UPLOAD_WORDS_MAX	64u

struct upload {
	char *words[UPLOAD_WORDS_MAX + 2];	/* ends with NULL */
	size_t count;
	char *program;				/* the path of words[0] */
	double timeout;				/* seconds; then it is killed with what it started */
};

/* -EINVAL for words that make no sense, -ENOENT if there is no such program. Call upload_done in any case. */
int upload_init(struct upload *u, const char *command, double timeout, struct err *err);
void upload_done(struct upload *u);

/* Runs it and waits. Its output goes to standard error. 0 if it ended with 0. */
int upload_run(const struct upload *u, const char *path, struct err *err);

#endif
