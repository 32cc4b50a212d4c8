/* page_form.c: the form of a page without scripts: a range and label filters. Submitting the fields for one more
 * filter redirects to the usual URL of that filter. */

#include "page_parts.h"

#include "clock.h"
#include "html.h"
#include "mem.h"
#include "page.h"
#include "runs.h"
#include "text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_OFFERED 500u	/* limit of all labels together */

/* --- Ranges and the usual labels --- */

static const struct {
	const char *from, *words;
} ranges[] = {
	{ "-5m", "last 5 minutes" }, { "-15m", "last 15 minutes" }, { "-1h", "last hour" }, { "-6h", "last 6 hours" },
	{ "-24h", "last 24 hours" }, { "-7d", "last 7 days" },
};

/* Formats seconds since 1970 like all other times; other text stays as in the URL. */
static const char *written(const char *text, int64_t ns, char at[32])
{
	if (strspn(text, "0123456789") < strlen(text))
		return text;
	clock_format(ns, at, 32);
	return at;
}

static void put_range_select(struct buf *out, const struct view *v)
{
	char from[32], to[32];
	bool known = false;

	buf_puts(out, "<label>From <select name=\"from\">");
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		bool selected = strcmp(ranges[i].from, v->from) == 0;

		known |= selected;
		html_option(out, ranges[i].from, ranges[i].words, selected);
	}
	if (!known)
		html_option(out, v->from, written(v->from, v->from_ns, from), true);
	buf_puts(out, "</select></label>\n<label>or from <input name=\"filter_from\" size=\"18\" placeholder=\"2026-11-21T07:30\" title=\"UTC, or a time before now such as "
		 "-90m\" autocomplete=\"off\"></label>\n<label>To <input name=\"to\" size=\"18\" value=\"");
	html_text(out, written(v->to, v->to_ns, to));
	buf_puts(out, "\"></label>\n");
}

static const struct store_label *find_label(const struct store_labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->items[i].key, key) == 0)
			return &labels->items[i];
	return NULL;
}

static void put_label_select(struct buf *out, const struct profile_query *a, const struct store_labels *labels,
			     const char *key, const char *caption, const char *all)
{
	const struct store_label *l = find_label(labels, key);
	const char *chosen = params_get(&a->params, key);
	bool known = !chosen || !*chosen;

	buf_printf(out, "<label>%s <select name=\"%s\">", caption, key);
	html_option(out, "", all, known);
	for (size_t i = 0; l && i < l->value_count; i++) {
		bool selected = chosen && *chosen && strcmp(l->values[i].value, chosen) == 0;

		known |= selected;
		html_option(out, l->values[i].value, l->values[i].value, selected);
	}
	if (!known)
		html_option(out, chosen, chosen, true);
	buf_puts(out, "</select></label>\n");
}

static bool is_in_form(const char *key)
{
	static const char *const keys[] = { "from", "to", "entry", "host", "sapi" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

/* Keeps all other parameters of the URL; a list shows the first of several values. */
static void put_hidden(struct buf *out, const struct params *p)
{
	for (size_t i = 0; i < p->count; i++) {
		if (is_in_form(p->items[i].key) && params_get(p, p->items[i].key) == p->items[i].value)
			continue;
		buf_printf(out, "<input type=\"hidden\" name=\"%s\" value=\"", p->items[i].key);
		html_text(out, p->items[i].value);
		buf_puts(out, "\">\n");
	}
}

/* --- Any label --- */

static void put_values(struct buf *out, const struct store_labels *labels)
{
	size_t left = VALUES_OFFERED;

	buf_puts(out, "<datalist id=\"filter-values\">");
	for (size_t i = 0; i < labels->count; i++)
		for (size_t k = 0; k < labels->items[i].value_count && left; k++, left--)
			html_option(out, labels->items[i].values[k].value, labels->items[i].key, false);
	buf_puts(out, "</datalist>\n");
}

static void put_any_label(struct buf *out, const struct store_labels *labels)
{
	if (!labels->count)
		return;
	buf_puts(out, "<span class=\"any-label\"><label>Label <select name=\"filter_label\">");
	html_option(out, "", "any", true);
	for (size_t i = 0; i < labels->count; i++)
		html_option(out, labels->items[i].key, labels->items[i].key, false);
	buf_puts(out, "</select></label> <select name=\"filter_is\" aria-label=\"How the label is compared\">");
	html_option(out, "", "is", true);
	html_option(out, "not", "is not", false);
	html_option(out, "prefix", "begins with", false);
	html_option(out, "not-prefix", "does not begin with", false);
	buf_puts(out, "</select> <input name=\"filter_value\" aria-label=\"Value of the label\" list=\"filter-values\" size=\"18\" autocomplete=\"off\">");
	put_values(out, labels);
	buf_puts(out, "</span>\n");
}

static void put_stack_filter(struct buf *out)
{
	buf_puts(out, "<span class=\"any-label\"><label>Stacks <select name=\"filter_stacks\">");
	html_option(out, "keep-i", "with", true);
	html_option(out, "remove-i", "without", false);
	buf_puts(out, "</select></label> <input name=\"filter_functions\" aria-label=\"Functions of these stacks, as a regular expression\" "
		 "placeholder=\"functions (regexp)\" size=\"18\" autocomplete=\"off\"></span>\n");
}

static bool is_of_stacks(const char *key)
{
	return !strncmp(key, "keep", 4) || !strncmp(key, "remove", 6);
}

static void put_hidden_words(struct buf *out, const char *key, const char *value)
{
	static const char *const words[] = {
		[LABEL_IS] = " is ",
		[LABEL_IS_NOT] = " is not ",
		[LABEL_IS_PREFIX] = " begins with ",
		[LABEL_IS_NOT_PREFIX] = " does not begin with ",
	};
	struct label_filter f;
	struct arena bytes;

	if (is_of_stacks(key) && view_is_reserved(key)) {
		buf_puts(out, *key == 'k' ? "with " : "without ");
		html_text(out, value);
		return;
	}
	arena_init(&bytes);
	f = view_filter(&bytes, key, value);
	html_text(out, f.key);
	assert(f.match < ARRAY_SIZE(words));
	buf_puts(out, words[f.match]);
	html_text(out, *f.value ? f.value : "(none)");
	arena_done(&bytes);
}

static bool is_filter(const struct params *p, size_t i)
{
	const char *key = p->items[i].key;

	return *p->items[i].value && strncmp(key, "base.", 5) && (!view_is_reserved(key) || is_of_stacks(key));
}

/* Shows each filter with a link that removes it. */
static void put_filters(const struct page *p)
{
	const struct params *params = &p->query.params;
	bool any = false;

	for (size_t i = 0; i < params->count; i++) {
		if (!is_filter(params, i))
			continue;
		buf_puts(p->out, any ? " " : "<p class=\"filters\">Only ");
		buf_puts(p->out, "<a title=\"Remove this filter\" href=\"");
		page_put_address_without(p, i);
		buf_puts(p->out, "\">");
		put_hidden_words(p->out, params->items[i].key, params->items[i].value);
		buf_puts(p->out, " ×</a>");
		any = true;
	}
	if (any)
		buf_puts(p->out, "</p>\n");
}

void page_put_form(const struct page *p)
{
	const struct profile_query *a = &p->query;
	struct store_query query = { .from_ns = a->view.from_ns, .to_ns = a->view.to_ns };
	struct store_labels labels = { 0 };
	struct buf *out = p->out;

	store_labels(p->context->options.store, &query, &labels, NULL);
	buf_puts(out, "<form class=\"controls\" method=\"get\" action=\"/\">\n");
	put_label_select(out, a, &labels, "entry", "Entry point", "all entry points");
	put_label_select(out, a, &labels, "host", "Host", "all hosts");
	put_label_select(out, a, &labels, "sapi", "SAPI", "all SAPIs");
	put_any_label(out, &labels);
	put_stack_filter(out);
	put_range_select(out, &a->view);
	put_hidden(out, &a->params);
	buf_puts(out, "<button>Show</button>\n</form>\n");
	put_filters(p);
	store_labels_done(&labels);
}

/* --- One more filter --- */

static bool is_field(const char *key)
{
	static const char *const keys[] = { "filter_label", "filter_is", "filter_value", "filter_stacks", "filter_functions", "filter_from" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

/* Returns "" for a field that is empty or missing. */
static const char *field(const struct params *p, const char *key)
{
	const char *value = params_get(p, key);

	return value ? value : "";
}

static bool has_fields(const struct params *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (is_field(p->items[i].key))
			return true;
	return false;
}

static void put_pair(struct buf *out, const char *key, const char *value)
{
	buf_puts(out, out->size == 1 ? "?" : "&");
	buf_printf(out, "%s=", key);
	text_put_url(out, (struct str){ value, strlen(value) });
}

/* Marks a value that looks like an operator as literal. */
static void put_filter(struct buf *out, const char *label, const char *is, const char *value)
{
	_cleanup_(buf_done) struct buf key = { 0 }, text = { 0 };
	size_t n = strlen(value);
	bool is_not = !strncmp(is, "not", 3), is_prefix = !strcmp(is, "prefix") || !strcmp(is, "not-prefix");
	bool odd = (!is_not && (!n || *value == '!')) || *value == '=' || (n && value[n - 1] == '*');

	buf_init(&key);
	buf_init(&text);
	buf_printf(&key, "%s%s", view_is_reserved(label) ? "label." : "", label);
	buf_printf(&text, "%s%s%s%s", is_not ? "!" : "", odd && !is_prefix ? "=" : "", value, n && is_prefix ? "*" : "");
	if (n || !is_prefix)
		put_pair(out, key.data, text.data);
}

/* Appends the URL equivalent to the form; a time that was typed overrides the list. */
static void put_form_address(struct buf *out, const struct params *p)
{
	const char *from = field(p, "filter_from"), *label = field(p, "filter_label"), *functions = field(p, "filter_functions");

	buf_puts(out, "/");
	for (size_t i = 0; i < p->count; i++)
		if (*p->items[i].value && !is_field(p->items[i].key) && (!*from || strcmp(p->items[i].key, "from")))
			put_pair(out, p->items[i].key, p->items[i].value);
	if (*from)
		put_pair(out, "from", from);
	if (*label)
		put_filter(out, label, field(p, "filter_is"), field(p, "filter_value"));
	if (*functions)
		put_pair(out, strcmp(field(p, "filter_stacks"), "remove-i") ? "keep-i" : "remove-i", functions);
}

/* Frees the sentence. */
static void refuse_value(const struct request *q, struct response *r, char *sentence)
{
	page_put_error(q, r, 400, sentence);
	free(sentence);
}

/* In an address, "!" and "=" before a prefix are operators. */
static bool is_operator(const char *value, const char *is)
{
	return (*value == '!' || *value == '=') && (!strcmp(is, "prefix") || !strcmp(is, "not-prefix"));
}

bool page_form_redirects(const struct request *q, struct response *r)
{
	_cleanup_(buf_done) struct buf address = { 0 };
	struct err err = { 0 };
	struct params p;
	bool leads = params_parse(&p, q->query, &err) >= 0 && has_fields(&p);

	if (leads && *field(&p, "filter_value") && !*field(&p, "filter_label")) {
		refuse_value(q, r, xasprintf("no label was chosen for the value '%s': go back and choose one instead of \"any\"", field(&p, "filter_value")));
	} else if (leads && is_operator(field(&p, "filter_value"), field(&p, "filter_is"))) {
		refuse_value(q, r, xasprintf("a filter cannot select values that begin with '%s': go back and choose \"is\" or \"is not\"", field(&p, "filter_value")));
	} else if (leads) {
		buf_init(&address);
		put_form_address(&address, &p);
		runs_lead_to(r, 303, &address);
	}
	params_done(&p);
	return leads;
}
