/* redis_stream_private.h: the parts of the source that reads streams.
 *
 *   redis_stream.c     the source: its nodes, their connections, and the clock
 *   stream_options.c   its URL
 *   stream_key.c       one stream: lease, group, what was pending, then new entries
 *   stream_acks.c entries in flight, and their acknowledgement
 *   stream_records.c records of batches in flight, beside the stream
 *   stream_claims.c    entries of consumers that are gone
 *   stream_maintenance.c    lease, lag, consumers that are gone, trimming
 */
#ifndef COLLECT_REDIS_STREAM_PRIVATE_H
#define COLLECT_REDIS_STREAM_PRIVATE_H

#include "batch_record.h"
#include "cluster.h"
#include "connection.h"
#include "intern.h"
#include "lock.h"
#include "redis_stream.h"
#include "source_url.h"
#include "stream_ids.h"

#include <hiredis/hiredis.h>

#define STREAM_KEYS	CLUSTER_KEYS

struct stream_options {
	struct redis_url url;
	char *stream, *group, *consumer;
	unsigned keys;				/* 0: the stream itself */
	int64_t claim_idle_ns;
	bool trim;
	struct source_hints hints;
};

/* Call stream_options_done also after an error. */
int stream_options_parse(const char *url, struct stream_options *ret, struct err *err);
void stream_options_done(struct stream_options *o);

/* One call of `ack`, of whose ack tokens `left` are not confirmed yet. */
struct ack_call {
	size_t count, left;
	struct ack_call *next;
};

enum key_phase {
	KEY_AWAY,			/* no connection, or waiting until `retry_ns` */
	KEY_ASKING,			/* for the lease, the stream, the group */
	KEY_PENDING,			/* entries delivered to us before */
	KEY_READING,
};

struct redis_stream;
struct redis_client;

/* The record of a batch, as read from Redis. */
struct stream_record {
	struct batch_record content;		/* one share */
	struct stream_id_set ids;
	struct stream_id first, last;
	bool adopted;				/* the collector has been notified of it */
	bool claimed;				/* in this round */
};

/* One stream, which lies on one node. */
struct stream_key {
	struct redis_stream *source;
	char *name, *lease;
	unsigned number, node;
	bool asking;			/* the node is importing the slot: each command is preceded by ASKING */

	enum key_phase phase;
	unsigned generation;		/* replies to commands sent before it changed are ignored */
	int64_t retry_ns;		/* monotonic */
	bool group_made;		/* the group was created or found by this process */
	bool is_reading;		/* an XREADGROUP is in flight */
	bool may_be_behind;		/* the last one returned as many entries as requested */
	int64_t read_ns;		/* when the last one was sent, monotonic */
	bool caught_up;
	struct stream_id last;		/* the last entry handed over of those that arrived in order */
	struct stream_id cursor;	/* position in KEY_PENDING */
	unsigned count;			/* entries to request at once */

	/* handed over or rejected, and not confirmed as acknowledged */
	struct stream_id_set in_flight;
	/* finished entries */
	struct stream_ack { struct stream_id id; struct ack_call *call; } *acks;
	size_t ack_first, ack_sent, ack_end, ack_capacity;

	/* upkeep */
	int64_t lease_ns, lag_ns, claim_ns, records_ns, trim_ns, alive_ns;	/* when each is next */
	uint64_t lag, lost, lost_unlogged;
	int64_t next_lost_log_ns;
	bool is_claiming;
	char *claim_from;			/* the dead consumer whose entries are being claimed */
	struct stream_id *claims;		/* requested, until their content arrives */
	size_t claim_count, claim_capacity, claim_at, claimed;
	void (*claims_read)(struct stream_key *k);
	struct stream_id *listed;		/* pending entries of `claim_from` that have not been read yet */
	size_t listed_count, listed_capacity, listed_lost;
	struct stream_record *records;		/* the records as last read */
	size_t record_count, record_capacity, records_checked;
	void (*records_read)(struct stream_key *k);
	uint64_t *ended;			/* batches whose records have to be deleted; `ended_sent` of them
						 * are requested */
	size_t ended_count, ended_sent, ended_capacity;
	struct stream_seen { uint64_t added, length; struct stream_id first, last; bool known; } seen;
	struct stream_id trim_to;
	unsigned trim_left;			/* groups whose replies are pending */
};

/* A node that holds some key. */
struct stream_node {
	struct redis_stream *source;
	unsigned number;
	struct redis_connection *connection;	/* NULL: none yet */
	bool is_up, requesting_map;
	int64_t down_ns;
};

struct redis_stream {
	struct source base;
	struct stream_options options;
	char token[17];				/* marks our leases */
	struct watch timer;
	struct cluster cluster;
	struct stream_node **nodes;		/* indexed by node number in `cluster` */
	size_t node_count, node_capacity;
	struct stream_key *keys;
	unsigned key_count;
	bool stopped;
	char *records_key;
	struct stream_recorder {		/* used by the threads of sinks */
		struct lock lock;
		struct redis_client *client;	/* NULL: none yet */
		int64_t retry_ns;
		_Atomic unsigned resumed;	/* how often Redis was back; counted by the loop */
		unsigned failed_at;		/* `resumed` when the last failed attempt began */
		bool failing;
	} recorder;

	struct pending_command *commands;	/* commands without a reply yet */
	struct ack_call *first_call, **last_call;
	uint64_t confirmed;

	struct str *fields;			/* fields of the current entry */
	size_t field_capacity;
	bool logged_bad, logged_lease, logged_trim, logged_up, logged_records;
	int64_t map_ns;				/* when the map of the cluster may be requested again */
	char *trouble;				/* problem of a key, to be shown; NULL: none */
};

/* --- redis_stream.c --- */

typedef void stream_reply_fn(struct stream_key *k, const redisReply *reply);

/* Sends a command to the key's node. The reply is delivered unless the connection is lost or the key restarts meanwhile;
 * for MOVED, NOGROUP and temporary errors the key restarts instead. Other errors are delivered. */
void stream_send(struct stream_key *k, stream_reply_fn *fn, int argc, const char **argv, const size_t *sizes);
void stream_sendf(struct stream_key *k, stream_reply_fn *fn, const char *format, ...);

/* The name of another key in the slot of a stream's: {strobe}:KIND:NAME, or {strobe}:KIND:NAME:MORE. */
char *stream_sibling(const char *key, const char *kind, const char *name, const char *more);

/* Sets the reason, for people, why a key cannot be read; NULL clears it. */
void stream_set_trouble(struct redis_stream *s, const char *format, ...) _printf_(2, 3);

/* --- stream_key.c --- */

void stream_key_start(struct stream_key *k);			/* its node is ready */
void stream_key_send_lease(struct stream_key *k);
void stream_key_on_lease(struct stream_key *k, const redisReply *reply);
void stream_key_backoff(struct stream_key *k, int64_t retry_ns);	/* restarts after that, monotonic */
void stream_key_read(struct stream_key *k);			/* if there is room */

/* Tells the collector that everything delivered to us before has been handed over, if that is so for all keys. */
void stream_caught_up(struct redis_stream *s);

/* Hands an entry over; `fields` is NULL if the entry no longer exists. */
void stream_key_hand(struct stream_key *k, struct stream_id id, const redisReply *fields);

/* Parses an entry of an answer: its id and fields. False if malformed. */
bool stream_entry_of(const redisReply *r, struct stream_id *ret_id, const redisReply **ret_fields);

/* --- stream_acks.c --- */

void stream_ack(struct source *s, const struct ack_token *tokens, size_t n);
uint64_t stream_confirmed(struct source *s);
void stream_ack_one(struct stream_key *k, struct stream_id id);	/* immediately, for entries that the collector does
								 * not have */
void stream_acks_send(struct stream_key *k);			/* sends pending acknowledgements */
void stream_acks_reset(struct stream_key *k);			/* marks all as unsent */
void stream_acks_at_end(struct redis_stream *s);		/* waits some seconds for Redis */

/* --- stream_records.c --- */

void stream_records_init(struct redis_stream *s);		/* its keys have their names */
void stream_records_done(struct redis_stream *s);
bool stream_record(struct source *s, uint64_t batch_id, const struct buf *record);
void stream_forget(struct source *s, uint64_t batch_id);
void stream_records_resume(struct redis_stream *s);		/* Redis is reachable: the next batch is recorded */
void stream_records_send(struct stream_key *k);			/* sends pending deletions */
void stream_records_read(struct stream_key *k, void (*then)(struct stream_key *k));	/* into k->records */
void stream_records_check(struct stream_key *k);		/* deletes records of finished batches; nothing may
								 * be claimed meanwhile */
void stream_records_free(struct stream_key *k);

/* The record that contains this entry; NULL: none does. */
struct stream_record *stream_record_of(struct stream_key *k, struct stream_id id);
void stream_record_adopt(struct stream_key *k, struct stream_record *r);	/* notifies the collector, once */

/* --- stream_claims.c --- */

void stream_claim(struct stream_key *k, const char *consumer);	/* all pending entries of this dead consumer */
bool stream_was_claimed(const struct stream_key *k, struct stream_id id);

/* Claims the rest of batches of which a part was delivered to us, from any consumer. */
void stream_claim_rest(struct stream_key *k, void (*then)(struct stream_key *k));

/* --- stream_maintenance.c --- */

/* Returns the value of a name in a list of names and values; NULL if it is missing. */
const redisReply *stream_value_of(const redisReply *list, const char *name);

void stream_maintenance(struct stream_key *k, int64_t now_ns);	/* the key is being read */
void stream_check_lag(struct stream_key *k, int64_t now_ns);		/* measures the group's lag, and entries trimmed unread */

#endif
