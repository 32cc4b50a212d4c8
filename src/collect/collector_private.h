/* collector_private.h: shared by the collector and its sink workers. */
#ifndef COLLECT_COLLECTOR_PRIVATE_H
#define COLLECT_COLLECTOR_PRIVATE_H

#include "collector.h"
#include "journal.h"
#include "label_caps.h"
#include "line_dict.h"
#include "lock.h"
#include "open_batch.h"

#include <pthread.h>

/* A run in flight to the sinks that take runs. */
struct open_run {
	unsigned sinks_left;
	struct open_batch *batch;		/* the batch with its ack token, not acknowledged before the run is
						 * done; NULL: none */
	int best;				/* best result of the sinks so far */
	bool noted;				/* scratch for counting runs in several queues */
	int64_t time_ns;
	size_t size;
	uint8_t bytes[];
};

/* A sink, its queues, and the thread that empties them. */
struct sink_worker {
	struct collector *collector;
	struct collector_sink sink;
	char *url;
	struct sink_counters counters;
	pthread_t thread;
	bool has_thread;			/* if not, the slot is free; the loop's thread only */
	int64_t next_rejected_log_ns;			/* this and the next members belong to the sink's thread */
	bool logged_conflict;
	int64_t maintained_ns;			/* time of the last maintenance, monotonic */
	bool is_low_on_space;				/* the sink said so after the last commit */

	/* under the collector's lock; the thread works on the first and leaves it there */
	struct queued_batch { struct open_batch *batch; int64_t since_ns; struct queued_batch *next; } *first, **last;
	struct queued_run { struct open_run *run; struct queued_run *next; } *first_run, **last_run;
	bool committing;			/* the sink is committing the first */
	bool removed;				/* changed by the loop's thread, which reads it without the lock */
	int64_t progress_ns;			/* monotonic: the last success, or the removal if that was later */
	bool given_up;				/* it was removed, fails, and has made no progress for too long */
	bool ending;				/* set by the loop's thread, since a drained sink may be restored until then */
	sink_closed_fn *closed;			/* called in the loop's thread after a removed sink's worker has ended */
	void *closed_data;
	struct sink_leftover left;		/* the loop's thread only */
};

/* Input with ack tokens of one source. Its batches hold nothing else, so that a crash and the redelivery after it concern
 * one source at a time. */
struct redeliverable {
	struct source *source;
	struct open_batch *open;		/* NULL: nothing came since the last one was closed */
	struct open_batch *replays;		/* rebuilt after a crash, until the source has caught up */
	bool caught_up;

	/* acknowledged, but not confirmed by the source yet; the oldest first */
	struct unconfirmed { uint64_t batch_id, until; struct unconfirmed *next; } *unconfirmed, **last_unconfirmed;
	uint64_t unconfirmed_count;
	uint64_t handed_back;			/* number of ack tokens returned to the source */
	struct redeliverable *next;
};

struct collector {
	struct collector_options options;
	struct collector_counters counters;
	struct sink_worker sink_workers[COLLECTOR_SINKS];
	struct sink_worker *active[COLLECTOR_SINKS];	/* those that get batches */
	size_t sink_count;			/* active ones */

	/* the loop's thread only */
	struct loop *loop;
	struct watch timer, wake;
	struct open_batch *open;		/* for input without ack tokens */
	struct open_batch *closing, **last_closing;	/* closed; their queued messages are merged
							 * gradually */
	struct redeliverable *redeliverable;
	bool skipping_replay;			/* the current entry is a replay, so its further parts are skipped */
	struct open_batch_rules rules;
	struct label_caps *caps;
	struct line_dict *dict;
	uint64_t next_id;
	uint64_t max_open_batches;
	int wake_fd;

	struct journal *journal;		/* NULL: none */
	struct lock record_lock;		/* one sink at a time writes the record of a batch */

	/* under the lock */
	struct lock lock;
	pthread_cond_t changed;
	struct open_batch *done, **last_done;	/* all sinks are done with them, but they are not acknowledged yet */
	bool flushing, stopping;
	bool paused;				/* a flush has timed out: no commit begins until new input arrives */
	bool has_lock;
};

/* Waits for a change or the time (monotonic; 0 is for ever), under the lock. */
void collector_wait(struct collector *c, int64_t until_ns);

void collector_wake(struct collector *c);	/* wakes the loop; any thread */

/* Called when a sink has finished it; under the lock. */
void collector_batch_finished(struct collector *c, struct open_batch *b);
void collector_run_finished(struct collector *c, struct open_run *r);

void collector_close_batches(struct collector *c);	/* closes all batches and hands them to the sinks */
void collector_close_batch(struct collector *c, struct open_batch *b);	/* queues a complete batch for merging and
									 * for the sinks */
void collector_count_bytes(struct collector *c, struct open_batch *b);	/* updates queue_bytes by its present size */
uint64_t collector_take_id(struct collector *c);
bool collector_samples_balance(const struct collector_counters *n);	/* checks the identity in collector.h; the
									 * loop's thread */
uint64_t collector_shortest_queue(const struct collector *c);
void collector_reap(struct collector *c);	/* ends and frees the workers of drained sinks */
void collector_hand_to_sinks(struct collector *c, struct open_batch *b);	/* to all active ones; under the
										 * lock */
bool collector_hand_run(struct collector *c, struct open_run *r);		/* to sinks that take runs; false:
										 * there are none */
void collector_update_failing(struct collector *c);				/* under the lock */

/* --- ack_tokens.c --- */

/* Returns the batch for this input: the open one, or one rebuilt after a crash. `*now` is the time of the batch. */
struct open_batch *ack_tokens_batch_for(struct collector *c, const struct message_metadata *about, int64_t *now);

/* Whether a relay has sent it before. The ack token of a duplicate must still be acknowledged. */
bool ack_tokens_is_replay(struct collector *c, struct open_batch *b, const struct message_metadata *about);

void ack_tokens_return(struct collector *c, uint64_t batch_id, const struct open_batch_share *share);
void ack_tokens_end_confirmed(struct collector *c, struct redeliverable *t);
void ack_tokens_close(struct collector *c, struct redeliverable *t);
void ack_tokens_caught_up(struct collector *c, struct source *s);
void ack_tokens_recorded(struct collector *c, struct source *s, const struct batch_record *r);
void ack_tokens_forget_replays(struct collector *c, struct redeliverable *t);
void ack_tokens_free_first(struct collector *c);

/* --- sink_worker.c --- */

int sink_worker_start(struct sink_worker *o, struct collector *c, const struct collector_sink *sink, struct err *err);
void sink_worker_join(struct sink_worker *o);		/* `stopping` or `ending` is set */
bool sink_worker_end_if_drained(struct sink_worker *o);	/* ends its thread if it was removed, and its queue is stored or
							 * given up; the loop's thread */
void sink_worker_done(struct sink_worker *o);		/* frees its queues and the slot, and calls `closed` */

/* Under the lock. */
void sink_worker_put_batch(struct sink_worker *o, struct open_batch *b);
void sink_worker_put_run(struct sink_worker *o, struct open_run *r);
bool sink_worker_is_busy(const struct sink_worker *o);
void sink_worker_give_up_queue(struct sink_worker *o);	/* after its thread has ended; the loop's thread */

#endif
