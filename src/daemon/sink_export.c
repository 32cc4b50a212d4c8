/* sink_export.c: batches to receivers of others: otlp://host:4318 and pyroscope://host:4040.
 *
 * A batch is one request, or several where it is large or of several tenants. Requests that were accepted, or refused for ever, are
 * not sent again when the batch comes again; one whose answer was lost is, so that the receiver may count it twice. */

#include "sinks.h"

#include "clock.h"
#include "gzip.h"
#include "http_client.h"
#include "http_get.h"
#include "log.h"
#include "mem.h"
#include "otlp_messages.h"
#include "otlp_write.h"
#include "protobuf.h"
#include "push_write.h"
#include "pushed.h"
#include "text.h"
#include "url.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define REQUEST_BYTES	((size_t)4 << 20)	/* about; receivers take several times as much */
#define REQUEST_NS	(10 * NS_PER_SECOND)	/* an end of the daemon waits for it */
#define PAUSE_MAX_NS	(60 * NS_PER_SECOND)
#define RETRY_AFTER_MAX	3600			/* seconds that a receiver may ask for */
#define SERVICE		"php"

struct export_sink;

/* The differences between the two. */
struct export_kind {
	const struct sink_ops *ops;
	struct url_kind url;
	const char *path;
	const char *headers[3];
	/* Appends the request of entries from `first` on, `end` at most, and returns how many it took, or -EINVAL, -E2BIG or -EFBIG
	 * with a sentence: then the first of them can never be sent. */
	ssize_t (*write)(const struct export_sink *s, const struct batch *b, size_t first, size_t end, struct buf *out,
			 struct err *err);		/* counted in the sink's order */
	bool (*is_retried)(int status, const struct http_answer *a);
	/* The sentence of a receiver about an error, or, with 200, the number of profiles that it left out. */
	uint64_t (*read_answer)(const struct http_answer *a, int status, struct buf *ret_sentence);
};

struct export_sink {
	struct sink base;
	const struct export_kind *kind;
	struct url url;
	struct http_client *client;
	const char *service, *tenant;		/* tenant: NULL is that of each series */

	/* the sink's thread only */
	uint32_t *order;			/* entries of the batch that is under way, tenant by tenant; NULL: none is */
	size_t done;				/* so many of them */
	bool accepted;				/* any of them */
	unsigned failures;			/* one after another */
	int64_t pause_end_ns;			/* monotonic */
	int64_t say_refused_ns;

	_Atomic uint64_t requests, refused_requests, retried_requests, bytes, refused_samples, left_out_profiles;
};

/* Whether a request was accepted: proxies and gateways also answer 202 and 204. */
static bool is_success(int status)
{
	return status / 100 == 2;
}

/* --- Tenants --- */

static const char *tenant_of(const struct export_sink *s, const struct batch_entry *e)
{
	return s->tenant ? s->tenant : labels_get(e->labels, "tenant");
}

/* Entries of one tenant are one request, in whatever order series came. */
static const struct batch_entry *entry_at(const struct export_sink *s, const struct batch *b, size_t i)
{
	assert(s->order && i < b->count && s->order[i] < b->count);
	return &b->entries[s->order[i]];
}

struct tenant_entry {
	const char *tenant;			/* "": none */
	uint32_t entry;
};

static int compare_tenants(const void *x, const void *y)
{
	const struct tenant_entry *a = x, *b = y;
	int by_name = strcmp(a->tenant, b->tenant);

	return by_name ? by_name : (a->entry > b->entry) - (a->entry < b->entry);
}

static void order_by_tenant(struct export_sink *s, const struct batch *b)
{
	_cleanup_(freep) struct tenant_entry *list = xcalloc(b->count + 1, sizeof(*list));

	s->order = xcalloc(b->count + 1, sizeof(*s->order));
	for (uint32_t i = 0; i < b->count; i++) {
		const char *tenant = tenant_of(s, &b->entries[i]);

		list[i] = (struct tenant_entry){ tenant ? tenant : "", i };
	}
	qsort(list, b->count, sizeof(*list), compare_tenants);
	for (uint32_t i = 0; i < b->count; i++)
		s->order[i] = list[i].entry;
}

/* Entries from the first one on that have the same tenant. */
static size_t same_tenant(const struct export_sink *s, const struct batch *b, size_t first)
{
	const char *tenant = tenant_of(s, entry_at(s, b, first));
	size_t end = first + 1;

	while (end < b->count) {
		const char *other = tenant_of(s, entry_at(s, b, end));

		if (!tenant != !other || (tenant && strcmp(tenant, other)))
			break;
		end++;
	}
	return end;
}

/* --- OTLP --- */

static ssize_t write_otlp(const struct export_sink *s, const struct batch *b, size_t first, size_t end, struct buf *out,
			  struct err *err)
{
	_cleanup_(buf_done) struct buf plain = { 0 };
	struct otlp_writer *w = otlp_writer_new(s->service);
	size_t n = 0;
	int r;

	buf_init(&plain);
	do
		otlp_writer_add(w, entry_at(s, b, first + n++));
	while (first + n < end && otlp_writer_size(w) < REQUEST_BYTES);
	otlp_writer_end(w, &plain);
	otlp_writer_free(w);
	r = gzip_put_fast(out, plain.data, plain.size, err);
	return r < 0 ? r : (ssize_t)n;
}

static bool otlp_is_retried(int status, const struct http_answer *a)
{
	(void)a;
	return status == 429 || status == 502 || status == 503 || status == 504;
}

/* A text in field `text` of the message in field `inner` (0: the message itself), and the number beside it. */
static uint64_t read_message(const struct buf *body, uint32_t inner, uint32_t number, uint32_t text, struct buf *ret)
{
	struct protobuf m = { (const uint8_t *)body->data, (const uint8_t *)body->data + body->size };
	struct protobuf_field f;
	uint64_t n = 0;

	if (inner) {
		struct protobuf all = m;

		m = (struct protobuf){ NULL, NULL };
		while (protobuf_next(&all, &f))
			if (f.number == inner && f.type == 2)
				m = f.bytes;
	}
	while (m.p && protobuf_next(&m, &f)) {
		if (f.number == number && f.type == 0)
			n = f.value;
		else if (f.number == text && f.type == 2)
			text_put_plain(ret, (struct str){ (const char *)f.bytes.p, (size_t)(f.bytes.end - f.bytes.p) });
	}
	return n;
}

static bool is_protobuf(const struct http_answer *a)
{
	_cleanup_(buf_done) struct buf type = { 0 };

	buf_init(&type);
	return http_header(&a->head, "Content-Type", &type) && !strncmp(type.data, "application/x-protobuf", 22);
}

static void put_text(const struct http_answer *a, struct buf *ret)
{
	text_put_plain(ret, (struct str){ a->body.data, a->body.size < 300 ? a->body.size : 300 });
}

static uint64_t otlp_read_answer(const struct http_answer *a, int status, struct buf *ret)
{
	if (!a->body.size)
		return 0;
	if (is_success(status))
		return read_message(&a->body, OTLP_PARTIAL_SUCCESS, OTLP_REJECTED_PROFILES, OTLP_ERROR_MESSAGE, ret);
	if (is_protobuf(a))
		read_message(&a->body, 0, RPC_STATUS_CODE, RPC_STATUS_MESSAGE, ret);
	else
		put_text(a, ret);
	return 0;
}

/* --- Pyroscope --- */

static ssize_t write_pushes(const struct export_sink *s, const struct batch *b, size_t first, size_t end, struct buf *out,
			    struct err *err)
{
	size_t n = 0;
	int r;

	do {
		r = push_write_entry(entry_at(s, b, first + n), s->service, out, err);
		if (r < 0)
			return n ? (ssize_t)n : r;
		n++;
	} while (first + n < end && out->size < REQUEST_BYTES);
	return (ssize_t)n;
}

/* By the codes of Connect that clients of Pyroscope send again. */
static bool push_is_retried(int status, const struct http_answer *a)
{
	return status == 429 || status == 500 || status == 502 || status == 503 || status == 504 ||
	       (status == 409 && a->body.size && memmem(a->body.data, a->body.size, "\"aborted\"", 9));
}

static uint64_t push_read_answer(const struct http_answer *a, int status, struct buf *ret)
{
	if (!is_success(status) && a->body.size)
		put_text(a, ret);
	return 0;
}

/* --- Requests --- */

/* Seconds, or a date (RFC 9110, 10.2.3); -1: neither. */
static int64_t retry_after_s(const char *value)
{
	struct tm tm = { 0 };
	const char *end;
	int64_t s;

	if (*value >= '0' && *value <= '9')
		s = strtol(value, NULL, 10);
	else if ((end = strptime(value, "%a, %d %b %Y %H:%M:%S GMT", &tm)) && !*end)
		s = (int64_t)timegm(&tm) - clock_wall_ns() / NS_PER_SECOND;
	else
		return -1;
	return s < 0 ? 0 : s < RETRY_AFTER_MAX ? s : RETRY_AFTER_MAX;
}

static void note_pause(struct export_sink *s, const struct http_answer *a)
{
	int64_t pause = NS_PER_SECOND << (s->failures < 6 ? s->failures : 6), asked = -1;
	_cleanup_(buf_done) struct buf after = { 0 };

	buf_init(&after);
	if (a && http_header(&a->head, "Retry-After", &after))
		asked = retry_after_s(after.data);
	if (asked >= 0)
		pause = asked * NS_PER_SECOND;
	else if (pause > PAUSE_MAX_NS)
		pause = PAUSE_MAX_NS;
	s->failures++;
	s->pause_end_ns = clock_monotonic_ns() + pause;
}

static void note_refused(struct export_sink *s, const struct batch *b, size_t n, const char *why)
{
	for (size_t i = s->done; i < s->done + n; i++) {
		const struct profile *p = entry_at(s, b, i)->profile;
		uint32_t column = profile_find_column(p, "samples");

		s->refused_samples += column == UINT32_MAX ? 0 : (uint64_t)profile_sum(p, column);
	}
	s->refused_requests++;
	if (log_is_due(&s->say_refused_ns))
		log_error("%s refused profiles, which are dropped and counted: %s", s->base.url, why);
}

/* 0 if the request is done with, whatever became of it; -EAGAIN with a sentence if it is to be sent again. */
static int judge(struct export_sink *s, const struct batch *b, size_t n, int status, const struct http_answer *a, struct err *err)
{
	_cleanup_(buf_done) struct buf said = { 0 };
	uint64_t left_out;

	buf_init(&said);
	left_out = s->kind->read_answer(a, status, &said);
	if (!is_success(status) && s->kind->is_retried(status, a)) {
		s->retried_requests++;
		note_pause(s, a);
		return err_set(err, -EAGAIN, "%s answered %d%s%.200s", s->base.url, status, said.size ? ": " : "", said.size ? said.data : "");
	}
	s->failures = 0;
	s->left_out_profiles += left_out;
	if (is_success(status)) {
		s->accepted = true;
		if (left_out && log_is_due(&s->say_refused_ns))
			log_error("%s left out %llu profiles: %s", s->base.url, (unsigned long long)left_out, said.data);
		return 0;
	}
	err_set(err, -EINVAL, "it answered %d%s%.200s", status, said.size ? ": " : "", said.size ? said.data : "");
	note_refused(s, b, n, err->text);
	return 0;
}

static int send_request(struct export_sink *s, const struct batch *b, size_t n, const struct buf *body, struct err *err)
{
	const char *tenant = tenant_of(s, entry_at(s, b, s->done));
	_cleanup_(freep) char *tenant_header = NULL;
	const char *headers[5] = { NULL };
	struct http_request q = { .method = "POST", .path = s->kind->path, .headers = headers, .body = body->data, .size = body->size,
				  .once = true };
	struct http_answer a;
	size_t count = 0;
	int r;

	while (s->kind->headers[count]) {
		headers[count] = s->kind->headers[count];
		count++;
	}
	if (tenant && pushed_check_tenant(tenant, NULL) >= 0)
		headers[count] = tenant_header = xasprintf("X-Scope-OrgID: %s", tenant);
	http_answer_init(&a);
	s->requests++;
	s->bytes += body->size;
	r = http_request(s->client, &q, &a, err);
	if (r >= 0) {
		r = judge(s, b, n, r, &a, err);
	} else {
		s->retried_requests++;
		note_pause(s, NULL);
		r = -EAGAIN;
	}
	http_answer_done(&a);
	return r;
}

static int send_some(struct export_sink *s, const struct batch *b, struct err *err)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	ssize_t n;
	int r = 0;

	buf_init(&body);
	n = s->kind->write(s, b, s->done, same_tenant(s, b, s->done), &body, err);
	if (n < 0) {
		note_refused(s, b, 1, err->text);
		n = 1;
	} else {
		r = send_request(s, b, (size_t)n, &body, err);
	}
	if (r >= 0)
		s->done += (size_t)n;
	return r;
}

static int commit(void *data, const struct batch *b, struct err *err)
{
	struct export_sink *s = data;
	int64_t now = clock_monotonic_ns();
	bool accepted;
	int r = 0;

	assert(s->done <= b->count);
	if (now < s->pause_end_ns)
		return err_set(err, -EAGAIN, "%s cannot accept profiles now; retrying in %lld s", s->base.url,
			       (long long)((s->pause_end_ns - now) / NS_PER_SECOND + 1));
	if (!s->order)
		order_by_tenant(s, b);
	while (s->done < b->count && r >= 0)
		r = send_some(s, b, err);
	if (r < 0)
		return r;
	accepted = s->accepted;
	free(TAKE_PTR(s->order));
	s->done = 0;
	s->accepted = false;
	/* The last sentence says why. */
	return accepted || !b->count ? 0 : -EINVAL;
}

/* --- Life --- */

static size_t figures(void *sink, struct server_figure *ret, size_t max)
{
	const struct export_sink *s = sink;
	const struct server_figure all[] = {
		{ "export_requests_total", "Requests sent.", NULL, NULL, s->requests },
		{ "export_bytes_total", "Bytes of the bodies of sent requests.", NULL, NULL, s->bytes },
		{ "export_retried_requests_total", "Requests that failed and were or will be retried.", NULL, NULL,
		  s->retried_requests },
		{ "export_refused_requests_total", "Requests that the receiver rejected "
						   "permanently.", NULL, NULL, s->refused_requests },
		{ "export_refused_samples_total", "Samples of requests that the receiver rejected "
						  "permanently.", NULL, NULL, s->refused_samples },
		{ "export_left_out_profiles_total", "Profiles that the receiver dropped from "
						    "accepted requests.", NULL, NULL,
		  s->left_out_profiles },
	};

	if (max < ARRAY_SIZE(all))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		ret[i] = all[i];
	return ARRAY_SIZE(all);
}

static struct sink *export_close(struct sink *base)
{
	struct export_sink *s = (struct export_sink *)base;

	http_client_free(s->client);
	url_done(&s->url);
	free(s->order);
	free(base->url);
	free(s);
	return NULL;
}

static int check_parameters(struct export_sink *s, struct err *err)
{
	const struct url *u = &s->url;

	for (size_t i = 0; i < u->parameter_count; i++)
		if (!http_is_parameter(u->parameters[i].name) && strcmp(u->parameters[i].name, "tenant") &&
		    strcmp(u->parameters[i].name, "service"))
			return err_set(err, -EINVAL, "'%s' has the unknown parameter '%.40s'; known are tenant, "
						     "service, tls, ca-file, "
				       "token-file and password-file", u->shown, u->parameters[i].name);
	s->tenant = url_get(u, "tenant");
	s->service = url_get(u, "service");
	if (!s->service || !*s->service)
		s->service = SERVICE;
	return s->tenant && pushed_check_tenant(s->tenant, NULL) < 0 ?
		err_set(err, -EINVAL, "'tenant=%.40s' is not the name of a tenant: 1 to 150 letters, digits or !-_.*'()", s->tenant) : 0;
}

static int open_client(struct export_sink *s, struct err *err)
{
	struct http_options o;
	int r;

	if ((r = check_parameters(s, err)) < 0 || (r = http_options_from_url(&o, &s->url, err)) < 0)
		return r;
	o.total_ns = REQUEST_NS;
	o.name = s->base.url;
	return http_client_new(&o, &s->client, err);
}

static int export_open(const struct export_kind *kind, const char *url, struct sink **ret, struct err *err)
{
	struct export_sink *s = xcalloc(1, sizeof(*s));
	int r;

	s->base.ops = kind->ops;
	s->kind = kind;
	r = url_parse(url, &kind->url, &s->url, err);
	if (r >= 0) {
		s->base.url = xstrdup(s->url.shown);
		r = open_client(s, err);
	}
	if (r < 0) {
		export_close(&s->base);
		return r;
	}
	s->base.port = (struct collector_sink){ .url = s->base.url, .commit = commit, .data = s };
	*ret = &s->base;
	return 0;
}

static const struct export_kind otlp = {
	.ops = &sink_otlp_ops,
	.url = { .scheme = "otlp", .port = 4318, .name_is_user = true, .form = "a receiver is named as in otlp://host:4318" },
	.path = "/v1development/profiles",
	.headers = { "Content-Type: application/x-protobuf", "Content-Encoding: gzip", NULL },
	.write = write_otlp, .is_retried = otlp_is_retried, .read_answer = otlp_read_answer,
};

static const struct export_kind pyroscope = {
	.ops = &sink_pyroscope_ops,
	.url = { .scheme = "pyroscope", .port = 4040, .name_is_user = true, .form = "a Pyroscope is named as in pyroscope://host:4040" },
	.path = "/push.v1.PusherService/Push",
	.headers = { "Content-Type: application/proto", "Connect-Protocol-Version: 1", NULL },
	.write = write_pushes, .is_retried = push_is_retried, .read_answer = push_read_answer,
};

static int otlp_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err)
{
	(void)o;
	return export_open(&otlp, url, ret, err);
}

static int pyroscope_open(const char *url, const struct sink_options *o, struct sink **ret, struct err *err)
{
	(void)o;
	return export_open(&pyroscope, url, ret, err);
}

const struct sink_ops sink_otlp_ops = { .scheme = "otlp", .open = otlp_open, .figures = figures, .close = export_close };
const struct sink_ops sink_pyroscope_ops = { .scheme = "pyroscope", .open = pyroscope_open, .figures = figures,
					     .close = export_close };
