/* open_batch.h: a batch while it is being filled: one profile per series and bucket.
 *
 * It knows nothing of threads and time; the collector decides when it is closed. Messages with the same labels,
 * clock, period, columns and bucket are merged, and so are lines of one entry point, channel and bucket.
 *
 * A message is counted when it is added, and merged with many others later, series by series: merging looks into the
 * profile in a hundred places, and one that was not used for some milliseconds is no longer in the processor's cache. So
 * the profiles are complete only when the batch is sealed; everything else is correct at any time. */
#ifndef COLLECT_OPEN_BATCH_H
#define COLLECT_OPEN_BATCH_H

#include "arena.h"
#include "batch.h"
#include "buf.h"
#include "label_caps.h"
#include "source.h"
#include "wire_queue.h"

#define OPEN_BATCH_BUCKETS	4u		/* buckets whose lines take the fast path: the current one, and a
						 * few around it */

/* Memory of a series before it has stacks: its profile, whose arrays begin with room for some. */
#define OPEN_BATCH_SERIES_BYTES	(sizeof(struct profile) + ((size_t)5 << 10))

/* One source's part of a batch. */
struct open_batch_share {
	struct source *source;
	uint64_t samples;
	struct ack_token *ack_tokens;
	size_t ack_token_count, ack_token_capacity;
};

struct open_batch {
	struct batch batch;			/* `entries` and `count` are right at any time */
	size_t capacity, line_capacity;
	struct intern series;			/* key of a series and bucket */
	struct map series_entries;		/* from its number to the entry's */
	struct map stacks;			/* for lines: hash of series and stack to what is in `seen` */
	struct open_batch_stack { uint32_t entry, node; bool folded; } *seen;
	size_t seen_count, seen_capacity;
	uint64_t hash_seed;
	struct open_batch_bucket {		/* numbers + 1 of the stacks of rules->dict in this bucket; 0: not
						 * in it */
		int64_t bucket_ns;
		uint32_t generation;		/* the dictionary's */
		uint32_t *entries, *frames, *nodes;		/* by number in the dictionary: our entry, the
								 * profile's frame and node */
		size_t entry_capacity, frame_capacity, node_capacity;
	} buckets[OPEN_BATCH_BUCKETS];
	size_t bucket_count;
	uint32_t *path;				/* scratch: the stack being added */
	size_t path_capacity;
	struct arena line_bytes;
	struct wire_queue waiting, merging;	/* by entry; the second is being merged while the first fills */
	struct open_batch_share *shares;
	size_t share_count, share_capacity;
	uint64_t *relay_ids;			/* batches of relays that are in it */
	size_t relay_id_count, relay_id_capacity;
	uint64_t samples, bytes;		/* bytes: approximate memory */
	bool shares_stacks;			/* messages merged from now on become rows */

	/* for the collector */
	uint64_t counted_bytes;			/* the part of `bytes` that its counters include */
	int64_t now_ns;				/* time of its stream entries, the same after redelivery */
	unsigned sinks_left, runs_left;		/* sinks and runs that it waits for */
	bool closed;
	bool kept;				/* stored by some sink */
	bool rejected;				/* a sink can never store it */
	bool journaled;				/* under the journal's lock */
	bool recorded;				/* beside its sources; under the collector's record_lock */
	bool noted;				/* scratch for counting batches in several queues */
	bool replayed;				/* rebuilt from the entries that it had before a crash */
	struct open_batch *next;
};

/* Settings of the collector that apply to every batch. */
struct open_batch_rules {
	unsigned max_series;
	bool keep_lines;			/* some sink wants them */
	bool share_stacks;			/* all sinks read rows */
	struct label_caps *caps;		/* may be NULL */
	struct line_dict *dict;			/* may be NULL; then each batch parses each line */
};

struct open_batch *open_batch_new(uint64_t id);
struct open_batch *open_batch_free(struct open_batch *b);	/* NULL is fine; returns NULL */

/* Seals the batch: merges pending messages, and frees data that only adding needs. */
void open_batch_seal(struct open_batch *b);

/* Merges pending messages, after which `bytes` is the real size of the batch. The second function stops after about
 * `bytes` of messages (128 KB take 0.4 ms) and returns whether more are pending. */
void open_batch_merge(struct open_batch *b);
bool open_batch_merge_some(struct open_batch *b, size_t bytes);

/* Entries of one batch, those of folded series included. */
static inline size_t open_batch_series_limit(const struct open_batch_rules *rules)
{
	return 2 * (size_t)rules->max_series;
}

/* Appends a key of the folded series of a message, equal for messages of the same bucket, clock, period and columns. */
void open_batch_folded_key(struct buf *key, const struct strobe_wire_message *m, int64_t bucket_ns);

/* Adds a message to its series in the bucket of `time_ns`. A series above `max_series` goes to the one whose only
 * label is entry=other, and *ret_folded is set. *ret_samples is how many samples it holds. Returns -ENOSPC, and adds
 * nothing, when there are twice as many. */
int open_batch_add(struct open_batch *b, const struct message_metadata *about, const struct strobe_wire_message *m,
		   int64_t time_ns, const struct open_batch_rules *rules, uint64_t *ret_samples, bool *ret_folded);

/* Adds a line that source_line accepted, with `samples` as its count. The label `entry` is the base name of its first
 * frame without ".php", `profiler` is the channel. Returns -ENOSPC as above. */
int open_batch_add_line(struct open_batch *b, const struct message_metadata *about, struct str stack, int64_t samples,
			struct str line, int64_t time_ns, const struct open_batch_rules *rules, bool *ret_folded);

/* Notes that the batch holds `samples` of this source, and its ack token. */
void open_batch_note(struct open_batch *b, const struct message_metadata *about, uint64_t samples);

/* Adds an entry with these labels, which it takes over, and returns its number. */
uint32_t open_batch_entry(struct open_batch *b, struct labels *labels, int64_t bucket_ns, enum strobe_clock clock,
			  int64_t period_ns);

/* Returns the entry of a series' key; -ENOENT if it is new. */
int64_t open_batch_find(const struct open_batch *b, const struct buf *key);
void open_batch_set(struct open_batch *b, const struct buf *key, uint32_t entry);

/* Returns the approximate memory of the stacks of a profile, in bytes. */
uint64_t open_batch_profile_cost(const struct profile *p);

/* Returns an approximate upper bound, in bytes, of the memory that adding a message takes, with the series that may be new. */
uint64_t open_batch_cost_of(const struct strobe_wire_message *m);

#endif
