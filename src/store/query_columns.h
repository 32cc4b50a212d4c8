/* query_columns.h: the columns of a result, in the same order for every store.
 *
 * Samples come first, since the first column is the one that is shown; then columns sorted by their position in their
 * series and by name; and last those computed from samples and their period, wall_ns before cpu_ns. Series without
 * samples in the range add none. */
#ifndef STORE_QUERY_COLUMNS_H
#define STORE_QUERY_COLUMNS_H

#include "series.h"

struct query_columns {
	uint32_t places[PROFILE_COLUMNS];	/* by column of the profile; 0: no series of the answer has it */
};

/* Notes a series with rows in the range; the profile must have all of its columns. */
void query_columns_note(struct query_columns *c, const struct profile *p, const struct series *s);

/* Tells whether a series of the answer has the column; false for UINT32_MAX. */
static inline bool query_columns_has(const struct query_columns *c, uint32_t column)
{
	return column < PROFILE_COLUMNS && c->places[column];
}

/* Sorts the columns of the profile, and removes those that no series has. Call it once, at the end. */
void query_columns_sort(const struct query_columns *c, struct profile *p);

#endif
