/* stream_records.c: the records of batches, in a hash beside the stream: {strobe}:batches:GROUP, from the batch's id to
 * what batch_record.h says.
 *
 * A batch that a sink may have seen, wholly or in part, and that is not acknowledged is rebuilt by the next consumer of
 * its entries: by this collector after a crash, by one of its name on another machine, or by one that claims them
 * (stream_claims.c). A stream with several keys has no records, since no command reaches the nodes of all keys.
 *
 * The threads of sinks write records, over a connection of their own, and wait for the answer; the loop does all else.
 * A batch is acknowledged before its record is deleted. A record that stays, since its collector died between the two, is
 * deleted by a collector that finds none of its entries pending: each checks the records once a minute. */
#include "redis_stream_private.h"

#include "clock.h"
#include "log.h"
#include "mem.h"
#include "redis_client.h"

#include <assert.h>
#include <string.h>

#define TIMEOUT_NS	(1 * NS_PER_SECOND)	/* a sink waits this long, */
#define RETRY_NS	(10 * NS_PER_SECOND)	/* but while it fails no more often than this, until the stream is read again */
#define MOVES_MAX	3
#define FORGET_AT_ONCE	100u
#define RECORDS_MAX	10000u
#define RECORD_BYTES	((size_t)2 << 20)	/* 500,000 entries; reading takes 40 times as much */
#define RECORDS_BYTES	((size_t)4 << 20)	/* for all records together */
#define NAME_SIZE	17u			/* a field: 16 hex digits and a NUL */

static bool has_records(const struct redis_stream *s)
{
	return s->key_count == 1;
}

void stream_records_init(struct redis_stream *s)
{
	lock_init(&s->recorder.lock);
	s->records_key = stream_sibling(s->keys[0].name, "batches", s->options.group, NULL);
}

void stream_records_done(struct redis_stream *s)
{
	redis_client_free(s->recorder.client);
	lock_done(&s->recorder.lock);
	free(s->records_key);
}

/* --- Writing, in a sink's thread --- */

static int ask_once(struct redis_client *c, const char *key, const char *name, const struct buf *record, bool asking,
		    redisReply **ret, struct err *err)
{
	int r = asking ? redis_client_commandf(c, ret, err, "ASKING") : 0;

	if (r < 0)
		return r;
	if (asking)
		freeReplyObject(*ret);
	*ret = NULL;
	return redis_client_commandf(c, ret, err, "HSET %s %s %b", key, name, record->data, record->size);
}

static int explain(const struct redis_client *c, const redisReply *reply, struct err *err)
{
	int r = reply->type == REDIS_REPLY_INTEGER ? 0 : -EIO;

	if (r < 0)
		redis_problem_explain(reply, redis_client_address(c), "HSET", err);
	return r;
}

static int write_record(struct redis_client *c, const char *key, const char *name, const struct buf *record,
			struct err *err)
{
	bool asking = false;

	for (int i = 0; i <= MOVES_MAX; i++) {
		bool was_connected = redis_client_is_connected(c);
		redisReply *reply = NULL;
		int r = ask_once(c, key, name, record, asking, &reply, err);

		if (r < 0 && (!was_connected || (r != -ECONNRESET && r != -EPIPE)))
			return r;
		if (r < 0)
			continue;		/* an idle connection may have been closed, so retry */
		r = redis_client_follow(c, reply, &asking) ? 1 : explain(c, reply, err);
		freeReplyObject(reply);
		if (r <= 0)
			return r;
	}
	return err_set(err, -ELOOP, "no node of the cluster takes '%s'; check CLUSTER NODES", key);
}

static void note_failure(struct stream_recorder *r, const struct redis_stream *s, const struct err *err)
{
	if (!r->failing)
		log_warning("cannot record the batches of '%s' beside the stream: %s. If this collector dies, others may count "
			    "its last second twice",
			    s->base.url, err->text);
	r->failing = true;
	r->retry_ns = clock_monotonic_ns() + RETRY_NS;
	r->client = redis_client_free(r->client);	/* the next client starts at the address of the URL */
}

static bool try_record(struct stream_recorder *r, const struct redis_stream *s, const char *name, const struct buf *record)
{
	unsigned resumed = r->resumed;
	struct err err = { 0 };

	assert(lock_is_held(&r->lock));
	if (resumed == r->failed_at && clock_monotonic_ns() < r->retry_ns)
		return false;
	if (!r->client)
		r->client = redis_client_new(&s->options.url, "strobe-records", TIMEOUT_NS, TIMEOUT_NS);
	if (write_record(r->client, s->records_key, name, record, &err) < 0) {
		note_failure(r, s, &err);
		r->failed_at = resumed;		/* Redis may have come back while this attempt waited */
		return false;
	}
	r->failing = false;
	return true;
}

bool stream_record(struct source *base, uint64_t batch_id, const struct buf *record)
{
	struct redis_stream *s = (struct redis_stream *)base;
	char name[NAME_SIZE];
	bool recorded;

	if (!has_records(s) || record->size > RECORD_BYTES)
		return true;		/* it will never be recorded */
	snprintf(name, sizeof(name), "%016llx", (unsigned long long)batch_id);
	lock_take(&s->recorder.lock);
	recorded = try_record(&s->recorder, s, name, record);
	lock_release(&s->recorder.lock);
	return recorded;
}

void stream_records_resume(struct redis_stream *s)
{
	s->recorder.resumed++;
}

/* --- Deleting --- */

static void on_forgotten(struct stream_key *k, const redisReply *reply)
{
	assert(k->ended_sent <= k->ended_count);
	memmove(k->ended, k->ended + k->ended_sent, (k->ended_count - k->ended_sent) * sizeof(*k->ended));
	k->ended_count -= k->ended_sent;
	k->ended_sent = 0;
	stream_records_send(k);
}

void stream_records_send(struct stream_key *k)
{
	char names[FORGET_AT_ONCE][NAME_SIZE];
	const char *argv[FORGET_AT_ONCE + 2] = { "HDEL", k->source->records_key };
	size_t sizes[FORGET_AT_ONCE + 2] = { 4, strlen(k->source->records_key) };
	size_t n = k->ended_count < FORGET_AT_ONCE ? k->ended_count : FORGET_AT_ONCE;

	assert(has_records(k->source) || !k->ended_count);
	if (k->phase < KEY_PENDING || k->ended_sent || !n)
		return;
	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], NAME_SIZE, "%016llx", (unsigned long long)k->ended[i]);
		argv[i + 2] = names[i];
		sizes[i + 2] = NAME_SIZE - 1;
	}
	k->ended_sent = n;
	stream_send(k, on_forgotten, (int)n + 2, argv, sizes);
}

static void forget(struct stream_key *k, uint64_t batch_id)
{
	GROW(&k->ended, &k->ended_capacity, k->ended_count + 1);
	k->ended[k->ended_count++] = batch_id;
}

void stream_forget(struct source *base, uint64_t batch_id)
{
	struct redis_stream *s = (struct redis_stream *)base;

	if (!has_records(s))
		return;
	forget(&s->keys[0], batch_id);
	stream_records_send(&s->keys[0]);
}

/* --- Reading --- */

static void free_record(struct stream_record *r)
{
	batch_record_done(&r->content);
	stream_id_set_done(&r->ids);
}

void stream_records_free(struct stream_key *k)
{
	for (size_t i = 0; i < k->record_count; i++)
		free_record(&k->records[i]);
	k->record_count = 0;
}

/* Other programs might write to the hash, too, so anything that is not a record is ignored. */
static bool read_record(const redisReply *name, const redisReply *value, size_t spare, struct stream_record *ret)
{
	struct strobe_wire_cursor c;
	char own_name[NAME_SIZE];

	*ret = (struct stream_record){ 0 };
	if (name->type != REDIS_REPLY_STRING || value->type != REDIS_REPLY_STRING || value->len > RECORD_BYTES ||
	    value->len > spare)
		return false;
	c = (struct strobe_wire_cursor){ (const uint8_t *)value->str, (const uint8_t *)value->str + value->len };
	if (!batch_record_read(&c, &ret->content) || ret->content.share_count != 1 ||
	    !ret->content.shares[0].ack_token_count)
		return false;
	snprintf(own_name, sizeof(own_name), "%016llx", (unsigned long long)ret->content.id);
	if (strcmp(name->str, own_name))
		return false;
	ret->first = (struct stream_id){ UINT64_MAX, UINT64_MAX };
	for (size_t i = 0; i < ret->content.shares[0].ack_token_count; i++) {
		const struct ack_token *t = &ret->content.shares[0].ack_tokens[i];
		struct stream_id id = { t->high, t->low };

		if (t->stream || (!id.ms && !id.seq))
			return false;
		stream_id_set_add(&ret->ids, id);
		if (stream_id_compare(id, ret->first) < 0)
			ret->first = id;
		if (stream_id_compare(id, ret->last) > 0)
			ret->last = id;
	}
	return true;
}

static void on_range(struct stream_key *k, const redisReply *reply)
{
	assert(k->records_checked < k->record_count);
	if (reply->type == REDIS_REPLY_ARRAY && !reply->elements)
		forget(k, k->records[k->records_checked].content.id);
	if (++k->records_checked == k->record_count)
		stream_records_send(k);
}

/* A record without any pending entry from its first to its last is obsolete. */
static void check_records(struct stream_key *k)
{
	k->records_checked = 0;
	for (size_t i = 0; i < k->record_count; i++) {
		char first[STREAM_ID_TEXT], last[STREAM_ID_TEXT];

		stream_id_format(k->records[i].first, first);
		stream_id_format(k->records[i].last, last);
		stream_sendf(k, on_range, "XPENDING %s %s %s %s 1", k->name, k->source->options.group, first, last);
		if (k->phase == KEY_AWAY)
			return;
	}
}

static void on_records(struct stream_key *k, const redisReply *reply)
{
	struct redis_stream *s = k->source;
	unsigned generation = k->generation;
	size_t spare = RECORDS_BYTES;

	if (reply->type == REDIS_REPLY_ERROR && !s->logged_records)
		log_warning("cannot read the records of batches at '%s': %s. Entries that are claimed from a collector that died "
			    "may count twice",
			    s->base.url, reply->str);
	s->logged_records |= reply->type == REDIS_REPLY_ERROR;
	stream_records_free(k);
	for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i + 1 < reply->elements && k->record_count < RECORDS_MAX; i += 2) {
		struct stream_record r;

		if (!read_record(reply->element[i], reply->element[i + 1], spare, &r)) {
			free_record(&r);
			continue;
		}
		spare -= reply->element[i + 1]->len;
		GROW(&k->records, &k->record_capacity, k->record_count + 1);
		k->records[k->record_count++] = r;
	}
	check_records(k);
	if (k->generation == generation)
		k->records_read(k);
}

void stream_records_read(struct stream_key *k, void (*then)(struct stream_key *k))
{
	k->records_read = then;
	if (has_records(k->source))
		stream_sendf(k, on_records, "HGETALL %s", k->source->records_key);
	else
		then(k);
}

static void end_check(struct stream_key *k)
{
	k->is_claiming = false;
}

void stream_records_check(struct stream_key *k)
{
	assert(!k->is_claiming);
	k->is_claiming = true;		/* one reader of the records at a time */
	stream_records_read(k, end_check);
}

struct stream_record *stream_record_of(struct stream_key *k, struct stream_id id)
{
	for (size_t i = 0; i < k->record_count; i++)
		if (stream_id_set_has(&k->records[i].ids, id))
			return &k->records[i];
	return NULL;
}

void stream_record_adopt(struct stream_key *k, struct stream_record *r)
{
	struct source *s = &k->source->base;

	if (!r->adopted && s->receiver.recorded)
		s->receiver.recorded(s->receiver.data, s, &r->content);
	r->adopted = true;
}
