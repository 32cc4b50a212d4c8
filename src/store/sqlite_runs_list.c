/* sqlite_runs_list.c: lists of runs, sorted and filtered.
 *
 * One statement walks the index of the sort order and returns ids, another one reads the row of each: if sorting is
 * needed it moves only ids, and the walk stops once the list is long enough. */
#include "mem.h"
#include "run_cursor.h"
#include "run_totals.h"
#include "series.h"
#include "sqlite_error.h"
#include "sqlite_store.h"
#include "text.h"
#include <assert.h>
#include <string.h>

DEFINE_FREEP(struct runs_file, runs_file_close)

/* The sort keys of runs, as SQL; and for schema 1, which lacks the columns of totals, if different. */
static const struct order {
	const char *sql, *sql_1;
	enum { KEY_NUMBER, KEY_TEXT, KEY_BYTES } type;
} orders[STORE_RUN_ORDERS] = {
	[STORE_RUNS_BY_START] = { "start_ns", NULL, KEY_NUMBER },
	[STORE_RUNS_BY_DURATION] = { "duration_ns", NULL, KEY_NUMBER },
	[STORE_RUNS_BY_WALL] = { "wall_ns", "run_total(totals, 'wall_ns')", KEY_NUMBER },
	[STORE_RUNS_BY_CPU] = { "cpu_ns", "run_total(totals, 'cpu_ns')", KEY_NUMBER },
	[STORE_RUNS_BY_MEMORY] = { "memory_bytes", "run_total(totals, 'memory_bytes')", KEY_NUMBER },
	[STORE_RUNS_BY_PEAK] = { "peak_memory_bytes", "run_total(totals, 'peak_memory_bytes')", KEY_NUMBER },
	[STORE_RUNS_BY_CALLS] = { "calls", "run_total(totals, 'calls')", KEY_NUMBER },
	[STORE_RUNS_BY_SOURCE] = { "source", NULL, KEY_TEXT },
	[STORE_RUNS_BY_ID] = { "run", NULL, KEY_TEXT },
	[STORE_RUNS_BY_NAME] = { RUNS_NAME_SQL, NULL, KEY_BYTES },
};

/* --- The place in a list --- */

/* Reads the cursor of the current row of the statement of ids. */
static void get_place(sqlite3_stmt *ids, const struct order *o, struct run_cursor *ret)
{
	const void *bytes;

	ret->id = sqlite3_column_int64(ids, 0);
	if (o->type == KEY_NUMBER) {
		ret->number = sqlite3_column_int64(ids, 1);
		return;
	}
	bytes = sqlite3_column_blob(ids, 1);
	ret->n = (size_t)sqlite3_column_bytes(ids, 1);
	ret->n = bytes && ret->n <= RUN_KEY_MAX ? ret->n : 0;
	if (ret->n)
		memcpy(ret->bytes, bytes, ret->n);
}

/* --- Ids, in the order --- */

static void put_sql(const struct runs_file *f, const struct store_run_query *q, struct buf *sql)
{
	const struct order *o = &orders[q->order];
	const char *key = f->schema < 2 && o->sql_1 ? o->sql_1 : o->sql, *way = q->ascending ? "ASC" : "DESC";

	assert((unsigned)q->order < STORE_RUN_ORDERS);
	buf_printf(sql, "SELECT id, %s FROM run WHERE 1", key);
	if (q->source)
		buf_puts(sql, " AND source = :source");
	if (q->id)
		buf_puts(sql, " AND run = :run");
	if (q->from_ns)
		buf_puts(sql, " AND start_ns >= :from");
	if (q->to_ns)
		buf_puts(sql, " AND start_ns < :to");
	if (q->after && *q->after)
		buf_printf(sql, " AND (%s, id) %s (:key, :id)", key, q->ascending ? ">" : "<");
	buf_printf(sql, " ORDER BY %s %s, id %s", key, way, way);
}

static void bind_number(sqlite3_stmt *s, const char *name, int64_t value)
{
	int at = sqlite3_bind_parameter_index(s, name);

	if (at)
		sqlite3_bind_int64(s, at, value);
}

static void bind_texts(sqlite3_stmt *s, const struct store_run_query *q, const struct run_cursor *after)
{
	int source = sqlite3_bind_parameter_index(s, ":source"), run = sqlite3_bind_parameter_index(s, ":run");
	int key = sqlite3_bind_parameter_index(s, ":key");

	if (source)
		sqlite3_bind_text(s, source, q->source, -1, SQLITE_STATIC);
	if (run)
		sqlite3_bind_text(s, run, q->id, -1, SQLITE_STATIC);
	if (key && orders[q->order].type == KEY_TEXT)
		sqlite3_bind_text(s, key, after->bytes, (int)after->n, SQLITE_STATIC);
	else if (key && orders[q->order].type == KEY_BYTES)
		sqlite3_bind_blob(s, key, after->bytes, (int)after->n, SQLITE_STATIC);
}

/* `after` must live as long as the statement. */
static int prepare_ids(struct runs_file *f, const struct store_run_query *q, const struct run_cursor *after,
		       sqlite3_stmt **ret, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };
	int rc;

	buf_init(&sql);
	put_sql(f, q, &sql);
	rc = sqlite_prepare(f->db, sql.data, f->path, ret, err);
	if (rc < 0)
		return rc;
	bind_number(*ret, ":from", q->from_ns);
	bind_number(*ret, ":to", q->to_ns);
	bind_number(*ret, ":id", after->id);
	if (orders[q->order].type == KEY_NUMBER)
		bind_number(*ret, ":key", after->number);
	bind_texts(*ret, q, after);
	return 0;
}

/* --- Filters without an SQL column --- */

/* Filters read the row in place: most rows of a long list do not match, and copying them would take longer. */

static bool has(sqlite3_stmt *row, int column, const char *part)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text && strstr(text, part);
}

static bool has_in_any_case(sqlite3_stmt *row, int column, const char *part)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text && text_has_in_any_case(text, part);
}

static bool is_escaped_in_labels(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f || strchr("%,=", *text))
			return true;
	return false;
}

/* Tells whether the filter has no alternatives, which are other filters for the same key. */
static bool is_only_one(const struct store_run_query *q, const struct label_filter *f)
{
	for (size_t i = 0; i < q->filter_count; i++)
		if (&q->filters[i] != f && !strcmp(q->filters[i].key, f->key))
			return false;
	return true;
}

static bool has_label(const char *labels, const struct label_filter *f)
{
	size_t key = strlen(f->key), value = strlen(f->value);

	for (const char *at = labels; (at = strstr(at, f->key)); at++)
		if (at[key] == '=' && !strncmp(at + key + 1, f->value, value))
			return true;
	return false;
}

/* Returns false if the text of all labels cannot contain the requested ones; parsing it takes ten times longer. */
static bool labels_may_be_wanted(sqlite3_stmt *row, const struct store_run_query *q)
{
	const char *labels = (const char *)sqlite3_column_text(row, ROW_LABELS);

	for (size_t i = 0; i < q->filter_count && labels; i++) {
		const struct label_filter *f = &q->filters[i];

		if (!label_filter_excludes(f) && *f->value && !is_escaped_in_labels(f->value) && is_only_one(q, f) &&
		    !has_label(labels, f))
			return false;
	}
	return true;
}

static const char *value_of(const struct labels *labels, const char *source, const struct store_run_condition *c)
{
	for (size_t i = 0; i < c->key_count; i++) {
		const char *value = strcmp(c->keys[i], "source") ? labels_get(labels, c->keys[i]) : source;

		if (value && *value)
			return value;
	}
	return c->otherwise;
}

static bool conditions_hold(sqlite3_stmt *row, const struct labels *labels, const struct store_run_query *q)
{
	const char *source = (const char *)sqlite3_column_text(row, ROW_SOURCE);

	for (size_t i = 0; i < q->condition_count; i++)
		if (!q->conditions[i].holds(q->conditions[i].data, value_of(labels, source, &q->conditions[i])))
			return false;
	return true;
}

static bool labels_are_wanted(sqlite3_stmt *row, const struct store_run_query *q, bool text_is_missing)
{
	const char *labels = (const char *)sqlite3_column_text(row, ROW_LABELS);
	struct series s = { 0 };
	bool wanted;

	if (labels && *labels)
		labels_parse(labels, &s.labels, NULL);
	wanted = series_matches(&s, q->filters, q->filter_count) && conditions_hold(row, &s.labels, q);
	for (size_t i = 0; i < s.labels.count && text_is_missing; i++)
		text_is_missing = !text_has_in_any_case(s.labels.items[i].value, q->text);
	labels_done(&s.labels);
	return wanted && !text_is_missing;
}

static bool is_wanted(sqlite3_stmt *row, const struct store_run_query *q)
{
	bool text_is_missing = q->text && !has_in_any_case(row, ROW_SOURCE, q->text) &&
			       !has_in_any_case(row, ROW_ID, q->text) && !has_in_any_case(row, ROW_URL, q->text) &&
			       !has_in_any_case(row, ROW_NAME, q->text);

	if ((q->id_part && !has(row, ROW_ID, q->id_part)) || (q->url_part && !has(row, ROW_URL, q->url_part)))
		return false;
	if (text_is_missing && !is_escaped_in_labels(q->text) && !has_in_any_case(row, ROW_LABELS, q->text))
		return false;
	if (q->total_part && !memmem(sqlite3_column_blob(row, ROW_TOTALS), (size_t)sqlite3_column_bytes(row, ROW_TOTALS), q->total_part, strlen(q->total_part)))
		return false;
	return (!q->filter_count && !q->condition_count && !text_is_missing) ||
	       (labels_may_be_wanted(row, q) && labels_are_wanted(row, q, text_is_missing));
}

/* --- The list --- */

static int find_row(struct runs_file *f, sqlite3_stmt *row, int64_t id, struct err *err)
{
	sqlite3_bind_int64(row, 1, id);
	return sqlite3_step(row) == SQLITE_ROW ? 0 : sqlite_failed(f->db, "read", f->path, err);
}

static void add(struct store_runs *runs, size_t *capacity, sqlite3_stmt *row)
{
	GROW(&runs->items, capacity, runs->count + 1);
	sqlite_run_take(row, &runs->items[runs->count++]);
}

/* --- One value per column --- */

/* Appends the labels, which are joined by commas, without those that differ between all runs. */
static void put_common_labels(const char *labels, struct buf *out)
{
	while (*labels) {
		size_t n = strcspn(labels, ","), key = strcspn(labels, "=,");

		if (!label_is_of_runs(labels, key)) {
			buf_put(out, labels, n);
			buf_putc(out, ',');
		}
		labels += n + (labels[n] == ',');
	}
}

static bool is_seen(sqlite3_stmt *row, struct intern *seen)
{
	const char *source = (const char *)sqlite3_column_text(row, ROW_SOURCE), *labels = (const char *)sqlite3_column_text(row, ROW_LABELS);
	_cleanup_(buf_done) struct buf key = { 0 };
	struct store_run totals = { .total_count = 0 };
	uint32_t before = seen->count;

	buf_init(&key);
	buf_put(&key, source ? source : "", source ? strlen(source) + 1 : 1);
	put_common_labels(labels ? labels : "", &key);
	run_totals_get(sqlite3_column_blob(row, ROW_TOTALS), (size_t)sqlite3_column_bytes(row, ROW_TOTALS), &totals);
	for (size_t i = 0; i < totals.total_count; i++)
		buf_printf(&key, "%s %s,", totals.totals[i].name, totals.totals[i].unit);
	return intern_add(seen, key.data, key.size) < before;
}

/* --- Rows --- */

static int read_list(struct runs_file *f, sqlite3_stmt *ids, sqlite3_stmt *row, const struct store_run_query *q,
		     struct store_runs *ret, struct err *err)
{
	_cleanup_(intern_done) struct intern seen = { 0 };
	const struct order *o = &orders[q->order];
	struct run_cursor last = { 0 };
	size_t capacity = 0;
	int rc;

	intern_init(&seen);

	while ((rc = sqlite3_step(ids)) == SQLITE_ROW && !*ret->next) {
		ret->examined++;
		rc = find_row(f, row, sqlite3_column_int64(ids, 0), err);
		if (rc < 0)
			return rc;
		if (is_wanted(row, q) && (!q->distinct || !is_seen(row, &seen))) {
			assert(ret->count <= q->limit);
			if (ret->count == q->limit)
				run_cursor_format(&last, o->type == KEY_NUMBER, ret->next);
			else
				add(ret, &capacity, row);
			get_place(ids, o, &last);
		}
		sqlite3_reset(row);
	}
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : sqlite_failed(f->db, "read", f->path, err);
}

int sqlite_list_runs(struct store *store, const struct store_run_query *q, struct store_runs *ret, struct err *err)
{
	_cleanup_(runs_file_closep) struct runs_file *f = NULL;
	_cleanup_(stmt_finalizep) sqlite3_stmt *ids = NULL, *row = NULL;
	struct run_cursor after = { 0 };
	int rc = run_cursor_parse(q, orders[q->order].type == KEY_NUMBER, &after, err);

	if (rc >= 0)
		rc = sqlite_runs_open((struct sqlite_store *)store, &f, err);
	if (rc < 0 || !f)
		return rc;
	rc = prepare_ids(f, q, &after, &ids, err);
	if (rc >= 0)
		rc = sqlite_prepare(f->db, "SELECT " SQLITE_RUN_COLUMNS " FROM run r WHERE r.id = ?", f->path, &row,
				    err);
	if (rc >= 0)
		rc = read_list(f, ids, row, q, ret, err);
	if (rc < 0)
		store_runs_done(ret);
	return rc;
}
