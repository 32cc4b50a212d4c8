/* tree.h: the names of a tree of trace logs, and of the pictures drawn from it; and what lies in such a tree.
 *
 *	<base>/<period>/<time>.<tag>.log[.gz|.zst]			a log
 *	<base>/<period>/<time>.<tag>[.fn-<label>][.reversed].svgz	a picture of it
 *	<base>/<period>/<name of either>.tmp				a file being written, or left by an interruption
 *
 * <time> ends at the first dot. A tag is an entry point, or a profiler and an entry point separated by its last dot:
 * "2026-11-20.excimer-wall.index.log" is of the profiler "excimer-wall" and the entry point "index".
 *
 * Only regular files directly inside a period's directory count. Symbolic links below the base are not followed, and
 * everything is opened relative to the directories that were read.
 */
#ifndef ARCLAMP_TREE_H
#define ARCLAMP_TREE_H

#include "arena.h"
#include "err.h"
#include "intern.h"
#include <stdbool.h>

#define TREE_PERIODS_MAX	200u		/* each takes a descriptor */
#define TREE_FILES_MAX		2000000u
#define TREE_TMP		".tmp"

enum tree_kind { TREE_LOG, TREE_PICTURE, TREE_TEMPORARY };
enum tree_packing { TREE_PLAIN, TREE_GZIP, TREE_ZSTD };

/* A name split into parts, which point into it. */
struct tree_name {
	enum tree_kind kind;
	struct str stem;		/* <time>.<tag>: what log and pictures share */
	struct str time, tag;
	struct str profiler, entry;	/* parts of the tag; profiler is empty if there is only an entry point */
	enum tree_packing packing;	/* for a log */
	struct str function;		/* for a picture: the label after "fn-"; empty: all stacks */
	bool reversed;
};

/* Returns false for any other name. A temporary file has the parts of its final name. */
bool tree_name_parse(const char *name, struct tree_name *ret);

struct tree_file {
	const char *name;
	struct tree_name parts;
	uint32_t period;
	uint64_t bytes;
	int64_t mtime_ns;
};

struct tree {
	const char *base;		/* as passed to tree_read, without a trailing / */
	struct tree_period { const char *name; int fd; uint64_t bytes; } *periods;	/* sorted by name */
	uint32_t period_count;
	struct tree_file *files;	/* sorted by period, stem and name: a log, its packed forms, its pictures */
	size_t count;
	uint64_t others;		/* other files, links, directories etc. */

	/* private */
	size_t period_capacity, capacity;
	struct arena text;
};

/* Reads the whole tree; call tree_done in any case. Files that disappear during the scan are skipped. -ENOENT if the
 * directory does not exist, -E2BIG above the limits. `bytes` of a period are those of all regular files in it. */
int tree_read(const char *base, struct tree *ret, struct err *err);
void tree_done(struct tree *t);

const char *tree_period(const struct tree *t, const struct tree_file *f);

/* Returns "<base>/<period>/<name>"; the caller frees. */
char *tree_path(const struct tree *t, const struct tree_file *f);

/* Opens the file for reading; -ENOENT if it was removed. */
int tree_open(const struct tree *t, const struct tree_file *f, struct err *err);

/* Returns the number of logs with the stem of files[at], the first of them: files[at] to files[at + result - 1]. 0 if
 * it is not a log. */
size_t tree_logs_at(const struct tree *t, size_t at);

/* Returns the number of files with a stem in a period, and the index of the first. */
size_t tree_find(const struct tree *t, const char *period, struct str stem, size_t *ret_first);

/* Returns the base of the pictures for the logs in `logs`: the path with its last "logs" component replaced by
 * "svgs". NULL if there is no such component; the caller frees. */
char *tree_pictures_base(const char *logs);

#endif
