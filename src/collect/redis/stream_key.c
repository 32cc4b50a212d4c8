/* stream_key.c: one stream from the lease to new entries.
 *
 * A key restarts whenever anything went wrong: a connection was lost, the stream moved to another node, the group is
 * gone. That is safe at any time because of three things that are known here: which entries are in flight
 * (`in_flight`, until their acknowledgement is confirmed), up to which one entries were handed over (`last`), and which
 * were requested from other consumers (`claims`). Entries that Redis lists as delivered to us
 *   - are left alone while they are in flight,
 *   - are new to us behind `last`, or if they were requested: the answer that brought them was lost,
 *   - otherwise were acknowledged before, which Redis lost with its last second: they are acknowledged again.
 *
 * A Redis that restarts without its last entries gives their ids to other ones, so `last` never lies behind the last
 * id that the stream has had. New entries are requested without BLOCK: acknowledgements go over the same connection,
 * and samples can wait for a tenth of a second. */
#include "redis_stream_private.h"

#include "clock.h"
#include "log.h"
#include "mem.h"
#include "source_entry.h"

#include <assert.h>
#include <string.h>

#define LEASE_MS	"30000"
#define LEASE_RETRY_NS	(3 * NS_PER_SECOND)
#define COUNT_MAX	1000u
#define COUNT_FIRST	1u			/* until the size of entries is known */
#define READ_PAUSE_NS	(NS_PER_SECOND / 2)	/* longer than the usual time between reads */
#define ANSWER_BYTES	((size_t)4 << 20)	/* approximate size of one reply */

static void send_pending(struct stream_key *k);

/* --- Entries --- */

bool stream_entry_of(const redisReply *r, struct stream_id *ret_id, const redisReply **ret_fields)
{
	if (r->type != REDIS_REPLY_ARRAY || r->elements != 2 || r->element[0]->type != REDIS_REPLY_STRING ||
	    !stream_id_parse(r->element[0]->str, r->element[0]->len, ret_id))
		return false;
	*ret_fields = r->element[1]->type == REDIS_REPLY_ARRAY ? r->element[1] : NULL;
	return true;
}

static size_t take_fields(struct redis_stream *s, const redisReply *fields)
{
	GROW(&s->fields, &s->field_capacity, fields->elements + 1);
	for (size_t i = 0; i < fields->elements; i++) {
		const redisReply *f = fields->element[i];

		s->fields[i] = f->type == REDIS_REPLY_STRING ? (struct str){ f->str, f->len } : (struct str){ "", 0 };
	}
	return fields->elements & ~(size_t)1;
}

void stream_key_hand(struct stream_key *k, struct stream_id id, const redisReply *fields)
{
	struct redis_stream *s = k->source;
	struct ack_token token = { .stream = k->number, .high = id.ms, .low = id.seq };
	struct message_metadata about = source_hints_about(&s->options.hints);
	struct err err = { 0 };
	size_t count;

	about.source = &s->base;
	about.ack_token = &token;
	about.time_ns = id.ms < INT64_MAX / 1000000 ? (int64_t)id.ms * 1000000 : 0;
	if (!fields) {
		s->base.counters.lost_to_trimming++;
		stream_ack_one(k, id);
		return;
	}
	if (!stream_id_set_add(&k->in_flight, id))
		return;
	s->base.counters.pending++;
	count = take_fields(s, fields);		/* a separate statement, since it may move s->fields */
	if (source_entry(&s->base, about, s->fields, count, &err))
		return;
	stream_ack_one(k, id);
	if (!s->logged_bad)
		log_warning("an entry of '%s' is invalid: %s. Further ones are counted, not logged",
			    s->base.url, err.text);
	s->logged_bad = true;
}

struct measured {
	uint64_t bytes;
	int64_t spare;
};

static struct measured measure(const struct stream_key *k)
{
	const struct source *s = &k->source->base;

	return (struct measured){ s->counters.bytes, s->receiver.spare ? s->receiver.spare(s->receiver.data) : INT64_MAX };
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Sets the number of entries to request next, by the size of the last ones. Replies are accepted as a whole, so one
 * should have about ANSWER_BYTES, and no more than the queue has room for, even if all keys reply at once. */
static void adapt_count(struct stream_key *k, const struct measured *before, size_t entries)
{
	struct measured now = measure(k);
	uint64_t spare = now.spare > 0 ? (uint64_t)now.spare / k->source->key_count : 0, taken, fit;

	if (!entries)
		return;
	assert(k->count >= 1 && k->count <= COUNT_MAX);
	taken = before->spare > now.spare ? (uint64_t)before->spare - (uint64_t)now.spare : 0;
	fit = min(ANSWER_BYTES / ((now.bytes - before->bytes) / entries + 100), spare / (taken / entries + 100));
	fit = min(fit, entries == k->count ? 4 * (uint64_t)k->count : k->count);
	k->count = fit < 1 ? 1 : (unsigned)min(fit, COUNT_MAX);
}

/* Returns the entries of the only stream in a reply to XREADGROUP: [[key, [entry, …]]], or nil. */
static const redisReply *entries_of(const redisReply *reply)
{
	const redisReply *stream = reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 ? reply->element[0] : NULL;

	if (!stream || stream->type != REDIS_REPLY_ARRAY || stream->elements != 2 ||
	    stream->element[1]->type != REDIS_REPLY_ARRAY)
		return NULL;
	return stream->element[1];
}

static void restart_later(struct stream_key *k, const redisReply *reply, const char *what)
{
	struct err err = { 0 };

	/* Temporary states of the server have already been reported. */
	if (reply->type == REDIS_REPLY_ERROR && !redis_problem_is_state(redis_problem(reply))) {
		redis_problem_explain(reply, redis_connection_where(k->source->nodes[k->node]->connection), what, &err);
		stream_set_trouble(k->source, "%s", err.text);
	}
	stream_key_backoff(k, clock_monotonic_ns() + NS_PER_SECOND);
}

/* --- New entries --- */

static void on_new(struct stream_key *k, const redisReply *reply)
{
	const redisReply *entries = entries_of(reply);
	struct measured before = measure(k);

	assert(k->is_reading && k->phase == KEY_READING);
	k->is_reading = false;
	if (reply->type == REDIS_REPLY_ERROR) {
		restart_later(k, reply, "XREADGROUP");
		return;
	}
	for (size_t i = 0; entries && i < entries->elements; i++) {
		const redisReply *fields;
		struct stream_id id;

		if (!stream_entry_of(entries->element[i], &id, &fields))
			continue;
		if (stream_id_compare(id, k->last) > 0) {
			k->last = id;
			stream_key_hand(k, id, fields);
		} else if (!stream_id_set_has(&k->in_flight, id)) {
			stream_ack_one(k, id);		/* acknowledged before, but Redis lost that */
		}
	}
	stream_acks_send(k);
	k->may_be_behind = entries && entries->elements == k->count;
	if (entries && k->phase == KEY_READING)
		adapt_count(k, &before, entries->elements);
	if (k->may_be_behind && k->phase == KEY_READING)
		stream_key_read(k);
}

/* Resets the idle time of this consumer in Redis, which reading does not do if there is no new entry. Requests
 * entries behind an id that no entry has, so the reply is empty. (The largest possible id would return a new entry,
 * since Redis represents > by it.) */
static void send_heartbeat(struct stream_key *k)
{
	int64_t now = clock_monotonic_ns();

	if (now < k->alive_ns)
		return;
	k->alive_ns = now + NS_PER_SECOND;
	stream_sendf(k, NULL, "XREADGROUP GROUP %s %s COUNT 1 STREAMS %s 18446744073709551614-0",
		     k->source->options.group, k->source->options.consumer, k->name);
}

/* Since 7.2 Redis counts entries trimmed unread as read as soon as a consumer reads past them, so they can only be
 * detected before that. If the group keeps up there are none. */
static void check_before_reading(struct stream_key *k)
{
	int64_t now = clock_monotonic_ns();

	if (k->may_be_behind || now - k->read_ns > READ_PAUSE_NS)
		stream_check_lag(k, now);
	k->read_ns = now;
}

void stream_key_read(struct stream_key *k)
{
	struct redis_stream *s = k->source;

	if (k->phase == KEY_READING && !s->stopped)
		send_heartbeat(k);
	if (k->phase != KEY_READING || k->is_reading || s->stopped ||
	    (s->base.receiver.full && s->base.receiver.full(s->base.receiver.data)))
		return;
	check_before_reading(k);
	k->is_reading = true;
	stream_sendf(k, on_new, "XREADGROUP GROUP %s %s COUNT %u STREAMS %s >", s->options.group, s->options.consumer,
		     k->count, k->name);
}

/* --- Pending entries from before --- */

void stream_caught_up(struct redis_stream *s)
{
	for (unsigned i = 0; i < s->key_count; i++)
		if (!s->keys[i].caught_up)
			return;
	if (s->base.receiver.caught_up)
		s->base.receiver.caught_up(s->base.receiver.data, &s->base);
}

static void hand_pending(struct stream_key *k, struct stream_id id, const redisReply *fields)
{
	bool is_new = stream_id_compare(id, k->last) > 0;

	if (stream_id_set_has(&k->in_flight, id))
		return;
	if (is_new)
		k->last = id;
	if (is_new || stream_was_claimed(k, id))
		stream_key_hand(k, id, fields);
	else
		stream_ack_one(k, id);
}

static void end_pending(struct stream_key *k)
{
	stream_records_free(k);
	k->caught_up = true;
	k->phase = KEY_READING;
	k->may_be_behind = true;
	stream_caught_up(k->source);
	stream_records_resume(k->source);
	stream_set_trouble(k->source, NULL);
	stream_key_read(k);
}

static void on_pending(struct stream_key *k, const redisReply *reply)
{
	const redisReply *entries = entries_of(reply);
	struct measured before = measure(k);

	assert(k->phase == KEY_PENDING);
	if (reply->type == REDIS_REPLY_ERROR) {
		restart_later(k, reply, "XREADGROUP");
		return;
	}
	for (size_t i = 0; entries && i < entries->elements; i++) {
		const redisReply *fields;

		if (stream_entry_of(entries->element[i], &k->cursor, &fields))
			hand_pending(k, k->cursor, fields);
	}
	stream_acks_send(k);
	if (k->phase != KEY_PENDING)
		return;
	if (entries && entries->elements) {
		adapt_count(k, &before, entries->elements);
		send_pending(k);
		return;
	}
	stream_claim_rest(k, end_pending);
}

/* Reads pending entries even if the queue is full: replays are complete only at their end, and they are no more than
 * was in flight before. */
static void send_pending(struct stream_key *k)
{
	char cursor[STREAM_ID_TEXT];

	stream_id_format(k->cursor, cursor);
	stream_sendf(k, on_pending, "XREADGROUP GROUP %s %s COUNT %u STREAMS %s %s", k->source->options.group,
		     k->source->options.consumer, k->count, k->name, cursor);
}

/* Adopts all records: a collector of our name may have died on another machine, or its state directory is lost. */
static void adopt_records(struct stream_key *k)
{
	for (size_t i = 0; i < k->record_count; i++)
		stream_record_adopt(k, &k->records[i]);
	send_pending(k);
}

/* --- Lease, stream, group --- */

static void on_group(struct stream_key *k, const redisReply *reply)
{
	const struct stream_options *o = &k->source->options;
	enum redis_problem problem = redis_problem(reply);
	char last[STREAM_ID_TEXT];

	assert(k->phase == KEY_ASKING);
	/* A full Redis refuses this even if the group exists, and reading is what helps it. */
	if (problem != REDIS_FINE && problem != REDIS_BUSYGROUP && problem != REDIS_OOM && problem != REDIS_NOPERM) {
		restart_later(k, reply, "XGROUP CREATE");
		return;
	}
	stream_id_format(k->last, last);
	if (reply->type != REDIS_REPLY_ERROR && k->group_made)
		log_warning("the consumer group '%s' of the stream '%s' was missing, so Redis has lost data; "
			    "recreated it to read from %s", o->group, k->name, last);
	else if (reply->type != REDIS_REPLY_ERROR)
		log_info("created the consumer group '%s' of the stream '%s'; it reads from "
			 "the first entry", o->group, k->name);
	k->group_made |= problem == REDIS_FINE || problem == REDIS_BUSYGROUP;
	k->phase = KEY_PENDING;
	k->cursor = (struct stream_id){ 0 };
	stream_acks_send(k);
	stream_records_send(k);
	if (k->caught_up)
		send_pending(k);
	else
		stream_records_read(k, adopt_records);
}

static void send_group(struct stream_key *k)
{
	char last[STREAM_ID_TEXT];

	stream_id_format(k->last, last);
	stream_sendf(k, on_group, "XGROUP CREATE %s %s %s MKSTREAM", k->name, k->source->options.group, last);
}

/* Lowers `last` if the stream is missing or was reset: it will use ids again that we have seen. */
static void on_stream(struct stream_key *k, const redisReply *reply)
{
	const redisReply *text = stream_value_of(reply, "last-generated-id");
	struct stream_id last = { 0 };

	if (reply->type == REDIS_REPLY_ERROR && redis_problem(reply) != REDIS_OTHER) {
		restart_later(k, reply, "XINFO STREAM");
		return;
	}
	if (text && text->type == REDIS_REPLY_STRING)
		stream_id_parse(text->str, text->len, &last);
	if (stream_id_compare(last, k->last) < 0)
		k->last = last;
	send_group(k);
}

static void send_stream(struct stream_key *k)
{
	stream_sendf(k, on_stream, "XINFO STREAM %s", k->name);
}

/* Only lasting problems: not while Redis is full or a replica, which is reported anyway, nor while the slot moves. */
static bool is_refused(const redisReply *reply)
{
	enum redis_problem p = redis_problem(reply);

	return p != REDIS_FINE && p != REDIS_ASK && (p == REDIS_NOPERM || !redis_problem_is_state(p));
}

void stream_key_on_lease(struct stream_key *k, const redisReply *reply)
{
	struct redis_stream *s = k->source;

	if (reply->type == REDIS_REPLY_INTEGER && reply->integer > 0) {
		stream_set_trouble(s, "another collector reads '%s' as the consumer '%s' of the group '%s'; give one "
				      "of them another name by consumer=NAME. Retrying until that one is gone",
				   k->name, s->options.consumer, s->options.group);
		stream_key_backoff(k, clock_monotonic_ns() + LEASE_RETRY_NS);
		return;
	}
	if (is_refused(reply) && !s->logged_lease) {
		log_warning("cannot prevent another collector from reading '%s' as the consumer '%s': Redis "
			    "refuses the script: %s", s->base.url, s->options.consumer, reply->str);
		s->logged_lease = true;
	}
	if (k->phase == KEY_ASKING)
		send_stream(k);
}

/* Requests the lease. Replies 0 if it is ours, otherwise the milliseconds until another collector's lease expires. */
void stream_key_send_lease(struct stream_key *k)
{
	static const char script[] =
		"local v = redis.call('GET', KEYS[1]) "
		/* allowed even if Redis is out of memory */
		"if v == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 0 end "
		"if v == false then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 0 end "
		"return redis.call('PTTL', KEYS[1])";

	k->lease_ns = clock_monotonic_ns() + 5 * NS_PER_SECOND;
	stream_sendf(k, stream_key_on_lease, "EVAL %s 1 %s %s " LEASE_MS, script, k->lease, k->source->token);
}

void stream_key_start(struct stream_key *k)
{
	if (k->phase != KEY_AWAY || k->source->stopped)
		return;
	k->phase = KEY_ASKING;
	if (k->asking)			/* the lease may not have moved yet, and must not be recreated before it does */
		send_stream(k);
	else
		stream_key_send_lease(k);
}

void stream_key_backoff(struct stream_key *k, int64_t retry_ns)
{
	k->generation++;
	if (k->phase >= KEY_PENDING && k->count > 1)
		k->count = k->count > 4 * COUNT_FIRST ? COUNT_FIRST : (k->count + 3) / 4;
	if (!k->count)
		k->count = COUNT_FIRST;
	k->phase = KEY_AWAY;
	k->retry_ns = retry_ns;
	k->is_reading = k->is_claiming = false;
	k->trim_left = 0;
	k->ended_sent = 0;
	stream_acks_reset(k);
}
