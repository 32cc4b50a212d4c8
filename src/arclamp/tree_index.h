/* tree_index.h: lists a tree of logs and its pictures as JSON, for pages that show it and for copies elsewhere. */
#ifndef ARCLAMP_TREE_INDEX_H
#define ARCLAMP_TREE_INDEX_H

#include "buf.h"
#include "tree.h"

/* An object of a copy elsewhere, such as in an object store. */
struct tree_object {
	const char *period, *name;
	struct tree_name parts;		/* parsed from the name */
	uint64_t bytes;
	int64_t mtime_ns;
};

/* Appends one array with an object for each log and each picture, a line each, sorted by period and name:
 *
 *	name, bytes, last_modified	as listings of object stores call them
 *	path				"svgs/daily/2026-11-20.all.svgz": the last part of the tree's base, the period, the name
 *	mtime				of last_modified, seconds since 1970
 *	kind				"log" or "svg"
 *	period, time, tag		and parts of the tag: profiler (null if there is none) and entry
 *	compressed			of a log: null, "gzip" or "zstd"
 *	function, reversed		of a picture: the label of the function (null: all stacks), and whether it is turned over
 *
 *	remote				true: only the copy elsewhere has it
 *
 * Objects of `objects` that are in neither tree follow. `svgs` may be NULL. Files still being written are omitted.
 * -EFBIG if the result would be too large. */
int tree_index_put(const struct tree *logs, const struct tree *svgs, const struct tree_object *objects, size_t count,
		   struct buf *out, struct err *err);

#endif
