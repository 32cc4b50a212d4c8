/* series.h: the common properties of the rows of a chunk, and whether it matches a query.
 *
 * A series is a set of labels with the clock and period it was sampled by and the columns its samples have. The label
 * "clock" (wall, cpu) need not be set: it is answered from the clock. */
#ifndef STORE_SERIES_H
#define STORE_SERIES_H

#include "store.h"

struct series {
	struct labels labels;
	enum strobe_clock clock;
	int64_t period_ns;
	uint32_t column_count;
	struct { char name[64], unit[64]; } columns[PROFILE_COLUMNS];
	uint32_t samples;		/* the column of that name; UINT32_MAX if there is none */
};

void series_done(struct series *s);

/* Texts as stored in a day file. Columns are name and unit by turns, each with a NUL behind it. */
void series_put_columns(const struct profile *p, struct buf *out);

/* Reads the parts of one series as they stand in a file; -EBADMSG if they are invalid. */
int series_parse(struct series *ret, struct str labels, int64_t clock, int64_t period_ns, struct str columns);

/* One key for equal series, also of different days. */
void series_put_key(struct buf *out, struct str labels, enum strobe_clock clock, int64_t period_ns,
		    struct str columns);

bool series_matches(const struct series *s, const struct label_filter *filters, size_t count);

/* The labels with "clock" among them where it is known; replaces `ret`. */
void series_labels(const struct series *s, struct labels *ret);

/* "wall_ns" or "cpu_ns" if it follows from samples × period and is not a column itself, else NULL. */
const char *series_time_column(const struct series *s);

#endif
