/* spool.h: a queue of entries on disk until the broker has them, in order.
 *
 * A directory of segments, files named by the first sequence number in them, each a row of records (record.h). New
 * records go to the end of the last one; a reader follows, and finished segments are removed. When the total
 * exceeds the cap the oldest segment is dropped, and its content counted. Entries appended together are kept as a
 * whole or not at all, also after a crash: a tail that was cut off is removed at the start. Damaged records are skipped
 * and counted.
 *
 * Each opening takes a new instance, 64 random bits, for the entries that it appends, so that a directory which was
 * copied, or restored from an earlier state, never makes two senders of one name. Instance and sequence number an entry.
 *
 * One thread appends, another one reads; each function takes the spool's lock.
 *
 *   file              what it is
 *   <16 hex>.spool    a segment
 *   position          two slots of 72 bytes, written in turn: count of writes, newest window; sequence, samples and runs up
 *                     to the last entry that is settled (forwarded or dropped), then the same up to the last one that was
 *                     appended; XXH3 of the 64 bytes before. It may be older than the truth: then entries are sent again,
 *                     and the broker knows them. Entries that it counts and no file has are damaged
 *   *.version-<n>     a file of a newer Strobe, which is set aside (quarantine.h)
 *   lock              locked while a process uses the spool
 */
#ifndef RELAY_SPOOL_H
#define RELAY_SPOOL_H

#include "record.h"
#include <stdatomic.h>

enum spool_drop {
	SPOOL_DROP_FULL,	/* the oldest, when the cap was reached */
	SPOOL_DROP_DAMAGED,	/* records that were damaged on the disk */
	SPOOL_DROP_TOO_LARGE,	/* no message can hold them */
	SPOOL_DROP_REJECTED,	/* the broker rejects values of that size */
	SPOOL_DROPS
};

const char *spool_drop_name(enum spool_drop d);		/* a metric label: "spool_full" */

/* Read by any thread. recovered + received = forwarded + deduplicated + dropped + waiting, exactly; waiting includes the open window. */
struct spool_counters {
	_Atomic uint64_t samples_recovered, samples_received, samples_forwarded, samples_waiting;
	_Atomic uint64_t samples_deduplicated, runs_deduplicated;	/* sent again, and deduplicated by the broker */
	_Atomic uint64_t samples_dropped[SPOOL_DROPS];
	_Atomic uint64_t runs_recovered, runs_received, runs_forwarded, runs_waiting, runs_dropped[SPOOL_DROPS];
	_Atomic uint64_t records_waiting, records_damaged;	/* entries waiting; damaged places in the files */
	_Atomic uint64_t bytes;					/* size of all segments */
	_Atomic uint64_t files_set_aside, records_set_aside;	/* written by a newer Strobe */
	_Atomic int64_t oldest_ns;				/* when the oldest queued entry was written; 0: none */
};

struct spool;

/* One entry to append. */
struct spool_piece {
	const void *body;
	size_t size;
	uint64_t samples;
	uint32_t runs;
};

/* One entry that was read. */
struct spool_entry {
	uint64_t sequence, instance, samples;
	uint32_t runs;
	struct buf body;
};

/* Creates the directory if it is missing. -EBUSY if another process uses it. `counters` must outlive the spool. */
int spool_open(const char *directory, uint64_t max_bytes, struct spool_counters *counters, struct spool **ret,
	       struct err *err);
struct spool *spool_close(struct spool *s);	/* NULL is fine; returns NULL */

/* The newest window that was ever added to the spool. */
uint64_t spool_window(struct spool *s);

/* Appends all pieces or none; they are durable when it returns 0. With `handed` their samples and runs are counted as
 * handed and waiting now; otherwise they have been counted before. -EFBIG if together they exceed the cap. */
int spool_append(struct spool *s, const struct spool_piece *pieces, size_t count, uint64_t window, bool handed,
		 struct err *err);

/* Reads the next entry: returns 1, or 0 if there is none now. After damage no entry is returned until the earlier
 * ones are settled. */
int spool_next(struct spool *s, struct spool_entry *ret);

/* Settles the first outstanding entry: it was forwarded, the broker already had it, or it is dropped as rejected. */
void spool_done(struct spool *s);
void spool_deduplicated(struct spool *s);
void spool_rejected(struct spool *s);

/* Outstanding entries are returned again. */
void spool_rewind(struct spool *s);

/* Syncs the position; periodically, and at shutdown. */
void spool_sync(struct spool *s);

/* Whether recovered + received equals the sum of the outcomes. For assertions, while no other thread counts. */
bool spool_counters_balance(const struct spool_counters *n);

/* Call it after dropping samples or runs that are counted as waiting. */
void spool_count_drop(struct spool_counters *n, enum spool_drop why, uint64_t samples, uint64_t runs);

#endif
