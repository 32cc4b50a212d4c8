/* pyroscope_runs.c: answers requests for spans, traces and types of runs from the store's runs, each of which is one
 * profile. */
#include "pyroscope_selection.h"

#include "mem.h"
#include "runs.h"
#include "text.h"

#include <ctype.h>
#include <string.h>

#define SPAN_DIGITS	16u
#define TRACE_DIGITS	32u

bool pyroscope_asks_runs(const struct pyroscope_selection *a)
{
	const struct pyroscope_query *q = a->query;

	return profile_type_is_run(&a->type) || q->spans.count || q->traces.count || q->profiles.count ||
	       selector_has(&a->selector, "span_id") || selector_has(&a->selector, "trace_id") ||
	       selector_has(&a->selector, "profile_id");
}

void pyroscope_run_labels(const struct store_run *run, struct labels *ret)
{
	labels_init(ret);
	labels_copy(ret, &run->labels);
	labels_set(ret, "source", 6, run->source, strlen(run->source));
}

/* --- Ids --- */

static int check_ids(const char *what, const struct pyroscope_texts *ids, size_t digits, struct err *err)
{
	for (size_t i = 0; i < ids->count; i++) {
		const char *id = ids->items[i];
		size_t n = 0;

		while (text_hex_digit(id[n]) >= 0)
			n++;
		if (id[n] || n != digits)
			return err_set(err, -EINVAL, "'%.80s' is not the id of a %s, which has %zu hexadecimal digits%s", id, what, digits,
				       strchr(id, '$') ? "; the variable was not replaced" : "");
	}
	return 0;
}

static int check_query(const struct pyroscope_selection *a, struct err *err)
{
	const struct pyroscope_query *q = a->query;
	int r;

	if ((r = check_ids("span", &q->spans, SPAN_DIGITS, err)) < 0 || (r = check_ids("trace", &q->traces, TRACE_DIGITS, err)) < 0)
		return r;
	if (!!q->spans.count + !!q->traces.count + !!q->profiles.count > 1)
		return err_set(err, -EINVAL, "give ids of spans, of traces, or of profiles, not several of these");
	return 0;
}

/* --- Conditions of the store --- */

static bool condition_holds(const void *data, const char *value)
{
	return matcher_holds(data, value);
}

static const char **copy_text(struct pyroscope_conditions *c, const char *text)
{
	const char **ret = (const char **)arena_alloc(&c->bytes, sizeof(*ret));

	*ret = arena_copy(&c->bytes, text, strlen(text));
	return ret;
}

/* Sets the label or the constant that a matcher is about, like run_label. Returns false if it depends on the columns of
 * a run. */
static bool set_subject(struct pyroscope_conditions *c, const struct pyroscope_selection *a, bool by_id, const char *label,
			struct store_run_condition *to)
{
	char id[PROFILE_TYPE_ID];
	const char *of_type = profile_type_label(&a->type, label, id);

	to->otherwise = "";
	if (of_type) {
		to->otherwise = *copy_text(c, of_type);
		return by_id;
	}
	if (!strcmp(label, "service_name") || !strcmp(label, "__service_name__")) {
		to->keys = c->services;
		to->key_count = c->service_count;
		to->otherwise = PYROSCOPE_UNKNOWN;
	} else if (pyroscope_label_is_visible(label) || (by_id && strncmp(label, "__", 2))) {
		to->keys = copy_text(c, label);
		to->key_count = 1;
	}
	return true;
}

void pyroscope_conditions_init(struct pyroscope_conditions *c, const struct pyroscope_selection *a, bool by_id)
{
	*c = (struct pyroscope_conditions){ .count = 0 };
	arena_init(&c->bytes);
	while (pyroscope_service_label(a->context, c->service_count))
		c->service_count++;
	c->services = xcalloc(c->service_count + 1, sizeof(*c->services));
	for (size_t i = 0; i < c->service_count; i++)
		c->services[i] = pyroscope_service_label(a->context, i);
	for (size_t i = 0; i < a->selector.count; i++) {
		const struct matcher *m = &a->selector.items[i];
		struct store_run_condition *to = &c->items[c->count];

		*to = (struct store_run_condition){ .value = m->pattern ? NULL : m->value, .negated = m->negated, .holds = condition_holds, .data = m };
		c->count += set_subject(c, a, by_id, m->label, to);
	}
}

void pyroscope_conditions_done(struct pyroscope_conditions *c)
{
	free(c->services);
	arena_done(&c->bytes);
}

/* Types have "_" for the colons of a column's name, and lack its ending. */
const char *pyroscope_total_part(const struct profile_type *type, char ret[64])
{
	const char *longest = "";
	size_t most = 0;

	for (const char *at = type->sample; *at; at += *at == '_') {
		size_t n = strcspn(at, "_");

		if (n > most) {
			longest = at;
			most = n;
		}
		at += n;
	}
	snprintf(ret, 64, "%.*s", (int)most, longest);
	return most ? ret : NULL;
}

/* --- Values --- */

static bool is_selected(const struct pyroscope_selection *a, const char *column, const char *unit, const char *clock)
{
	struct profile_type as_run, as_samples;

	profile_type_of_run(column, unit, &as_run);
	profile_type_of(column, unit, clock, &as_samples);
	return profile_type_is(&a->type, &as_run) || profile_type_is(&a->type, &as_samples);
}

bool pyroscope_run_value(const struct pyroscope_selection *a, const struct store_run *run, int64_t *ret)
{
	const char *clock = labels_get(&run->labels, "clock");

	for (size_t i = 0; i < run->total_count; i++) {
		if (!is_selected(a, run->totals[i].name, run->totals[i].unit, clock))
			continue;
		*ret = run->totals[i].value;
		return true;
	}
	return false;
}

static bool has_total(const struct store_run *run, const char *name)
{
	for (size_t i = 0; i < run->total_count; i++)
		if (!strcmp(run->totals[i].name, name))
			return true;
	return false;
}

/* Whether the type is one of those that run_add_columns computes. */
static bool is_computed(const struct pyroscope_selection *a)
{
	return is_selected(a, "wall_ns", "nanoseconds", NULL) || is_selected(a, "cpu_ns", "nanoseconds", NULL) ||
	       is_selected(a, "off_cpu_ns", "nanoseconds", NULL);
}

static bool may_have_value(const struct pyroscope_selection *a, const struct store_run *run)
{
	int64_t value;

	return pyroscope_run_value(a, run, &value) ||
	       (is_computed(a) && (has_total(run, "samples") || (has_total(run, "wall_ns") && has_total(run, "cpu_ns"))));
}

/* --- Lists --- */

static const char *run_label(const struct pyroscope_selection *a, const struct labels *labels, const char *name)
{
	char id[PROFILE_TYPE_ID];
	const char *value = pyroscope_label_is_visible(name) || !strncmp(name, "__", 2) ? NULL : labels_get(labels, name);

	/* The type is matched against the columns of the run. */
	return value ? value : pyroscope_label(a->context, labels, &a->type, name, id);
}

static bool takes_run(const struct pyroscope_selection *a, const struct store_run *run)
{
	_cleanup_(labels_done) struct labels labels = { 0 };
	const struct pyroscope_texts *ids = &a->query->profiles;
	bool takes = true;

	pyroscope_run_labels(run, &labels);
	for (size_t i = 0; takes && i < a->selector.count; i++)
		takes = matcher_holds(&a->selector.items[i], run_label(a, &labels, a->selector.items[i].label));
	for (size_t i = 0; takes && i < ids->count; i++) {
		const char *slash = strchr(ids->items[i], '/');

		if (slash && !strncmp(ids->items[i], run->source, (size_t)(slash - ids->items[i])) &&
		    !run->source[slash - ids->items[i]] && !strcmp(slash + 1, run->id))
			return true;
	}
	return takes && !ids->count;
}

/* Moves the matching runs to the end of `ret`, up to the limit. Returns whether there are more. */
static bool take_runs(const struct pyroscope_selection *a, struct store_runs *from, size_t limit, struct store_runs *ret)
{
	bool more = false;

	ret->items = xrealloc(ret->items, (ret->count + from->count + 1) * sizeof(*ret->items));
	for (size_t i = 0; i < from->count; i++) {
		bool takes = !more && takes_run(a, &from->items[i]) && may_have_value(a, &from->items[i]);

		more |= takes && ret->count == limit;
		if (takes && !more)
			ret->items[ret->count++] = from->items[i];
		else
			store_run_done(&from->items[i]);
	}
	free(from->items);
	from->items = NULL;
	from->count = 0;
	return more;
}

/* Reads page by page until the limit is exceeded: the store returns nearly only matching runs, so there are few. */
static int list_pages(const struct pyroscope_selection *a, struct store_run_query *q, size_t limit, struct store_runs *ret, struct err *err)
{
	char after[STORE_RUNS_NEXT] = "";

	q->limit = limit + 1;
	q->after = after;
	do {
		struct store_runs found;
		int r = store_list_runs(a->context->options.store, q, &found, err);

		if (r < 0)
			return r;
		memcpy(after, found.next, sizeof(after));
		if (take_runs(a, &found, limit, ret)) {
			memcpy(ret->next, "more", 5);
			return 0;
		}
	} while (*after);
	return 0;
}

/* Ids are SOURCE/ID. */
static int list_named(const struct pyroscope_selection *a, struct store_run_query *q, size_t limit, struct store_runs *ret, struct err *err)
{
	const struct pyroscope_texts *ids = &a->query->profiles;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ids->count && !*ret->next; i++) {
		const char *slash = strchr(ids->items[i], '/');
		_cleanup_(freep) char *source = slash ? xstrndup(ids->items[i], (size_t)(slash - ids->items[i])) : NULL;

		if (!slash)
			continue;
		q->source = source;
		q->id = slash + 1;
		r = list_pages(a, q, limit, ret, err);
	}
	return r;
}

/* Ids are hexadecimal numbers, and senders write them in either case. */
static void add_cases(struct label_filter *to, size_t *count, struct arena *bytes, const char *key, const char *id)
{
	char *cases[] = { arena_copy(bytes, id, strlen(id)), arena_copy(bytes, id, strlen(id)) };

	for (size_t i = 0; id[i]; i++) {
		cases[0][i] = (char)tolower((unsigned char)id[i]);
		cases[1][i] = (char)toupper((unsigned char)id[i]);
	}
	to[(*count)++] = (struct label_filter){ key, cases[0], LABEL_IS };
	if (strcmp(cases[0], cases[1]))
		to[(*count)++] = (struct label_filter){ key, cases[1], LABEL_IS };
}

static int list(const struct pyroscope_selection *a, const char *key, const struct pyroscope_texts *ids, size_t limit,
		struct store_runs *ret, struct err *err)
{
	_cleanup_(freep) struct label_filter *filters = xcalloc(ids ? 2 * ids->count + 1 : 1, sizeof(*filters));
	_cleanup_(pyroscope_conditions_done) struct pyroscope_conditions conditions;
	_cleanup_(arena_done) struct arena bytes = { 0 };
	struct store_run_query q = { .from_ns = a->from_ns, .to_ns = a->to_ns + 1, .filters = filters };
	char part[64];

	arena_init(&bytes);
	pyroscope_conditions_init(&conditions, a, true);
	q.conditions = conditions.items;
	q.condition_count = conditions.count;
	q.total_part = is_computed(a) ? NULL : pyroscope_total_part(&a->type, part);
	for (size_t i = 0; ids && i < ids->count; i++)
		add_cases(filters, &q.filter_count, &bytes, key, ids->items[i]);
	return a->query->profiles.count ? list_named(a, &q, limit, ret, err) : list_pages(a, &q, limit, ret, err);
}

static int compare_runs(const void *x, const void *y)
{
	const struct store_run *a = x, *b = y;
	int by_source = strcmp(a->source, b->source);

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? 1 : -1;
	return by_source ? by_source : strcmp(a->id, b->id);
}

/* Moves the runs of `from` to `ret`, which keeps each run once, and the latest ones up to the limit. */
static void merge_lists(struct store_runs *ret, struct store_runs *from, size_t limit)
{
	size_t all = ret->count + from->count, kept = 0;

	ret->items = xrealloc(ret->items, (all + 1) * sizeof(*ret->items));
	if (from->count)
		memcpy(&ret->items[ret->count], from->items, from->count * sizeof(*from->items));
	from->count = 0;
	qsort(ret->items, all, sizeof(*ret->items), compare_runs);
	for (size_t i = 0; i < all; i++) {
		bool again = kept && !compare_runs(&ret->items[kept - 1], &ret->items[i]);

		if (!again && kept < limit) {
			ret->items[kept++] = ret->items[i];
			continue;
		}
		if (!again)
			memcpy(ret->next, "more", 5);
		store_run_done(&ret->items[i]);
	}
	if (*from->next)
		memcpy(ret->next, "more", 5);
	ret->count = kept;
}

/* The older name for a span's id is profile_id, and a list may contain ids under either name. */
static int list_spans(const struct pyroscope_selection *a, size_t limit, struct store_runs *ret, struct err *err)
{
	_cleanup_(store_runs_done) struct store_runs older = { 0 };
	int r = list(a, "span_id", &a->query->spans, limit, ret, err);

	if (r >= 0)
		r = list(a, "profile_id", &a->query->spans, limit, &older, err);
	if (r >= 0)
		merge_lists(ret, &older, limit);
	return r;
}

int pyroscope_runs_list(const struct pyroscope_selection *a, size_t limit, struct store_runs *ret, struct err *err)
{
	const struct pyroscope_query *q = a->query;
	int r = check_query(a, err);

	*ret = (struct store_runs){ 0 };
	if (r < 0)
		return r;
	if (q->traces.count)
		return list(a, "trace_id", &q->traces, limit, ret, err);
	if (!q->spans.count)
		return list(a, NULL, NULL, limit, ret, err);
	return list_spans(a, limit, ret, err);
}

/* --- Profiles --- */

static uint32_t column_of(const struct pyroscope_selection *a, const struct profile *p)
{
	for (uint32_t c = 0; c < p->column_count; c++)
		if (is_selected(a, p->columns[c].name, p->columns[c].unit, labels_get(&p->labels, "clock")))
			return c;
	return UINT32_MAX;
}

/* A run that was removed in the meantime is skipped. */
static int merge_run(const struct pyroscope_selection *a, const struct store_run *run, bool lines, struct profile *into,
		     struct err *err)
{
	struct store_profile_limits most = { .nodes = a->context->max_nodes, .lines = lines };
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(store_run_done) struct store_run found = { 0 };
	int r = store_get_run(a->context->options.store, run->source, run->id, &most, &found, &p, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	a->left_out->pruned |= r > 0;
	run_add_columns(p);
	if (column_of(a, p) != UINT32_MAX)
		profile_merge(into, p);
	return 0;
}

int pyroscope_runs_values(const struct pyroscope_selection *a, bool lines, struct stack_values *ret, struct err *err)
{
	_cleanup_(store_runs_done) struct store_runs runs = { 0 };
	_cleanup_(profile_freep) struct profile *all = profile_new();
	uint32_t column;
	int r = pyroscope_runs_list(a, PYROSCOPE_RUNS, &runs, err);

	if (*runs.next)
		a->left_out->runs = PYROSCOPE_RUNS;
	profile_keep_lines(all, lines);
	for (size_t i = 0; r >= 0 && i < runs.count; i++)
		r = merge_run(a, &runs.items[i], lines, all, err);
	if (r < 0)
		return r;
	column = column_of(a, all);
	*ret = stack_values_take(TAKE_PTR(all), column);
	return 0;
}
