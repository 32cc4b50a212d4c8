/* sqlite_runs_list.c: lists of runs, sorted and filtered.
 *
 * One statement walks the index of the sort order and returns ids, another one reads the row of each: if sorting is
 * needed it moves only ids, and the walk stops once the list is long enough. If it has read many runs by then and the
 * query is about labels, it begins again with the kinds (run_kind.h) that have these labels, and reads only their runs. */
#include "map.h"
#include "mem.h"
#include "run_cursor.h"
#include "run_kind.h"
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

/* --- Kinds of runs --- */

/* In a file with more kinds, a list of different runs reaches its limit before it has read many. */
#define KINDS_MAX	"20000"

/* The kinds of a file, found one after another in the index of kinds. */
#define KINDS_SQL								\
	"WITH RECURSIVE k(kind) AS (SELECT min(kind) FROM run UNION ALL "	\
	"SELECT (SELECT min(kind) FROM run WHERE kind > k.kind) FROM k WHERE k.kind IS NOT NULL LIMIT " KINDS_MAX ") "

/* Whether a condition on this label holds for all runs of a kind or for none. */
static bool label_is_of_kinds(const char *key)
{
	return !label_is_of_runs(key, strlen(key));
}

static bool labels_are_of_kinds(const struct store_run_query *q)
{
	for (size_t i = 0; i < q->filter_count; i++)
		if (!label_is_of_kinds(q->filters[i].key))
			return false;
	for (size_t i = 0; i < q->condition_count; i++)
		for (size_t k = 0; k < q->conditions[i].key_count; k++)
			if (!label_is_of_kinds(q->conditions[i].keys[k]))
				return false;
	return true;
}

static bool has_kinds(const struct runs_file *f)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;

	if (f->schema < 3 || sqlite_prepare(f->db, KINDS_SQL "SELECT count(*) < " KINDS_MAX " FROM k", f->path, &s, NULL) < 0)
		return false;
	return sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0);
}

/* Whether the latest run of each kind answers the query. */
static bool is_by_kind(const struct runs_file *f, const struct store_run_query *q)
{
	return q->distinct && !q->id && !q->id_part && !q->url_part && !q->text && labels_are_of_kinds(q) && has_kinds(f);
}

/* Whether the kinds that have the labels of the query can be found first. */
static bool is_about_kinds(const struct runs_file *f, const struct store_run_query *q)
{
	bool asks = q->filter_count;

	for (size_t i = 0; i < q->condition_count; i++)
		asks |= q->conditions[i].key_count > 0;
	return asks && f->schema >= 3 && !q->distinct && !q->id && labels_are_of_kinds(q);
}

/* Selects the latest run of each kind. The join is ordered by hand: SQLite might walk all runs by their start and look for each among the ids. */
static void put_kinds_sql(const struct store_run_query *q, struct buf *sql)
{
	buf_puts(sql, KINDS_SQL "SELECT r.id, r.start_ns, k.kind FROM k CROSS JOIN run r WHERE r.id = (SELECT id FROM run WHERE kind = k.kind");
	if (q->from_ns)
		buf_puts(sql, " AND start_ns >= :from");
	if (q->to_ns)
		buf_puts(sql, " AND start_ns < :to");
	buf_puts(sql, " ORDER BY start_ns DESC, id DESC LIMIT 1)");
	if (q->source)
		buf_puts(sql, " AND r.source = :source");
	buf_puts(sql, " ORDER BY 2 DESC, 1 DESC");
}

/* --- Ids, in the order --- */

/* `kinds`: only runs of these, which are separated by commas; NULL: of all. */
static void put_sql(const struct runs_file *f, const struct store_run_query *q, const char *kinds, struct buf *sql)
{
	const struct order *o = &orders[q->order];
	const char *key = f->schema < 2 && o->sql_1 ? o->sql_1 : o->sql, *way = q->ascending ? "ASC" : "DESC";

	assert((unsigned)q->order < STORE_RUN_ORDERS);
	buf_printf(sql, "SELECT id, %s FROM run %s", key, kinds ? "INDEXED BY run_by_kind WHERE kind IN (" : "WHERE 1");
	if (kinds) {
		buf_puts(sql, kinds);
		buf_putc(sql, ')');
	}
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
static int prepare(struct runs_file *f, const char *sql, const struct store_run_query *q, const struct run_cursor *after,
		   sqlite3_stmt **ret, struct err *err)
{
	int rc = sqlite_prepare(f->db, sql, f->path, ret, err);

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

static struct str bytes_of(sqlite3_stmt *row, int column)
{
	const void *bytes = sqlite3_column_blob(row, column);

	return (struct str){ bytes ? bytes : "", (size_t)sqlite3_column_bytes(row, column) };
}

/* The kinds of the runs that were listed. */
struct kinds {
	struct map seen;
	struct buf spare;
};

static void kinds_done(struct kinds *k)
{
	map_done(&k->seen);
	buf_done(&k->spare);
}

static bool is_seen(sqlite3_stmt *row, struct kinds *k)
{
	int64_t kind = run_kind_of(bytes_of(row, ROW_SOURCE), bytes_of(row, ROW_LABELS), bytes_of(row, ROW_TOTALS), &k->spare);
	uint32_t *place = map_slot(&k->seen, (uint64_t)kind);
	bool seen = *place != MAP_NONE;

	*place = 1;
	return seen;
}

/* --- Rows --- */

#define WALK_MAX	5000u		/* runs that are read before it is worth to find kinds first */

/* Returns 1 if `most` runs (0: no limit) were read, and the list may be incomplete. */
static int read_list(struct runs_file *f, sqlite3_stmt *ids, sqlite3_stmt *row, const struct store_run_query *q,
		     uint64_t most, struct store_runs *ret, struct err *err)
{
	_cleanup_(kinds_done) struct kinds kinds = { 0 };
	const struct order *o = &orders[q->order];
	struct run_cursor last = { 0 };
	size_t capacity = 0;
	int rc;

	map_init(&kinds.seen);
	buf_init(&kinds.spare);
	while ((rc = sqlite3_step(ids)) == SQLITE_ROW && !*ret->next) {
		if (most && ret->examined == most)
			return 1;
		ret->examined++;
		rc = find_row(f, row, sqlite3_column_int64(ids, 0), err);
		if (rc < 0)
			return rc;
		if (is_wanted(row, q) && (!q->distinct || !is_seen(row, &kinds))) {
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

/* Puts the kinds of this range that have the labels of the query, separated by commas. */
static int find_kinds(struct runs_file *f, sqlite3_stmt *row, const struct store_run_query *q, const struct run_cursor *after,
		      struct buf *ret, uint64_t *ret_examined, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *kinds = NULL;
	_cleanup_(buf_done) struct buf sql = { 0 };
	struct store_run_query of_labels = *q;
	int rc;

	of_labels.id_part = of_labels.url_part = of_labels.text = NULL;
	buf_init(&sql);
	put_kinds_sql(q, &sql);
	rc = prepare(f, sql.data, q, after, &kinds, err);
	if (rc < 0)
		return rc;
	for (; (rc = sqlite3_step(kinds)) == SQLITE_ROW; ++*ret_examined) {
		if ((rc = find_row(f, row, sqlite3_column_int64(kinds, 0), err)) < 0)
			return rc;
		if (is_wanted(row, &of_labels))
			buf_printf(ret, "%s%lld", ret->size ? "," : "", (long long)sqlite3_column_int64(kinds, 2));
		sqlite3_reset(row);
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(f->db, "read", f->path, err);
}

static int list_of_kinds(struct runs_file *f, sqlite3_stmt *row, const struct store_run_query *q, const struct run_cursor *after,
			 struct store_runs *ret, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *ids = NULL;
	_cleanup_(buf_done) struct buf sql = { 0 }, kinds = { 0 };
	int rc;

	buf_init(&sql);
	buf_init(&kinds);
	rc = find_kinds(f, row, q, after, &kinds, &ret->examined, err);
	if (rc < 0)
		return rc;
	put_sql(f, q, kinds.size ? kinds.data : "", &sql);
	rc = prepare(f, sql.data, q, after, &ids, err);
	return rc < 0 ? rc : read_list(f, ids, row, q, 0, ret, err);
}

static int list(struct runs_file *f, sqlite3_stmt *row, const struct store_run_query *q, const struct run_cursor *after,
		struct store_runs *ret, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *ids = NULL;
	_cleanup_(buf_done) struct buf sql = { 0 };
	uint64_t examined;
	int rc;

	buf_init(&sql);
	if (is_by_kind(f, q))
		put_kinds_sql(q, &sql);
	else
		put_sql(f, q, NULL, &sql);
	rc = prepare(f, sql.data, q, after, &ids, err);
	if (rc >= 0)
		rc = read_list(f, ids, row, q, is_about_kinds(f, q) ? WALK_MAX : 0, ret, err);
	if (rc <= 0)
		return rc;
	examined = ret->examined;
	store_runs_done(ret);
	*ret = (struct store_runs){ .examined = examined };
	if (has_kinds(f))
		return list_of_kinds(f, row, q, after, ret, err);
	sqlite3_reset(ids);
	return read_list(f, ids, row, q, 0, ret, err);
}

int sqlite_list_runs(struct store *store, const struct store_run_query *q, struct store_runs *ret, struct err *err)
{
	_cleanup_(runs_file_closep) struct runs_file *f = NULL;
	_cleanup_(stmt_finalizep) sqlite3_stmt *row = NULL;
	struct run_cursor after = { 0 };
	int rc = run_cursor_parse(q, orders[q->order].type == KEY_NUMBER, &after, err);

	if (rc >= 0)
		rc = sqlite_runs_open((struct sqlite_store *)store, &f, err);
	if (rc < 0 || !f)
		return rc;
	rc = sqlite_prepare(f->db, "SELECT " SQLITE_RUN_COLUMNS " FROM run r WHERE r.id = ?", f->path, &row, err);
	if (rc >= 0)
		rc = list(f, row, q, &after, ret, err);
	if (rc < 0)
		store_runs_done(ret);
	return rc;
}
