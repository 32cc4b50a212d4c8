/* source.h: the interface of sources of samples. A source knows its transport and nothing of stores.
 *
 * It hands over messages (wire/strobe_wire.h) and folded lines ("frame;frame;… 12", what Arc Lamp's clients publish). A
 * source that can redeliver unacknowledged entries (a stream) gives each entry an ack token, and gets the ack token back when
 * the entry's data is durable; the others give none. */
#ifndef COLLECT_SOURCE_H
#define COLLECT_SOURCE_H

#include "err.h"
#include "labels.h"
#include "loop.h"
#include "strobe_wire.h"
#include <stdatomic.h>

#define SOURCE_LINE_MAX		(1024u * 1024)		/* bytes of a folded line */
#define SOURCE_LINE_DEPTH	10000u			/* frames of one */
#define SOURCE_LINE_COUNT_MAX	1000000000000		/* samples of one: 10^12, more than a million processes
							 * produce in a day */

/* Why a folded line was not accepted. */
enum source_line_error {
	SOURCE_LINE_OK,
	SOURCE_LINE_BLANK,		/* only spaces */
	SOURCE_LINE_NO_COUNT,		/* does not end with a number, or has nothing before it */
	SOURCE_LINE_BAD_COUNT,		/* below 1, with a fraction, or above SOURCE_LINE_COUNT_MAX */
	SOURCE_LINE_BAD_BYTE,		/* a newline: it would be two lines */
	SOURCE_LINE_TOO_LONG,
	SOURCE_LINE_TOO_DEEP,
	SOURCE_LINE_ERRORS
};

/* Why a file of a directory of runs was not imported. */
enum source_file_error {
	SOURCE_FILE_NAME,		/* its name is not ID.SOURCE.xhprof */
	SOURCE_FILE_LINK,		/* a symbolic link */
	SOURCE_FILE_KIND,		/* a pipe, a socket, a device */
	SOURCE_FILE_LARGE,		/* above a limit of size, memory or time */
	SOURCE_FILE_DAMAGED,		/* no profile, or with nothing in it */
	SOURCE_FILE_UNREADABLE,		/* temporarily; it is retried */
	SOURCE_FILE_ERRORS
};

/* The protocol of a push by HTTP. */
enum source_push_protocol {
	SOURCE_PUSH_INGEST,		/* Pyroscope's /ingest */
	SOURCE_PUSH_PUSHER,		/* its push.v1 */
	SOURCE_PUSH_OTLP,
	SOURCE_PUSH_PROTOCOLS
};

/* Why a push was refused, or with OTLP a single profile of it. */
enum source_push_error {
	SOURCE_PUSH_PARAMETERS,		/* in the address or the headers: a name, a tenant, a version */
	SOURCE_PUSH_UNSUPPORTED,	/* a format, a type or an encoding that is not read */
	SOURCE_PUSH_DAMAGED,
	SOURCE_PUSH_LARGE,		/* above a limit */
	SOURCE_PUSH_BUSY,		/* the collector was full: the sender should retry */
	SOURCE_PUSH_PROFILES,		/* OTLP: profiles that were left out of a request */
	SOURCE_PUSH_ERRORS
};

const char *source_push_protocol_name(enum source_push_protocol p);	/* a metric label: "otlp" */
const char *source_push_error_name(enum source_push_error e);		/* the same: "damaged" */
const char *source_file_error_name(enum source_file_error e);	/* a metric label: "damaged" */
const char *source_line_error_name(enum source_line_error e);	/* a metric label: "no_count" */

/* Counted by every source, read by any thread. */
struct source_counters {
	_Atomic uint64_t messages, lines, bytes;
	_Atomic uint64_t connections, connections_now;		/* accepted by a listener, or made to a server */
	_Atomic uint64_t connections_refused;			/* above the limit of connections or descriptors */
	_Atomic uint64_t connections_lost;			/* to a server, after they had been ready */
	_Atomic uint64_t connections_closed_by_server;			/* lost ones that a running server closed
									 * because too much was queued */
	_Atomic uint64_t messages_missed;			/* upper bound: published while disconnected, by
								 * the counters of the server */
	_Atomic uint64_t connections_closed_for_garbage;
	_Atomic uint64_t peers_unlabeled;			/* processes whose /proc could not be read for labels */
	_Atomic uint64_t connections_closed_slow;		/* they did not read answers, or held too much memory */
	_Atomic uint64_t connections_closed_idle;		/* idle, or in the middle of a command, for too
								 * long */
	_Atomic uint64_t logins_refused;			/* wrong passwords */
	_Atomic uint64_t rejected[STROBE_WIRE_ERRORS];		/* by enum strobe_wire_error */
	_Atomic uint64_t rejected_lines[SOURCE_LINE_ERRORS];
	_Atomic uint64_t rejected_memfd;			/* not sealed, not readable, wrong size */
	_Atomic uint64_t rejected_entries;			/* streams: entries without a message or a line */
	_Atomic uint64_t files;					/* files of runs, committed */
	_Atomic uint64_t rejected_files[SOURCE_FILE_ERRORS];
	_Atomic uint64_t pushes[SOURCE_PUSH_PROTOCOLS];		/* accepted */
	_Atomic uint64_t push_bytes;				/* bytes of their bodies as received */
	_Atomic uint64_t push_ids_dropped;			/* labels that only runs keep */
	_Atomic uint64_t rejected_pushes[SOURCE_PUSH_ERRORS];
	_Atomic uint64_t rejected_channel;			/* messages on channels that are not wanted */
	_Atomic int64_t last_message_ns;

	/* Counted by the collector. received = stored + dropped + in flight, exactly. With several sinks, a sample is
	 * stored when at least one sink has it and all are done with it. */
	_Atomic uint64_t samples_received, samples_stored, samples_dropped, samples_in_flight;

	/* Streams only. */
	_Atomic uint64_t lag;			/* entries not delivered to any consumer yet */
	_Atomic uint64_t pending;		/* entries handed over and not acknowledged */
	_Atomic uint64_t acked, claimed;	/* entries; claimed from consumers that are gone */
	_Atomic uint64_t lost_to_trimming;	/* entries known to be trimmed or deleted before they were read or,
						 * if pending, read again */
};

struct source;
struct batch_record;
struct buf;
struct peer_labels;

/* Identifies one entry of a source that is notified when the entry is durable. */
struct ack_token {
	uint32_t stream;			/* index of the source's stream */
	uint64_t high, low;			/* the entry's id in the stream: milliseconds and sequence in Redis */
};

/* Metadata of a message or a line. All zero is fine except for the source. */
struct message_metadata {
	struct source *source;
	const struct ack_token *ack_token;	/* NULL: none wanted. Several messages may come with one ack token */
	const char *channel;			/* channel of the message; NULL: none. The label "profiler" of a
						 * line */
	const struct labels *labels;		/* more labels; those of the message come before them. NULL: none */
	bool is_dated;				/* a run that ended at time_ns, regardless of how long ago */
	int64_t time_ns;			/* when it was sampled or sent; 0: now, or the time in the message */
	enum strobe_clock clock;		/* for lines; messages have their own */
	int64_t period_ns;			/* for lines; 0: unknown */
	uint64_t batch_id;			/* from a relay: a batch id that was seen before is skipped; 0: none */
	uint32_t part;				/* with a batch id: the number of the message in the batch, from 0 */
};

struct source_list {
	struct source *const *items;
	size_t count;
};

/* Receives what a source hands over, all in the loop's thread. Bytes live until the call returns. */
struct source_receiver {
	void (*message)(void *data, const struct message_metadata *about, const struct strobe_wire_message *m);
	/* Partial data of a run that has not ended (kinds 3 and 4), never passed to `message`. NULL: not wanted. */
	void (*open)(void *data, const struct message_metadata *about, const struct strobe_wire_message *m);
	/* Counts runs that are lost because their sender died before they ended. NULL: not counted. */
	void (*runs_killed)(void *data, uint64_t count);
	/* A line without its newline. Sources call source_line, which checks it, instead. */
	void (*line)(void *data, const struct message_metadata *about, const char *line, size_t n);
	/* A source with ack tokens has handed over all entries delivered to it before it was opened. */
	void (*caught_up)(void *data, struct source *s);
	/* A record that another collector left beside the source (see `record` below): entries with its ack tokens
	 * form the same batch again, which is complete at the next caught_up. NULL: not wanted. */
	void (*recorded)(void *data, struct source *s, const struct batch_record *r);
	/* Whether the queue is full: a source that can wait stops reading until it is not. Ask before each read. */
	bool (*full)(void *data);
	/* Bytes until the queue is at its limit, by which a source chooses how much to read at once; below 0 above the limit. NULL:
	 * no limit. */
	int64_t (*spare)(void *data);
	/* Returns 0 if messages without ack tokens would all be queued now that cost `cost` bytes
	 * (open_batch_cost_of) and have `folded_series` series once their labels are folded (open_batch_folded_key).
	 * Otherwise -EAGAIN with a sentence, or -E2BIG or -ENOSPC if their memory or series alone exceed the limit. */
	int (*room)(void *data, size_t folded_series, uint64_t cost, struct err *err);
	void *data;

	/* Set by the opener: a source that has an end has reached it. NULL: not wanted. */
	void (*ended)(void *ended_data, struct source *s);
	void *ended_data;
	const char *state;			/* a directory for its state; NULL: none. Valid while it is
						 * opened */
	const struct peer_labels *peer_labels;	/* labels of processes that connect; outlives the source. NULL: none */
	/* Other open sources; valid during the opening. The new source inherits the listening sockets of the
	 * `removed` ones, and fails with -EEXIST if it would receive the same messages as one of the `kept` ones. */
	struct source_list kept, removed;
};

struct source_ops {
	const char *scheme;					/* "unix" */
	int (*open)(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		    struct err *err);
	/* Whether a source of this URL gives ack tokens. NULL: none does. */
	bool (*acknowledges)(const char *url);
	/* Whether sources of these two URLs read the same input, so that only one of them can be open. NULL: only if the
	 * URLs are the same. */
	bool (*same_input)(const char *a, const char *b);
	/* Called when the data of these ack tokens is durable, in the loop's thread. NULL for sources without ack
	 * tokens. */
	void (*ack)(struct source *s, const struct ack_token *tokens, size_t n);
	/* Returns how many of all ack tokens given to ack, in that order, are known to be acknowledged at their origin, so
	 * that they are never redelivered. NULL: they are when ack returns. */
	uint64_t (*confirmed)(struct source *s);
	/* Stores the record of a batch beside the source, for the next consumer of its entries. In a thread of a sink, before any sink
	 * sees the batch; may take a second. False if it could not, which it logs: the batch continues without one. NULL: the
	 * entries have no other consumer. */
	bool (*record)(struct source *s, uint64_t batch_id, const struct buf *record);
	/* Called when a batch has been acknowledged. In the loop's thread, also for batches that have no record. */
	void (*forget)(struct source *s, uint64_t batch_id);
	/* Accepts nothing new; hands over data whose sender regards it as delivered. May be NULL. A second
	 * call does nothing. */
	void (*stop)(struct source *s);
	/* Hands over nothing more: without a stop before, data waiting in sockets or a pipe is left to others that have
	 * them open. */
	struct source *(*close)(struct source *s);
};

struct source {
	const struct source_ops *ops;
	char *url;				/* without passwords, to be shown */
	char *identity;				/* origin of its ack tokens, independent of other parameters of the URL. NULL: the URL */
	const char *awaited;			/* a path that could not be read when the source was opened, and is
						 * retried; NULL: none */
	int awaited_errno;			/* the reason */
	struct source_counters counters;
	struct source_receiver receiver;
	struct loop *loop;
	uint32_t batches;			/* used by the collector in the loop's thread: number of batches with its data */

	/* Private to source.c: the state, for people. */
	_Atomic bool is_up;
	char *state;
};

/* Opens "unix:/run/strobe/strobe.sock", "resp://127.0.0.1:6379", "redis://host/?channel=excimer",
 * "redis://host/?stream=strobe&group=g", "-", "file:/var/log/strobe.folded" or "runs:/var/xhprof" and adds it to the loop. A server that
 * cannot be reached now is no error: the source keeps trying. `receiver` is copied. */
int source_open(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		struct err *err);

/* Properties known from the URL alone; false for an unknown scheme. source_same_input is symmetric. */
bool source_acknowledges(const char *url);
bool source_same_input(const char *a, const char *b);

/* Shutdown in two steps: stop all sources, flush the collector, which acknowledges, then close them. Closing one that was
 * not stopped, in the turn of the loop in which it was opened, undoes the opening. */
void source_stop(struct source *s);			/* NULL is fine */
struct source *source_close(struct source *s);		/* NULL is fine; returns NULL */

const char *source_identity(const struct source *s);

bool source_takes_pushes(const struct source *s);	/* whether it is the source of push_source.h */

/* For implementations of close: frees what all sources have. */
void source_done(struct source *s);

/* Checks and counts a folded line, and hands it over if it is one. */
enum source_line_error source_line(struct source *s, struct message_metadata about, const char *line, size_t n);

/* Does the same for text of one or more lines, the last one with or without its newline; blank lines are skipped.
 * Returns how many were accepted; `err` describes the first invalid one. */
size_t source_lines(struct source *s, struct message_metadata about, const char *text, size_t n, struct err *err);

/* Checks and counts a wire message, and hands it over if it is valid. */
enum strobe_wire_error source_message(struct source *s, struct message_metadata about, const void *bytes, size_t n);

/* The same in two steps, for callers that inspect the message first. */
enum strobe_wire_error source_parse(struct source *s, const void *bytes, size_t n, struct strobe_wire_message *ret);
void source_take(struct source *s, struct message_metadata about, const struct strobe_wire_message *m);

/* Notes `path`, which lives as long as the source, as awaited if it cannot be read now. */
void source_set_awaited(struct source *s, const char *path);

/* The state of a source ("connected", "cannot connect: connection refused; tried again in 4 s"), any thread. The caller
 * that sets it logs changes. */
void source_set_state(struct source *s, bool is_up, const char *format, ...) _printf_(3, 4);
bool source_state(struct source *s, char *text, size_t size);	/* whether it is up; `text` may be cut */

#endif
