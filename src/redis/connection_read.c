/* connection_read.c: answers to commands, and unsolicited messages. */
#include "connection_private.h"

#include "clock.h"
#include "mem.h"
#include "push.h"

#include <hiredis/hiredis.h>
#include <string.h>
#include <sys/socket.h>

#define CHUNKS_PER_TURN		4		/* chunks parsed before other descriptors get their turn */

/* Avoids waking the loop for each message while there are few; the end of the connection wakes it at once. */
static void read_together(struct redis_connection *c)
{
	const int bytes = (int)c->o.read_together;

	if (bytes && setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes)) < 0)
		c->o.read_together = 0;
}

static void on_login_reply(struct redis_connection *c, int step, const redisReply *reply)
{
	struct err err;

	if (redis_login_check(&c->login, (enum redis_login_step)step, reply, &err) < 0) {
		connection_fail(c, redis_problem_passes(redis_problem(reply)), err.text);
		return;
	}
	if (step != REDIS_LOGIN_PING)
		return;
	c->phase = READY;
	c->ready_ns = clock_monotonic_ns();
	c->backoff_before_ns = c->backoff_ns;
	c->backoff_ns = 0;
	c->counters.connections++;
	connection_free_addresses(c);
	read_together(c);
	connection_report_connected(c);
	if (c->o.ready && !c->dead)
		c->o.ready(c, c->o.data);
}

/* Reports READONLY and similar problems when they begin, and when the same command succeeds again. */
static void note_problem(struct redis_connection *c, const char *name, const redisReply *reply)
{
	enum redis_problem p = redis_problem(reply);
	struct err err;

	if (!strcmp(name, "INFO"))
		return;				/* INFO is optional, and may be forbidden */
	if (redis_problem_is_state(p)) {
		redis_problem_explain(reply, c->login.where, name, &err);
		snprintf(c->problem_of, sizeof(c->problem_of), "%s", name);
		connection_report(c, false, err.text);
	} else if (p == REDIS_FINE && c->problem_of[0] && !strcmp(c->problem_of, name)) {
		connection_report_connected(c);
	}
}

static void on_answer(struct redis_connection *c, const redisReply *reply)
{
	struct command *one = connection_take_first(c);

	if (one->step >= 0) {
		on_login_reply(c, one->step, reply);
	} else {
		note_problem(c, one->name, reply);
		if (one->fn && !c->dead)
			one->fn(c, reply, one->data);
	}
	free(one);
}

static bool is_word(const redisReply *r, const char *word)
{
	return (r->type == REDIS_REPLY_STRING || r->type == REDIS_REPLY_STATUS) && !strcasecmp(r->str, word);
}

/* Recognizes messages to subscribers: arrays that begin with one of these words. In version 2 of the protocol no
 * other command is allowed while subscribed, so replies cannot be mistaken for messages. */
static bool is_push(const redisReply *r)
{
	static const char *const words[] = { "message", "pmessage", "subscribe", "unsubscribe", "psubscribe",
					     "punsubscribe", "smessage", "ssubscribe", "sunsubscribe" };

	if (r->type != REDIS_REPLY_ARRAY || r->elements < 3)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (is_word(r->element[0], words[i]))
			return true;
	return false;
}

/* Handles a message that arrived in several reads. */
static bool on_message(struct redis_connection *c, const redisReply *r)
{
	size_t at = r->type != REDIS_REPLY_ARRAY ? 0 : r->elements == 3 && is_word(r->element[0], "message") ? 1 :
		    r->elements == 4 && is_word(r->element[0], "pmessage") ? 2 : 0;
	const redisReply *channel = at ? r->element[at] : NULL, *text = at ? r->element[at + 1] : NULL;

	if (!at || channel->type != REDIS_REPLY_STRING || text->type != REDIS_REPLY_STRING)
		return false;
	c->o.message(c, (struct str){ channel->str, (size_t)channel->len },
		     (struct str){ text->str, (size_t)text->len }, c->o.data);
	return true;
}

static void on_reply(struct redis_connection *c, const redisReply *reply)
{
	bool pushed = c->phase == READY && c->o.pushed && (is_push(reply) || !c->first);

	if (c->phase == READY && c->o.message && on_message(c, reply))
		return;
	if (pushed)
		c->o.pushed(c, reply, c->o.data);
	else if (c->first)
		on_answer(c, reply);
	else
		connection_failf(c, "Redis at %s sent an unexpected reply; is it a Redis?", c->login.where);
}

/* --- Reading --- */

/* Handles the messages at the start of `bytes`. Returns false if the connection was replaced. */
static bool on_messages(struct redis_connection *c, const char **bytes, size_t *n)
{
	unsigned generation = c->generation;
	struct str channel, text;
	size_t size;

	if (c->phase != READY || !reply_reader_is_empty(c->reader))
		return true;
	while ((size = push_parse(*bytes, *n, &channel, &text))) {
		c->o.message(c, channel, text, c->o.data);
		if (c->generation != generation)
			return false;
		*bytes += size;
		*n -= size;
	}
	return true;
}

/* Returns false if the connection was replaced. */
static bool on_bytes(struct redis_connection *c, const char *bytes, size_t n)
{
	unsigned generation = c->generation;
	redisReply *reply = NULL;
	struct err err;
	int r;

	for (;;) {
		if (c->o.message && !on_messages(c, &bytes, &n))
			return false;
		r = reply_reader_next(c->reader, &bytes, &n, &reply, &err);
		if (r <= 0)
			break;
		on_reply(c, reply);
		freeReplyObject(reply);
		if (c->generation != generation)
			return false;
		if (c->o.message)
			reply_reader_take_rest(c->reader, &bytes, &n);
	}
	if (r < 0)
		connection_failf(c, "Redis at %s: %s", c->login.where, err.text);
	return c->generation == generation;
}

static void closed_by_peer(struct redis_connection *c, int e)
{
	const char *why = e ? strerror(e) : "it closed the connection";
	const char *problem = c->tls ? redis_tls_problem(c->tls) : NULL;

	if (problem)
		connection_failf(c, "Redis at %s: %s", c->login.where, problem);
	else if (c->phase == LOGIN)
		connection_failf(c, "Redis at %s ended the connection before it was ready (%s); is it a Redis, %s",
				 c->login.where, why, redis_login_hint(&c->login));
	else
		connection_failf(c, "Redis at %s: the connection is lost: %s", c->login.where, why);
}

/* Empties the socket, and parses some of the data. */
void connection_read(struct redis_connection *c, bool readable)
{
	unsigned generation = c->generation;
	const char *bytes;
	size_t n;

	n = readable ? read_ahead_fill(&c->input, c->fd, c->tls) : 0;
	c->counters.bytes_in += n;
	if (n)
		c->last_in_ns = clock_monotonic_ns();
	for (int i = 0; i < CHUNKS_PER_TURN && !connection_is_paused(c) && read_ahead_front(&c->input, &bytes, &n);
	     i++) {
		if (!on_bytes(c, bytes, n))
			return;
		read_ahead_drop(&c->input);
	}
	if (c->generation == generation && c->input.ended && !read_ahead_front(&c->input, &bytes, &n))
		closed_by_peer(c, c->input.error);
}
