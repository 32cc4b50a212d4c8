/* named_filters.c: reads, changes and shows the list of named filters.
 *
 * A line of the file is a name, percent-encoded, a space, and the query of the page's address. */

#include "named_filters.h"

#include "html.h"
#include "private_file.h"
#include "runs.h"
#include "text.h"

#include <string.h>

struct named_filter {
	const char *name, *query;
};

struct named_filters {
	struct named_filter items[NAMED_FILTERS_MAX];
	size_t count;
	struct buf bytes;
};

#define CHARACTER_MAX 12u	/* size of one, percent-encoded */
#define FILE_MAX ((size_t)NAMED_FILTERS_MAX * (CHARACTER_MAX * NAMED_FILTERS_NAME + NAMED_FILTERS_QUERY + 2))

/* Serializes reading, changing and writing back. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static void named_filters_done(struct named_filters *f)
{
	buf_done(&f->bytes);
}

/* Counts characters like the form field, which limits them. */
static bool is_name(const char *name)
{
	size_t n = text_columns((struct str){ name, strlen(name) });

	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return n && n <= NAMED_FILTERS_NAME;
}

/* Accepts queries that are safe after a "?": the page's parameters, without line breaks. */
static bool is_query(const char *query)
{
	struct params params;
	struct err err = { 0 };
	bool fine = *query && strlen(query) <= NAMED_FILTERS_QUERY;

	for (const char *c = query; *c; c++)
		fine &= (unsigned char)*c > ' ' && (unsigned char)*c < 0x7f && *c != '#';
	if (!fine)
		return false;
	fine = params_parse(&params, query, &err) >= 0;
	params_done(&params);
	return fine;
}

/* Skips malformed lines, since the file may have been edited. */
static void take_line(struct named_filters *f, char *line)
{
	char *space = strchr(line, ' ');
	size_t n;

	if (!space || f->count == NAMED_FILTERS_MAX)
		return;
	*space = '\0';
	if (text_unescape_url(line, (size_t)(space - line), &n) < 0 || !is_name(line) || !is_query(space + 1))
		return;
	f->items[f->count++] = (struct named_filter){ .name = line, .query = space + 1 };
}

static int read_all(const struct server_context *s, struct named_filters *f, struct err *err)
{
	int e;

	*f = (struct named_filters){ 0 };
	buf_init(&f->bytes);
	if (!s->options.filters_path)
		return 0;
	e = private_file_read(s->options.filters_path, &f->bytes, FILE_MAX, err);
	if (e < 0)
		return e == -ENOENT ? 0 : e;
	for (char *line = f->bytes.data, *end; line && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		take_line(f, line);
	}
	return 0;
}

static int write_all(const struct server_context *s, const struct named_filters *f, struct err *err)
{
	_cleanup_(buf_done) struct buf out = { 0 };

	buf_init(&out);
	for (size_t i = 0; i < f->count; i++) {
		text_put_url(&out, (struct str){ f->items[i].name, strlen(f->items[i].name) });
		buf_printf(&out, " %s\n", f->items[i].query);
	}
	return private_file_write(s->options.filters_path, out.data, out.size, true, err);
}

static size_t find(const struct named_filters *f, const char *name)
{
	size_t i = 0;

	while (i < f->count && strcmp(f->items[i].name, name))
		i++;
	return i;
}

/* Removes the entry if `query` is NULL. Returns 0, or an HTTP status. */
static int change_read(struct server_context *s, struct named_filters *f, const char *name, const char *query, struct err *err)
{
	size_t i = find(f, name);

	if (!query) {
		if (i == f->count)
			return runs_fail(err, 404, "no filter has this name");
		memmove(&f->items[i], &f->items[i + 1], (f->count - i - 1) * sizeof(f->items[0]));
		f->count--;
	} else {
		if (i < f->count)
			return runs_fail(err, 409, "a filter with this name already exists; delete it, or choose another name");
		if (f->count == NAMED_FILTERS_MAX)
			return runs_fail(err, 409, "the limit of %u named filters is reached; delete one", NAMED_FILTERS_MAX);
		f->items[f->count++] = (struct named_filter){ .name = name, .query = query };
	}
	return write_all(s, f, err) < 0 ? 500 : 0;
}

/* The reason why a query cannot be saved. */
static int refuse_query(const char *query, struct err *err)
{
	struct params params;
	struct err why = { 0 };

	if (params_parse(&params, query, &why) < 0)
		runs_fail(err, 400, "query: %s", why.text);
	params_done(&params);
	if (why.code)
		return 400;
	if (strlen(query) > NAMED_FILTERS_QUERY)
		return runs_fail(err, 400, "query: the address of this view has %zu bytes behind the \"?\", and a filter at most %u; filter by fewer values, or by "
					   "shorter ones",
				 strlen(query), NAMED_FILTERS_QUERY);
	return runs_fail(err, 400, "query: this is not what follows the \"?\" in an address of the page");
}

static int change(struct server_context *s, const char *name, const char *query, struct err *err)
{
	struct named_filters f;
	int status;

	if (!s->options.filters_path)
		return runs_fail(err, 503, "there is no store to keep filters in");
	if (!name || !is_name(name))
		return runs_fail(err, 400, "a name has 1 to %u characters, none of which is a control character", NAMED_FILTERS_NAME);
	if (query && !name[strspn(name, " ")])
		return runs_fail(err, 400, "a name cannot consist of spaces alone; add a letter");
	if (query && !is_query(query))
		return refuse_query(query, err);
	pthread_mutex_lock(&changing);
	status = read_all(s, &f, err) < 0 ? 500 : change_read(s, &f, name, query, err);
	named_filters_done(&f);
	pthread_mutex_unlock(&changing);
	return status;
}

/* --- The page --- */

static void put_hidden(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, "<input type=\"hidden\" name=\"%s\" value=\"", name);
	html_text(out, value);
	buf_puts(out, "\">");
}

static void put_filter(const struct request *q, const struct named_filter *f, struct buf *out)
{
	buf_puts(out, "<li><a href=\"/?");
	html_text(out, f->query);
	buf_puts(out, "\">");
	html_text(out, f->name);
	buf_puts(out, "</a>");
	if (q->form_token) {
		buf_puts(out, " <form method=\"post\" action=\"/filters\">");
		put_hidden(out, FORM_TOKEN_NAME, q->form_token);
		put_hidden(out, "delete", f->name);
		buf_puts(out, "<button>Delete</button></form>");
	}
	buf_puts(out, "</li>\n");
}

static void put_sentence(struct buf *out, const char *sentence)
{
	buf_puts(out, "<p class=\"why\" role=\"alert\">");
	html_text(out, sentence);
	buf_puts(out, "</p>\n");
}

/* `name` was entered before and refused because of `why`; both may be NULL. */
static void put_new(const struct request *q, const char *query, const char *name, const char *why, struct buf *out)
{
	buf_puts(out, "<h2>Save this view</h2>\n<p><a href=\"/?");
	html_text(out, query);
	buf_puts(out, "\">");
	html_text(out, query);
	buf_puts(out, "</a></p>\n");
	if (why)
		put_sentence(out, why);
	buf_puts(out, "<form method=\"post\" action=\"/filters\">\n");
	put_hidden(out, FORM_TOKEN_NAME, q->form_token);
	put_hidden(out, "query", query);
	buf_printf(out, "<label>Name <input name=\"name\" maxlength=\"%u\" required value=\"", NAMED_FILTERS_NAME);
	html_text(out, name ? name : "");
	buf_puts(out, "\"></label>\n<button>Save</button>\n</form>\n");
}

static void put_new_or_error(const struct request *q, struct buf *out)
{
	struct err err = { 0 };

	if (!q->form_token || !q->query || !*q->query)
		return;
	if (is_query(q->query)) {
		put_new(q, q->query, NULL, NULL, out);
		return;
	}
	refuse_query(q->query, &err);
	buf_puts(out, "<h2>This view cannot be saved</h2>\n");
	put_sentence(out, err.text);
}

static void show(struct server_context *s, const struct request *q, struct response *r)
{
	struct named_filters f;
	struct err err = { 0 };

	if (read_all(s, &f, &err) < 0) {
		runs_page_error(q, r, 500, err.text);
		named_filters_done(&f);
		return;
	}
	runs_page_begin(q, r, "Filters – Strobe");
	buf_puts(&r->body, "</header>\n<main>\n<section class=\"empty\">\n");
	put_new_or_error(q, &r->body);
	buf_puts(&r->body, "<h2>Named filters</h2>\n");
	buf_puts(&r->body, f.count ? "<ul>\n" : "<p>None yet: choose filters on the page, then click Filters.</p>\n");
	for (size_t i = 0; i < f.count; i++)
		put_filter(q, &f.items[i], &r->body);
	buf_puts(&r->body, f.count ? "</ul>\n</section>\n" : "</section>\n");
	runs_page_end(r);
	named_filters_done(&f);
}

/* Asks for confirmation first, so that a wrong click deletes nothing. */
static void confirm(const struct request *q, struct response *r, const char *name)
{
	runs_page_begin(q, r, "Delete – Strobe");
	buf_puts(&r->body, "</header>\n<main>\n<section class=\"empty\">\n<h2>Delete the filter \"");
	html_text(&r->body, name);
	buf_puts(&r->body, "\"?</h2>\n<p>It is shared by all users. Only the filter is deleted, no "
			   "data.</p>\n<form method=\"post\" action=\"/filters\">\n");
	put_hidden(&r->body, FORM_TOKEN_NAME, q->form_token);
	put_hidden(&r->body, "delete", name);
	put_hidden(&r->body, "confirmed", "1");
	buf_puts(&r->body, "<button>Delete</button> <a href=\"/filters\">Keep it</a>\n</form>\n</section>\n");
	runs_page_end(r);
}

/* Shows the form again with the entered values, so that only the name has to be changed. */
static void ask_again(const struct request *q, struct response *r, int status, const struct params *p, const char *why)
{
	runs_page_begin(q, r, "Save this view – Strobe");
	r->status = status;
	buf_puts(&r->body, "</header>\n<main>\n<section class=\"empty\">\n");
	put_new(q, params_get(p, "query"), params_get(p, "name"), why, &r->body);
	buf_puts(&r->body, "<p><a href=\"/filters\">All filters</a></p>\n</section>\n");
	runs_page_end(r);
}

/* Whether saving was refused because of the name, not because of the sender. */
static bool can_ask_again(const struct request *q, int status, const struct params *p)
{
	const char *query = params_get(p, "query");

	return (status == 400 || status == 409) && !params_get(p, "delete") && query && is_query(query) &&
	       form_token_matches(q->form_token, params_get(p, FORM_TOKEN_NAME));
}

/* Returns 0, or a status: 404 if there is none. */
static int find_one(const struct server_context *s, const char *name, struct err *err)
{
	struct named_filters f;
	int status = read_all(s, &f, err) < 0 ? 500 : find(&f, name) < f.count ? 0 :
										 runs_fail(err, 404, "no filter has this name");

	named_filters_done(&f);
	return status;
}

#define ASK_AGAIN	(-1)

/* Returns 0, a status, or ASK_AGAIN. */
static int take_form(struct server_context *s, const struct request *q, const struct params *p, struct err *err)
{
	const char *gone = params_get(p, "delete"), *query = params_get(p, "query");
	int status;

	if (!form_token_matches(q->form_token, params_get(p, FORM_TOKEN_NAME)))
		return runs_reject_old_form(err);
	if (gone && !params_get(p, "confirmed"))
		return (status = find_one(s, gone, err)) ? status : ASK_AGAIN;
	return gone ? change(s, gone, NULL, err) : change(s, params_get(p, "name"), query ? query : "", err);
}

void named_filters_page(struct server_context *s, const struct request *q, struct response *r)
{
	const char *body = q->body && strlen(q->body) == q->body_size ? q->body : NULL;
	_cleanup_(buf_done) struct buf list = { 0 };
	struct params params;
	struct err err = { 0 };
	int status;

	if (strcmp(q->headers.method, "POST")) {
		show(s, q, r);
		return;
	}
	buf_init(&list);
	buf_puts(&list, "/filters");
	status = params_parse(&params, body, &err) < 0 ? 400 : take_form(s, q, &params, &err);
	if (status < 0)
		confirm(q, r, params_get(&params, "delete"));
	else if (status && can_ask_again(q, status, &params))
		ask_again(q, r, status, &params, err.text);
	else if (status)
		runs_page_error(q, r, status, err.text);
	else
		runs_lead_to(r, 303, &list);
	params_done(&params);
}

/* --- The API --- */

static void list_json(struct server_context *s, const struct request *q, struct response *r)
{
	struct named_filters f;
	struct err err = { 0 };
	struct json j;

	if (read_all(s, &f, &err) < 0) {
		response_error(r, q, 500, "%s", err.text);
		named_filters_done(&f);
		return;
	}
	r->type = "application/json";
	json_init(&j, &r->body);
	json_open_object(&j);
	json_key(&j, "filters");
	json_open_array(&j);
	for (size_t i = 0; i < f.count; i++) {
		json_open_object(&j);
		json_key(&j, "name");
		json_str(&j, f.items[i].name);
		json_key(&j, "query");
		json_str(&j, f.items[i].query);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(&r->body, '\n');
	named_filters_done(&f);
}

void named_filters_api(struct server_context *s, const struct request *q, struct response *r)
{
	bool removes = !strcmp(q->headers.method, "DELETE");
	const char *query;
	struct params params;
	struct err err = { 0 };
	int status;

	if (!removes && strcmp(q->headers.method, "POST")) {
		list_json(s, q, r);
		return;
	}
	status = params_parse(&params, q->query, &err) < 0 ? 400 : 0;
	query = status ? NULL : params_get(&params, "query");
	if (!status)
		status = change(s, params_get(&params, "name"), removes ? NULL : query ? query : "", &err);
	if (status)
		response_error(r, q, status, "%s", err.text);
	else
		r->status = removes ? 204 : 201;
	params_done(&params);
}
