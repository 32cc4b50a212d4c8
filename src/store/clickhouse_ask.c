/* clickhouse_ask.c: requests, their limits, and ClickHouse's errors translated into ours. */
#include "clickhouse_ask.h"
#include "clickhouse_cache.h"
#include "clickhouse_schema.h"
#include "clickhouse_wire.h"
#include "clock.h"
#include "mem.h"
#include "text.h"
#include <assert.h>
#include <pthread.h>
#include <string.h>

#define ANSWER_MAX	((size_t)1 << 30)
#define INSERT_NS	(60 * NS_PER_SECOND)
#define GRACE_NS	(2 * NS_PER_SECOND)	/* for the server to report the timeout itself */
#define DDL_SECONDS	30			/* below INSERT_NS, so that the server reports missing replicas */
#define ALIVE_NS	(5 * NS_PER_SECOND)	/* for a server to respond: less than the limit of any query */
#define PING_PERCENT	30			/* percentage of the remaining time … */
#define ANSWER_PERCENT	85			/* … since the other shards' results have to be drawn, too */
#define LEAST_NS	(NS_PER_SECOND / 20)
#define SILENT_NS	(10 * NS_PER_SECOND)	/* how long a silent server is skipped by all queries but … */
#define BRIEF_NS	(NS_PER_SECOND / 2)	/* … a check this short whether it is back */
#define LEAST_BYTES	((size_t)5000)		/* minimum in ALIVE_NS once an answer has begun: it is complete on the server by then */
#define READY_NS	(3 * NS_PER_SECOND)	/* limit of a readiness probe, which blocks the calling thread */
#define ANSWER_MEMORY	(32u << 20)		/* the server buffers larger answers in a file */
#define IDLE_MAX	64u
#define BOUNDARY	"strobe7c1f0a5e9b3d4826strobe"

/* --- Connections --- */

static int take_connection(struct clickhouse_store *s, unsigned shard, struct http_client **ret, struct err *err)
{
	struct http_options o = s->url.http;
	struct http_client *h = NULL;

	lock_take(&s->lock);
	for (size_t i = 0; i < s->idle_count && !h; i++) {
		if (s->idle[i].shard != shard)
			continue;
		h = s->idle[i].http;
		s->idle[i] = s->idle[--s->idle_count];
	}
	lock_release(&s->lock);
	o.host = s->url.servers[shard].host;
	o.port = s->url.servers[shard].port;
	*ret = h;
	return h ? 0 : http_client_new(&o, ret, err);
}

static void return_client(struct clickhouse_store *s, unsigned shard, struct http_client *h)
{
	lock_take(&s->lock);
	if (s->idle_count < IDLE_MAX) {
		GROW(&s->idle, &s->idle_capacity, s->idle_count + 1);
		s->idle[s->idle_count].shard = shard;
		s->idle[s->idle_count++].http = TAKE_PTR(h);
	}
	lock_release(&s->lock);
	http_client_free(h);
}

/* --- Servers in trouble --- */

static struct clickhouse_shard_health *health_of(struct clickhouse_store *s, unsigned shard)
{
	return &(s->cache ? clickhouse_cache_health(s->cache) : s->health)[shard];
}

/* --- Errors --- */

static const struct problem {
	int code, rc;
	const char *say;			/* NULL: ClickHouse's own words */
} problems[] = {
	{ 60, -ENOENT, "the tables do not exist; a daemon with this URL as --store creates them within a minute" },
	{ 81, -ENOENT, "the database does not exist; a daemon with this URL as --store creates it within a minute" },
	{ 57, -EEXIST, NULL },
	{ 158, -EOVERFLOW, "the query reads more rows than allowed; select a shorter range or fewer labels" },
	{ 159, -EOVERFLOW, "the query exceeded its time limit; select a shorter range or fewer labels, or raise timeout= "
			   "in the URL of the store" },
	{ 160, -EOVERFLOW, "the query would exceed its time limit; select a shorter range or fewer labels" },
	{ 241, -EOVERFLOW, "the query exceeded its memory limit; select a shorter range or fewer labels, or raise "
			   "memory= in the URL of the store" },
	{ 192, -EACCES, "the user is unknown; check the user in the URL" },
	{ 193, -EACCES, "the password is wrong; check password-file= in the URL" },
	{ 194, -EACCES, "a password is required; give it by password-file= in the URL" },
	{ 516, -EACCES, "the user or the password is wrong; check the user and password-file= in the URL" },
	{ 497, -EACCES, NULL },
	{ 216, -EBUSY, "an earlier request with the same content is still running" },
	{ 243, -ENOSPC, "the disk is full" },
	{ 252, -EAGAIN, "it has too many parts; retrying while it merges them" },
	{ 164, -EROFS, "the user may only read" },
	{ 202, -EAGAIN, "it runs too many queries; retrying" },
	{ 225, -EAGAIN, "it has no connection to ZooKeeper, which Replicated tables need" },
	{ 242, -EAGAIN, "its tables are read-only until it reaches ZooKeeper again" },
};

/* Proxies answer so, in their own words, for a server that they cannot reach. */
static bool is_of_gateway(int status, const struct buf *answer)
{
	return status >= 502 && status <= 504 && !memmem(answer->data, answer->size, "Code: ", strlen("Code: "));
}

/* Tells whether ClickHouse has answered: all versions send headers of this kind. Another program at the address, or the
 * welcome page of a proxy, may answer an insert with 200 as well. */
static bool is_of_clickhouse(const struct http_answer *a)
{
	return a->head.size && strcasestr(a->head.data, "\nX-ClickHouse-");
}

static int refused(const struct clickhouse_store *s, unsigned shard, int status, const struct buf *answer, struct err *err)
{
	const char *server = s->url.servers[shard].name;
	int code = 0;

	if (sscanf(answer->data, "Code: %d", &code) != 1)
		code = 0;
	if (strstr(answer->data, "distributed_ddl_task_timeout"))
		return err_set(err, -EAGAIN, "ClickHouse at %s: a replica of the cluster did not create its "
					     "tables within %d s; check that all "
					     "replicas are running", server, DDL_SECONDS);
	if (!code && is_of_gateway(status, answer))
		return err_set(err, -EHOSTUNREACH, "ClickHouse at %s is unavailable: a proxy answered %d: %.300s", server, status, answer->data);
	for (size_t i = 0; i < ARRAY_SIZE(problems); i++)
		if (problems[i].code == code)
			return err_set(err, problems[i].rc, "ClickHouse at %s: %.300s", server,
				       problems[i].say ? problems[i].say : answer->data);
	/* A full disk is an error of write(2), too. */
	if (strstr(answer->data, "errno: 28"))
		return err_set(err, -ENOSPC, "ClickHouse at %s: the disk is full", server);
	return err_set(err, -EIO, "ClickHouse at %s answered %d: %.300s", server, status, answer->data);
}

/* The server was restored without its disk, or a table was dropped. Both are recreated before the next attempt. */
static void forget_tables(struct clickhouse_store *s)
{
	lock_take(&s->lock);
	s->lost_tables |= s->prepared;
	s->prepared = false;
	lock_release(&s->lock);
}

bool clickhouse_is_unreachable(int rc)
{
	return rc == -ETIMEDOUT || rc == -EHOSTUNREACH || rc == -ECONNRESET;
}

/* --- A request --- */

static void put_parameter(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, "%s%s=", b->size ? "&" : "", name);
	text_put_url(b, (struct str){ value, strlen(value) });
}

static void put_part(struct buf *b, const char *name, bool is_table, const void *p, size_t n)
{
	buf_printf(b, "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"%s\"%s\r\n%s\r\n", name,
		   is_table ? "; filename=\"given\"" : "", is_table ? "Content-Type: application/octet-stream\r\n" : "");
	buf_put(b, p, n);
	buf_puts(b, "\r\n");
}

/* Puts rows and SQL where ClickHouse expects them. SQL alone is the body. With rows to insert, these are the body and
 * the SQL is a parameter. A table beside the query requires a form. */
static const char *put_body(const struct clickhouse_request *r, struct buf *parameters, struct buf *body)
{
	if (!r->rows) {
		buf_puts(body, r->sql);
		return "text/plain";
	}
	if (!r->table) {
		put_parameter(parameters, "query", r->sql);
		return "application/octet-stream";
	}
	put_parameter(parameters, "given_structure", r->table);
	put_parameter(parameters, "given_format", "RowBinary");
	put_part(body, "query", false, r->sql, strlen(r->sql));
	put_part(body, "given", true, r->rows->data, r->rows->size);
	buf_puts(body, "--" BOUNDARY "--\r\n");
	return "multipart/form-data; boundary=" BOUNDARY;
}

/* Returns `ns`, or this percentage of the remaining time if that is shorter. */
static int64_t until_answer(const struct clickhouse_store *s, int64_t ns, int64_t percent)
{
	int64_t left = s->until_ns - clock_monotonic_ns();

	if (!s->until_ns)
		return ns;
	left = left > 0 ? left / 100 * percent : 0;
	return left < LEAST_NS ? LEAST_NS : left < ns ? left : ns;
}

static int64_t time_limit_ns(const struct clickhouse_store *s, const struct clickhouse_request *r)
{
	int64_t ns = r->writes ? INSERT_NS : s->url.timeout_ns;

	return r->within_ns && r->within_ns < ns ? r->within_ns : ns;
}

/* Results must be complete or fail: otherwise, an error after the first rows would look like the end of the answer. So
 * the server sends nothing until the result is complete, and then all of it at the rate of the network.
 * An insert becomes one block, and so one part of one partition, which is stored completely or not at all. */
static void put_settings(const struct clickhouse_store *s, const struct clickhouse_request *r, struct buf *p)
{
	if (!r->anywhere)
		put_parameter(p, "database", s->url.database);
	if (r->query_id)
		put_parameter(p, "query_id", r->query_id);
	if (r->session)
		put_parameter(p, "session_id", r->session);
	buf_printf(p, "%smax_execution_time=%lld&wait_end_of_query=1&send_progress_in_http_headers=0&buffer_size=%u", p->size ? "&" : "",
		   (long long)((until_answer(s, time_limit_ns(s, r), ANSWER_PERCENT) + NS_PER_SECOND - 1) / NS_PER_SECOND), ANSWER_MEMORY);
	if (!r->writes && !r->is_number)
		buf_printf(p, "&max_memory_usage=%llu", (unsigned long long)s->url.memory_bytes);
	if (r->writes)
		buf_puts(p, "&max_threads=1&max_insert_block_size=1048576&min_insert_block_size_rows=1048576"
			 "&min_insert_block_size_bytes=1073741824");
	if (r->writes && s->url.cluster)
		buf_printf(p, "&distributed_ddl_task_timeout=%d", DDL_SECONDS);
}

/* Sends the request and receives the status and body of the answer. */
static int post(struct clickhouse_store *s, unsigned shard, const struct clickhouse_request *r, struct http_answer *answer,
		struct err *err)
{
	_cleanup_(buf_done) struct buf parameters = { 0 }, body = { 0 };
	_cleanup_(freep) char *path = NULL, *type = NULL;
	const char *headers[2] = { NULL };
	struct http_request request = {
		.method = "POST",
		.headers = headers,
		.total_ns = until_answer(s, time_limit_ns(s, r) + (r->within_ns ? 0 : GRACE_NS), ANSWER_PERCENT),
		.body_max = ANSWER_MAX,
		.least_bytes = LEAST_BYTES,
		.least_ns = ALIVE_NS,
	};
	struct http_client *h;
	int rc = take_connection(s, shard, &h, err);

	buf_init(&parameters);
	buf_init(&body);
	if (rc < 0)
		return rc;
	put_settings(s, r, &parameters);
	headers[0] = type = xasprintf("Content-Type: %s", put_body(r, &parameters, &body));
	request.path = path = xasprintf("/?%s", parameters.data);
	request.body = body.size ? body.data : r->rows->data;
	request.size = body.size ? body.size : r->rows->size;
	rc = http_request(h, &request, answer, err);
	if (answer->was_slow)
		health_of(s, shard)->slow_until_ns = clock_monotonic_ns() + SILENT_NS;
	/* The server reads a form to its last boundary, but does not read a body that it refuses: it would parse the
	 * rest as the beginning of the next request, and answer with an empty 400. */
	if (rc != 200 || r->table)
		http_client_free(h);
	else
		return_client(s, shard, h);
	return rc == -EFBIG ? -EOVERFLOW : rc;
}

int clickhouse_ask(struct clickhouse_store *s, unsigned shard, const struct clickhouse_request *r, struct buf *ret,
		   struct err *err)
{
	struct http_answer answer;
	int rc;

	assert(shard < s->url.server_count);
	http_answer_init(&answer);
	rc = post(s, shard, r, &answer, err);
	if (rc >= 0 && rc != 200) {
		rc = refused(s, shard, rc, &answer.body, err);
		if (rc == -ENOENT)
			forget_tables(s);
	} else if (rc >= 0 && !is_of_clickhouse(&answer)) {
		rc = err_set(err, -EPROTO, "the answer from %s is not ClickHouse's: it has no header X-ClickHouse-…; check the address, and any "
					   "proxy before it",
			     s->url.servers[shard].name);
	}
	if (rc >= 0 && ret && !ret->size) {		/* the usual case */
		buf_done(ret);
		*ret = answer.body;
		buf_init(&answer.body);
	} else if (rc >= 0 && ret) {
		buf_put(ret, answer.body.data, answer.body.size);
	}
	http_answer_done(&answer);
	return rc < 0 ? rc : 0;
}

int clickhouse_run(struct clickhouse_store *s, unsigned shard, const char *sql, struct err *err)
{
	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql, .writes = true }, NULL, err);
}

int clickhouse_ask_number(struct clickhouse_store *s, unsigned shard, const char *sql, uint64_t *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	int rc;

	buf_init(&answer);
	rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql, .is_number = true }, &answer, err);
	*ret = rc < 0 ? 0 : strtoull(answer.data, NULL, 10);
	return rc;
}

/* --- All shards --- */

struct shard_thread {
	struct clickhouse_store *store;
	clickhouse_one *one;
	void *data;
	pthread_t thread;
	bool started;
	unsigned shard;
	int rc;
	struct err err;
};

/* Tells whether a list such as "db1:8123, db2:8123" contains this server. */
static bool has_server(const char *list, const char *server)
{
	size_t n = strlen(server);

	for (const char *at = list; (at = strstr(at, server)); at += n)
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

static void note_missing(struct clickhouse_store *s, const char *server)
{
	size_t n;

	lock_take(&s->lock);
	n = strlen(s->missing);
	if (!has_server(s->missing, server))
		snprintf(s->missing + n, sizeof(s->missing) - n, "%s%s", n ? ", " : "", server);
	lock_release(&s->lock);
}

/* Tells whether an answer with a deadline has already missed this shard, which is not waited for again. */
static bool was_missed(struct clickhouse_store *s, unsigned shard)
{
	bool missed;

	lock_take(&s->lock);
	missed = s->until_ns && has_server(s->missing, s->url.servers[shard].name);
	lock_release(&s->lock);
	return missed;
}

/* A hanging server accepts connections and queries, and would block until the longest query timeout. Any reply to a
 * ping proves that it is alive. */
static int check_alive(struct clickhouse_store *s, unsigned shard, struct err *err)
{
	struct clickhouse_shard_health *t = health_of(s, shard);
	bool silent = clock_monotonic_ns() < t->silent_until_ns;
	struct http_request ping = { .method = "GET", .path = "/ping", .total_ns = silent ? BRIEF_NS : until_answer(s, ALIVE_NS, PING_PERCENT) };
	struct http_answer answer;
	struct http_client *h;
	int rc;

	if (was_missed(s, shard))
		return err_set(err, -ETIMEDOUT, "ClickHouse at %s does not answer", s->url.servers[shard].name);
	if (clock_monotonic_ns() < t->slow_until_ns)
		return err_set(err, -ETIMEDOUT, "ClickHouse at %s sends its answers too slowly", s->url.servers[shard].name);
	if ((rc = take_connection(s, shard, &h, err)) < 0)
		return rc;
	http_answer_init(&answer);
	rc = http_request(h, &ping, &answer, err);
	if (rc < 0)
		err_prefix(err, "ClickHouse at %s", s->url.servers[shard].name);
	http_answer_done(&answer);
	if (rc == 200)
		return_client(s, shard, h);
	else
		http_client_free(h);
	if (rc != -ETIMEDOUT)
		t->silent_until_ns = 0;
	else if (!silent)
		t->silent_until_ns = clock_monotonic_ns() + SILENT_NS;
	return rc < 0 && clickhouse_is_unreachable(rc) ? rc : 0;
}

int clickhouse_one_shard(struct clickhouse_store *s, unsigned shard, clickhouse_one *one, void *data, struct err *err)
{
	int rc = check_alive(s, shard, err);

	return rc < 0 ? rc : one(s, shard, data, err);
}

static void *ask_shard(void *data)
{
	struct shard_thread *t = data;

	t->rc = clickhouse_one_shard(t->store, t->shard, t->one, t->data, &t->err);
	return NULL;
}

static int result_of(struct clickhouse_store *s, const struct shard_thread *threads, unsigned count, struct err *err)
{
	const struct shard_thread *wrong = NULL;
	unsigned there = 0;

	for (unsigned i = 0; i < count; i++) {
		there += threads[i].rc >= 0;
		if (threads[i].rc < 0 && (!wrong || !clickhouse_is_unreachable(threads[i].rc)))
			wrong = &threads[i];
	}
	if (wrong && (!there || !clickhouse_is_unreachable(wrong->rc)))
		return err_set(err, wrong->rc, "%s", wrong->err.text);
	for (unsigned i = 0; i < count; i++)
		if (threads[i].rc < 0)
			note_missing(s, s->url.servers[i].name);
	return 0;
}

static void run_threads(struct clickhouse_store *s, void *(*body)(void *thread), clickhouse_one *one, void *data,
			struct shard_thread *threads)
{
	unsigned count = s->url.server_count;

	for (unsigned i = 0; i < count; i++) {
		threads[i] = (struct shard_thread){ .store = s, .one = one, .data = data, .shard = i };
		threads[i].started = i + 1 < count && !pthread_create(&threads[i].thread, NULL, body, &threads[i]);
		if (!threads[i].started)
			body(&threads[i]);
	}
	for (unsigned i = 0; i < count; i++)
		if (threads[i].started)
			pthread_join(threads[i].thread, NULL);
}

int clickhouse_each(struct clickhouse_store *s, clickhouse_one *one, void *data, struct err *err)
{
	struct shard_thread threads[CLICKHOUSE_SHARDS] = { 0 };

	int rc;

	run_threads(s, ask_shard, one, data, threads);
	rc = result_of(s, threads, s->url.server_count, err);
	return rc == -ENOENT ? err_set(err, -EAGAIN, "%s", err->text) : rc;
}

/* --- Readiness --- */

static void *ask_tables(void *data)
{
	static const struct clickhouse_request r = {
		.sql = "SELECT count() FROM samples WHERE day = toDate(0) AND kind IN (SELECT kind FROM kinds) AND series IN (SELECT series"
		       " FROM series WHERE day = toDate(0)) AND stack IN (SELECT stack FROM stacks WHERE month = 0) AND stack IN (SELECT"
		       " frame FROM frames WHERE month = 0)",
		.is_number = true,
		.within_ns = READY_NS,
	};
	struct shard_thread *t = data;

	t->rc = clickhouse_ask(t->store, t->shard, &r, NULL, &t->err);
	if (t->rc >= 0)
		t->rc = clickhouse_check_version(t->store, t->shard, READY_NS, &t->err);
	return NULL;
}

static int result_of_all(const struct clickhouse_store *s, const struct shard_thread *threads, struct err *err)
{
	_cleanup_(buf_done) struct buf silent = { 0 };
	unsigned count = 0;
	int rc = 0;

	buf_init(&silent);
	for (unsigned i = 0; i < s->url.server_count; i++) {
		if (threads[i].rc < 0 && !clickhouse_is_unreachable(threads[i].rc))
			return err_set(err, threads[i].rc, "%s", threads[i].err.text);
		if (threads[i].rc < 0) {
			rc = threads[i].rc;
			buf_printf(&silent, "%s%s", count++ ? ", " : "", s->url.servers[i].name);
		}
	}
	return rc < 0 ? err_set(err, rc, "ClickHouse at %s %s not answer", silent.data, count > 1 ? "do" : "does") : 0;
}

static int last_failure(struct clickhouse_store *s, struct err *err)
{
	int rc = 0;

	lock_take(&s->lock);
	if (clock_monotonic_ns() < s->unready_until_ns)
		rc = err_set(err, s->unready.code, "%s", s->unready.text);
	lock_release(&s->lock);
	return rc;
}

int clickhouse_ready(struct store *store, struct err *err)
{
	struct shard_thread threads[CLICKHOUSE_SHARDS] = { 0 };
	struct clickhouse_store *s = clickhouse_of(store);
	int rc = last_failure(s, err);

	if (rc < 0)
		return rc;
	run_threads(s, ask_tables, NULL, NULL, threads);
	rc = result_of_all(s, threads, err);
	if (rc < 0) {
		lock_take(&s->lock);
		s->unready = *err;
		s->unready_until_ns = clock_monotonic_ns() + SILENT_NS;
		lock_release(&s->lock);
	}
	return rc;
}
