/* collector.h: gathers messages and lines into batches and hands them to sinks, once a second at most.
 *
 * The loop's thread merges what arrives into the open batch, one profile per series and 10-second bucket. Every
 * second the batch is closed and goes to each sink's queue; a thread per sink empties it, so that a slow disk keeps
 * neither a PHP process nor another sink waiting. While a sink is slow, closed batches queue up to a cap of bytes;
 * beyond it the sink misses batches, which is counted, unless they can be delivered again (then sources wait, see
 * `full`). A batch that a sink could not store (disk full) is retried until it can; one that it can never
 * store (-E2BIG, -EFBIG, -EINVAL) is dropped and counted, since it would block everything after it.
 *
 * Input that came with an ack token is acknowledged when all sinks are done with its batch. Before a sink sees such
 * a batch, its ack tokens are written to the journal, so that after a crash the same entries make a batch with the
 * same id again: a sink that has it already recognizes the replay.
 *
 * Runs are not merged: each is queued as the bytes that it came in, and the thread passes all queued runs to the
 * sink at once. The collector knows nothing of stores: the program that owns both connects them.
 */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include "batch.h"
#include "source.h"

#define COLLECTOR_SINKS	8u
#define COLLECTOR_OPEN_BATCHES	65536u	/* with ack tokens and in flight; with more, their sources wait */

struct collector;
struct sink_worker;		/* one sink within the collector; valid until the sink is closed */

/* A run that arrived. */
struct collector_run {
	const struct strobe_wire_message *message;
	int64_t time_ns;			/* when it ended, or now if the time in the message is implausible */
	int result;				/* the sink's: 1 stored, 0 a duplicate, -EEXIST: another run has this name;
						 * other errors are permanent */
};

/* A destination of batches. Its callbacks are called from its own thread only. */
struct collector_sink {
	const char *url;			/* for messages; copied */
	/* Returns 0 once the batch is durable; after most failures the same batch is retried a second later. The same
	 * id may be redelivered after a restart, and must not count twice. */
	int (*commit)(void *data, const struct batch *b, struct err *err);
	/* Returns 0 once each run has its result and all valid ones are durable; after a failure the same runs are
	 * redelivered. NULL if the sink takes no runs; without any sink that takes them they are dropped as rejected. */
	int (*commit_runs)(void *data, struct collector_run *runs, size_t count, struct err *err);
	/* Called about every minute with the ids of batches that may be redelivered after their commit. A sink that
	 * deduplicates by id must remember these, and may forget others. NULL: it remembers none, or all. */
	void (*keep_ids)(void *data, const uint64_t *ids, size_t count);
	/* Background work, about every minute; every 10 seconds while nothing can be stored. May be NULL. */
	void (*maintain)(void *data);
	/* Called after each commit: whether maintenance is due every 10 seconds now, too. May be NULL. */
	bool (*is_low_on_space)(void *data);
	bool wants_lines;			/* batch.lines is filled only if some sink wants it */
	bool reads_rows;			/* takes rows (batch_rows.h) instead of profiles; profiles cost
						 * less if no sink reads rows */
	void *data;
};

struct collector_options {
	int64_t commit_ns;		/* duration of a batch; 1 s */
	uint64_t queue_bytes;		/* cap of batches waiting, for each sink; 256 MB */
	unsigned max_series;		/* per batch; messages of more go to a series with entry=other; 10,000 */
	unsigned max_label_values;	/* per label and UTC day; further values count as "other"; 1,000 */
	int64_t drain_ns;		/* a removed sink that has stored nothing for so long is given up; 5 minutes */
	const char *journal;		/* a file for ack tokens in flight; NULL: none, then a crash may store entries
					 * twice */
};

/* Counters of one sink, read by any thread. handed = stored + dropped + queued, exactly. */
struct sink_counters {
	_Atomic uint64_t samples_handed, samples_stored, samples_queued;
	_Atomic uint64_t samples_dropped_queue;			/* its queue was full */
	_Atomic uint64_t samples_dropped_rejected;			/* it can never store them */
	_Atomic uint64_t runs_stored, runs_deduplicated, runs_queued;
	_Atomic uint64_t runs_dropped_queue, runs_dropped_rejected, runs_dropped_conflict;
	_Atomic uint64_t commits, commit_failures, queue_bytes;
	_Atomic int64_t last_commit_ns;
	_Atomic int64_t waits_since_ns;				/* monotonic: since when the oldest batch has been
								 * queued; 0: none is */
	_Atomic bool failing, runs_failing;			/* the last commit failed */
	char why[256];						/* error of the last failed commit; read it with
								 * sink_why */
};

/* Returns why the last commit failed, or "". Any thread; `text` may be truncated. */
void sink_why(const struct sink_counters *c, char *text, size_t size);

/* received = stored + queued + dropped, exactly; data dropped by senders is not included, since it never arrived. Stored means
 * that at least one sink has it and all are done with it; each sink has counters of its own. */
struct collector_counters {
	_Atomic uint64_t samples_received, samples_stored, samples_queued;
	_Atomic uint64_t samples_dropped_queue;			/* the queues were full */
	_Atomic uint64_t samples_dropped_rejected;			/* no sink can ever store them: too many series */
	_Atomic uint64_t messages_deduplicated;		/* skipped: of a relay's batch that was seen already */
	_Atomic uint64_t series_folded;				/* messages that went to "other" */
	_Atomic uint64_t label_values_folded;			/* labels whose value became "other" */
	_Atomic uint64_t labels_dropped;			/* labels of series that only runs keep */
	_Atomic uint64_t times_corrected;			/* times over a day old or over a minute ahead,
								 * replaced by the time of receipt */
	_Atomic uint64_t sender_drops[STROBE_DROP_REASONS];	/* samples, as PHP processes reported them */
	/* runs_received = stored + deduplicated + queued + dropped, exactly */
	_Atomic uint64_t runs_received, runs_stored, runs_queued;
	_Atomic uint64_t runs_deduplicated;			/* the same run was stored already */
	_Atomic uint64_t runs_dropped_queue, runs_dropped_rejected;
	_Atomic uint64_t runs_dropped_conflict;			/* another run has its name */
	_Atomic uint64_t sender_run_drops[STROBE_DROP_REASONS];
	_Atomic int64_t last_run_ns;
	_Atomic bool runs_failing;				/* the last commit of runs failed */
	_Atomic uint64_t commits, commit_failures, queue_bytes;
	_Atomic int64_t last_sample_ns, last_commit_ns;		/* wall clock; 0 if never */
	_Atomic bool failing;					/* the last commit of some sink failed; removed ones do not count */
	/* Dropped with the queues of removed sinks that were given up. Other sinks have or had them, so the sums
	 * above exclude them. */
	_Atomic uint64_t removed_sink_samples, removed_sink_runs;
};

void collector_default_options(struct collector_options *o);

/* 1 to COLLECTOR_SINKS sinks. */
int collector_new(const struct collector_sink *sinks, size_t count, const struct collector_options *o,
		  struct loop *loop, struct collector **ret, struct err *err);

/* Returns the receiver to open sources with. */
struct source_receiver collector_receiver(struct collector *c);

/* The samples and runs in its queue that a removed sink did not store. */
struct sink_leftover {
	uint64_t samples, runs;
	uint64_t samples_passed_on, runs_passed_on;	/* those that no other sink has; they are passed on to the
							 * active sinks */
	char why[256];					/* why the last commit failed; "" if it did not */
};

typedef void sink_closed_fn(void *data, const struct sink_leftover *left);

/* At run time; the loop's thread. A removed sink is drained: batches queued for it still go there. `closed` is called, after
 * which the sink may be closed, once its queue is stored, once it has failed and stored nothing for `drain_ns`, or when the
 * collector is freed. COLLECTOR_SINKS at most, including removed ones until then. */
int collector_add_sink(struct collector *c, const struct collector_sink *sink, struct sink_worker **ret, struct err *err);
void collector_remove_sink(struct collector *c, struct sink_worker *o, sink_closed_fn *closed, void *data);

/* Makes a removed sink that is not closed yet active again, with its queue. */
void collector_restore_sink(struct collector *c, struct sink_worker *o);

/* Takes over queue_bytes, max_series and max_label_values; no other option can change. */
void collector_set_caps(struct collector *c, const struct collector_options *o);

/* Drops the reference to a stopped source and returns true if none of its data is in flight; it may then be closed.
 * Otherwise call again later. */
bool collector_forget(struct collector *c, struct source *s);

/* Closes the open batch and waits until everything is committed, or for `timeout_ns` and the commits then in
 * progress; acknowledges durable ack tokens. Returns the number of samples and runs that some sink could not commit: sinks
 * receive no more of them until new input arrives. */
uint64_t collector_flush(struct collector *c, int64_t timeout_ns);

/* After a flush: samples and runs that no sink has. */
uint64_t collector_unstored(struct collector *c);

/* Flush first, and close the sources, which may be notified of acknowledgements until then. Returns NULL. */
struct collector *collector_free(struct collector *c);

const struct collector_counters *collector_counters(const struct collector *c);
size_t collector_sink_count(const struct collector *c);			/* active ones */
struct sink_worker *collector_sink(const struct collector *c, size_t i);	/* before the first change those
										 * of collector_new, in order */
const struct sink_counters *sink_worker_counters(const struct sink_worker *o);	/* also of a removed sink */

#endif
