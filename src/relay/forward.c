/* forward.c: calls the script, and follows a key through a cluster. */
#include "forward.h"

#include "forward_script.h"
#include "redis_client.h"
#include "clock.h"
#include "cluster.h"
#include "mem.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <string.h>
#include <xxhash.h>

#define CONNECT_NS	(3 * NS_PER_SECOND)
#define ANSWER_NS	(10 * NS_PER_SECOND)
#define MOVES_MAX	6		/* from node to node for one command, and once to the script itself */
#define REFUSED_MAX	5		/* lost connections in a row for one entry that is large */
#define LARGE_BYTES	((size_t)1 << 20)	/* the least limit that Redis can be configured with */

#define SEEN_SECONDS	"2592000"

#define ARGUMENTS_MAX	(8 + 3 * FORWARD_ENTRIES)

struct forward {
	struct redis_client *client;
	char *home;			/* target of the URL */
	unsigned home_port;
	char *key, *host;
	bool moved;
	unsigned lost;			/* consecutive connections lost with one large entry in flight */
};

static char *seen_key(const char *key, uint64_t instance)
{
	bool tagged = strchr(key, '{') != NULL;

	return xasprintf(tagged ? "%s:seen:%016llx" : "{%s}:seen:%016llx", key, (unsigned long long)instance);
}

/* A command being built; `texts` holds its arguments except the bodies. */
struct script_call {
	const char *arguments[ARGUMENTS_MAX];
	size_t sizes[ARGUMENTS_MAX];
	int count;
	char texts[1 + 2 * FORWARD_ENTRIES][24];
	size_t text_count;
};

static void put(struct script_call *q, const char *bytes, size_t n)
{
	assert((size_t)q->count < ARRAY_SIZE(q->arguments));
	q->arguments[q->count] = bytes;
	q->sizes[q->count++] = n;
}

static void put_number(struct script_call *q, const char *format, uint64_t n)
{
	char *text = q->texts[q->text_count++];
	int size = snprintf(text, sizeof(q->texts[0]), format, (unsigned long long)n);

	assert(q->text_count <= ARRAY_SIZE(q->texts) && (size_t)size < sizeof(q->texts[0]));
	put(q, text, (size_t)size);
}

static uint64_t id_of(const struct spool_entry *e)
{
	const uint64_t parts[] = { e->instance, e->sequence, XXH3_64bits(e->body.data, e->body.size) };
	uint64_t id = XXH3_64bits(parts, sizeof(parts));

	return id ? id : 1;
}

static void make_call(const struct forward *f, const char *seen, const struct spool_entry *entries, size_t count,
		      struct script_call *q)
{
	q->count = 0;
	q->text_count = 0;
	assert(strlen(forward_script_sha1) == FORWARD_SCRIPT_SHA1_SIZE);
	put(q, "EVALSHA", 7);
	put(q, forward_script_sha1, FORWARD_SCRIPT_SHA1_SIZE);
	put(q, "2", 1);
	put(q, f->key, strlen(f->key));
	put(q, seen, strlen(seen));
	put(q, f->host, strlen(f->host));
	put(q, SEEN_SECONDS, sizeof(SEEN_SECONDS) - 1);
	put_number(q, "%llu", FORWARD_REMEMBERED);
	for (size_t i = 0; i < count; i++) {
		assert(entries[i].instance == entries[0].instance);	/* `seen` is that one's */
		put_number(q, "%llu", entries[i].sequence);
		put_number(q, "%016llx", id_of(&entries[i]));
		put(q, entries[i].body.data, entries[i].body.size);
	}
}

/* Sends the script itself, which Redis caches. */
static void put_script(struct script_call *q)
{
	assert(q->count > 2);
	q->arguments[0] = "EVAL";
	q->sizes[0] = 4;
	q->arguments[1] = forward_script;
	q->sizes[1] = forward_script_size;
}

/* Whether Redis does not have the script: it was restarted, another node became the master, SCRIPT FLUSH was run, or
 * the user has only +eval. */
static bool lacks_script(enum redis_problem problem, const struct script_call *q)
{
	return (problem == REDIS_NOSCRIPT || problem == REDIS_NOPERM) && q->arguments[1] != forward_script;
}

/* After a failure the cluster may have changed, and the URL names a node to query. */
static void reset_to_home(struct forward *f)
{
	if (f->moved)
		redis_client_move(f->client, f->home, f->home_port);
	f->moved = false;
}

static bool is_lost(int r)
{
	return r == -ECONNRESET || r == -EPIPE;
}

static int call_node(struct forward *f, const struct script_call *q, bool asking, struct redisReply **ret, struct err *err)
{
	int r = 0;

	if (asking) {
		r = redis_client_commandf(f->client, ret, err, "ASKING");
		if (r < 0)
			return r;
		freeReplyObject(*ret);
		*ret = NULL;
	}
	return redis_client_command(f->client, q->count, q->arguments, q->sizes, ret, err);
}

/* Retries once: a connection that was idle for seconds may have been closed, which does not mean that the server is
 * down. */
static int call_again(struct forward *f, const struct script_call *q, bool asking, struct redisReply **ret, struct err *err)
{
	bool was_connected = redis_client_is_connected(f->client);
	int r = call_node(f, q, asking, ret, err);

	return was_connected && is_lost(r) ? call_node(f, q, asking, ret, err) : r;
}

static int call(struct forward *f, struct script_call *q, struct redisReply **ret, struct err *err)
{
	bool asking = false;
	int r = 0;

	for (unsigned i = 0; i <= MOVES_MAX; i++) {
		enum redis_problem problem;

		r = call_again(f, q, asking, ret, err);
		if (r < 0)
			return r;
		problem = redis_problem(*ret);
		if (lacks_script(problem, q))
			put_script(q);
		else if (redis_client_follow(f->client, *ret, &asking))
			f->moved = true;
		else
			return 0;
		freeReplyObject(*ret);
		*ret = NULL;
	}
	return err_set(err, -ELOOP, "cluster nodes redirect to each other for '%s'; check CLUSTER NODES", f->key);
}

static bool is_too_large(const struct redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR && (strstr(reply->str, "invalid bulk length") ||
						    strstr(reply->str, "exceeds maximum allowed size"));
}

static bool answers(struct forward *f)
{
	struct redisReply *reply = NULL;
	bool well = redis_client_commandf(f->client, &reply, NULL, "PING") == 0 && redis_problem(reply) == REDIS_FINE;

	if (reply)
		freeReplyObject(reply);
	return well;
}

static int too_large(const struct forward *f, size_t count, const struct spool_entry *e, struct err *err)
{
	return err_set(err, count == 1 ? -EMSGSIZE : -EAGAIN, "Redis at %s rejects a value of %zu bytes; raise its "
							      "proto-max-bulk-len",
		       redis_client_address(f->client), e->body.size);
}

/* A Redis that rejects values of this size closes the connection, and its reply is usually lost. A proxy without a
 * Redis closes it, too, but then PING has no reply. */
static int note_lost(struct forward *f, const struct spool_entry *entries, size_t count, int r, struct err *err)
{
	assert(r < 0);
	if (!is_lost(r) || count > 1 || entries->body.size <= LARGE_BYTES)
		f->lost = 0;
	else if (answers(f) && ++f->lost >= REFUSED_MAX)
		r = too_large(f, count, entries, err);
	return r;
}

static bool read_results(const struct redisReply *reply, size_t count, enum forward_result *ret)
{
	if (reply->type != REDIS_REPLY_STRING || reply->len != count)
		return false;
	for (size_t i = 0; i < count; i++)
		ret[i] = reply->str[i] == 'k' ? FORWARD_KNOWN : reply->str[i] == 'r' ? FORWARD_RENUMBERED : FORWARD_ADDED;
	return true;
}

int forward_send(struct forward *f, const struct spool_entry *entries, size_t count, enum forward_result *ret,
		 struct err *err)
{
	_cleanup_(freep) char *seen = seen_key(f->key, entries[0].instance);
	struct redisReply *reply = NULL;
	struct script_call q;
	int r;

	assert(count > 0 && count <= FORWARD_ENTRIES);
	make_call(f, seen, entries, count, &q);
	r = call(f, &q, &reply, err);
	if (r < 0) {
		r = note_lost(f, entries, count, r, err);
		reset_to_home(f);
	} else if (read_results(reply, count, ret)) {
		f->lost = 0;
	} else if (is_too_large(reply)) {
		r = too_large(f, count, entries, err);
	} else {
		r = redis_problem_explain(reply, redis_client_address(f->client), q.arguments[0], err);
		reset_to_home(f);
	}
	if (reply)
		freeReplyObject(reply);
	return r;
}

int forward_new(const struct redis_url *url, const char *key, const char *host, struct forward **ret, struct err *err)
{
	struct forward *f = xcalloc(1, sizeof(*f));

	f->client = redis_client_new(url, "strobe-relay", CONNECT_NS, ANSWER_NS);
	f->home = xstrdup(url->host);
	f->home_port = url->port;
	f->key = xstrdup(key);
	f->host = xstrdup(host);
	*ret = f;
	return 0;
}

struct forward *forward_free(struct forward *f)
{
	if (!f)
		return NULL;
	redis_client_free(f->client);
	free(f->home);
	free(f->key);
	free(f->host);
	free(f);
	return NULL;
}

void forward_cancel(struct forward *f)
{
	redis_client_cancel(f->client);
}
