/* clickhouse_runs_list.c: lists of runs, sorted and filtered, the sources, and one run with its profile. */
#include "clickhouse_runs.h"
#include "clickhouse_wire.h"
#include "chart.h"
#include "label_counts.h"
#include "mem.h"
#include "pack.h"
#include "run_bytes.h"
#include "run_cursor.h"
#include "run_totals.h"
#include "text.h"
#include <assert.h>
#include <string.h>

static const struct order {
	const char *sql;
	bool is_number;
} orders[STORE_RUN_ORDERS] = {
	[STORE_RUNS_BY_START] = { "start_ns", true },
	[STORE_RUNS_BY_DURATION] = { "duration_ns", true },
	[STORE_RUNS_BY_WALL] = { "wall_ns", true },
	[STORE_RUNS_BY_CPU] = { "cpu_ns", true },
	[STORE_RUNS_BY_MEMORY] = { "memory_bytes", true },
	[STORE_RUNS_BY_PEAK] = { "peak_memory_bytes", true },
	[STORE_RUNS_BY_CALLS] = { "calls", true },
	[STORE_RUNS_BY_SOURCE] = { "source", false },
	[STORE_RUNS_BY_ID] = { "id", false },
	[STORE_RUNS_BY_NAME] = { "title", false },
};

static const char row_columns[] =
	"source, id, start_ns, duration_ns, stored_ns, has, url, name, keys, vals, totals, nodes, bytes";

static struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* --- A row --- */

static char *text_or_null(struct str s, bool has)
{
	return has ? xstrndup(s.p, s.n) : NULL;
}

static void get_key(struct row_reader *r, char ret[STROBE_WIRE_RUN_KEY + 1])
{
	struct str s = row_get_string(r);

	if (s.n > STROBE_WIRE_RUN_KEY)
		r->bad = true;
	else
		memcpy(ret, s.p, s.n);
}

static void get_run(struct row_reader *r, struct store_run *ret)
{
	struct str url, name, totals;
	uint32_t has;

	memset(ret, 0, sizeof(*ret));
	get_key(r, ret->source);
	get_key(r, ret->id);
	ret->start_ns = (int64_t)row_get(r, 8);
	ret->duration_ns = (int64_t)row_get(r, 8);
	ret->stored_ns = (int64_t)row_get(r, 8);
	has = (uint32_t)row_get(r, 1);
	url = row_get_string(r);
	name = row_get_string(r);
	ret->url = text_or_null(url, has & 1);
	ret->name = text_or_null(name, has & 2);
	row_get_labels(r, &ret->labels);
	totals = row_get_string(r);
	run_totals_get(totals.p, totals.n, ret);
	ret->nodes = (uint32_t)row_get(r, 4);
	ret->bytes = row_get(r, 8);
}

/* --- A list --- */

static void put_part(struct buf *sql, const char *column, const char *part)
{
	buf_printf(sql, "position(%s, ", column);
	sql_put_string(sql, str_of(part));
	buf_puts(sql, ") > 0");
}

static void put_text(struct buf *sql, const char *text)
{
	static const char *const places[] = { "source", "id", "url", "name" };
	const char *position = text_is_ascii(text) ? "positionCaseInsensitive" : "positionCaseInsensitiveUTF8";

	buf_puts(sql, " AND (");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		buf_printf(sql, "%s(%s, ", position, places[i]);
		sql_put_string(sql, str_of(text));
		buf_puts(sql, ") > 0 OR ");
	}
	buf_printf(sql, "arrayExists(v -> %s(v, ", position);
	sql_put_string(sql, str_of(text));
	buf_puts(sql, ") > 0, vals))");
}

static void put_wanted(struct buf *sql, const struct store_run_query *q)
{
	if (q->source) {
		buf_puts(sql, " AND source = ");
		sql_put_string(sql, str_of(q->source));
	}
	if (q->id) {
		buf_puts(sql, " AND id = ");
		sql_put_string(sql, str_of(q->id));
	}
	if (q->from_ns)
		buf_printf(sql, " AND start_ns >= %lld", (long long)q->from_ns);
	if (q->to_ns)
		buf_printf(sql, " AND start_ns < %lld", (long long)q->to_ns);
	if (q->url_part && *q->url_part) {
		buf_puts(sql, " AND ");
		put_part(sql, "url", q->url_part);
	}
	if (q->id_part && *q->id_part) {
		buf_puts(sql, " AND ");
		put_part(sql, "id", q->id_part);
	}
	if (q->text && *q->text)
		put_text(sql, q->text);
	if (q->total_part && *q->total_part) {
		buf_puts(sql, " AND ");
		put_part(sql, "totals", q->total_part);
	}
	sql_put_filters(sql, q->filters, q->filter_count);
}

/* --- Conditions --- */

/* A condition that the server cannot check becomes a list of the values that hold, or of those that do not, if there
 * are fewer. Above these limits, which keep the query below ClickHouse's max_query_size of 256 KB, the condition is left to
 * the caller. */
#define CONDITION_VALUES	10000u
#define CONDITION_BYTES		32768u

static void put_label(struct buf *sql, const char *key)
{
	if (!strcmp(key, "source")) {
		buf_puts(sql, "source");
		return;
	}
	buf_puts(sql, "vals[indexOf(keys, ");
	sql_put_string(sql, str_of(key));
	buf_puts(sql, ")]");
}

static void put_value(struct buf *sql, const struct store_run_condition *c)
{
	for (size_t i = 0; i < c->key_count; i++) {
		buf_puts(sql, "if(");
		put_label(sql, c->keys[i]);
		buf_puts(sql, " != '', ");
		put_label(sql, c->keys[i]);
		buf_puts(sql, ", ");
	}
	sql_put_string(sql, str_of(c->otherwise));
	for (size_t i = 0; i < c->key_count; i++)
		buf_putc(sql, ')');
}

static void add_to_list(struct buf *list, const char *value)
{
	buf_puts(list, list->size ? ", " : "");
	sql_put_string(list, str_of(value));
}

static void put_list(struct buf *sql, const struct store_run_condition *c, const char *is_in, const struct buf *list)
{
	buf_puts(sql, " AND ");
	put_value(sql, c);
	buf_printf(sql, " %s (%s)", is_in, list->data);
}

static void put_values(struct buf *sql, const struct store_run_condition *c, const struct buf *values)
{
	_cleanup_(buf_done) struct buf accepted = { 0 }, refused = { 0 };
	struct row_reader r = row_reader_of(values);
	size_t count = 0;

	buf_init(&accepted);
	buf_init(&refused);
	for (; row_more(&r); count++) {
		struct str value = row_get_string(&r);
		_cleanup_(freep) char *text = xstrndup(value.p, value.n);

		add_to_list(c->holds(c->data, text) ? &accepted : &refused, text);
	}
	if (count > CONDITION_VALUES || sql->size > 2 * CONDITION_BYTES)
		return;
	if (!accepted.size)
		buf_puts(sql, " AND 0");
	else if (refused.size && accepted.size <= refused.size && accepted.size <= CONDITION_BYTES)
		put_list(sql, c, "IN", &accepted);
	else if (refused.size && refused.size <= CONDITION_BYTES)
		put_list(sql, c, "NOT IN", &refused);
}

/* Asks the shard for the values of the label in the range, and appends those that hold. */
static int put_checked(struct clickhouse_store *s, unsigned shard, const struct store_run_query *q, const struct store_run_condition *c,
		       struct buf *sql, struct err *err)
{
	_cleanup_(buf_done) struct buf question = { 0 }, values = { 0 };
	int rc;

	buf_init(&question);
	buf_init(&values);
	buf_puts(&question, "SELECT DISTINCT ");
	put_value(&question, c);
	buf_puts(&question, " FROM runs WHERE " CLICKHOUSE_LIVE);
	put_wanted(&question, q);
	buf_printf(&question, " LIMIT %u FORMAT RowBinary", CONDITION_VALUES + 1);
	rc = clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = question.data }, &values, err);
	if (rc >= 0)
		put_values(sql, c, &values);
	return rc;
}

static int put_conditions(struct clickhouse_store *s, unsigned shard, const struct store_run_query *q, struct buf *sql, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < q->condition_count; i++) {
		const struct store_run_condition *c = &q->conditions[i];

		if (!c->key_count)
			continue;
		if (!c->value) {
			rc = put_checked(s, shard, q, c, sql, err);
			continue;
		}
		buf_puts(sql, " AND ");
		put_value(sql, c);
		buf_puts(sql, c->negated ? " != " : " = ");
		sql_put_string(sql, str_of(c->value));
	}
	return rc;
}

/* Selects the latest run of each set of labels and totals. Names and units of totals are their only parts with two
 * letters in a row. */
static void put_distinct(struct buf *sql, const struct buf *wanted)
{
	static const char ids[] = "('span_id', 'trace_id', 'profile_id')";

	buf_printf(sql,
		   " AND seq IN (SELECT argMax(seq, start_ns) FROM runs WHERE " CLICKHOUSE_LIVE "%s GROUP BY source,"
		   " arrayFilter(k -> k NOT IN %s, keys), arrayFilter((v, k) -> k NOT IN %s, vals, keys),"
		   " extractAll(totals, '[A-Za-z_][A-Za-z_]+'))",
		   wanted->data, ids, ids);
}

/* Puts the conditions for runs after the cursor. */
static void put_after(struct buf *sql, const struct store_run_query *q, const struct run_cursor *after)
{
	const struct order *o = &orders[q->order];
	_cleanup_(buf_done) struct buf key = { 0 };
	const char *way = q->ascending ? ">" : "<";

	buf_init(&key);
	if (o->is_number)
		buf_printf(&key, "toInt64(%lld)", (long long)after->number);
	else
		sql_put_string(&key, (struct str){ after->bytes, after->n });
	buf_printf(sql, " AND (%s %s %s OR (%s = %s AND seq %s %llu))", o->sql, way, key.data, o->sql, key.data, way,
		   (unsigned long long)after->id);
}

struct list {
	const char *sql;		/* for sources */
	const struct store_run_query *query;
	const struct run_cursor *after;
	struct buf answers[CLICKHOUSE_SHARDS];
};

static int ask_sources(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct list *l = data;

	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = l->sql }, &l->answers[shard], err);
}

static int ask_list(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct list *l = data;
	const struct store_run_query *q = l->query;
	const struct order *o = &orders[q->order];
	const char *way = q->ascending ? "ASC" : "DESC";
	_cleanup_(buf_done) struct buf sql = { 0 }, wanted = { 0 };
	int rc;

	buf_init(&sql);
	buf_init(&wanted);
	put_wanted(&wanted, q);
	rc = put_conditions(s, shard, q, &wanted, err);
	if (rc < 0)
		return rc;
	buf_printf(&sql, "SELECT seq, %s, %s FROM runs WHERE " CLICKHOUSE_LIVE, o->sql, row_columns);
	if (q->distinct)
		put_distinct(&sql, &wanted);
	else if (wanted.size)
		buf_put(&sql, wanted.data, wanted.size);
	if (q->after && *q->after)
		put_after(&sql, q, l->after);
	buf_printf(&sql, " ORDER BY %s %s, seq %s LIMIT %zu FORMAT RowBinary", o->sql, way, way,
		   q->limit < SIZE_MAX ? q->limit + 1 : q->limit);
	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = sql.data }, &l->answers[shard], err);
}

/* The next row of a shard's list. */
struct head {
	struct row_reader reader;
	bool any;
	struct run_cursor place;
};

static void read_head(struct head *h, const struct order *o)
{
	struct str text;

	h->any = row_more(&h->reader);
	if (!h->any)
		return;
	h->place.id = (int64_t)row_get(&h->reader, 8);
	if (o->is_number) {
		h->place.number = (int64_t)row_get(&h->reader, 8);
		return;
	}
	text = row_get_string(&h->reader);
	h->place.n = text.n < RUN_KEY_MAX ? text.n : RUN_KEY_MAX;
	memcpy(h->place.bytes, text.p, h->place.n);
}

static int compare_places(const struct run_cursor *a, const struct run_cursor *b, bool is_number)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int c = is_number ? (a->number > b->number) - (a->number < b->number) : memcmp(a->bytes, b->bytes, n);

	if (!c && !is_number)
		c = (a->n > b->n) - (a->n < b->n);
	return c ? c : (a->id > b->id) - (a->id < b->id);
}

static struct head *next_head(struct head *heads, unsigned count, const struct order *o, bool ascending)
{
	struct head *best = NULL;

	for (unsigned i = 0; i < count; i++) {
		int c = best && heads[i].any ? compare_places(&heads[i].place, &best->place, o->is_number) : 0;

		if (heads[i].any && (!best || (ascending ? c < 0 : c > 0)))
			best = &heads[i];
	}
	return best;
}

static void merge(const struct list *l, unsigned shards, const struct store_run_query *q, struct store_runs *ret)
{
	_cleanup_(freep) struct head *heads = xcalloc(shards, sizeof(*heads));
	const struct order *o = &orders[q->order];
	struct run_cursor last = { 0 };
	size_t capacity = 0;
	struct head *h;

	for (unsigned i = 0; i < shards; i++) {
		heads[i].reader = row_reader_of(&l->answers[i]);
		read_head(&heads[i], o);
	}
	while ((h = next_head(heads, shards, o, q->ascending))) {
		ret->examined++;
		if (ret->count == q->limit) {
			run_cursor_format(&last, o->is_number, ret->next);
			return;
		}
		last = h->place;
		GROW(&ret->items, &capacity, ret->count + 1);
		get_run(&h->reader, &ret->items[ret->count++]);
		read_head(h, o);
	}
}

int clickhouse_list_runs(struct store *store, const struct store_run_query *q, struct store_runs *ret, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	const struct order *o = &orders[q->order];
	_cleanup_(freep) struct list *l = xcalloc(1, sizeof(*l));
	struct run_cursor after = { 0 };
	int rc = run_cursor_parse(q, o->is_number, &after, err);

	assert((unsigned)q->order < STORE_RUN_ORDERS);
	if (rc < 0)
		return rc;
	l->query = q;
	l->after = &after;
	for (unsigned i = 0; i < s->url.server_count; i++)
		buf_init(&l->answers[i]);
	rc = clickhouse_each(s, ask_list, l, err);
	if (rc >= 0)
		merge(l, s->url.server_count, q, ret);
	for (unsigned i = 0; i < s->url.server_count; i++)
		buf_done(&l->answers[i]);
	return rc;
}

/* --- Sources --- */

static void add_sources(const struct buf *answer, struct store_label *ret, size_t *capacity)
{
	struct row_reader r = row_reader_of(answer);

	while (row_more(&r)) {
		struct str source = row_get_string(&r);
		uint64_t count = row_get(&r, 8);
		size_t i = 0;

		while (i < ret->value_count && (strncmp(ret->values[i].value, source.p, source.n) || ret->values[i].value[source.n]))
			i++;
		if (i == ret->value_count) {
			GROW(&ret->values, capacity, i + 1);
			ret->values[ret->value_count++] = (struct store_label_value){ xstrndup(source.p, source.n), 0 };
		}
		ret->values[i].samples += count;
	}
}

int clickhouse_run_sources(struct store *store, struct store_label *ret, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	_cleanup_(freep) struct list *l = xcalloc(1, sizeof(*l));
	size_t capacity = 0;
	int rc;

	l->sql = "SELECT source, count() FROM runs WHERE " CLICKHOUSE_LIVE " GROUP BY source FORMAT RowBinary";
	for (unsigned i = 0; i < s->url.server_count; i++)
		buf_init(&l->answers[i]);
	rc = clickhouse_each(s, ask_sources, l, err);
	for (unsigned i = 0; i < s->url.server_count; i++) {
		if (rc >= 0)
			add_sources(&l->answers[i], ret, &capacity);
		buf_done(&l->answers[i]);
	}
	if (rc < 0)
		return rc;
	ret->key = xstrdup("source");
	if (ret->value_count)
		qsort(ret->values, ret->value_count, sizeof(*ret->values), label_values_compare);
	return 0;
}

/* --- One run --- */

/* Unpacks messages one after another. Returns 1 if any were pruned. */
static int unpack(struct str packed, struct profile *p, const struct store_profile_limits *most)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };
	const uint8_t *bytes;
	size_t whole, at = 0;
	bool pruned = false;

	buf_init(&scratch);
	if (pack_get(packed.p, packed.n, &scratch, &bytes, &whole) < 0)
		return -EBADMSG;
	while (at < whole) {
		size_t size = whole - at < STROBE_WIRE_HEADER ? 0 : (size_t)strobe_wire_get_le(bytes + at + 8, 4);
		int rc;

		if (size < STROBE_WIRE_HEADER || size > STROBE_WIRE_MAX || size > whole - at)
			return -EBADMSG;
		rc = run_message_add(p, bytes + at, size, whole, most);
		if (rc < 0)
			return rc;
		pruned |= rc;
		at += size;
	}
	return pruned;
}

struct run_question {
	const char *sql;
	struct buf *answer;
};

static int ask_run(struct clickhouse_store *s, unsigned shard, void *data, struct err *err)
{
	struct run_question *q = data;

	return clickhouse_ask(s, shard, &(struct clickhouse_request){ .sql = q->sql }, q->answer, err);
}

/* Looks on the shard of the name first, then on the others: the run may have been stored when the number of shards
 * was different. */
static int find_run(struct clickhouse_store *s, const char *source, const char *id, struct buf *answer, struct err *err)
{
	_cleanup_(buf_done) struct buf sql = { 0 };
	unsigned home = clickhouse_run_shard(s, source, id), count = s->url.server_count;
	struct err away = { 0 };

	buf_init(&sql);
	buf_printf(&sql, "SELECT %s, data FROM runs WHERE " CLICKHOUSE_LIVE, row_columns);
	sql_put_run_name(&sql, source, id);
	buf_puts(&sql, " LIMIT 1 FORMAT RowBinary");
	for (unsigned i = 0; i < count && !answer->size; i++) {
		struct run_question q = { sql.data, answer };
		struct err why = { 0 };
		int rc = clickhouse_one_shard(s, (home + i) % count, ask_run, &q, &why);

		if (rc < 0 && !clickhouse_is_unreachable(rc))
			return err_set(err, rc, "%s", why.text);
		if (rc < 0 && !away.code)
			err_set(&away, rc, "%s", why.text);
	}
	if (answer->size)
		return 0;
	return away.code ? err_set(err, away.code, "%s", away.text) : clickhouse_no_such_run(source, id, err);
}

static void set_time(struct profile *p, const struct store_run *run)
{
	p->start_ns = run->start_ns;
	p->end_ns = run->start_ns + run->duration_ns;
	if (p->chart)
		p->chart->start_ns += p->start_ns;
}

int clickhouse_get_run(struct store *store, const char *source, const char *id, const struct store_profile_limits *most,
		       struct store_run *ret, struct profile **ret_profile, struct err *err)
{
	struct clickhouse_store *s = clickhouse_of(store);
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(buf_done) struct buf answer = { 0 };
	struct row_reader r;
	struct str packed;
	int rc;

	buf_init(&answer);
	rc = find_run(s, source, id, &answer, err);
	if (rc < 0)
		return rc;
	r = row_reader_of(&answer);
	get_run(&r, ret);
	packed = row_get_string(&r);
	p = profile_new();
	profile_keep_chart(p, most && most->chart);
	profile_keep_lines(p, most && most->lines);
	rc = r.bad ? -EBADMSG : unpack(packed, p, most && most->nodes ? most : NULL);
	if (rc < 0) {
		store_run_done(ret);
		return err_set(err, -EBADMSG, "the run '%.64s' of source '%.64s' is damaged in database '%s'", id, source,
			       s->url.database);
	}
	set_time(p, ret);
	*ret_profile = TAKE_PTR(p);
	return rc;
}
