/* spool_private.h: shared by spool.c and spool_open.c. */
#ifndef RELAY_SPOOL_PRIVATE_H
#define RELAY_SPOOL_PRIVATE_H

#include "lock.h"
#include "spool.h"

#define SEGMENTS_WANTED		64u		/* number of segments of a full spool; the cap drops one at a time */
#define SEGMENT_LEAST		(64u << 10)
#define POSITION_SLOT		72u
#define POSITION_SLOT_1		32u		/* before records had sums */

/* A position among all entries that a spool ever had: the number of an entry, and the sums of samples and runs up to
 * and including it. */
struct mark {
	uint64_t sequence, samples, runs;
};

static inline struct mark mark_before(const struct record *r)
{
	return (struct mark){ r->sequence - 1, r->samples_before, r->runs_before };
}

static inline struct mark mark_after(const struct record *r)
{
	return (struct mark){ r->sequence, r->samples_before + r->samples, r->runs_before + r->runs };
}

/* A record of version 1 lacks the sums of the records before it. */
static inline void place_record(struct record *r, struct mark before)
{
	if (r->has_sums)
		return;
	r->samples_before = before.samples;
	r->runs_before = before.runs;
}

/* Whether `a` is at or before `b` in entries, samples and runs. */
static inline bool mark_is_within(struct mark a, struct mark b)
{
	return a.sequence <= b.sequence && a.samples <= b.samples && a.runs <= b.runs;
}

struct segment {
	uint64_t first;				/* names the file */
	int fd;
	off_t size;
	uint64_t samples, runs, records;	/* queued in it, or before they were damaged */
	struct mark end;
	bool dirty;				/* bytes written behind its end could not be removed */
};

/* An entry that was returned and is not settled. */
struct in_flight_entry {
	struct segment *segment;		/* NULL: the segment was removed */
	off_t at;
	struct mark end;
	uint64_t samples;
	uint32_t runs;
	int64_t time_ns;
};

struct spool {
	char *directory;
	int lock_fd, position_fd;
	uint64_t max_bytes;
	struct spool_counters *counters;
	struct lock lock;

	struct segment **segments;		/* the oldest first; the last one is written to */
	size_t segment_count, segment_capacity;

	size_t reading;				/* index of the segment being read, and the position in it */
	off_t read_at;
	struct in_flight_entry *flights;			/* in order */
	size_t flight_count, flight_capacity;

	uint64_t instance, window;
	struct mark settled, written;		/* the last entry that was forwarded or dropped; the last one
						 * appended */
	int64_t next_damage_log_ns;
	uint64_t position_writes;		/* 0: there was no position file */
};

/* Opens or, with `make`, creates the file, and appends it to the list. */
int segment_open(struct spool *s, uint64_t first, bool make, struct err *err);
void segment_free(struct segment *g);
void segment_remove(struct spool *s, struct segment *g);	/* removes the file, but not the list item */

/* Fills in `position_fd`, and the state from the file. */
int position_open(struct spool *s, struct err *err);
void position_save(struct spool *s);

#endif
