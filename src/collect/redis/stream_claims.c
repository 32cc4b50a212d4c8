/* stream_claims.c: entries of consumers that are gone.
 *
 * First they become ours, those of one batch (stream_records.c) by one command; then they are read, a few at a time.
 * If something fails between the two, they are in our list of pending entries, and the claims are known (`claims`).
 *
 * Whoever has an entry of a recorded batch needs all of them, since sinks take only the first that comes by its id. The
 * consumer that is gone may be back, and have begun to read them. So in the end the missing entries of such a batch are
 * claimed from any consumer: then several collectors may have the whole batch, and it is stored once.
 *
 * An entry that was deleted while it was pending cannot be claimed: Redis 7 drops it from the list without a word, earlier
 * ones return nil. So those that were listed and did not come are looked up in the stream: another collector was faster,
 * or they are lost. */
#include "redis_stream_private.h"

#include "log.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

#define AT_ONCE	100u

static void request_claimable(struct stream_key *k);
static void request_content(struct stream_key *k);
static void add(struct stream_key *k, struct stream_id id);
static void look_up_listed(struct stream_key *k);

bool stream_was_claimed(const struct stream_key *k, struct stream_id id)
{
	for (size_t i = 0; i < k->claim_count; i++)
		if (!stream_id_compare(k->claims[i], id))
			return true;
	return false;
}

static void end_claims(struct stream_key *k)
{
	k->is_claiming = false;
	stream_records_free(k);
}

static void end_round(struct stream_key *k)
{
	size_t claimed = k->claimed;
	bool any = claimed || k->listed_lost;

	k->is_claiming = false;
	if (claimed)
		log_info("claimed %zu %s of '%s' from the consumer '%s', which is gone", claimed, claimed == 1 ? "entry" : "entries", k->name,
			 k->claim_from);
	stream_caught_up(k->source);
	stream_acks_send(k);
	if (any && k->phase == KEY_READING)
		request_claimable(k);
	else
		stream_records_free(k);
}

static void on_listed(struct stream_key *k, const redisReply *reply)
{
	struct stream_id id;

	assert(k->is_claiming && k->listed_count > 0);
	id = k->listed[k->listed_count - 1];
	k->listed_count--;
	if (reply->type == REDIS_REPLY_ARRAY && !reply->elements && !stream_id_set_has(&k->in_flight, id)) {
		k->listed_lost++;
		stream_key_hand(k, id, NULL);
	}
	look_up_listed(k);
}

static void look_up_listed(struct stream_key *k)
{
	char id[STREAM_ID_TEXT];

	if (!k->listed_count) {
		end_round(k);
		return;
	}
	k->is_claiming = true;
	stream_id_format(k->listed[k->listed_count - 1], id);
	stream_sendf(k, on_listed, "XRANGE %s %s %s", k->name, id, id);
}

static void remove_listed(struct stream_key *k, struct stream_id id)
{
	for (size_t i = 0; i < k->listed_count; i++)
		if (!stream_id_compare(k->listed[i], id)) {
			k->listed[i] = k->listed[--k->listed_count];
			return;
		}
}

static void on_content(struct stream_key *k, const redisReply *reply)
{
	struct redis_stream *s = k->source;

	assert(k->is_claiming);
	for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
		const redisReply *fields;
		struct stream_id id;

		if (!stream_entry_of(reply->element[i], &id, &fields))
			continue;
		remove_listed(k, id);
		if (stream_id_set_has(&k->in_flight, id))
			continue;
		stream_key_hand(k, id, fields);
		k->claimed++;
		s->base.counters.claimed++;
	}
	request_content(k);
}

/* Sends XCLAIM for `n` claims, starting at `first`. */
static void claim(struct stream_key *k, size_t first, size_t n, int64_t idle_ns, bool ids_only, stream_reply_fn *fn)
{
	const struct stream_options *o = &k->source->options;
	const char **argv = xcalloc(n + 6, sizeof(*argv));
	size_t *sizes = xcalloc(n + 6, sizeof(*sizes));
	char(*texts)[STREAM_ID_TEXT] = xcalloc(n, sizeof(*texts));
	char idle[24];
	int argc = 0;

	assert(k->is_claiming && n > 0 && first + n <= k->claim_count);
	snprintf(idle, sizeof(idle), "%lld", (long long)(idle_ns / 1000000));
	argv[argc++] = "XCLAIM";
	argv[argc++] = k->name;
	argv[argc++] = o->group;
	argv[argc++] = o->consumer;
	argv[argc++] = idle;
	for (int i = 0; i < argc; i++)
		sizes[i] = strlen(argv[i]);
	for (size_t i = 0; i < n; i++, argc++) {
		argv[argc] = texts[i];
		sizes[argc] = stream_id_format(k->claims[first + i], texts[i]);
	}
	if (ids_only) {
		argv[argc] = "JUSTID";
		sizes[argc++] = strlen("JUSTID");
	}
	stream_send(k, fn, argc, argv, sizes);
	free(texts);
	free(sizes);
	free(argv);
}

static void request_content(struct stream_key *k)
{
	size_t n = k->claim_count - k->claim_at, first = k->claim_at;

	assert(k->claim_at <= k->claim_count);
	if (!n) {
		k->is_claiming = false;
		k->claim_count = 0;
		k->claims_read(k);
		return;
	}
	n = n < AT_ONCE ? n : AT_ONCE;
	k->claim_at += n;
	claim(k, first, n, 0, false, on_content);
}

/* Adds the entries of a batch that were not delivered to us, if others of it were. */
static void add_missing(struct stream_key *k, const struct stream_record *r)
{
	const struct batch_record_share *s = &r->content.shares[0];
	size_t before = k->claim_count;

	for (size_t i = 0; i < s->ack_token_count; i++) {
		struct stream_id id = { s->ack_tokens[i].high, s->ack_tokens[i].low };

		if (!stream_id_set_has(&k->in_flight, id))
			add(k, id);
	}
	if (k->claim_count - before == s->ack_token_count)
		k->claim_count = before;
}

/* Claims the missing entries of adopted batches. Acknowledged entries are no longer pending, so claiming them has no
 * effect. */
void stream_claim_rest(struct stream_key *k, void (*then)(struct stream_key *k))
{
	k->claims_read = then;
	k->claim_count = k->claim_at = 0;
	for (size_t i = 0; i < k->record_count; i++)
		if (k->records[i].adopted)
			add_missing(k, &k->records[i]);
	k->is_claiming = true;
	request_content(k);
}

static void claim_rest(struct stream_key *k)
{
	stream_claim_rest(k, look_up_listed);
}

/* Receives the ids that were claimed. Another collector may have been faster for some. */
static void on_claimed_ids(struct stream_key *k, const redisReply *reply)
{
	size_t n = 0;

	assert(k->is_claiming && k->claim_count > 0);
	for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements && n < k->claim_count; i++) {
		const redisReply *id = reply->element[i];

		if (id->type == REDIS_REPLY_STRING && stream_id_parse(id->str, id->len, &k->claims[n]))
			n++;
	}
	k->claim_count = n;
	k->claim_at = k->claimed = 0;
	k->claims_read = claim_rest;
	request_content(k);
}

static void add(struct stream_key *k, struct stream_id id)
{
	GROW(&k->claims, &k->claim_capacity, k->claim_count + 1);
	k->claims[k->claim_count++] = id;
}

/* Adds the whole batch of an entry. */
static void add_batch(struct stream_key *k, struct stream_record *r)
{
	const struct batch_record_share *s = &r->content.shares[0];

	if (r->claimed)
		return;
	r->claimed = true;
	stream_record_adopt(k, r);
	for (size_t i = 0; i < s->ack_token_count; i++)
		add(k, (struct stream_id){ s->ack_tokens[i].high, s->ack_tokens[i].low });
}

/* Receives rows of id, consumer, milliseconds since delivery, number of deliveries. */
static void on_claimable(struct stream_key *k, const redisReply *reply)
{
	int64_t idle_ms = k->source->options.claim_idle_ns / 1000000;

	assert(k->is_claiming);
	k->claim_count = k->listed_count = k->listed_lost = 0;
	for (size_t i = 0; i < k->record_count; i++)
		k->records[i].claimed = false;
	for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
		const redisReply *row = reply->element[i];
		struct stream_record *r;
		struct stream_id id;

		if (row->type != REDIS_REPLY_ARRAY || row->elements < 3 ||
		    row->element[0]->type != REDIS_REPLY_STRING || row->element[2]->type != REDIS_REPLY_INTEGER ||
		    row->element[2]->integer < idle_ms ||
		    !stream_id_parse(row->element[0]->str, row->element[0]->len, &id))
			continue;
		GROW(&k->listed, &k->listed_capacity, k->listed_count + 1);
		k->listed[k->listed_count++] = id;
		r = stream_record_of(k, id);
		if (r)
			add_batch(k, r);
		else
			add(k, id);
	}
	if (k->claim_count)
		claim(k, 0, k->claim_count, k->source->options.claim_idle_ns, true, on_claimed_ids);
	else
		end_claims(k);
}

static void request_claimable(struct stream_key *k)
{
	struct redis_stream *s = k->source;

	k->is_claiming = !s->stopped && !(s->base.receiver.full && s->base.receiver.full(s->base.receiver.data));
	if (!k->is_claiming)
		end_claims(k);
	else
		stream_sendf(k, on_claimable, "XPENDING %s %s - + %u %s", k->name, s->options.group, AT_ONCE,
			     k->claim_from);
}

void stream_claim(struct stream_key *k, const char *consumer)
{
	assert(!k->is_claiming);
	free(k->claim_from);
	k->claim_from = xstrdup(consumer);
	k->is_claiming = true;
	stream_records_read(k, request_claimable);
}
