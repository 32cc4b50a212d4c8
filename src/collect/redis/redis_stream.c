/* redis_stream.c: the source: nodes with their connections and commands. */
#include "redis_stream_private.h"

#include "clock.h"
#include "log.h"
#include "mem.h"
#include "private_file.h"
#include "redis_address.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>

#define TICK_NS		(NS_PER_SECOND / 10)
#define RETRY_NS	(NS_PER_SECOND / 2)
#define MAP_NS		(2 * NS_PER_SECOND)
#define TOKEN_FILE	"consumer-token"

static struct stream_node *node_of(struct redis_stream *s, unsigned number);

/* --- State --- */

static bool all_read(const struct redis_stream *s)
{
	for (unsigned i = 0; i < s->key_count; i++)
		if (s->keys[i].phase != KEY_READING)
			return false;
	return true;
}

/* Compares up to the text in parentheses, so that commands refused for the same reason are logged once. */
static bool is_same_text(const char *a, const char *b)
{
	const char *a_end = strstr(a, " ("), *b_end = strstr(b, " (");
	size_t n = a_end ? (size_t)(a_end - a) : strlen(a);

	return n == (b_end ? (size_t)(b_end - b) : strlen(b)) && !strncmp(a, b, n);
}

static void report_state(struct redis_stream *s, bool is_up, const char *text)
{
	char before[1024];
	bool was_up = source_state(&s->base, before, sizeof(before));

	if (was_up == is_up && is_same_text(before, text))
		return;
	source_set_state(&s->base, is_up, "%s", text);
	if (!is_up)
		log_warning("%s", text);
	else
		log_info("%s", text);
}

static void log_if_read(struct redis_stream *s)
{
	_cleanup_(freep) char *text = NULL;

	if (!all_read(s) || s->trouble)
		return;
	text = xasprintf("reading the stream '%s' at %s as the consumer '%s' of the group '%s'", s->options.stream,
			 redis_connection_where(s->nodes[s->keys[0].node]->connection), s->options.consumer,
			 s->options.group);
	report_state(s, true, text);
}

void stream_set_trouble(struct redis_stream *s, const char *format, ...)
{
	va_list arguments;

	free(s->trouble);
	s->trouble = NULL;
	if (format) {
		va_start(arguments, format);
		if (vasprintf(&s->trouble, format, arguments) < 0)
			s->trouble = NULL;
		va_end(arguments);
	}
	if (s->trouble)
		report_state(s, false, s->trouble);
	else
		log_if_read(s);
}

/* --- Sending commands --- */

/* Kept in a list, since a connection that is freed calls no reply functions. */
struct pending_command {
	struct stream_key *key;
	unsigned generation;
	stream_reply_fn *fn;
	struct pending_command *next, **link;
};

static struct pending_command *command_new(struct stream_key *k, stream_reply_fn *fn)
{
	struct redis_stream *s = k->source;
	struct pending_command *q = xcalloc(1, sizeof(*q));

	*q = (struct pending_command){ k, k->generation, fn, s->commands, &s->commands };
	if (q->next)
		q->next->link = &q->next;
	return s->commands = q;
}

static void command_free(struct pending_command *q)
{
	assert(*q->link == q);
	*q->link = q->next;
	if (q->next)
		q->next->link = q->link;
	free(q);
}

/* Follows a key to another node, at once or, if MOVED names the same node, later: during a migration nodes answer
 * with MOVED until it is complete. */
static void redirect(struct stream_key *k, const redisReply *reply)
{
	struct redis_stream *s = k->source;
	struct cluster_redirect r;
	int node = -EINVAL;

	if (cluster_redirect_parse(reply->str, reply->len, &r))
		node = cluster_moved(&s->cluster, &r, k->node);
	stream_key_backoff(k, clock_monotonic_ns() + (node == (int)k->node ? RETRY_NS : 0));
	if (node < 0)
		return;
	k->node = (unsigned)node;
	k->asking = r.is_ask;
	if (node_of(s, k->node)->is_up)
		stream_key_start(k);
}

/* Returns true if the reply is unusable and the key restarts. While a slot moves, the lease may do so before the
 * stream, and must not take it along. */
static bool restarts_key(struct stream_key *k, const redisReply *reply, stream_reply_fn *fn)
{
	enum redis_problem p = redis_problem(reply);

	if (p == REDIS_ASK && fn == stream_key_on_lease)
		return false;
	if (p == REDIS_MOVED || p == REDIS_ASK)
		redirect(k, reply);
	else if (p == REDIS_NOGROUP)
		stream_key_backoff(k, clock_monotonic_ns() + TICK_NS);
	else if (redis_problem_passes(p))
		stream_key_backoff(k, clock_monotonic_ns() + RETRY_NS);
	else
		return false;
	return true;
}

static void answered(struct redis_connection *c, const redisReply *reply, void *data)
{
	struct pending_command *q = data;
	struct stream_key *k = q->key;
	bool counts = reply && q->generation == k->generation;
	stream_reply_fn *fn = q->fn;

	command_free(q);
	if (counts && !restarts_key(k, reply, fn) && fn)
		fn(k, reply);
}

static struct redis_connection *ready_connection(struct stream_key *k)
{
	struct stream_node *n = node_of(k->source, k->node);

	if (!n->connection || !redis_connection_is_ready(n->connection))
		return NULL;
	if (k->asking)
		redis_connection_sendf(n->connection, 0, NULL, NULL, "ASKING");
	return n->connection;
}

static void command_failed(struct stream_key *k, struct pending_command *q)
{
	command_free(q);
	stream_key_backoff(k, clock_monotonic_ns() + RETRY_NS);
}

void stream_send(struct stream_key *k, stream_reply_fn *fn, int argc, const char **argv, const size_t *sizes)
{
	struct redis_connection *c = ready_connection(k);
	struct pending_command *q = command_new(k, fn);

	if (!c || redis_connection_send(c, 0, answered, q, argc, argv, sizes) < 0)
		command_failed(k, q);
}

void stream_sendf(struct stream_key *k, stream_reply_fn *fn, const char *format, ...)
{
	struct redis_connection *c = ready_connection(k);
	struct pending_command *q = command_new(k, fn);
	va_list arguments;

	va_start(arguments, format);
	if (!c || redis_connection_vsendf(c, 0, answered, q, format, arguments) < 0)
		command_failed(k, q);
	va_end(arguments);
}

/* --- Nodes --- */

static void node_ready(struct redis_connection *c, void *data)
{
	struct stream_node *n = data;
	struct redis_stream *s = n->source;

	assert(!n->is_up);
	n->is_up = true;
	s->base.counters.connections++;
	s->base.counters.connections_now++;
	for (unsigned i = 0; i < s->key_count; i++)
		if (s->keys[i].node == n->number)
			stream_key_start(&s->keys[i]);
}

static void node_lost(struct redis_connection *c, void *data)
{
	struct stream_node *n = data;
	struct redis_stream *s = n->source;

	assert(n->is_up && s->base.counters.connections_now > 0);
	n->is_up = false;
	n->requesting_map = false;
	n->down_ns = clock_monotonic_ns();
	s->base.counters.connections_now--;
	for (unsigned i = 0; i < s->key_count; i++)
		if (s->keys[i].node == n->number)
			stream_key_backoff(&s->keys[i], 0);
}

static bool is_used(const struct redis_stream *s, unsigned node)
{
	for (unsigned i = 0; i < s->key_count; i++)
		if (s->keys[i].node == node)
			return true;
	return false;
}

/* Reports a lost connection. A ready one is reported when all streams are being read. */
static void node_state(void *data, bool is_up, const char *text)
{
	struct stream_node *n = data;

	if (!is_up && is_used(n->source, n->number))
		report_state(n->source, false, text);
	else if (is_up)
		log_if_read(n->source);
}

static void connect_node(struct redis_stream *s, struct stream_node *n)
{
	struct redis_connection_options o;
	struct err err = { 0 };

	assert(!n->connection && n->number < s->cluster.node_count);
	redis_connection_default_options(&o);
	o.url = &s->options.url;
	o.host = n->number ? s->cluster.nodes[n->number].host : NULL;
	o.port = s->cluster.nodes[n->number].port;
	o.name = "strobe-stream";
	o.ready = node_ready;
	o.lost = node_lost;
	o.state = node_state;
	o.data = n;
	if (redis_connection_new(&o, s->base.loop, &n->connection, &err) < 0)
		report_state(s, false, err.text);
}

/* Returns the node of that number, which holds some key; its connection is opened on first use. */
static struct stream_node *node_of(struct redis_stream *s, unsigned number)
{
	while (s->node_count <= number) {
		GROW(&s->nodes, &s->node_capacity, s->node_count + 1);
		s->nodes[s->node_count] = xcalloc(1, sizeof(struct stream_node));
		s->nodes[s->node_count]->source = s;
		s->nodes[s->node_count]->number = (unsigned)s->node_count;
		s->node_count++;
	}
	assert(s->nodes[number]->number == number);
	if (!s->nodes[number]->connection)
		connect_node(s, s->nodes[number]);
	return s->nodes[number];
}

/* --- A node that is down: another one may know the new owner of its slots --- */

static void on_map(struct redis_connection *c, const redisReply *reply, void *data)
{
	struct stream_node *n = data;
	struct redis_stream *s = n->source;

	n->requesting_map = false;
	if (!reply || cluster_read_slots(&s->cluster, reply, n->number, NULL) < 0)
		return;
	for (unsigned i = 0; i < s->key_count; i++) {
		struct stream_key *k = &s->keys[i];
		unsigned node = cluster_find(&s->cluster, k->name);

		if (node == k->node || k->phase != KEY_AWAY || node_of(s, k->node)->is_up)
			continue;
		k->node = node;
		k->asking = false;
		if (node_of(s, node)->is_up)
			stream_key_start(k);
	}
}

static void request_map(struct redis_stream *s, int64_t now)
{
	bool stuck = false;

	for (unsigned i = 0; i < s->key_count; i++)
		stuck |= !node_of(s, s->keys[i].node)->is_up;
	if (!stuck || now < s->map_ns)
		return;
	s->map_ns = now + MAP_NS;
	for (size_t i = 0; i < s->node_count; i++) {
		struct stream_node *n = s->nodes[i];

		if (!n->is_up || n->requesting_map)
			continue;
		n->requesting_map = true;
		if (redis_connection_sendf(n->connection, 0, on_map, n, "CLUSTER SLOTS") < 0)
			n->requesting_map = false;
		break;
	}
}

/* --- The clock --- */

static void tick(struct watch *w, uint32_t events)
{
	struct redis_stream *s = (struct redis_stream *)((char *)w - offsetof(struct redis_stream, timer));
	int64_t now = clock_monotonic_ns();

	loop_timer_read(w);
	for (unsigned i = 0; i < s->key_count; i++) {
		struct stream_key *k = &s->keys[i];

		if (k->phase == KEY_AWAY && now >= k->retry_ns && node_of(s, k->node)->is_up)
			stream_key_start(k);
		if (k->phase == KEY_READING)
			stream_key_read(k);
		if (k->phase == KEY_READING)
			stream_maintenance(k, now);
	}
	request_map(s, now);
}

/* --- Lifecycle --- */

/* Reads or creates the consumer token in the state directory, so that a restarted collector is the same consumer. */
static void find_token(struct redis_stream *s, const char *state)
{
	_cleanup_(freep) char *path = state ? xasprintf("%s/" TOKEN_FILE, state) : NULL;
	_cleanup_(buf_done) struct buf b = { 0 };
	struct err err = { 0 };
	uint64_t random;
	int r;

	buf_init(&b);
	r = path ? private_file_read(path, &b, 64, &err) : -ENOENT;
	if (r >= 0 && b.size >= 16 && strspn(b.data, "0123456789abcdef") >= 16) {
		memcpy(s->token, b.data, 16);
		return;
	}
	if (r < 0 && r != -ENOENT)
		log_warning("created a new consumer token instead of the old one: %s", err.text);
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)clock_wall_ns() * 0x9e3779b97f4a7c15;
	snprintf(s->token, sizeof(s->token), "%016llx", (unsigned long long)random);
	if (path && private_file_write(path, s->token, 16, true, &err) < 0)
		log_warning("waiting 30 s for consumer leases to expire after a restart: %s", err.text);
}

char *stream_sibling(const char *key, const char *kind, const char *name, const char *more)
{
	const char *open = strchr(key, '{'), *close = open ? strchr(open, '}') : NULL;

	bool has_tag = close && close > open + 1;

	return xasprintf("%s%s%s:%s:%s%s%s", has_tag ? "" : "{", key, has_tag ? "" : "}", kind, name, more ? ":" : "",
			 more ? more : "");
}

static void init_keys(struct redis_stream *s)
{
	const struct stream_options *o = &s->options;

	s->key_count = o->keys ? o->keys : 1;
	s->keys = xcalloc(s->key_count, sizeof(*s->keys));
	for (unsigned i = 0; i < s->key_count; i++) {
		struct stream_key *k = &s->keys[i];

		k->source = s;
		k->number = i;
		k->name = cluster_key(o->stream, i, o->keys);
		k->lease = stream_sibling(k->name, "consumer", o->group, o->consumer);
		stream_key_backoff(k, 0);
	}
	stream_records_init(s);
}

static void free_key(struct stream_key *k)
{
	stream_id_set_done(&k->in_flight);
	free(k->name);
	free(k->lease);
	free(k->acks);
	free(k->claims);
	free(k->listed);
	free(k->claim_from);
	stream_records_free(k);
	free(k->records);
	free(k->ended);
}

static void redis_stream_stop(struct source *base)
{
	((struct redis_stream *)base)->stopped = true;
}

static struct source *redis_stream_close(struct source *base)
{
	struct redis_stream *s = (struct redis_stream *)base;

	if (s->timer.fd >= 0)
		loop_remove_timer(base->loop, &s->timer);
	if (s->keys)
		stream_acks_at_end(s);
	for (size_t i = 0; i < s->node_count; i++) {
		redis_connection_free(s->nodes[i]->connection);
		free(s->nodes[i]);
	}
	for (unsigned i = 0; i < s->key_count; i++)
		free_key(&s->keys[i]);
	while (s->commands)
		command_free(s->commands);
	while (s->first_call) {
		struct ack_call *call = s->first_call;

		s->first_call = call->next;
		free(call);
	}
	if (s->keys)
		stream_records_done(s);
	cluster_done(&s->cluster);
	stream_options_done(&s->options);
	free(s->keys);
	free(s->nodes);
	free(s->fields);
	free(s->trouble);
	source_done(base);
	free(s);
	return NULL;
}

static const struct source_ops redis_stream_ops = {
	.scheme = "redis",
	.ack = stream_ack,
	.confirmed = stream_confirmed,
	.record = stream_record,
	.forget = stream_forget,
	.stop = redis_stream_stop,
	.close = redis_stream_close,
};

static char *identity_of(const struct stream_options *o)
{
	_cleanup_(freep) char *host = address_canonical(o->url.host);

	return xasprintf("redis://%s:%u/%u stream=%s group=%s", host, o->url.port, o->url.database, o->stream, o->group);
}

int redis_stream_open(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		      struct err *err)
{
	struct redis_stream *s = xcalloc(1, sizeof(*s));
	const struct stream_options *o = &s->options;
	int r;

	s->base = (struct source){ .ops = &redis_stream_ops, .loop = loop, .receiver = *receiver };
	s->timer = (struct watch){ .ready = tick, .fd = -1 };
	s->last_call = &s->first_call;
	r = stream_options_parse(url, &s->options, err);
	if (r >= 0) {
		s->base.url = xstrdup(o->url.shown);
		s->base.identity = identity_of(o);
		find_token(s, receiver->state);
		cluster_init(&s->cluster, o->url.host, o->url.port);
		init_keys(s);
		source_set_state(&s->base, false, "connecting");
		node_of(s, 0);
		r = loop_add_timer(loop, &s->timer, TICK_NS, err);
	}
	if (r < 0) {
		redis_stream_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}
