/* collector.h: gathers messages into batches and hands them to a sink, once a second at most.
 *
 * The loop's thread merges arriving messages into the open batch, one profile per series and 10-second bucket. Every
 * second the batch is closed and a writer thread gives it to the sink, so that a slow disk never keeps a PHP process
 * waiting. While the sink is slow, closed batches queue up to a cap of bytes; beyond it new samples are dropped and
 * counted. A batch that the sink could not keep (disk full) is tried again until it can; one that it never can keep
 * (-E2BIG, -EFBIG, -EINVAL) is dropped and counted, since nothing behind it would be stored otherwise.
 *
 * Runs are not merged: each waits in the same queue as the bytes that it came in, and the thread hands as many as wait
 * to the sink at once.
 * The collector knows nothing of stores: the program that owns both connects them.
 */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include "batch.h"
#include "source.h"

struct collector;

/* A run that arrived. */
struct collector_run {
	const struct strobe_wire_message *message;
	int64_t time_ns;			/* when it ended: as it says, or now if that is far off */
	int result;				/* of the sink: 1 stored, 0 was there already, -EEXIST: another one has its name,
						 * any other error: it can never be kept */
};

/* Where batches go. Both are called from the writer thread only. */
struct collector_sink {
	/* Returns 0 once the batch is durable; on most failures the same batch comes again a second later. */
	int (*commit)(void *data, const struct batch *b, struct err *err);
	/* Returns 0 once each run has its result and what could be kept is durable; on a failure the same runs come
	 * again. NULL where runs are not wanted: they are dropped as unfit. */
	int (*commit_runs)(void *data, struct collector_run *runs, size_t count, struct err *err);
	/* Background work, about every minute and never while a batch waits; may be NULL. */
	void (*maintain)(void *data);
	void *data;
};

struct collector_options {
	int64_t commit_ns;		/* how long a batch stays open; 1 s */
	uint64_t queue_bytes;		/* cap of batches waiting; 256 MB */
	unsigned max_series;		/* per batch; messages of more go to a series with entry=other; 10,000 */
};

/* received = stored + queued + dropped, exactly; what senders dropped comes on top, it never arrived. */
struct collector_counters {
	_Atomic uint64_t samples_received, samples_stored, samples_queued;
	_Atomic uint64_t samples_dropped_queue;			/* the queue was full */
	_Atomic uint64_t samples_dropped_unfit;			/* the sink can never keep them: too many series */
	_Atomic uint64_t series_folded;				/* messages that went to "other" */
	_Atomic uint64_t times_corrected;			/* ended over a day ago or over a minute ahead: receipt time used */
	_Atomic uint64_t sender_drops[STROBE_DROP_REASONS];	/* samples, as PHP processes reported them */
	/* runs_received = stored + known + queued + dropped, exactly */
	_Atomic uint64_t runs_received, runs_stored, runs_queued;
	_Atomic uint64_t runs_known;				/* the same run was there already */
	_Atomic uint64_t runs_dropped_queue, runs_dropped_unfit;
	_Atomic uint64_t runs_dropped_conflict;			/* another run has its name */
	_Atomic uint64_t sender_run_drops[STROBE_DROP_REASONS];
	_Atomic int64_t last_run_ns;
	_Atomic bool runs_failing;				/* the last commit of runs failed */
	_Atomic uint64_t commits, commit_failures, queue_bytes;
	_Atomic int64_t last_sample_ns, last_commit_ns;		/* wall clock; 0 if never */
	_Atomic bool failing;					/* the last commit failed */
};

void collector_default_options(struct collector_options *o);

int collector_new(const struct collector_sink *sink, const struct collector_options *o, struct loop *loop,
		  struct collector **ret, struct err *err);

/* A source_got: `data` is the collector. */
void collector_got(void *data, const struct strobe_wire_message *m);

/* Closes the open batch and waits until everything is committed or `timeout_ns` is over. Returns the number of
 * samples and runs that could not be committed. */
uint64_t collector_flush(struct collector *c, int64_t timeout_ns);

struct collector *collector_free(struct collector *c);		/* flush first; returns NULL */

const struct collector_counters *collector_counters(const struct collector *c);

#endif
