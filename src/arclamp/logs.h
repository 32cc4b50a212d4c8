/* logs.h: trace logs as Arc Lamp writes them: "logs:/srv/arclamp/logs".
 *
 *	<base>/<period>/<time>.<tag>.log
 *
 * Each folded line is appended as it came, with a newline, to two files of each group: that of the tag "all" and that
 * of its entry point. <time> is the line's time in UTC by the group's strftime format (log_name.h). Samples that came
 * as messages are written as folded lines of their stacks. A tag is the basename of the first frame without ".php" (the
 * label "entry") where it is fit for a file name (log_tags.h); the others share the tag "other" and are counted.
 *
 * A batch is in the files wholly or not at all, and once, whatever ends the process (undo.h). It takes one sync per
 * file, or one of the file system where they are many, and two more. When new files are made, older ones of the same
 * group and tag are removed (retention.h). One process writes to a tree.
 */
#ifndef ARCLAMP_LOGS_H
#define ARCLAMP_LOGS_H

#include "collector.h"

#define LOGS_GROUPS	16u
#define LOGS_RETAIN_MAX	10000000u

/* Strings are the owner's of the options. */
struct logs_group {
	char *period;			/* name of the directory: "hourly" */
	char *format;			/* strftime: "%Y-%m-%d_%H" */
	char *channel;			/* only what came on it (label "profiler"); NULL: everything */
	unsigned retain;		/* files of each tag that stay beside the newest */
	unsigned sample_pop;		/* every so many-th line is written; 1: all */
};

struct logs_options {
	char *base;
	struct logs_group *groups;
	size_t group_count;
};

/* -EINVAL with a sentence for a period or a format that cannot make file names. */
int logs_group_check(const struct logs_group *g, struct err *err);

/* Options of "logs:/srv/arclamp/logs": hours, 336 of them (two weeks), and days, 90 of them. The caller frees, also
 * after an error. */
int logs_options_from_url(const char *url, struct logs_options *ret, struct err *err);
void logs_options_done(struct logs_options *o);

struct logs;

/* Read by any thread. */
struct logs_counters {
	_Atomic uint64_t lines, bytes;		/* written, each file counted */
	_Atomic uint64_t lines_other;		/* lines and stacks whose entry point became "other" */
	_Atomic uint64_t files_made, files_removed;
	_Atomic uint64_t batches, batches_known, batches_taken_back;
	_Atomic uint64_t files_open, tags;	/* now */
};

/* Creates the directories and rolls back a half-written batch after a crash. -EBUSY if another process writes to the tree. `o` is
 * copied. */
int logs_open(const struct logs_options *o, struct logs **ret, struct err *err);
struct logs *logs_close(struct logs *l);		/* NULL is fine; returns NULL */

/* Changes the groups of the same base from the next batch on; groups in both stay. Any thread. `o` is copied; after an
 * error nothing has changed. */
int logs_change(struct logs *l, const struct logs_options *o, struct err *err);

struct collector_sink logs_sink(struct logs *l);	/* its url lives as long as `l` */

const struct logs_counters *logs_counters(const struct logs *l);

/* Returns the reason if the last batch failed, any thread; false if none has failed since the last success. */
bool logs_last_error(struct logs *l, char *text, size_t size);

#endif
