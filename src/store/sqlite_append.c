/* sqlite_append.c: appends a batch to a day file, in one transaction. */
#include "chunk.h"
#include "pending_chunks.h"
#include "log.h"
#include "mem.h"
#include "profile_fetch.h"
#include "saturate.h"
#include "sqlite_day.h"
#include "sqlite_error.h"
#include <assert.h>
#include <string.h>

static int load_series(struct day *d, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	_cleanup_(buf_done) struct buf key = { 0 };
	int rc = day_prepare(d, "SELECT id, labels, clock, period_ns, columns FROM series ORDER BY id", &s, err);

	assert(!d->series.count);
	if (rc < 0)
		return rc;
	buf_init(&key);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(s, 0);

		series_key_of_row(s, 1, &key);
		if (series_row_is_hole(s, 1)) {		/* a hole takes a number; no real key is as short */
			buf_reset(&key);
			buf_put(&key, &id, sizeof(uint32_t));
		}
		if (intern_add(&d->series, key.data, key.size) + 1 != id)
			return err_set(err, -EBADMSG, "cannot read '%s': its list of series is damaged", d->path);
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "read", d->path, err);
}

static int load_batches(struct day *d, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = day_prepare(d, "SELECT id FROM batch", &s, err);

	if (rc < 0)
		return rc;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW)
		map_set(&d->batches, (uint64_t)sqlite3_column_int64(s, 0), 1);
	return rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "read", d->path, err);
}

void day_forget(struct day *d)
{
	d->stacks = stack_dict_free(d->stacks);
	intern_done(&d->series);
	intern_init(&d->series);
	map_clear(&d->batches);
	d->loaded = false;
}

static int load(struct day *d, struct err *err)
{
	int rc;

	if (d->loaded)
		return 0;
	day_forget(d);
	rc = stack_dict_load(d->db, d->path, &d->stacks, err);
	if (rc >= 0)
		rc = load_series(d, err);
	if (rc >= 0)
		rc = load_batches(d, err);
	if (rc < 0) {
		day_forget(d);
		return rc;
	}
	d->loaded = true;
	return 0;
}

void day_make_holes(struct day *d, const uint8_t *nodes, const uint8_t *frames)
{
	if (!d->loaded)
		return;
	stack_dict_make_holes(d->stacks, nodes, frames);
	intern_done(&d->series);
	intern_init(&d->series);
	if (load_series(d, NULL) < 0)
		day_forget(d);
}

static int run(struct day *d, sqlite3_stmt *s, struct err *err)
{
	int rc = sqlite3_step(s);

	if (rc != SQLITE_DONE)
		return sqlite_failed(d->db, "write to", d->path, err);
	return 0;
}

/* Most nodes are callers without values of their own. */
static inline bool any_value(const struct profile *p, uint32_t node)
{
	for (uint32_t c = 0; c < p->column_count; c++)
		if (p->columns[c].self[node])
			return true;
	return false;
}

static void count_samples(uint32_t samples, const int64_t *values, uint64_t *sum)
{
	if (samples != UINT32_MAX && values[samples] > 0)
		saturating_count(sum, (uint64_t)values[samples]);
}

/* Adds the profile's nodes as rows of a chunk; adds their "samples" to `sum`. */
static void add_nodes(struct chunk_rows *rows, const struct profile *p, const uint32_t *nodes, unsigned bucket, uint64_t *sum)
{
	uint32_t samples = profile_find_column(p, "samples");

	for (uint32_t i = 0; i < p->node_count; i++) {
		int64_t values[PROFILE_COLUMNS];

		if (!any_value(p, i))
			continue;
		for (uint32_t c = 0; c < p->column_count; c++)
			values[c] = p->columns[c].self[i];
		chunk_rows_add(rows, nodes[i], bucket, values);
		count_samples(samples, values, sum);
	}
}

/* The same for an entry with rows over the batch's stacks. */
static void add_rows(struct chunk_rows *rows, const struct batch_entry *e, const uint32_t *shared, unsigned bucket, uint64_t *sum)
{
	uint32_t samples = profile_find_column(e->profile, "samples"), columns = e->profile->column_count;

	for (size_t i = 0; i < e->rows.count; i++) {
		const int64_t *values = e->rows.values + i * columns;

		chunk_rows_add(rows, shared[e->rows.nodes[i]], bucket, values);
		count_samples(samples, values, sum);
	}
}

/* State shared by the entries of one batch. */
struct append {
	struct day *day;
	sqlite3_stmt *insert_series;		/* prepared on first use */
	struct pending_chunks pile;			/* sorted by bucket and series */
	struct chunk_rows rows;
	struct buf labels, columns, key;	/* texts of the current entry */
	uint32_t *nodes;
	size_t node_capacity;
	uint32_t *shared;			/* numbers of the batch's stacks; NULL while no entry of this day has rows */
	uint32_t hours;
	struct day_appended added;
};

static void append_init(struct append *a, struct day *d)
{
	*a = (struct append){ .day = d };
	pending_chunks_init(&a->pile);
	chunk_rows_init(&a->rows);
	buf_init(&a->labels);
	buf_init(&a->columns);
	buf_init(&a->key);
}

static void append_done(struct append *a)
{
	sqlite3_finalize(a->insert_series);
	pending_chunks_done(&a->pile);
	chunk_rows_done(&a->rows);
	buf_done(&a->labels);
	buf_done(&a->columns);
	buf_done(&a->key);
	free(a->nodes);
	free(a->shared);
}

static int insert_series(struct append *a, uint32_t id, const struct batch_entry *e, struct str labels,
			 struct str columns, struct err *err)
{
	struct day *d = a->day;
	int rc = 0;

	assert(id == d->series.count);
	if (id >= DAY_SERIES)
		return err_set(err, -E2BIG, "cannot write to '%s': it has %u series already; use fewer label values",
			       d->path, DAY_SERIES);
	if (!a->insert_series)
		rc = day_prepare(d, "INSERT INTO series VALUES(?, ?, ?, ?, ?)", &a->insert_series, err);
	if (rc < 0)
		return rc;
	sqlite3_reset(a->insert_series);
	sqlite3_bind_int64(a->insert_series, 1, id);
	sqlite3_bind_text(a->insert_series, 2, labels.p, (int)labels.n, SQLITE_STATIC);
	sqlite3_bind_int64(a->insert_series, 3, e->clock);
	sqlite3_bind_int64(a->insert_series, 4, e->period_ns);
	sqlite3_bind_blob(a->insert_series, 5, columns.p, (int)columns.n, SQLITE_STATIC);
	return run(d, a->insert_series, err);
}

static int find_series(struct append *a, const struct batch_entry *e, uint32_t *ret_id, struct err *err)
{
	struct intern *series = &a->day->series;
	uint32_t count = (uint32_t)series->count, number;
	struct str l, c;

	buf_reset(&a->labels);
	buf_reset(&a->columns);
	buf_reset(&a->key);
	labels_put(e->labels, &a->labels);
	series_put_columns(e->profile, &a->columns);
	l = (struct str){ a->labels.data, a->labels.size };
	c = (struct str){ a->columns.data, a->columns.size };
	assert(!memchr(l.p, 0, l.n));		/* a NUL terminates them in the key */
	series_put_key(&a->key, l, e->clock, e->period_ns, c);
	number = intern_add(series, a->key.data, a->key.size);
	*ret_id = number + 1;
	return number == count ? insert_series(a, *ret_id, e, l, c, err) : 0;
}

static int append_entry(struct append *a, const struct batch_entry *e, struct err *err)
{
	unsigned bucket = (unsigned)((e->bucket_ns - day_start_ns(a->day->number)) / BATCH_BUCKET_NS);
	size_t start = a->pile.bytes.size;
	uint32_t series;
	int rc;

	assert(bucket < DAY_BUCKETS);
	if (e->profile->column_count == 0)
		return 0;
	rc = find_series(a, e, &series, err);
	if (rc < 0)
		return rc;
	chunk_rows_reset(&a->rows, e->profile->column_count);
	GROW(&a->nodes, &a->node_capacity, e->profile->node_count);
	a->added.nodes_cut += stack_dict_add(a->day->stacks, e->profile, NULL, a->nodes);
	add_nodes(&a->rows, e->profile, a->nodes, bucket % CHUNK_BUCKETS, &a->added.samples);
	add_rows(&a->rows, e, a->shared, bucket % CHUNK_BUCKETS, &a->added.samples);
	if (chunk_encode(&a->rows, &a->pile.bytes))
		pending_chunks_add(&a->pile, map_pair(bucket, series), start);
	return 0;
}

static int insert_bundle(struct append *a, sqlite3_stmt *insert, unsigned bucket, const struct buf *bundle, struct err *err)
{
	sqlite3_reset(insert);
	sqlite3_bind_int64(insert, 1, bucket);
	sqlite3_bind_int64(insert, 2, BUNDLE_SERIES);
	sqlite3_bind_blob64(insert, 3, bundle->data, bundle->size, SQLITE_STATIC);
	a->hours |= 1u << (bucket / CHUNK_BUCKETS);
	return run(a->day, insert, err);
}

static int insert_bundles(struct append *a, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *insert = NULL;
	_cleanup_(buf_done) struct buf bundle = { 0 };
	const struct pending_chunk *c = a->pile.chunks, *end = c + a->pile.count;
	int rc = 0;

	if (c == end)
		return 0;
	buf_init(&bundle);
	pending_chunks_sort(&a->pile);
	rc = day_raise_schema(a->day, DAY_BUNDLES, err);
	if (rc >= 0)
		rc = day_prepare(a->day, "INSERT INTO recent(bucket, series, data) VALUES(?, ?, ?)", &insert, err);
	while (rc >= 0 && c < end) {
		unsigned bucket = (unsigned)(c->key >> 32);
		uint32_t last = 0;

		buf_reset(&bundle);
		for (; c < end && c->key >> 32 == bucket && bundle.size < BUNDLE_BYTES; c++) {
			bundle_put(&bundle, last, (uint32_t)c->key, a->pile.bytes.data + c->start, c->size);
			last = (uint32_t)c->key;
		}
		rc = insert_bundle(a, insert, bucket, &bundle, err);
	}
	return rc;
}

static int insert_block(struct day *d, const char *sql, const struct stack_dict_block *b, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc;

	if (b->data.size == 0)
		return 0;
	if (b->data.overflow)
		return err_set(err, -EFBIG, "cannot write to '%s': the batch has over 2 GB of names", d->path);
	rc = day_prepare(d, sql, &s, err);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(s, 1, b->first);
	sqlite3_bind_blob64(s, 2, b->data.data, b->data.size, SQLITE_STATIC);
	return run(d, s, err);
}

static int insert_stacks(struct day *d, struct err *err)
{
	_cleanup_(stack_dict_blocks_done) struct stack_dict_blocks b = { 0 };
	int rc;

	stack_dict_new(d->stacks, &b);
	rc = insert_block(d, "INSERT INTO frame_block VALUES(?, ?)", &b.frames, err);
	if (rc >= 0)
		rc = insert_block(d, "INSERT INTO node_block VALUES(?, ?)", &b.nodes, err);
	if (rc < 0 || !b.lines.data.size)
		return rc;
	rc = day_exec(d, "CREATE TABLE IF NOT EXISTS line_block(first INTEGER PRIMARY KEY, data BLOB NOT NULL)", "write to", err);
	return rc < 0 ? rc : insert_block(d, "INSERT INTO line_block VALUES(?, ?)", &b.lines, err);
}

static int insert_batch(struct day *d, uint64_t id, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc;

	if (id == 0)
		return 0;
	assert(map_get(&d->batches, id) == MAP_NONE);
	rc = day_prepare(d, "INSERT INTO batch(id) VALUES(?)", &s, err);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(s, 1, (int64_t)id);
	return run(d, s, err);
}

static bool in_day(const struct day *d, const struct batch_entry *e)
{
	int64_t from_midnight = e->bucket_ns - day_start_ns(d->number);

	return from_midnight >= 0 && from_midnight < (int64_t)DAY_BUCKETS * BATCH_BUCKET_NS;
}

/* Returns the stacks that this day's rows use; NULL if they use all of the batch's stacks. */
static bool *needed_stacks(const struct day *d, const struct batch *b, bool *ret_any)
{
	const struct profile *p = b->stacks;
	bool *needed, all = true;

	*ret_any = false;
	for (size_t i = 0; i < b->count; i++) {
		all &= in_day(d, &b->entries[i]);
		*ret_any |= in_day(d, &b->entries[i]) && b->entries[i].rows.count;
	}
	if (all || !*ret_any)
		return NULL;
	needed = xcalloc(p->node_count, sizeof(*needed));
	for (size_t i = 0; i < b->count; i++)
		for (size_t k = 0; in_day(d, &b->entries[i]) && k < b->entries[i].rows.count; k++)
			needed[b->entries[i].rows.nodes[k]] = true;
	for (uint32_t i = p->node_count; --i > 0;)
		needed[p->parents[i]] |= needed[i];
	return needed;
}

static void add_shared_stacks(struct append *a, const struct batch *b)
{
	_cleanup_(freep) bool *needed = NULL;
	bool any;

	if (!b->stacks)
		return;
	needed = needed_stacks(a->day, b, &any);
	if (!any)
		return;
	a->shared = xmalloc(b->stacks->node_count * sizeof(*a->shared));
	a->added.nodes_cut += stack_dict_add(a->day->stacks, b->stacks, needed, a->shared);
}

/* Prefetches the data of the entries after `i`. */
static void fetch_ahead(const struct batch *b, size_t i)
{
	for (unsigned step = 0; step < PROFILE_FETCH_STEPS; step++) {
		size_t next = i + PROFILE_FETCH_STEPS - step;

		if (next < b->count)
			profile_fetch(b->entries[next].profile, step);
	}
}

static int append_all(struct append *a, const struct batch *b, struct err *err)
{
	struct day *d = a->day;
	int rc;

	assert(sqlite3_get_autocommit(d->db));
	rc = day_exec(d, "BEGIN IMMEDIATE", "write to", err);
	if (rc >= 0)
		add_shared_stacks(a, b);
	for (size_t i = 0; rc >= 0 && i < b->count; i++) {
		fetch_ahead(b, i);
		if (in_day(d, &b->entries[i]))
			rc = append_entry(a, &b->entries[i], err);
	}
	if (rc >= 0)
		rc = insert_bundles(a, err);
	if (rc >= 0)
		rc = insert_stacks(d, err);
	if (rc >= 0)
		rc = insert_batch(d, b->id, err);
	sqlite3_reset(a->insert_series);	/* NULL is fine */
	if (rc >= 0)
		rc = day_exec(d, "COMMIT", "write to", err);
	if (rc < 0 && !sqlite3_get_autocommit(d->db))
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static void report_cut(struct day *d)
{
	if (!d->cut_reported)
		log_warning("'%s' has reached the limit of functions or stacks per day (%u, %u); samples of new ones are attributed to "
			    "their callers",
			    d->path,
			    STACK_TREE_FRAMES, STACK_TREE_NODES);
	d->cut_reported = true;
}

int day_append(struct day *d, const struct batch *b, struct day_appended *ret, struct err *err)
{
	struct append a;
	int rc = load(d, err);

	if (rc < 0)
		return rc;
	if (b->id && map_get(&d->batches, b->id) != MAP_NONE)
		return 0;
	append_init(&a, d);
	rc = append_all(&a, b, err);
	append_done(&a);
	if (rc < 0) {
		day_forget(d);
		return rc;
	}
	stack_dict_saved(d->stacks);
	if (b->id)
		map_set(&d->batches, b->id, 1);
	d->hours_to_compact |= a.hours;
	saturating_count(&ret->samples, a.added.samples);
	ret->nodes_cut += a.added.nodes_cut;
	if (a.added.nodes_cut)
		report_cut(d);
	return 1;
}
