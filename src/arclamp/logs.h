/* logs.h: trace logs as Arc Lamp writes them: "logs:/srv/arclamp/logs".
 *
 *	<base>/<period>/<time>.<tag>.log
 *
 * Each folded line is appended unchanged, with a newline, to two files of each group: those of the tag "all" and of
 * its entry point. <time> is the line's time in UTC by the group's strftime format (log_name.h). Samples that arrived
 * as messages are written as folded lines of their stacks. A tag is the basename of the first frame without ".php"
 * (the label "entry") if that is valid in a file name (log_tags.h); all others share the tag "other" and are counted.
 *
 * A batch is written completely or not at all, and only once, even if the process is killed (undo.h). It takes one
 * sync per file, or one of the file system if there are many, and two more. When new files are created, older ones of
 * the same group and tag are removed (retention.h). One process writes to a tree.
 */
#ifndef ARCLAMP_LOGS_H
#define ARCLAMP_LOGS_H

#include "collector.h"

#define LOGS_GROUPS	16u
#define LOGS_RETAIN_MAX	10000000u

/* Strings belong to the owner of the options. */
struct logs_group {
	char *period;			/* name of the directory: "hourly" */
	char *format;			/* strftime: "%Y-%m-%d_%H" */
	char *channel;			/* receives only this channel (label "profiler"); NULL: everything */
	unsigned retain;		/* files kept for each tag in addition to the newest */
	unsigned sample_pop;		/* write every n-th line; 1: all */
};

struct logs_options {
	char *base;
	struct logs_group *groups;
	size_t group_count;
};

/* -EINVAL with a sentence for a period or a format that cannot make file names. */
int logs_group_check(const struct logs_group *g, struct err *err);

/* Parses "logs:/srv/arclamp/logs": groups for hours (336, two weeks) and days (90). The caller frees, also after an
 * error. */
int logs_options_from_url(const char *url, struct logs_options *ret, struct err *err);
void logs_options_done(struct logs_options *o);

struct logs;

/* May be read by any thread. */
struct logs_counters {
	_Atomic uint64_t lines, bytes;		/* written, per file */
	_Atomic uint64_t lines_other;		/* lines and stacks whose entry point became "other" */
	_Atomic uint64_t files_made, files_removed;
	_Atomic uint64_t batches, batches_deduplicated, batches_rolled_back;
	_Atomic uint64_t files_open, tags;	/* now */
};

/* Creates the directories and rolls back a half-written batch after a crash. -EBUSY if another process writes to the tree. `o` is
 * copied. */
int logs_open(const struct logs_options *o, struct logs **ret, struct err *err);
struct logs *logs_close(struct logs *l);		/* NULL is fine; returns NULL */

/* Changes groups of the same base, effective with the next batch; unchanged groups are kept. May be called from any
 * thread. `o` is copied; after an error nothing has changed. */
int logs_change(struct logs *l, const struct logs_options *o, struct err *err);

struct collector_sink logs_sink(struct logs *l);	/* its url lives as long as `l` */

const struct logs_counters *logs_counters(const struct logs *l);

/* Copies the reason if the last batch failed; false if it succeeded. May be called from any thread. */
bool logs_last_error(struct logs *l, char *text, size_t size);

#endif
