/* series.h: the common properties of the rows of a chunk, and whether it matches a query.
 *
 * A series is a set of labels with the clock and period it was sampled by and the columns its samples have. The label
 * "clock" (wall, cpu) need not be set: it is derived from the clock. */
#ifndef STORE_SERIES_H
#define STORE_SERIES_H

#include "store.h"

struct series {
	struct labels labels;
	enum strobe_clock clock;
	int64_t period_ns;
	uint32_t column_count;
	struct { char name[64], unit[64]; } columns[PROFILE_COLUMNS];
	uint32_t samples;		/* the column named "samples"; UINT32_MAX if there is none */
};

void series_done(struct series *s);

/* The texts stored in a day file. `columns` alternates names and units, each followed by a NUL. */
void series_put_columns(const struct profile *p, struct buf *out);

/* Parses the columns of one series from a file; returns -EBADMSG if they are invalid. */
int series_parse(struct series *ret, struct str labels, int64_t clock, int64_t period_ns, struct str columns);

/* Puts the key of a series, which is the same for equal series on different days. */
void series_put_key(struct buf *out, struct str labels, enum strobe_clock clock, int64_t period_ns,
		    struct str columns);

bool series_matches(const struct series *s, const struct label_filter *filters, size_t count);

/* Replaces `ret` with the labels, including "clock" if it is known. */
void series_labels(const struct series *s, struct labels *ret);

/* Returns "wall_ns" or "cpu_ns" if it can be computed as samples × period and is not a column itself, else NULL. */
const char *series_time_column(const struct series *s);

#endif
