/* clickhouse_names.h: the hashes by which a batch's frames, stacks, series and kinds of values are known.
 *
 * The lower half of each is the key, and the upper half detects collisions; docs/clickhouse.md documents the hashed
 * content. */
#ifndef STORE_CLICKHOUSE_NAMES_H
#define STORE_CLICKHOUSE_NAMES_H

#include "batch.h"
#include "buf.h"
#include "hash.h"

/* Stacks with their names: one entry's profile, or the stacks that all entries share. */
struct clickhouse_tree {
	const struct profile *p;
	XXH128_hash_t *frames, *nodes;		/* by number */
	uint32_t *depths;			/* by node */
	uint32_t *months;			/* by node, free for the caller; 0 at first */
};

void clickhouse_tree_init(struct clickhouse_tree *t, const struct profile *p);
void clickhouse_tree_done(struct clickhouse_tree *t);

/* The kinds of an entry's columns. */
struct clickhouse_kinds_named {
	XXH128_hash_t names[PROFILE_COLUMNS];
	uint32_t timed;				/* bit mask of the columns from which a time column is derived */
	uint32_t samples;			/* the column named "samples", or UINT32_MAX */
};

/* Caches values that most entries of a batch have in common. */
struct clickhouse_naming {
	struct buf labels, columns, key;
	const struct batch_entry *like;		/* the entry that `kinds` was computed from; NULL: none */
	struct clickhouse_kinds_named kinds;
	int64_t day;				/* first day of `month`; -1: none */
	uint32_t month;
};

void clickhouse_naming_init(struct clickhouse_naming *n);
void clickhouse_naming_done(struct clickhouse_naming *n);

XXH128_hash_t clickhouse_name_series(struct clickhouse_naming *n, const struct batch_entry *e);
uint32_t clickhouse_name_month(struct clickhouse_naming *n, int64_t day);

/* The result is valid until the next call; the entry must live as long as `n`. */
const struct clickhouse_kinds_named *clickhouse_name_kinds(struct clickhouse_naming *n, const struct batch_entry *e);

/* Appends the row of a kind, without its name. */
void clickhouse_put_kind(const struct batch_entry *e, const struct clickhouse_kinds_named *kinds, uint32_t column, struct buf *row);

#endif
