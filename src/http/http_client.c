/* http_client.c: a libcurl handle, configured for each request; its connection is kept. */
#include "http_client.h"

#include "clock.h"
#include "http_problem.h"
#include "io.h"
#include "libcurl.h"
#include "mem.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#define BODY_MAX	((size_t)16 << 20)
#define HEAD_MAX	((size_t)64 << 10)
#define BUFFER_BYTES	((long)256 << 10)

struct http_client {
	const struct libcurl *curl;
	CURL *easy;
	struct http_options o;			/* its strings are owned here */
	char *where, *base;			/* its name in errors, and "https://host:8443/prefix" */
	char detail[CURL_ERROR_SIZE];
};

/* One request in flight. */
struct transfer {
	struct http_client *client;
	const struct http_request *request;
	struct http_answer *answer;
	struct curl_slist *headers;
	struct buf password;
	int stopped;				/* a negative errno: we ended it ourselves */
	size_t limit;				/* the cap that the answer exceeded; 0: none */
	size_t received;			/* bytes of the answer */
	size_t marked;				/* … at the time `marked_ns`, when they were enough; 0: it has not begun */
	int64_t marked_ns;
};

/* --- Opening --- */

/* Accepts letters, digits and the punctuation of names and addresses, but nothing that could end the host in a URL. */
static bool is_host(const char *host)
{
	for (const char *p = host; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-:", *p))
			return false;
	return *host;
}

/* Rejects control characters, which could end a header line. */
static bool is_line(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return true;
}

static bool is_path(const char *path)
{
	return is_line(path) && !strpbrk(path, " #");
}

static int check_options(const struct http_options *o, struct err *err)
{
	if (!is_host(o->host))
		return err_set(err, -EINVAL, "'%s' is not a host name or address", o->host);
	if (o->prefix && (!is_path(o->prefix) || strchr(o->prefix, '?') || (*o->prefix && *o->prefix != '/')))
		return err_set(err, -EINVAL, "'%s' is not a URL path; escape spaces, # and ?", o->prefix);
	return 0;
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void copy_options(struct http_client *c, const struct http_options *o)
{
	const char *prefix = o->prefix ? o->prefix : "";
	size_t n = strlen(prefix);

	c->o = *o;
	c->o.host = c->o.prefix = c->o.name = NULL;
	c->o.ca_file = copy(o->ca_file);
	c->o.user = copy(o->user);
	c->o.password = copy(o->password);
	c->o.password_file = copy(o->password_file);
	c->o.token_file = copy(o->token_file);
	while (n && prefix[n - 1] == '/')
		n--;
	c->where = xasprintf(strchr(o->host, ':') ? "%s://[%s]:%u" : "%s://%s:%u", o->tls ? "https" : "http", o->host,
			     o->port);
	c->base = xasprintf("%s%.*s", c->where, (int)n, prefix);
	if (o->name) {
		free(c->where);
		c->where = xstrdup(o->name);
	}
}

/* Only checks that the files can be read; each request reads them again. */
static int check_files(const struct http_options *o, struct err *err)
{
	_cleanup_(buf_done) struct buf secret = { 0 };
	int r = 0;

	buf_init(&secret);
	if (o->ca_file && access(o->ca_file, R_OK) < 0)
		return err_set(err, -errno, "ca-file: cannot read '%s': %s", o->ca_file, strerror(errno));
	if (o->password_file && (r = io_read_secret(o->password_file, "password", &secret, err)) < 0)
		err_prefix(err, "password-file");
	else if (o->token_file && (r = io_read_secret(o->token_file, "token", &secret, err)) < 0)
		err_prefix(err, "token-file");
	if (secret.size)
		explicit_bzero(secret.data, secret.size);
	return r < 0 ? r : 0;
}

int http_client_load(struct err *err)
{
	const struct libcurl *curl;

	return libcurl_get(&curl, err);
}

int http_client_new(const struct http_options *o, struct http_client **ret, struct err *err)
{
	const struct libcurl *curl;
	struct http_client *c;
	int r = check_options(o, err);

	assert(o->port >= 1 && o->port <= 65535 && o->connect_ns > 0 && o->total_ns > 0);
	if (r < 0 || (r = check_files(o, err)) < 0 || (r = libcurl_get(&curl, err)) < 0)
		return r;
	c = xcalloc(1, sizeof(*c));
	c->curl = curl;
	c->easy = curl->easy_init();
	if (!c->easy)
		mem_exhausted(sizeof(*c));
	copy_options(c, o);
	*ret = c;
	return 0;
}

struct http_client *http_client_free(struct http_client *c)
{
	if (!c)
		return NULL;
	c->curl->easy_cleanup(c->easy);
	free((char *)c->o.ca_file);
	free((char *)c->o.user);
	free((char *)c->o.password);
	free((char *)c->o.password_file);
	free((char *)c->o.token_file);
	free(c->where);
	free(c->base);
	free(c);
	return NULL;
}

void http_answer_init(struct http_answer *a)
{
	*a = (struct http_answer){ 0 };
	buf_init(&a->head);
	buf_init(&a->body);
}

void http_answer_done(struct http_answer *a)
{
	buf_done(&a->head);
	buf_done(&a->body);
}

/* --- Callbacks of libcurl --- */

static long status_of(const struct transfer *t)
{
	long status = 0;

	t->client->curl->easy_getinfo(t->client->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Called once per header line. An interim response (1xx) may precede the final one, so a new status line starts
 * over. */
static size_t take_head(char *bytes, size_t one, size_t n, void *data)
{
	struct transfer *t = data;
	struct buf *head = &t->answer->head;

	assert(one == 1);
	if (n > 5 && !memcmp(bytes, "HTTP/", 5))
		buf_reset(head);
	if (head->size + n > HEAD_MAX) {
		t->limit = HEAD_MAX;
		return 0;
	}
	buf_put(head, bytes, n);
	t->received += n;
	return n;
}

static size_t take_body(char *bytes, size_t one, size_t n, void *data)
{
	struct transfer *t = data;
	struct buf *body = &t->answer->body;
	size_t max = t->request->body_max ? t->request->body_max : BODY_MAX;

	assert(one == 1);
	t->received += n;
	if (t->request->take && status_of(t) / 100 == 2) {
		t->stopped = t->request->take(t->request->data, bytes, n);
		return t->stopped < 0 ? 0 : n;
	}
	if (n > max || body->size > max - n) {
		t->limit = max;
		return 0;
	}
	buf_put(body, bytes, n);
	return n;
}

/* libcurl's own limit also counts the time before an answer begins. */
static bool is_slow(struct transfer *t)
{
	const struct http_request *r = t->request;
	int64_t now = clock_monotonic_ns();

	if (!r->least_ns || !t->received)
		return false;
	if (!t->marked || t->received - t->marked >= r->least_bytes) {
		t->marked = t->received;
		t->marked_ns = now;
	}
	return now - t->marked_ns >= r->least_ns;
}

static int check_progress(void *data, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct transfer *t = data;
	const struct http_options *o = &t->client->o;

	(void)a, (void)b, (void)c, (void)d;
	t->answer->was_slow = is_slow(t);
	return t->answer->was_slow || (o->canceled && o->canceled(o->data));
}

/* --- A request --- */

static void add_header(struct transfer *t, const char *line)
{
	struct curl_slist *longer = t->client->curl->slist_append(t->headers, line);

	if (!longer)
		mem_exhausted(strlen(line));
	t->headers = longer;
}

static int add_token(struct transfer *t, struct err *err)
{
	_cleanup_(buf_done) struct buf token = { 0 };
	_cleanup_(freep) char *line = NULL;
	int r;

	buf_init(&token);
	r = io_read_secret(t->client->o.token_file, "token", &token, err);
	if (r < 0)
		return r;
	if (!is_line(token.data))
		return err_set(err, -EINVAL, "the token in '%s' has more than one line", t->client->o.token_file);
	line = xasprintf("Authorization: Bearer %s", token.data);
	add_header(t, line);
	return 0;
}

static int add_headers(struct transfer *t, struct err *err)
{
	/* Without this header libcurl may wait a second for servers that do not know "100 Continue". The caller sets
	 * the type of a body. */
	add_header(t, "Expect:");
	add_header(t, "Content-Type:");
	for (const char *const *h = t->request->headers; h && *h; h++) {
		if (!is_line(*h))
			return err_set(err, -EINVAL, "a header of the request to %s has a line break", t->client->where);
		add_header(t, *h);
	}
	return t->client->o.token_file ? add_token(t, err) : 0;
}

#define SET(option, value) (ok = c->curl->easy_setopt(c->easy, option, value) == CURLE_OK && ok)

static bool set_method(struct http_client *c, const struct http_request *r)
{
	bool ok = true, has_body = !strcmp(r->method, "POST") || !strcmp(r->method, "PUT");

	assert(has_body || !r->size);
	if (has_body) {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDS, r->size ? r->body : "");
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->size);
	} else if (!strcmp(r->method, "HEAD")) {
		SET(CURLOPT_NOBODY, 1L);
	}
	if (!strcmp(r->method, "PUT") || !strcmp(r->method, "DELETE"))
		SET(CURLOPT_CUSTOMREQUEST, r->method);
	return ok;
}

static bool set_tls(struct http_client *c)
{
	bool ok = true;

	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (c->o.ca_file) {
		SET(CURLOPT_CAINFO, c->o.ca_file);
		SET(CURLOPT_CAPATH, NULL);
	}
	return ok;
}

static bool set_user(struct http_client *c, const char *password)
{
	bool ok = true;

	SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	SET(CURLOPT_USERNAME, c->o.user ? c->o.user : "");
	SET(CURLOPT_PASSWORD, password ? password : "");
	return ok;
}

static long milliseconds(int64_t ns)
{
	return ns < 1000000 ? 1 : (long)(ns / 1000000);
}

static bool set_connection(struct http_client *c, const struct http_request *r)
{
	bool ok = true;

	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_FRESH_CONNECT, r->once ? 1L : 0L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(c->o.connect_ns));
	SET(CURLOPT_TIMEOUT_MS, milliseconds(r->total_ns ? r->total_ns : c->o.total_ns));
	SET(CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	SET(CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_BYTES);
	SET(CURLOPT_USERAGENT, "strobe/" STROBE_VERSION);
	return ok;
}

static bool set_transfer(struct http_client *c, struct transfer *t)
{
	bool ok = true;

	SET(CURLOPT_ERRORBUFFER, c->detail);
	SET(CURLOPT_HTTPHEADER, t->headers);
	SET(CURLOPT_HEADERFUNCTION, take_head);
	SET(CURLOPT_HEADERDATA, t);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, t);
	if (c->o.canceled || t->request->least_ns) {
		SET(CURLOPT_NOPROGRESS, 0L);
		SET(CURLOPT_XFERINFOFUNCTION, check_progress);
		SET(CURLOPT_XFERINFODATA, t);
	}
	return ok;
}

static int set_up(struct transfer *t, struct err *err)
{
	struct http_client *c = t->client;
	_cleanup_(freep) char *url = xasprintf("%s%s", c->base, t->request->path);
	const char *password = c->o.password;
	bool ok = true;
	int r;

	if (!is_path(t->request->path) || t->request->path[0] != '/')
		return err_set(err, -EINVAL, "'%s' is not a valid path for %s", t->request->path, c->where);
	if ((r = add_headers(t, err)) < 0)
		return r;
	if (c->o.password_file) {
		if ((r = io_read_secret(c->o.password_file, "password", &t->password, err)) < 0)
			return r;
		password = t->password.data;
	}
	c->curl->easy_reset(c->easy);
	c->detail[0] = '\0';
	SET(CURLOPT_URL, url);
	ok = set_connection(c, t->request) && set_method(c, t->request) && set_tls(c) && set_transfer(c, t) && ok;
	if (c->o.user || password)
		ok = set_user(c, password) && ok;
	return ok ? 0 : err_set(err, -ENOSYS, "the installed libcurl cannot be used; install version 7.85 or later");
}

static int explain(const struct transfer *t, CURLcode code, struct err *err)
{
	struct http_client *c = t->client;
	curl_off_t connected = 0;
	long os_errno = 0;

	if (t->stopped < 0)
		return t->stopped;
	if (t->limit)
		return err_set(err, -EFBIG, "the answer of %s exceeds the limit of %zu bytes", c->where,
			       t->limit);
	if (t->answer->was_slow)
		return err_set(err, -ETIMEDOUT, "the answer of %s arrives too slowly: fewer than %zu bytes in %g s", c->where,
			       t->request->least_bytes, (double)t->request->least_ns / (double)NS_PER_SECOND);
	c->curl->easy_getinfo(c->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
	c->curl->easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &os_errno);
	return http_problem_set(&(struct http_problem){
		.code = code,
		.detail = c->detail[0] ? c->detail : c->curl->easy_strerror(code),
		.where = c->where,
		.ca_file = c->o.ca_file,
		.is_connected = connected > 0,
		.os_errno = (int)os_errno,
		.connect_ns = c->o.connect_ns,
		.total_ns = t->request->total_ns ? t->request->total_ns : c->o.total_ns,
	}, err);
}

static int perform(struct transfer *t, struct err *err)
{
	struct http_client *c = t->client;
	CURLcode code = c->curl->easy_perform(c->easy);
	long sent = 0, status = status_of(t);

	c->curl->easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &sent);
	t->answer->was_sent = sent > 0;
	if (code == CURLE_OUT_OF_MEMORY)
		mem_exhausted(0);
	if (code != CURLE_OK)
		return explain(t, code, err);
	if (status < 200 || status > 599)
		return err_set(err, -EPROTO, "%s answered with the invalid status %ld", c->where, status);
	return (int)status;
}

int http_request(struct http_client *c, const struct http_request *r, struct http_answer *a, struct err *err)
{
	struct transfer t = { .client = c, .request = r, .answer = a };
	int status;

	buf_reset(&a->head);
	buf_reset(&a->body);
	a->was_sent = a->was_slow = false;
	buf_init(&t.password);
	status = set_up(&t, err);
	if (status == 0)
		status = perform(&t, err);
	/* Makes libcurl forget this request: its password, and pointers into our stack. */
	c->curl->easy_reset(c->easy);
	c->curl->slist_free_all(t.headers);
	buf_done(&t.password);
	return status;
}
