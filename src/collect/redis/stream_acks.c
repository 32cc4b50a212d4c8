/* stream_acks.c: acknowledges finished entries, until Redis has confirmed it. */
#include "redis_stream_private.h"

#include "redis_client.h"
#include "clock.h"
#include "log.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

#define ACKS_AT_ONCE	500u
#define END_TIMEOUT_NS	(1 * NS_PER_SECOND)	/* timeout of one request; the loop waits for it */
#define END_MOST_NS	(3 * NS_PER_SECOND)	/* for all requests together */

static void confirm_calls(struct redis_stream *s)
{
	while (s->first_call && !s->first_call->left) {
		struct ack_call *call = s->first_call;

		s->confirmed += call->count;
		s->first_call = call->next;
		if (!s->first_call)
			s->last_call = &s->first_call;
		free(call);
	}
}

static void put(struct stream_key *k, struct stream_id id, struct ack_call *call)
{
	assert(k->ack_first <= k->ack_sent && k->ack_sent <= k->ack_end && k->ack_end <= k->ack_capacity);
	if (k->ack_first == k->ack_end) {
		k->ack_first = k->ack_sent = k->ack_end = 0;
	} else if (k->ack_first > 4096 && k->ack_first > k->ack_end / 2) {
		memmove(k->acks, k->acks + k->ack_first, (k->ack_end - k->ack_first) * sizeof(*k->acks));
		k->ack_sent -= k->ack_first;
		k->ack_end -= k->ack_first;
		k->ack_first = 0;
	}
	GROW(&k->acks, &k->ack_capacity, k->ack_end + 1);
	k->acks[k->ack_end++] = (struct stream_ack){ id, call };
}

static void confirm(struct stream_key *k, size_t n)
{
	struct redis_stream *s = k->source;

	assert(n <= k->ack_sent - k->ack_first);
	for (; n; n--) {
		struct stream_ack *a = &k->acks[k->ack_first++];

		stream_id_set_remove(&k->in_flight, a->id);
		assert((!a->call || a->call->left > 0) && s->base.counters.pending > 0);
		if (a->call)
			a->call->left--;
		s->base.counters.acked++;
		s->base.counters.pending--;
	}
	confirm_calls(s);
}

static void acked(struct stream_key *k, const redisReply *reply)
{
	if (reply->type != REDIS_REPLY_INTEGER) {
		stream_key_backoff(k, clock_monotonic_ns() + NS_PER_SECOND);
		return;
	}
	confirm(k, k->ack_sent - k->ack_first);
	stream_acks_send(k);
}

/* Builds XACK key group id … in arrays of ACKS_AT_ONCE + 3. */
static int command(const struct stream_key *k, size_t first, size_t n, char (*texts)[STREAM_ID_TEXT], const char **argv,
		   size_t *sizes)
{
	const char *const head[] = { "XACK", k->name, k->source->options.group };
	int argc = 0;

	assert(n <= ACKS_AT_ONCE && first + n <= k->ack_end);
	for (; argc < 3; argc++) {
		argv[argc] = head[argc];
		sizes[argc] = strlen(head[argc]);
	}
	for (size_t i = 0; i < n; i++, argc++) {
		argv[argc] = texts[i];
		sizes[argc] = stream_id_format(k->acks[first + i].id, texts[i]);
	}
	return argc;
}

/* Sends one command at a time, so that its reply covers everything sent. */
void stream_acks_send(struct stream_key *k)
{
	static char texts[ACKS_AT_ONCE][STREAM_ID_TEXT];
	static const char *argv[ACKS_AT_ONCE + 3];
	static size_t sizes[ACKS_AT_ONCE + 3];
	size_t n = k->ack_end - k->ack_sent;

	if (k->phase < KEY_PENDING || k->ack_sent > k->ack_first || !n)
		return;
	if (n > ACKS_AT_ONCE)
		n = ACKS_AT_ONCE;
	k->ack_sent += n;
	stream_send(k, acked, command(k, k->ack_first, n, texts, argv, sizes), argv, sizes);
}

void stream_acks_reset(struct stream_key *k)
{
	k->ack_sent = k->ack_first;
}

/* --- Calls from the collector and the other parts --- */

void stream_ack_one(struct stream_key *k, struct stream_id id)
{
	if (stream_id_set_add(&k->in_flight, id))
		k->source->base.counters.pending++;
	put(k, id, NULL);
}

void stream_ack(struct source *base, const struct ack_token *tokens, size_t n)
{
	struct redis_stream *s = (struct redis_stream *)base;
	struct ack_call *call = xcalloc(1, sizeof(*call));

	call->count = call->left = n;
	*s->last_call = call;
	s->last_call = &call->next;
	for (size_t i = 0; i < n; i++) {
		assert(tokens[i].stream < s->key_count);
		put(&s->keys[tokens[i].stream], (struct stream_id){ tokens[i].high, tokens[i].low }, call);
	}
	for (unsigned i = 0; i < s->key_count; i++)
		stream_acks_send(&s->keys[i]);
}

uint64_t stream_confirmed(struct source *base)
{
	return ((struct redis_stream *)base)->confirmed;
}

/* --- Shutdown, after the loop has stopped --- */

static bool ack_now(struct stream_key *k, struct redis_client *client, struct err *err)
{
	static char texts[ACKS_AT_ONCE][STREAM_ID_TEXT];
	static const char *argv[ACKS_AT_ONCE + 3];
	static size_t sizes[ACKS_AT_ONCE + 3];

	while (k->ack_first < k->ack_end) {
		size_t n = k->ack_end - k->ack_first < ACKS_AT_ONCE ? k->ack_end - k->ack_first : ACKS_AT_ONCE;
		redisReply *reply = NULL;

		if (redis_client_command(client, command(k, k->ack_first, n, texts, argv, sizes), argv, sizes, &reply, err) < 0)
			return false;
		k->ack_sent = k->ack_first + n;
		if (reply->type == REDIS_REPLY_INTEGER)
			confirm(k, n);
		freeReplyObject(reply);
		if (k->ack_first < k->ack_sent)
			return false;
	}
	return true;
}

/* Deletes the lease, so that the next consumer of our name need not wait for it to expire. Kept while entries are in
 * flight, which that consumer would receive. */
static void give_up_lease(struct stream_key *k, struct redis_client *client)
{
	static const char script[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) "
		"end return 0";
	redisReply *reply = NULL;

	if (!k->in_flight.count && redis_client_commandf(client, &reply, NULL, "EVAL %s 1 %s %s", script, k->lease,
							 k->source->token) >= 0)
		freeReplyObject(reply);
}

void stream_acks_at_end(struct redis_stream *s)
{
	int64_t until = clock_monotonic_ns() + END_MOST_NS;
	struct redis_client *client = NULL;
	struct err err = { 0 };
	size_t left = 0;

	for (unsigned i = 0; i < s->key_count; i++) {
		struct stream_key *k = &s->keys[i];
		const struct cluster_node *node = &s->cluster.nodes[k->node];

		if (k->phase < KEY_PENDING)
			continue;
		stream_acks_reset(k);
		if (!client)
			client = redis_client_new(&s->options.url, "strobe", END_TIMEOUT_NS, END_TIMEOUT_NS);
		redis_client_move(client, node->host, node->port);
		if (clock_monotonic_ns() < until && ack_now(k, client, &err))
			give_up_lease(k, client);
		else
			left += k->ack_end - k->ack_first;
	}
	if (left)
		log_info("%zu %s of '%s' could not be acknowledged before shutdown; %s will be delivered again and deduplicated",
			 left, left == 1 ? "entry" : "entries", s->base.url, left == 1 ? "it" : "they");
	redis_client_free(client);
}
