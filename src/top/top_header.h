/* top_header.h: the lines above the table: the processes, the length of the period, how much was seen, kept and lost. */
#ifndef TOP_TOP_HEADER_H
#define TOP_TOP_HEADER_H

#include "top_view.h"

struct top_status {
	const char *target;		/* "every PHP", "php-fpm", "process 1234" */
	const char *frames;		/* "PHP frames" */
	const char *fallback;		/* why BPF is not used; "" if it is */
	bool ended;			/* the last process has ended */
	int64_t length_ns;		/* length of the period */
	int64_t all_ns;			/* since the start or the reset */
	struct record_summary summary;	/* counts of the period */
};

void top_put_title(struct buf *out, const struct top_view *v, const struct top_status *f);
void top_put_period(struct buf *out, const struct top_view *v, const struct top_status *f);

/* Puts the average number of threads in each state. */
void top_put_load(struct buf *out, const struct top_view *v, const struct top_status *f);

/* Puts ticks or observations, and their results. */
void top_put_counts(struct buf *out, const struct top_view *v, const struct top_status *f);

void top_put_choice(struct buf *out, const struct top_view *v, const struct top_status *f);

/* Puts warnings that precede the table, at most one line; the rest is in the notes. Returns false if there are none. */
bool top_put_warning(struct buf *out, const struct top_status *f);

/* Puts the summary of a recording, or why it is empty, as lines. */
void top_put_notes(struct buf *out, const struct top_status *f);

#endif
