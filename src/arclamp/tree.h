/* tree.h: the names of a tree of trace logs, and of the pictures drawn from it; and what lies in such a tree.
 *
 *	<base>/<period>/<time>.<tag>.log[.gz|.zst]			a log
 *	<base>/<period>/<time>.<tag>[.fn-<label>][.reversed].svgz	a picture of it
 *	<base>/<period>/<name of either>.tmp				what is being written, or was when something ended
 *
 * <time> ends at the first point. A tag is an entry point, or a profiler and an entry point divided by the last point
 * of it: "2026-11-20.excimer-wall.index.log" is of the profiler "excimer-wall" and the entry point "index".
 *
 * Only regular files directly in a period's directory are seen; no symbolic link below the base is followed, and
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

/* A name taken apart; the parts point into it. */
struct tree_name {
	enum tree_kind kind;
	struct str stem;		/* <time>.<tag>: what log and pictures share */
	struct str time, tag;
	struct str profiler, entry;	/* parts of the tag; profiler is empty if it has only an entry point */
	enum tree_packing packing;	/* for a log */
	struct str function;		/* for a picture: the label behind "fn-"; empty: it shows all stacks */
	bool reversed;
};

/* False for any other name. A temporary file has the parts of its final name. */
bool tree_name_parse(const char *name, struct tree_name *ret);

struct tree_file {
	const char *name;
	struct tree_name parts;
	uint32_t period;
	uint64_t bytes;
	int64_t mtime_ns;
};

struct tree {
	const char *base;		/* as given to tree_read, with no / at its end */
	struct tree_period { const char *name; int fd; uint64_t bytes; } *periods;	/* sorted by name */
	uint32_t period_count;
	struct tree_file *files;	/* sorted by period, stem and name: a log, its packed forms, its pictures */
	size_t count;
	uint64_t others;		/* files without such a name, and links, directories and the like */

	/* private */
	size_t period_capacity, capacity;
	struct arena text;
};

/* Reads the whole tree; call tree_done in any case. Files that vanish meanwhile are skipped. -ENOENT if there is no
 * such directory, -E2BIG above the limits. `bytes` of a period are those of all regular files in it. */
int tree_read(const char *base, struct tree *ret, struct err *err);
void tree_done(struct tree *t);

const char *tree_period(const struct tree *t, const struct tree_file *f);

/* "<base>/<period>/<name>"; the caller frees. */
char *tree_path(const struct tree *t, const struct tree_file *f);

/* Opens the file to read; -ENOENT if it has gone. */
int tree_open(const struct tree *t, const struct tree_file *f, struct err *err);

/* The files that are logs of the same stem as files[at], which is the first of them: files[at] to files[at + result -
 * 1]. 0 if it is no log. */
size_t tree_logs_at(const struct tree *t, size_t at);

/* The files of a stem in the period of this name: the first and how many; 0 if there are none. */
size_t tree_find(const struct tree *t, const char *period, struct str stem, size_t *ret_first);

/* The base of the pictures that belongs to the logs in `logs`: the last "logs" of the path as "svgs". NULL if no part
 * of it is "logs"; the caller frees. */
char *tree_pictures_base(const char *logs);

#endif
