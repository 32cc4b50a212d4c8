/* queries.c: the limits of each attempt, and the errors for exceeding them. */
#include "queries.h"

#include "answer_file.h"
#include "clock.h"
#include "connect.h"
#include "log.h"
#include "mem.h"
#include "query_starter.h"
#include "router.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Memory per node of a profile and its response, an upper bound for every format except the reversed boxes: 3.5
 * million nodes were answered with 512 MB. Results that still do not fit are pruned to an eighth. */
#define NODE_BYTES	128u

/* A response in progress for this long is canceled when memory runs out. */
#define SENDING_NS	(30 * NS_PER_SECOND)

struct answer_body {
	int file;
	uint64_t charged;
	struct memory_cap *cap;
	_Atomic unsigned owners;
};

/* Memory of a connection that sends a response. */
#define SENDING_BYTES	(ANSWER_BLOCK + sizeof(struct answer))

struct answer *answer_free(struct answer *a)
{
	struct answer_body *b = a ? a->body : NULL;

	if (!a)
		return NULL;
	free(a);
	memory_cap_release(b->cap, SENDING_BYTES);
	if (--b->owners)
		return NULL;
	memory_cap_release(b->cap, b->charged);
	close(b->file);
	free(b);
	return NULL;
}

struct answer *answer_share(const struct answer *a)
{
	struct answer *other;

	if (!memory_cap_reserve(a->body->cap, SENDING_BYTES))
		return NULL;
	other = xcalloc(1, sizeof(*other));
	*other = (struct answer){ .body = a->body, .file = a->file, .size = a->size };
	a->body->owners++;
	return other;
}

/* Connect calls state their client's timeout, or have a short one by default. */
static uint32_t milliseconds_of(const struct request *q)
{
	uint32_t ms = connect_path(q->path) ? CONNECT_SECONDS * 1000 : QUERY_SECONDS * 1000;

	return q->timeout_ms && q->timeout_ms < ms ? q->timeout_ms : ms;
}

/* Connect clients give up at their deadline, whatever the reason. */
static uint32_t waited_milliseconds(const struct request *q)
{
	int64_t ms = q->arrived_ns ? (clock_monotonic_ns() - q->arrived_ns) / (NS_PER_SECOND / 1000) : 0;

	return connect_path(q->path) && ms > 0 ? (uint32_t)(ms < UINT32_MAX ? ms : UINT32_MAX) : 0;
}

static struct query_limits limits_of(const struct memory_cap *cap, const struct request *q, bool large, bool prune_hard)
{
	struct query_limits l = { .memory = cap->most / (large ? 2 : 16), .answer = cap->most / (large ? 8 : 32) };
	uint32_t most = milliseconds_of(q), waited = waited_milliseconds(q);

	l.milliseconds = waited < most ? most - waited : 0;

	if (large)
		l.max_nodes = (uint32_t)(l.memory / (prune_hard ? 8 * NODE_BYTES : NODE_BYTES));
	else
		l.refuse_above = (uint32_t)(l.memory / NODE_BYTES);
	return l;
}

/* Returns the bytes held by the body until it is sent. */
static uint64_t price_of(const struct answer *a)
{
	struct stat st;

	return (fstat(a->file, &st) < 0 ? 0 : (uint64_t)st.st_size) + sizeof(*a->body);
}

static char *php_socket_of(struct server_context *s)
{
	char *socket = NULL;

	pthread_rwlock_rdlock(&s->lock);
	for (size_t i = 0; i < s->options.source_count && !socket; i++)
		if (strncmp(s->options.sources[i]->url, "unix:/", 6) == 0)
			socket = xstrdup(s->options.sources[i]->url);
	pthread_rwlock_unlock(&s->lock);
	return socket;
}

/* `a` has a file, and has reserved the memory that the attempt may take. */
static enum query_result attempt(struct server_context *s, const struct request *q, const struct query_limits *l,
				 struct response *r, struct answer *a, struct err *err)
{
	_cleanup_(freep) char *php_socket = php_socket_of(s);
	uint32_t waited = waited_milliseconds(q);
	enum query_result result = !l->milliseconds ? QUERY_OUT_OF_TIME : query_starter_run(s->options.query_starter, l, q, php_socket, s->options.store, a->file, r, &a->size, err);
	uint64_t price = price_of(a);

	if (result == QUERY_OUT_OF_TIME && (!l->milliseconds || waited >= 1000))
		err_set(err, -ETIMEDOUT, "the query exceeds the limit of %g seconds, of which it waited %.1f for other queries; "
					 "send fewer at a time, or select a shorter range",
			milliseconds_of(q) / 1e3, waited / 1e3);
	if (result == QUERY_DONE && price < a->body->charged) {
		memory_cap_release(a->body->cap, a->body->charged - price);
		a->body->charged = price;
	}
	return result;
}

static void refuse(struct server_context *s, const struct request *q, enum query_result result, const struct err *err,
		   struct response *r)
{
	struct http_counters *n = &s->http;

	if (result == QUERY_OUT_OF_MEMORY)
		n->queries_large++;
	else if (result == QUERY_OUT_OF_TIME)
		n->queries_late++;
	else
		n->queries_crashed++;
	if (result == QUERY_CRASHED || result == QUERY_NOT_STARTED)
		log_warning("%s", err->text);
	response_error(r, q, result == QUERY_CRASHED ? 500 : result == QUERY_OUT_OF_TIME && connect_path(q->path) ? 504 : 503,
		       "%s", err->text);
}

void queries_refuse(struct server_context *s, const struct request *q, struct response *r)
{
	s->http.queries_busy++;
	response_error(r, q, 503, "too busy: running queries and pending responses use %llu of the %llu MB of "
		       "--query-memory, or too many queries wait; try again", (unsigned long long)(s->memory.used >> 20),
		       (unsigned long long)(s->memory.most >> 20));
}

/* Returns NULL if the query is refused. */
static struct answer *prepare(struct server_context *s, const struct query_limits *l)
{
	uint64_t most = l->memory + l->answer + sizeof(struct answer_body);
	struct answer_body *b;
	struct answer *a;

	if (!memory_cap_reserve(&s->memory, most + SENDING_BYTES))
		return NULL;
	b = xcalloc(1, sizeof(*b));
	*b = (struct answer_body){ .charged = most, .cap = &s->memory, .file = memfd_create("answer", MFD_CLOEXEC), .owners = 1 };
	a = xcalloc(1, sizeof(*a));
	*a = (struct answer){ .body = b, .file = b->file };
	return a->file < 0 ? answer_free(a) : a;
}

bool queries_answer(struct server_context *s, const struct request *q, bool large, struct response *r, struct answer **ret)
{
	enum query_result result = QUERY_OUT_OF_MEMORY;
	struct err err = { 0 };

	*ret = NULL;
	if (!s->options.query_starter) {
		router_handle(s, q, r);
		return true;
	}
	if (!large && large_query_cache_has(&s->large_query_cache, q, clock_monotonic_ns()))
		return false;
	for (int again = 0; again <= large && result == QUERY_OUT_OF_MEMORY; again++) {
		struct query_limits l = limits_of(&s->memory, q, large, again);
		struct answer *a = prepare(s, &l);

		if (!a) {
			connections_evict(&s->connections, SENDING_NS);
			queries_refuse(s, q, r);
			return true;
		}
		response_done(r);
		response_init(r);
		result = attempt(s, q, &l, r, a, &err);
		if (result == QUERY_DONE)
			*ret = a;
		else
			answer_free(a);
	}
	if (result == QUERY_OUT_OF_MEMORY && !large) {
		large_query_cache_add(&s->large_query_cache, q, clock_monotonic_ns());
		return false;
	}
	s->http.queries++;
	if (result != QUERY_DONE)
		refuse(s, q, result, &err, r);
	else
		s->http.queries_pruned += r->pruned;
	return true;
}
