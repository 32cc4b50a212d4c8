/* pyroscope_lists.c: lists of types, labels and their values, and the combinations that occur. */
#include "pyroscope_calls.h"

#include "mem.h"
#include "messages.h"
#include "protobuf.h"

#include <string.h>

/* Loads the rows that match the request. */
static int load(struct pyroscope_request *q, struct pyroscope_rows *rows, struct err *err)
{
	struct pyroscope_selection a;
	int r = pyroscope_selection_init(&a, q->context, q->query, q->http->now_ns, &q->left_out, err);

	if (r >= 0)
		r = pyroscope_rows_load(&a, true, rows, err);
	pyroscope_selection_done(&a);
	return r;
}

/* --- Sorted lists of texts, each once --- */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **pyroscope_sorted(const struct intern *texts)
{
	const char **list = xmalloc((texts->count + 1) * sizeof(*list));

	for (uint32_t i = 0; i < texts->count; i++)
		list[i] = intern_get(texts, i).p;
	qsort(list, texts->count, sizeof(*list), compare_texts);
	return list;
}

static void put_sorted(const struct intern *texts, void (*put)(const char *text, struct buf *out), struct buf *out)
{
	_cleanup_(freep) const char **list = pyroscope_sorted(texts);

	for (uint32_t i = 0; i < texts->count; i++)
		put(list[i], out);
}

static void put_name(const char *text, struct buf *out)
{
	pyroscope_put_text(out, NAMES_NAMES, text);
}

static void put_type(const char *id, struct buf *out)
{
	_cleanup_(buf_done) struct buf type = { 0 };
	struct profile_type t;

	buf_init(&type);
	profile_type_parse(id, &t, NULL);
	pyroscope_put_text(&type, PROFILE_TYPE_FIELD_ID, id);
	pyroscope_put_text(&type, PROFILE_TYPE_NAME, t.name);
	pyroscope_put_text(&type, PROFILE_TYPE_SAMPLE, t.sample);
	pyroscope_put_text(&type, PROFILE_TYPE_UNIT, t.unit);
	pyroscope_put_text(&type, PROFILE_TYPE_PERIOD, t.period);
	pyroscope_put_text(&type, PROFILE_TYPE_PERIOD_UNIT, t.period_unit);
	protobuf_put_bytes(out, PROFILE_TYPES_TYPES, type.data, type.size);
}

/* --- The calls --- */

int pyroscope_profile_types(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	_cleanup_(pyroscope_rows_done) struct pyroscope_rows rows = { 0 };
	_cleanup_(intern_done) struct intern types = { 0 };
	int r = load(q, &rows, err);

	intern_init(&types);
	for (size_t i = 0; i < rows.count; i++) {
		char id[PROFILE_TYPE_ID];

		profile_type_id(&rows.items[i].type, id);
		intern_add(&types, id, strlen(id));
	}
	put_sorted(&types, put_type, out);
	return r;
}

/* Names that only newer clients can use in a selector are sent to clients that announce support. */
static bool is_plain_name(const char *name)
{
	return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == 0 &&
	       (*name < '0' || *name > '9');
}

int pyroscope_label_names(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	_cleanup_(pyroscope_rows_done) struct pyroscope_rows rows = { 0 };
	_cleanup_(intern_done) struct intern names = { 0 };
	bool all = q->http->accept && strstr(q->http->accept, "allow-utf8-labelnames=true");
	int r = load(q, &rows, err);

	intern_init(&names);
	if (rows.count)
		intern_add(&names, "service_name", 12);
	for (size_t i = 0; i < rows.count; i++) {
		const struct labels *l = &rows.items[i].labels;

		for (size_t k = 0; k < l->count; k++)
			if (pyroscope_label_is_visible(l->items[k].key) && (all || is_plain_name(l->items[k].key)))
				intern_add(&names, l->items[k].key, strlen(l->items[k].key));
	}
	put_sorted(&names, put_name, out);
	return r;
}

int pyroscope_label_values(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	_cleanup_(pyroscope_rows_done) struct pyroscope_rows rows = { 0 };
	_cleanup_(intern_done) struct intern values = { 0 };
	int r;

	if (!*q->query->name)
		return err_set(err, -EINVAL, "the name of a label is missing");
	r = load(q, &rows, err);
	intern_init(&values);
	for (size_t i = 0; i < rows.count; i++) {
		char id[PROFILE_TYPE_ID];
		const char *value = pyroscope_label(q->context, &rows.items[i].labels, &rows.items[i].type, q->query->name, id);

		if (*value)
			intern_add(&values, value, strlen(value));
	}
	put_sorted(&values, put_name, out);
	return r;
}

static bool is_wanted(const struct pyroscope_texts *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return !names->count;
}

/* Labels in the order of their names, private ones first, as Pyroscope sorts them; `key` gets them as text to sort by. */
static void put_row(struct pyroscope_request *q, const struct pyroscope_row *row, struct buf *out, struct buf *key)
{
	static const char *const made[] = { "__name__", "__period_type__", "__period_unit__", "__profile_type__", "__type__",
		"__unit__", "service_name" };
	_cleanup_(labels_done) struct labels all = { 0 };
	char id[PROFILE_TYPE_ID];

	labels_init(&all);
	for (size_t i = 0; i < row->labels.count; i++)
		if (pyroscope_label_is_visible(row->labels.items[i].key))
			labels_set(&all, row->labels.items[i].key, strlen(row->labels.items[i].key), row->labels.items[i].value,
				   strlen(row->labels.items[i].value));
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		const char *value = pyroscope_label(q->context, &row->labels, &row->type, made[i], id);

		if (*value)
			labels_set(&all, made[i], strlen(made[i]), value, strlen(value));
	}
	for (size_t i = 0; i < all.count; i++)
		if (is_wanted(&q->query->label_names, all.items[i].key) && *all.items[i].value) {
			pyroscope_put_pair(out, LABELS_LABELS, all.items[i].key, all.items[i].value);
			buf_printf(key, "%s\1%s\1", all.items[i].key, all.items[i].value);
		}
}

static int compare_keys(const void *a, const void *b, void *keys)
{
	return strcmp(intern_get(keys, *(const uint32_t *)a).p, intern_get(keys, *(const uint32_t *)b).p);
}

static void put_sets(struct intern *keys, const struct intern *sets, struct buf *out)
{
	_cleanup_(freep) uint32_t *order = xmalloc((keys->count + 1) * sizeof(*order));

	for (uint32_t i = 0; i < keys->count; i++)
		order[i] = i;
	qsort_r(order, keys->count, sizeof(*order), compare_keys, keys);
	for (uint32_t i = 0; i < keys->count; i++) {
		struct str set = intern_get(sets, order[i]);

		protobuf_put_bytes(out, SERIES_LABELS_SET, set.p, set.n);
	}
}

int pyroscope_series(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	_cleanup_(pyroscope_rows_done) struct pyroscope_rows rows = { 0 };
	_cleanup_(intern_done) struct intern keys = { 0 }, sets = { 0 };
	_cleanup_(buf_done) struct buf key = { 0 }, set = { 0 };
	int r = load(q, &rows, err);

	intern_init(&keys);
	intern_init(&sets);
	buf_init(&key);
	buf_init(&set);
	for (size_t i = 0; i < rows.count; i++) {
		buf_reset(&key);
		buf_reset(&set);
		put_row(q, &rows.items[i], &set, &key);
		if (set.size) {
			intern_add(&keys, key.data, key.size);
			intern_add(&sets, set.data, set.size);
		}
	}
	put_sets(&keys, &sets, out);
	return r;
}

/* Reports whether there is any data, of any age. */
int pyroscope_stats(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	struct store_query none = { .from_ns = 0, .to_ns = 0 };
	struct store_run_query one = { .limit = 1 };
	struct store_query_stats stats = { 0 };
	struct store_runs runs = { 0 };
	struct profile *p = NULL;
	int r = store_query(q->context->options.store, &none, &p, &stats, err);

	if (r >= 0)
		r = store_list_runs(q->context->options.store, &one, &runs, err);
	protobuf_put_number(out, STATS_INGESTED, stats.last_ns || runs.count);
	protobuf_put_number(out, STATS_OLDEST, (uint64_t)stats.first_ns / 1000000);
	protobuf_put_number(out, STATS_NEWEST, (uint64_t)stats.last_ns / 1000000);
	store_runs_done(&runs);
	profile_free(p);
	return r;
}

/* The cost of a query is unknown here; Pyroscope 2 returns the same. */
int pyroscope_analyze(struct pyroscope_request *q, struct buf *out, struct err *err)
{
	(void)q;
	(void)out;
	(void)err;
	return 0;
}
