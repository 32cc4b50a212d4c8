/* profile_url.c: turns a browser's URL into a request, and its answer into a profile. */
#include "profile_url.h"

#include "clock.h"
#include "command.h"
#include "daemon_request.h"
#include "http_get.h"
#include "mem.h"
#include "text.h"
#include "token.h"

#include <jansson.h>
#include <string.h>

#define TIMEOUT_MS	300000		/* the daemon has a deadline for queries of its own */
#define ANSWER_MAX	((size_t)1 << 30)
#define LEADS_MAX	3		/* old links that redirect to each other */

const char *profile_url_token_file;

bool profile_url_is(const char *name)
{
	return !strncmp(name, "http://", 7) || !strncmp(name, "https://", 8);
}

int profile_url_refuse_store(const char *name, struct err *err)
{
	if ((strncmp(name, "sqlite:", 7) && strncmp(name, "clickhouse:", 11)) || access(name, F_OK) == 0)
		return 0;
	return err_set(err, -EINVAL, "'%s' is a store, not a profile; give the URL of the page of `strobe serve --store %s`, such as "
				     "'http://127.0.0.1:8787/?from=-1h'",
		       name, name);
}

struct str profile_url_value(const char *url, const char *begin)
{
	const char *at = strchr(url, '?'), *end = url + strcspn(url, "#");

	for (; profile_url_is(url) && at && at < end; at = strchr(at + 1, '&')) {
		const char *value = at + 1 + strcspn(at + 1, "=&#");

		if (*value == '=' && !strchr("&#", value[1]) && !strncmp(at + 1, begin, strlen(begin)))
			return (struct str){ value + 1, strcspn(value + 1, "&#") };
	}
	return (struct str){ NULL, 0 };
}

bool profile_url_is_comparison(const char *url)
{
	static const char *const begins[] = { "base=", "base_from=", "base.", "run1=" };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (profile_url_value(url, begins[i]).n)
			return true;
	return false;
}

char *profile_url_side(const char *url, const char *side)
{
	struct buf b;

	buf_init(&b);
	buf_put(&b, url, strcspn(url, "#"));
	buf_printf(&b, "&side=%s", side);
	return buf_take(&b, NULL);
}

static void put_value(struct buf *out, const char *before, struct str value)
{
	_cleanup_(freep) char *text = xstrndup(value.p ? value.p : "", value.n);
	size_t n;

	if (text_unescape_url(text, value.n, &n) >= 0) {
		buf_printf(out, "%s%s", out->size ? ", " : "", before);
		text_put_plain(out, (struct str){ text, n });
	}
}

/* "base.deploy==6" becomes "deploy=6" for the side before; the side after has its own "deploy" filter, or "every
 * deploy". */
static void put_labels(const char *url, bool is_before, struct buf *out)
{
	for (const char *at = strchr(url, '?'); at; at = strchr(at + 1, '&')) {
		size_t n = strcspn(at + 1, "=&#");
		_cleanup_(freep) char *key = NULL;
		struct str value;

		if (strncmp(at + 1, "base.", 5) || at[1 + n] != '=')
			continue;
		key = xstrndup(at + 1 + (is_before ? 0 : 5), n + 1 - (is_before ? 0 : 5));
		value = profile_url_value(url, key);
		if (value.n && *value.p == '=')
			value = (struct str){ value.p + 1, value.n - 1 };
		put_value(out, value.n ? key + (is_before ? 5 : 0) : "every ", value.n ? value : (struct str){ at + 6, n - 5 });
	}
}

/* Appends the time as written, or in the page's form if it is in seconds; relative times are appended as absolute
 * ones. */
static void put_time(struct str written, int64_t ns, const char *before, struct buf *out)
{
	_cleanup_(freep) char *text = xstrndup(written.n ? written.p : "", written.n);
	bool is_seconds = written.n && written.n <= 12 && strspn(text, "0123456789") == written.n;
	char at[32];
	size_t n;

	buf_puts(out, *before || !out->size ? before : ", ");
	if (written.n > 10 && text_unescape_url(text, written.n, &n) >= 0 && text[4] == '-') {
		text_put_plain(out, (struct str){ text, n });
	} else {
		clock_format(is_seconds ? strtoll(text, NULL, 10) * 1000000000LL : ns, at, sizeof(at));
		buf_puts(out, at);
	}
}

static size_t count_values(const char *url, const char *begin)
{
	size_t count = 0;

	for (const char *at = strchr(url, '?'); at; at = strchr(at + 1, '&'))
		count += !strncmp(at + 1, begin, strlen(begin)) && at[1 + strlen(begin)] && !strchr("&#", at[1 + strlen(begin)]);
	return count;
}

/* "SOURCE/ID", "SOURCE/ID/flamegraph" -> "SOURCE/ID"; empty for other paths. */
static struct str run_of(struct str path, const char *below)
{
	struct str run = { path.p + strlen(below), 0 };
	const char *end = path.p + path.n, *slash;

	if (!text_starts(path, below) || !(slash = memchr(run.p, '/', (size_t)(end - run.p))) || slash + 1 == end)
		return (struct str){ NULL, 0 };
	while (run.p + run.n < end && (run.p + run.n <= slash || run.p[run.n] != '/'))
		run.n++;
	return run;
}

/* Returns the run that the path names; empty if none. */
static struct str run_in_path(const char *url)
{
	const char *path = url + strcspn(url, ":") + strspn(url + strcspn(url, ":"), ":/");
	struct str run, rest;

	path += strcspn(path, "/?#");
	rest = (struct str){ path, strcspn(path, "?#") };
	run = run_of(rest, "/runs/");
	return run.n ? run : run_of(rest, "/api/v1/runs/");
}

static size_t count_runs(const char *url)
{
	return count_values(url, "run=") + (run_in_path(url).n != 0);
}

static void put_run_side(const char *url, bool is_before, struct buf *out)
{
	struct str base = profile_url_value(url, "base="), run = run_in_path(url);
	size_t count = count_runs(url);

	if (!base.n || !count)
		return;
	if (is_before)
		put_value(out, "run ", base);
	else if (count > 1)
		buf_printf(out, "%zu runs, averaged", count);
	else
		put_value(out, "run ", run.n ? run : profile_url_value(url, "run="));
}

/* Old links contain the source of both runs. */
static void put_old_side(const char *url, bool is_before, struct buf *out)
{
	struct str source = profile_url_value(url, "source="), run = profile_url_value(url, is_before ? "run1=" : "run2=");
	_cleanup_(freep) char *whole = NULL;
	struct buf b;

	buf_init(&b);
	buf_put(&b, source.p ? source.p : "", source.n);
	buf_puts(&b, source.n ? "/" : "");
	buf_put(&b, run.p ? run.p : "", run.n);
	whole = buf_take(&b, NULL);
	if (run.n)
		put_value(out, "run ", (struct str){ whole, strlen(whole) });
}

void profile_url_name_side(const char *url, bool is_before, const struct profile *p, struct buf *out)
{
	if (profile_url_value(url, "base=").n || count_runs(url)) {
		put_run_side(url, is_before, out);
		return;
	}
	if (profile_url_value(url, "run1=").n) {
		put_old_side(url, is_before, out);
		return;
	}
	put_labels(url, is_before, out);
	if (!p->end_ns || (out->size && !profile_url_value(url, "base_from=").n))
		return;
	put_time(profile_url_value(url, is_before ? "base_from=" : "from="), p->start_ns, "", out);
	put_time(profile_url_value(url, is_before ? "base_to=" : "to="), p->end_ns, " to ", out);
}

static bool is_stack_filter(struct str parameter)
{
	return text_starts(parameter, "keep=") || text_starts(parameter, "keep-i=") || text_starts(parameter, "remove=") || text_starts(parameter, "remove-i=");
}

char *profile_url_without_filters(const char *url)
{
	size_t end = strcspn(url, "#"), query = strcspn(url, "?#");
	bool any = false;
	struct buf b;

	buf_init(&b);
	buf_put(&b, url, query);
	for (size_t at = query; at < end;) {
		struct str parameter = { url + at + 1, strcspn(url + at + 1, "&#") };

		if (is_stack_filter(parameter)) {
			any = true;
		} else {
			buf_putc(&b, strchr(b.data, '?') ? '&' : '?');
			buf_put(&b, parameter.p, parameter.n);
		}
		at += 1 + parameter.n;
	}
	if (any)
		return buf_take(&b, NULL);
	buf_done(&b);
	return NULL;
}

void profile_url_done(struct profile_url *u)
{
	buf_done(&u->base);
	buf_done(&u->path);
	buf_done(&u->column);
}

/* --- The request --- */

static bool is_one_of(struct str s, const char *const *names)
{
	while (*names && !text_is(s, *names))
		names++;
	return *names != NULL;
}

/* Copies text unchanged, except for bytes that a request must not contain. */
static void put_kept(struct buf *out, struct str s, bool from_path)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c <= ' ' || c >= 0x7f || c == '"' || (from_path && (c == '+' || c == '&')))
			buf_printf(out, "%%%02X", c);
		else
			buf_putc(out, (char)c);
	}
}

static void put_column(struct buf *column, struct str value)
{
	char *text = xstrndup(value.p, value.n);
	size_t n;

	if (text_unescape_url(text, value.n, &n) >= 0)
		buf_put(column, text, n);
	free(text);
}

/* Appends everything except presentation options. */
static void put_query(struct profile_url *u, const char *query)
{
	static const char *const dropped[] = { "format", "title", "reverse", "inverted", "function", "threshold", "sort",
		"limit", "step", "column", NULL };

	while (*query) {
		size_t n = strcspn(query, "&");
		struct str key = { query, 0 };

		while (key.n < n && query[key.n] != '=')
			key.n++;
		if (text_is(key, "column") && key.n < n)
			put_column(&u->column, (struct str){ query + key.n + 1, n - key.n - 1 });
		if (n && !is_one_of(key, dropped)) {
			buf_putc(&u->path, '&');
			put_kept(&u->path, (struct str){ query, n }, false);
		}
		query += n + (query[n] == '&');
	}
}

/* A comparison has two columns, one per side, of the value that the page shows. */
static void put_compared_column(struct profile_url *u, const char *query)
{
	for (; *query; query += strcspn(query, "&"), query += *query == '&') {
		size_t n = strcspn(query, "&");

		if (n > strlen("column=") && !strncmp(query, "column=", strlen("column="))) {
			buf_putc(&u->path, '&');
			put_kept(&u->path, (struct str){ query, n }, false);
		}
	}
}

/* Whether the query has the parameter `key` with a value that contains no slash. */
static bool has_plain(const char *query, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = query; at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL) {
		struct str value = { at + n + 1, 0 };

		if (strncmp(at, key, n) || at[n] != '=')
			continue;
		value.n = strcspn(value.p, "&");
		if (value.n && !memchr(value.p, '/', value.n) && !text_has(value, "%2F") && !text_has(value, "%2f"))
			return true;
	}
	return false;
}

static bool is_old_link(struct str path, const char *query)
{
	if (text_is(path, "/"))
		return has_plain(query, "run") || has_plain(query, "run1") || has_plain(query, "run2");
	return text_ends(path, ".php") || text_starts(path, "/xhprof_html/") || text_starts(path, "/uprofiler_html/");
}

static void put_old_link(struct profile_url *u, struct str path, const char *query)
{
	u->is_old_link = true;
	put_kept(&u->path, path, false);
	buf_putc(&u->path, '?');
	put_kept(&u->path, (struct str){ query, strlen(query) }, false);
}

static int put_question(struct profile_url *u, struct str path, const char *query, const char *url, struct err *err)
{
	static const char *const pages[] = { "", "/", "/flamegraph.svg", "/callgraph.svg", "/api/v1/profile",
		"/api/v1/functions", "/api/v1/function", "/api/v1/table", "/api/v1/callgraph", "/api/v1/timeline", NULL };
	struct str run = run_of(path, "/runs/");

	if (is_old_link(path, query)) {
		put_old_link(u, path, query);
		return 0;
	}
	if (!run.n)
		run = run_of(path, "/api/v1/runs/");
	if (!run.n && !is_one_of(path, pages))
		return err_set(err, -EINVAL, "there is no profile at '%s'; give the address of the page (/?from=-1h), of a run "
			       "(/runs/SOURCE/ID) or of the API (/api/v1/profile?...)", url);
	buf_puts(&u->path, "/api/v1/profile?format=strobe");
	if (run.n) {
		buf_puts(&u->path, "&run=");
		put_kept(&u->path, run, true);
	}
	put_query(u, query);
	if (*query && profile_url_is_comparison(url))
		put_compared_column(u, query);
	return 0;
}

int profile_url_parse(struct profile_url *u, const char *url, struct err *err)
{
	_cleanup_(freep) char *whole = xstrndup(url, strcspn(url, "#"));
	const char *query = strchr(whole, '?'), *path;

	buf_init(&u->base);
	buf_init(&u->path);
	buf_init(&u->column);
	u->is_old_link = false;
	if (!strncmp(url, "https://", 8))
		return err_set(err, -EINVAL, "'%s' requires TLS, which this program does not support; give the "
					     "daemon's own http:// "
			       "address, or pipe it in: curl --oauth2-bearer TOKEN 'https://HOST/api/v1/profile?format=strobe' | "
			       "strobe report", url);
	query = query ? query : whole + strlen(whole);
	for (path = whole + 7; path < query && *path != '/';)
		path++;
	buf_put(&u->base, whole, (size_t)(path - whole));
	return put_question(u, (struct str){ path, (size_t)(query - path) }, *query ? query + 1 : query, url, err);
}

/* --- The answer --- */

/* Appends the string member `key` of the JSON object. */
static void put_sentence(const struct buf *body, const char *key, struct buf *out)
{
	json_t *root = json_loadb(body->data, body->size, 0, NULL);
	const char *text = json_string_value(json_object_get(root, key));

	if (text)
		text_put_plain(out, (struct str){ text, strlen(text) });
	json_decref(root);
}

static int get(const struct profile_url *u, const char *path, const char *token, struct buf *head, struct buf *body,
	       struct err *err)
{
	struct daemon_request q = {
		.address = u->base.data,
		.token = token,
		.token_file = profile_url_token_file,
		.timeout_ms = TIMEOUT_MS,
		.limit = ANSWER_MAX,
	};
	int r = daemon_get(&q, path, head, body, err);

	return r == -ECONNREFUSED ? err_set(err, r, "no daemon answers at %s", u->base.data) : r;
}

/* An old link redirects to a comparison regardless of the requested side. */
static void keep_side(const struct profile_url *u, struct buf *url)
{
	const char *side = strstr(u->path.data, "&side=");

	if (side)
		buf_put(url, side, 1 + strcspn(side + 1, "&"));
}

/* Follows the redirects of an old link. */
static int follow(struct profile_url *u, const char *token, struct err *err)
{
	for (int i = 0; u->is_old_link; i++) {
		_cleanup_(buf_done) struct buf head = { 0 }, body = { 0 }, url = { 0 };
		struct profile_url next;
		int r;

		buf_init(&head);
		buf_init(&body);
		buf_init(&url);
		if ((r = get(u, u->path.data, token, &head, &body, err)) < 0)
			return r;
		buf_puts(&url, u->base.data);
		if (r != 302 || i == LEADS_MAX || !http_header(&head, "Location", &url) || url.data[u->base.size] != '/')
			return err_set(err, -EPROTO, "%s%s does not lead to a profile", u->base.data, u->path.data);
		keep_side(u, &url);
		r = profile_url_parse(&next, url.data, err);
		profile_url_done(u);
		*u = next;
		if (r < 0)
			return r;
	}
	return 0;
}

/* Asks the daemon why there is no data; it explains that in JSON only. */
static int explain_empty(const struct profile_url *u, const char *token, struct err *err)
{
	_cleanup_(buf_done) struct buf path = { 0 }, body = { 0 }, why = { 0 };
	const char *query = u->path.data + strlen("/api/v1/profile?format=strobe");

	buf_init(&path);
	buf_init(&body);
	buf_init(&why);
	buf_printf(&path, "/api/v1/profile?format=json%s", query);
	if (get(u, path.data, token, NULL, &body, NULL) == 200)
		put_sentence(&body, "empty", &why);
	return err_set(err, -ENODATA, "%s", why.size ? why.data : "nothing was found");
}

static int read_answer(const char *url, const struct buf *body, const struct format_options *o, struct profile *p,
		       struct err *err)
{
	struct format_options reading = { .keep_lines = o && o->keep_lines, .keep_chart = o && o->keep_chart };
	struct input in;
	int r = input_memory(&in, url, body->data, body->size, UINT64_MAX, err);

	profile_keep_lines(p, reading.keep_lines);
	profile_keep_chart(p, reading.keep_chart);
	if (r >= 0)
		r = format_load_input(&in, p, &reading, err);
	input_close(&in);
	return r;
}

static int take(const struct profile_url *u, const char *url, const char *token, struct profile *p,
		const struct format_options *o, struct err *err)
{
	_cleanup_(buf_done) struct buf head = { 0 }, body = { 0 }, warning = { 0 };
	_cleanup_(profile_freep) struct profile *one = profile_new();
	int r;

	buf_init(&head);
	buf_init(&body);
	buf_init(&warning);
	if ((r = get(u, u->path.data, token, &head, &body, err)) < 0 || (r = read_answer(url, &body, o, one, err)) < 0)
		return r;
	if (!r && profile_stacks(one) == 0)
		return explain_empty(u, token, err);
	if (!profile_columns_fit(p, one))
		return err_set(err, -E2BIG, "'%s' would make more than %u value columns in all", url, PROFILE_COLUMNS);
	profile_merge(p, one);
	if (!r && http_header(&head, "Strobe-Warning", &warning)) {
		err_set(err, -ENOSPC, "'%s': %s", url, warning.data);
		return 1;
	}
	return r;
}

int profile_url_load(const char *url, struct profile *p, const struct format_options *o, char *column, size_t size,
		     struct err *err)
{
	_cleanup_(buf_done) struct buf token = { 0 };
	_cleanup_(profile_url_done) struct profile_url u = { 0 };
	int r = profile_url_parse(&u, url, err);

	buf_init(&token);
	if (r < 0 || (r = token_get(profile_url_token_file, TOKEN_VARIABLE, &token, err)) < 0)
		return r;
	if ((r = follow(&u, token.size ? token.data : NULL, err)) < 0)
		return r;
	if (column && !*column)
		snprintf(column, size, "%s", u.column.data);
	return take(&u, url, token.size ? token.data : NULL, p, o, err);
}
