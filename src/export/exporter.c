/* exporter.c: sends requests per tenant, and decides from the answers whether to retry, reject or pause. */
#include "export_private.h"

#include "clock.h"
#include "http_get.h"
#include "log.h"
#include "mem.h"
#include "pushed.h"
#include "text.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#define REQUEST_NS	(10 * NS_PER_SECOND)	/* shutdown of the daemon waits this long */
#define PAUSE_MAX_NS	(60 * NS_PER_SECOND)
#define RETRY_AFTER_MAX	3600			/* seconds that a receiver may ask for */
#define SERVICE		"php"
#define LARGE_NS	(600 * NS_PER_SECOND)	/* until larger requests are tried again */
#define SUSPECT_REQUESTS	32u		/* requests of a batch for suspects of one tenant, about */

/* Whether a request was accepted: proxies and gateways also answer 202 and 204. */
bool export_is_success(int status)
{
	return status / 100 == 2;
}

void export_put_text(const struct http_answer *a, struct buf *ret)
{
	text_put_plain(ret, (struct str){ a->body.data, a->body.size < 300 ? a->body.size : 300 });
}

/* --- Tenants --- */

static const char *tenant_of(const struct exporter *x, const struct batch_entry *e)
{
	return x->tenant ? x->tenant : labels_get(e->labels, "tenant");
}

/* Looks an entry up by its place in `order`, where entries of one tenant are adjacent, so that they share a request. */
const struct batch_entry *export_entry(const struct exporter *x, const struct batch *b, size_t i)
{
	assert(x->order && i < b->count && x->order[i] < b->count);
	return &b->entries[x->order[i]];
}

struct tenant_entry {
	const char *tenant;			/* "": no tenant */
	bool is_suspect;
	uint32_t entry;
};

static int compare_tenants(const void *x, const void *y)
{
	const struct tenant_entry *a = x, *b = y;
	int by_name = strcmp(a->tenant, b->tenant);

	if (by_name)
		return by_name;
	if (a->is_suspect != b->is_suspect)
		return a->is_suspect ? 1 : -1;
	return (a->entry > b->entry) - (a->entry < b->entry);
}

static void order_entries(struct exporter *x, const struct batch *b)
{
	_cleanup_(freep) struct tenant_entry *list = xcalloc(b->count + 1, sizeof(*list));
	size_t suspects = 0;

	x->order = xcalloc(b->count + 1, sizeof(*x->order));
	for (uint32_t i = 0; i < b->count; i++) {
		const char *tenant = tenant_of(x, &b->entries[i]);

		list[i] = (struct tenant_entry){ tenant ? tenant : "", rejected_series_has(&x->rejected, &b->entries[i]), i };
		suspects += list[i].is_suspect;
	}
	x->suspects_at_once = suspects / SUSPECT_REQUESTS + 1;
	qsort(list, b->count, sizeof(*list), compare_tenants);
	for (uint32_t i = 0; i < b->count; i++)
		x->order[i] = list[i].entry;
}

/* Returns the number of entries that one request may have. */
static size_t most_at_once(const struct exporter *x, bool are_suspects)
{
	size_t most = are_suspects ? x->suspects_at_once : SIZE_MAX;

	return x->at_once && x->at_once < most && clock_monotonic_ns() < x->at_once_end_ns ? x->at_once : most;
}

/* Returns the end of the run of entries that have the tenant of the first one, and are suspects if that is one. */
static size_t end_of_request(const struct exporter *x, const struct batch *b, size_t first)
{
	const char *tenant = tenant_of(x, export_entry(x, b, first));
	bool is_suspect = rejected_series_has(&x->rejected, export_entry(x, b, first));
	size_t end = first + 1, most = most_at_once(x, is_suspect);

	while (end < b->count && end - first < most) {
		const char *other = tenant_of(x, export_entry(x, b, end));

		if (!tenant != !other || (tenant && strcmp(tenant, other)) ||
		    is_suspect != rejected_series_has(&x->rejected, export_entry(x, b, end)))
			break;
		end++;
	}
	return end;
}

/* --- Pauses --- */

/* Parses seconds or a date (RFC 9110, 10.2.3); -1: neither. */
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

static void note_pause(struct exporter *x, const struct http_answer *a)
{
	int64_t pause = NS_PER_SECOND << (x->failures < 6 ? x->failures : 6), requested_s = -1;
	_cleanup_(buf_done) struct buf after = { 0 };

	buf_init(&after);
	if (a && http_header(&a->head, "Retry-After", &after))
		requested_s = retry_after_s(after.data);
	if (requested_s >= 0)
		pause = requested_s * NS_PER_SECOND;
	else if (pause > PAUSE_MAX_NS)
		pause = PAUSE_MAX_NS;
	x->failures++;
	x->pause_end_ns = clock_monotonic_ns() + pause;
}

/* Ends `n` entries that will not be sent again, and are not stored. */
static void reject(struct exporter *x, const struct batch *b, size_t n, const char *why)
{
	for (size_t i = x->done; i < x->done + n; i++) {
		const struct profile *p = export_entry(x, b, i)->profile;
		uint32_t column = profile_find_column(p, "samples");

		x->counters.rejected_samples += column == UINT32_MAX ? 0 : (uint64_t)profile_sum(p, column);
	}
	x->done += n;
	x->counters.rejected_requests++;
	if (log_is_due(&x->say_rejected_ns))
		log_error("%s rejected profiles, which are dropped and counted: %s", x->url.shown, why);
}

static void accept(struct exporter *x, const struct batch *b, size_t n)
{
	for (size_t i = x->done; i < x->done + n; i++)
		rejected_series_remove(&x->rejected, export_entry(x, b, i));
	x->done += n;
	x->accepted = true;
}

static void suspect(struct exporter *x, const struct batch *b, size_t n)
{
	for (size_t i = x->done; i < x->done + n; i++)
		rejected_series_add(&x->rejected, export_entry(x, b, i));
}

static int retry(struct exporter *x, int status, const struct http_answer *a, const char *said, struct err *err)
{
	x->counters.retried_requests++;
	note_pause(x, a);
	return err_set(err, -EAGAIN, "%s answered %d%s%.200s", x->url.shown, status, *said ? ": " : "", said);
}

/* --- Answers --- */

/* Moves the entries of this outcome to the front, behind `from`. Returns their number. */
static size_t move_outcome(uint32_t *order, enum export_outcome *outcomes, size_t from, size_t n, enum export_outcome outcome)
{
	size_t at = from;

	for (size_t i = from; i < n; i++) {
		uint32_t entry = order[i];
		enum export_outcome of = outcomes[i];

		if (of != outcome)
			continue;
		order[i] = order[at];
		outcomes[i] = outcomes[at];
		order[at] = entry;
		outcomes[at++] = of;
	}
	return at - from;
}

/* Sends only those entries again that may be stored later, if the request was accepted in part. */
static int handle_parts(struct exporter *x, const struct batch *b, size_t n, enum export_outcome *outcomes, int status,
			const struct http_answer *a, const char *said, struct err *err)
{
	uint32_t *order = x->order + x->done;
	size_t stored = move_outcome(order, outcomes, 0, n, EXPORT_STORED);
	size_t rejected = move_outcome(order, outcomes, stored, n, EXPORT_REJECTED);

	if (stored)
		accept(x, b, stored);
	if (rejected) {
		suspect(x, b, rejected);
		err_set(err, -EINVAL, "it answered %d: %.200s", status, said);
		reject(x, b, rejected, err->text);
	}
	if (stored + rejected < n)
		return retry(x, status, a, said, err);
	x->failures = 0;
	return 0;
}

/* Whether the reason may be one entry of several. */
static bool is_of_content(int status)
{
	return status == 400 || status == 422;
}

static int handle_error(struct exporter *x, const struct batch *b, size_t n, int status, const struct http_answer *a,
			const char *said, struct err *err)
{
	_cleanup_(freep) enum export_outcome *outcomes = xcalloc(n, sizeof(*outcomes));

	if (x->kind->read_failed && x->kind->read_failed(a, n, outcomes))
		return handle_parts(x, b, n, outcomes, status, a, said, err);
	if (x->kind->is_retried(status, a))
		return retry(x, status, a, said, err);
	x->failures = 0;
	err_set(err, -EINVAL, "it answered %d%s%.200s", status, *said ? ": " : "", said);
	/* Receivers reject bodies that are too large before they read them. */
	if (status == 413 && n > 1) {
		x->counters.retried_requests++;
		x->at_once = n / 2;
		x->at_once_end_ns = clock_monotonic_ns() + LARGE_NS;
		return 0;
	}
	if (is_of_content(status))
		suspect(x, b, n);
	reject(x, b, n, err->text);
	return 0;
}

/* Returns 0 if the entries are finished, accepted or not, or go into smaller requests; -EAGAIN with a sentence if they
 * must be sent again later. */
static int handle_answer(struct exporter *x, const struct batch *b, size_t n, int status, const struct http_answer *a, struct err *err)
{
	_cleanup_(buf_done) struct buf said = { 0 };
	uint64_t left_out;

	buf_init(&said);
	left_out = x->kind->read_answer(a, status, &said);
	x->counters.rejected_profiles += left_out;
	if (!export_is_success(status))
		return handle_error(x, b, n, status, a, said.size ? said.data : "", err);
	x->failures = 0;
	accept(x, b, n);
	if (left_out && log_is_due(&x->say_rejected_ns))
		log_error("%s rejected %llu profile%s: %s", x->url.shown, (unsigned long long)left_out, left_out == 1 ? "" : "s", said.data);
	return 0;
}

/* --- Requests --- */

static int send_request(struct exporter *x, const struct batch *b, size_t n, const struct buf *body, struct err *err)
{
	const char *tenant = tenant_of(x, export_entry(x, b, x->done));
	_cleanup_(freep) char *tenant_header = NULL;
	const char *headers[5] = { NULL };
	struct http_request q = { .method = "POST", .path = x->kind->path, .headers = headers, .body = body->data, .size = body->size,
				  .once = true };
	struct http_answer a;
	size_t count = 0;
	int r;

	while (x->kind->headers[count]) {
		headers[count] = x->kind->headers[count];
		count++;
	}
	if (tenant && pushed_check_tenant(tenant, NULL) >= 0)
		headers[count] = tenant_header = xasprintf("X-Scope-OrgID: %s", tenant);
	http_answer_init(&a);
	x->counters.requests++;
	x->counters.bytes += body->size;
	r = http_request(x->client, &q, &a, err);
	if (r >= 0) {
		r = handle_answer(x, b, n, r, &a, err);
	} else {
		x->counters.retried_requests++;
		note_pause(x, NULL);
		r = -EAGAIN;
	}
	http_answer_done(&a);
	return r;
}

static int send_some(struct exporter *x, const struct batch *b, struct err *err)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	ssize_t n;
	int r = 0;

	buf_init(&body);
	n = x->kind->write(x, b, x->done, end_of_request(x, b, x->done), &body, err);
	if (n < 0)
		reject(x, b, 1, err->text);
	else
		r = send_request(x, b, (size_t)n, &body, err);
	return r;
}

static int commit(void *data, const struct batch *b, struct err *err)
{
	struct exporter *x = data;
	int64_t now = clock_monotonic_ns();
	bool accepted;
	int r = 0;

	assert(x->done <= b->count);
	if (now < x->pause_end_ns)
		return err_set(err, -EAGAIN, "%s; retrying in %lld s", x->why, (long long)((x->pause_end_ns - now) / NS_PER_SECOND + 1));
	if (!x->order)
		order_entries(x, b);
	while (x->done < b->count && r >= 0)
		r = send_some(x, b, err);
	if (r < 0) {
		snprintf(x->why, sizeof(x->why), "%.*s", (int)sizeof(x->why) - 1, err->text);
		return r;
	}
	accepted = x->accepted;
	free(TAKE_PTR(x->order));
	x->done = 0;
	x->accepted = false;
	/* If nothing was accepted, `err` still has the reason of the last request. */
	return accepted || !b->count ? 0 : -EINVAL;
}

/* --- Lifecycle --- */

struct exporter *exporter_close(struct exporter *x)
{
	if (!x)
		return NULL;
	http_client_free(x->client);
	url_done(&x->url);
	rejected_series_done(&x->rejected);
	free(x->order);
	free(x);
	return NULL;
}

static int check_parameters(struct exporter *x, struct err *err)
{
	const struct url *u = &x->url;

	for (size_t i = 0; i < u->parameter_count; i++)
		if (!http_is_parameter(u->parameters[i].name) && strcmp(u->parameters[i].name, "tenant") &&
		    strcmp(u->parameters[i].name, "service"))
			return err_set(err, -EINVAL, "'%s' has the unknown parameter '%.40s'; known are tenant, "
						     "service, tls, ca-file, "
				       "token-file and password-file", u->shown, u->parameters[i].name);
	x->tenant = url_get(u, "tenant");
	x->service = url_get(u, "service");
	if (!x->service || !*x->service)
		x->service = SERVICE;
	return x->tenant && pushed_check_tenant(x->tenant, NULL) < 0 ?
		err_set(err, -EINVAL, "'tenant=%.40s' is not the name of a tenant: 1 to 150 letters, digits or !-_.*'()", x->tenant) : 0;
}

static int open_client(struct exporter *x, struct err *err)
{
	struct http_options o;
	int r;

	if ((r = check_parameters(x, err)) < 0 || (r = http_options_from_url(&o, &x->url, err)) < 0)
		return r;
	o.total_ns = REQUEST_NS;
	o.name = x->url.shown;
	return http_client_new(&o, &x->client, err);
}

int exporter_open(const char *url, struct exporter **ret, struct err *err)
{
	struct exporter *x = xcalloc(1, sizeof(*x));
	int r;

	rejected_series_init(&x->rejected);
	x->kind = strncmp(url, "otlp:", 5) ? &export_pyroscope : &export_otlp;
	r = url_parse(url, &x->kind->url, &x->url, err);
	if (r >= 0)
		r = open_client(x, err);
	if (r < 0) {
		exporter_close(x);
		return r;
	}
	*ret = x;
	return 0;
}

struct collector_sink exporter_sink(struct exporter *x)
{
	return (struct collector_sink){ .url = x->url.shown, .commit = commit, .data = x };
}

const char *exporter_url(const struct exporter *x)
{
	return x->url.shown;
}

const struct exporter_counters *exporter_counters(const struct exporter *x)
{
	return &x->counters;
}
