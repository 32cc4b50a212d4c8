/* sqlite_sweep.c: frees stacks, frames and series that no sample of a day needs any more once its oldest hours are gone.
 *
 * Their numbers are not reused, since otherwise every row of samples would have to be rewritten; their records become
 * holes (stack_tree.h), which take no space.
 *
 * Finding the ones in use means reading every sample of the day, so this is done without the writer lock, on a
 * separate connection. Rows committed in the meantime are in `recent`, after the last row seen, and are read under
 * the lock. */
#include "chunk.h"
#include "mem.h"
#include "pack.h"
#include "sqlite_error.h"
#include "sqlite_store.h"
#include "stack_tree.h"
#include "strobe_wire.h"
#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK_SHARE	8			/* a block is rewritten if more than an eighth of it is unneeded */
#define BLOCK_BYTES	((size_t)1 << 20)	/* records, unpacked */
#define HOLE_BYTES	3			/* size of a frame's record that is a hole */

struct marks {
	uint8_t *nodes;			/* by node: whether it is needed */
	size_t capacity;
	int64_t last_recent;		/* id of the last row of `recent` that was read */
	struct marked_series {
		uint8_t columns;	/* 0: a hole */
		bool needed;		/* used by a row of `recent` */
	} *series;			/* by id - 1 */
	size_t series_count, series_capacity;
	struct buf scratch;
	dev_t device;			/* device of the file that was read */
	ino_t inode;
};

static void marks_done(struct marks *m)
{
	free(m->nodes);
	free(m->series);
	buf_done(&m->scratch);
}

static void mark(struct marks *m, uint32_t node)
{
	size_t had = m->capacity;

	assert(node < STACK_TREE_NODES);
	if (node >= had) {
		GROW(&m->nodes, &m->capacity, (size_t)node + 1);
		memset(m->nodes + had, 0, m->capacity - had);
	}
	m->nodes[node] = 1;
}

/* --- Reading samples --- */

static int mark_series(struct marks *m, struct day *d, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = day_prepare(d, "SELECT id, labels, clock, period_ns, columns FROM series WHERE id > ? ORDER BY id", &s,
			     err);

	if (rc < 0)
		return rc;
	sqlite3_bind_int64(s, 1, (int64_t)m->series_count);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct series series = { 0 };

		if (sqlite3_column_int64(s, 0) != (int64_t)m->series_count + 1 ||
		    (!series_row_is_hole(s, 1) && series_of_row(s, 1, &series) < 0))
			return err_set(err, -EBADMSG, "cannot read '%s': its list of series is damaged at number %zu",
				       d->path, m->series_count + 1);
		GROW(&m->series, &m->series_capacity, m->series_count + 1);
		m->series[m->series_count++] = (struct marked_series){ (uint8_t)series.column_count, false };
		series_done(&series);
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "read", d->path, err);
}

/* Rows after damage are never part of an answer, so nothing that only they use is needed. */
static void mark_chunk(struct marks *m, int64_t series, struct str chunk)
{
	int64_t values[PROFILE_COLUMNS];
	struct chunk_reader r;
	unsigned bucket;
	uint32_t stack;

	if (series < 1 || (uint64_t)series > m->series_count || !m->series[series - 1].columns ||
	    chunk_open(&r, chunk.p, chunk.n, m->series[series - 1].columns, &m->scratch) < 0)
		return;
	while (chunk_next(&r, &stack, &bucket, values) > 0)
		if (stack < STACK_TREE_NODES)
			mark(m, stack);
}

static int mark_hours(struct marks *m, struct day *d, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = day_prepare(d, "SELECT id, data FROM chunk", &s, err);

	if (rc < 0)
		return rc;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW)
		mark_chunk(m, sqlite3_column_int64(s, 0) & (DAY_SERIES - 1), day_bytes(s, 1));
	return rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "read", d->path, err);
}

static void mark_bundle(struct marks *m, sqlite3_stmt *row, int column)
{
	struct bundle_reader bundle;
	struct str chunk;
	int64_t series;

	bundle_of_row(&bundle, row, column);
	while (bundle_next(&bundle, &series, &chunk) > 0) {
		if (series >= 1 && (uint64_t)series <= m->series_count)
			m->series[series - 1].needed = true;
		mark_chunk(m, series, chunk);
	}
}

static int mark_recent(struct marks *m, struct day *d, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = day_prepare(d, "SELECT id, series, data FROM recent WHERE id > ? ORDER BY id", &s, err);

	if (rc < 0)
		return rc;
	sqlite3_bind_int64(s, 1, m->last_recent);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		m->last_recent = sqlite3_column_int64(s, 0);
		mark_bundle(m, s, 1);
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "read", d->path, err);
}

static int mark_day(struct sqlite_store *s, int64_t number, struct marks *m, struct err *err)
{
	struct stat st;
	struct day *d;
	int rc = day_open(s->directory, number, DAY_READ, &d, err);

	if (rc < 0)
		return rc;
	rc = day_exec(d, "BEGIN", "read", err);
	if (rc >= 0 && stat(d->path, &st) == 0) {
		m->device = st.st_dev;
		m->inode = st.st_ino;
	}
	if (rc >= 0)
		rc = mark_series(m, d, err);
	if (rc >= 0)
		rc = mark_hours(m, d, err);
	if (rc >= 0)
		rc = mark_recent(m, d, err);
	day_close(d);
	return rc;
}

/* --- Making holes --- */

/* A block of records with the numbers [first, end). */
struct block {
	uint32_t first, end;
	bool changes;
};

/* Lists the blocks of a table, in order; the caller frees the list. */
static int list_blocks(struct day *d, const char *table, uint32_t end, struct block **ret, size_t *ret_count, struct err *err)
{
	_cleanup_(freep) char *sql = xasprintf("SELECT first FROM %s ORDER BY first", table);
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	size_t count = 0, capacity = 0;
	int rc = day_prepare(d, sql, &s, err);

	*ret = NULL;
	if (rc < 0)
		return rc;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		uint32_t first = (uint32_t)sqlite3_column_int64(s, 0);

		GROW(ret, &capacity, count + 1);
		if (count)
			(*ret)[count - 1].end = first;
		(*ret)[count++] = (struct block){ first, end, false };
	}
	*ret_count = count;
	return rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "read", d->path, err);
}

struct holes {
	struct day *day;
	struct stack_tree tree;
	uint8_t *nodes, *frames;	/* by number: whether it stays */
	struct buf plain, packed;
};

static void put_node(struct holes *h, uint32_t node)
{
	bool stays = h->nodes[node] && !stack_tree_is_hole(&h->tree, node);

	buf_put_varint(&h->plain, stays ? node - h->tree.parents[node] : 0);
	buf_put_varint(&h->plain, stays ? h->tree.node_frames[node] : 0);
}

static void put_frame(struct holes *h, uint32_t frame)
{
	static const char hole[HOLE_BYTES];
	struct str record = h->frames[frame] ? h->tree.records[frame] : (struct str){ hole, sizeof(hole) };

	buf_put(&h->plain, record.p, record.n);
}

/* Puts the line record of a node that has one. A node that is not needed keeps its distance and loses its line, so
 * other blocks need no change. */
static void put_line(struct holes *h, uint32_t node)
{
	const struct stack_tree *t = &h->tree;
	uint32_t before = node - 1;
	bool stays = h->nodes[node] && !stack_tree_is_hole(t, node);

	assert(node > 0);
	if (!t->node_lines[node])
		return;
	while (before && !t->node_lines[before])
		before--;
	buf_put_varint(&h->plain, node - before);
	buf_put_varint(&h->plain, stays ? strobe_wire_zigzag((int64_t)t->node_lines[node] - t->starts[t->node_frames[node]]) : 0);
}

/* A block that is mostly needed stays as it is: packing takes the time, and commits wait. */
static bool is_worth_it(uint32_t unneeded, const struct block *b)
{
	return unneeded > (b->end - b->first) / BLOCK_SHARE;
}

/* Marks what a kept node refers to. */
static void keep_node(struct holes *h, uint32_t node)
{
	if (stack_tree_is_hole(&h->tree, node))
		return;
	assert(h->tree.parents[node] < node);
	h->nodes[node] = 1;
	h->nodes[h->tree.parents[node]] = 1;
	h->frames[h->tree.node_frames[node]] = 1;
}

/* Goes from the last block to the first, since callers have smaller numbers. */
static void choose_node_blocks(struct holes *h, struct block *blocks, size_t count)
{
	for (struct block *b = blocks + count; b-- > blocks;) {
		uint32_t unneeded = 0;

		assert(b->first > 0 && b->first <= b->end && b->end <= h->tree.node_count);
		for (uint32_t i = b->end; i-- > b->first;) {
			if (h->nodes[i])
				keep_node(h, i);
			else
				unneeded += !stack_tree_is_hole(&h->tree, i);
		}
		b->changes = is_worth_it(unneeded, b);
		for (uint32_t i = b->end; unneeded && !b->changes && i-- > b->first;)
			keep_node(h, i);
	}
}

static void choose_frame_blocks(struct holes *h, struct block *blocks, size_t count)
{
	for (struct block *b = blocks; b < blocks + count; b++) {
		uint32_t unneeded = 0;

		assert(b->first <= b->end && b->end <= h->tree.frame_count);
		for (uint32_t i = b->first; i < b->end; i++)
			unneeded += !h->frames[i] && h->tree.records[i].n > HOLE_BYTES;
		b->changes = is_worth_it(unneeded, b);
		if (!b->changes)
			memset(h->frames + b->first, 1, b->end - b->first);
	}
}

static void choose_line_blocks(struct holes *h, struct block *blocks, size_t count)
{
	for (struct block *b = blocks; b < blocks + count; b++) {
		uint32_t unneeded = 0;

		for (uint32_t i = b->first; i < b->end; i++)
			unneeded += h->tree.node_lines[i] && !h->nodes[i] && !stack_tree_is_hole(&h->tree, i);
		b->changes = is_worth_it(unneeded, b);
	}
}

/* Deletes and inserts the row, since SQLite frees no pages when it replaces a row by a shorter one. */
static int replace(struct holes *h, const char *table, uint32_t first, uint32_t end, struct err *err)
{
	_cleanup_(freep) char *delete = xasprintf("DELETE FROM %s WHERE first >= %u AND first < %u", table, first, end);
	_cleanup_(freep) char *insert = xasprintf("INSERT INTO %s VALUES(?, ?)", table);
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = day_exec(h->day, delete, "write to", err);

	if (rc >= 0)
		rc = day_prepare(h->day, insert, &s, err);
	if (rc < 0)
		return rc;
	buf_reset(&h->packed);
	pack_put(&h->packed, h->plain.data, h->plain.size);
	sqlite3_bind_int64(s, 1, first);
	sqlite3_bind_blob64(s, 2, h->packed.data, h->packed.size, SQLITE_STATIC);
	if (sqlite3_step(s) != SQLITE_DONE)
		return sqlite_failed(h->day->db, "write to", h->day->path, err);
	return 0;
}

/* Merges adjacent blocks that change, like compaction. */
static int write_blocks(struct holes *h, const char *table, const struct block *blocks, size_t count,
			void (*put)(struct holes *h, uint32_t number), struct err *err)
{
	int rc = 0;

	for (size_t k = 0; k < count && rc >= 0; k++) {
		uint32_t first = blocks[k].first;

		if (!blocks[k].changes)
			continue;
		buf_reset(&h->plain);
		for (;; k++) {
			for (uint32_t i = blocks[k].first; i < blocks[k].end; i++)
				put(h, i);
			if (k + 1 == count || !blocks[k + 1].changes || h->plain.size >= BLOCK_BYTES)
				break;
		}
		rc = replace(h, table, first, blocks[k].end, err);
	}
	return rc;
}

/* Fills `needed`, by id - 1, with the series used by compacted hours or recent rows. */
static int find_needed_series(const struct marks *m, struct day *d, bool *needed, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = day_prepare(d, "SELECT id FROM chunk", &s, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < m->series_count; i++)
		needed[i] = m->series[i].needed;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		uint64_t series = (uint64_t)sqlite3_column_int64(s, 0) & (DAY_SERIES - 1);

		if (series >= 1 && series <= m->series_count)
			needed[series - 1] = true;
	}
	return rc == SQLITE_DONE ? 0 : sqlite_failed(d->db, "read", d->path, err);
}

static int free_series(struct day *d, const struct marks *m, struct err *err)
{
	_cleanup_(freep) bool *needed = xcalloc(m->series_count + 1, sizeof(*needed));
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = find_needed_series(m, d, needed, err);

	if (rc >= 0)
		rc = day_prepare(d, "UPDATE series SET labels = '', columns = x'' WHERE id = ?", &s, err);
	for (size_t i = 0; rc >= 0 && i < m->series_count; i++) {
		if (needed[i] || !m->series[i].columns)
			continue;
		sqlite3_reset(s);
		sqlite3_bind_int64(s, 1, (int64_t)i + 1);
		if (sqlite3_step(s) != SQLITE_DONE)
			rc = sqlite_failed(d->db, "write to", d->path, err);
	}
	return rc < 0 ? rc : day_raise_schema(d, DAY_HOLES, err);
}

static int clear_lines(struct holes *h, struct err *err)
{
	_cleanup_(freep) struct block *blocks = NULL;
	size_t count = 0;
	int rc = h->tree.node_lines ? list_blocks(h->day, "line_block", h->tree.node_count, &blocks, &count, err) : 0;

	if (rc < 0)
		return rc;
	choose_line_blocks(h, blocks, count);
	return write_blocks(h, "line_block", blocks, count, put_line, err);
}

static int make_holes(struct holes *h, const struct marks *m, struct err *err)
{
	_cleanup_(freep) struct block *node_blocks = NULL, *frame_blocks = NULL;
	size_t node_count = 0, frame_count = 0, known;
	int rc = list_blocks(h->day, "node_block", h->tree.node_count, &node_blocks, &node_count, err);

	if (rc >= 0)
		rc = list_blocks(h->day, "frame_block", h->tree.frame_count, &frame_blocks, &frame_count, err);
	if (rc < 0)
		return rc;
	known = m->capacity < h->tree.node_count ? m->capacity : h->tree.node_count;
	h->nodes = xcalloc(h->tree.node_count, sizeof(*h->nodes));
	h->frames = xcalloc((size_t)h->tree.frame_count + 1, sizeof(*h->frames));
	if (known)
		memcpy(h->nodes, m->nodes, known);
	choose_node_blocks(h, node_blocks, node_count);
	choose_frame_blocks(h, frame_blocks, frame_count);
	rc = write_blocks(h, "node_block", node_blocks, node_count, put_node, err);
	if (rc >= 0)
		rc = write_blocks(h, "frame_block", frame_blocks, frame_count, put_frame, err);
	if (rc >= 0)
		rc = clear_lines(h, err);
	return rc < 0 ? rc : free_series(h->day, m, err);
}

/* Makes the change in one transaction, after reading the samples committed since. */
static int change(struct holes *h, struct marks *m, struct err *err)
{
	struct day *d = h->day;
	int rc;

	assert(sqlite3_get_autocommit(d->db));
	rc = day_exec(d, "BEGIN IMMEDIATE", "write to", err);
	if (rc >= 0)
		rc = mark_series(m, d, err);
	if (rc >= 0)
		rc = mark_recent(m, d, err);
	if (rc >= 0)
		rc = stack_tree_load(&h->tree, d->db, d->path, err);
	if (rc >= 0)
		rc = make_holes(h, m, err);
	if (rc >= 0)
		rc = day_exec(d, "COMMIT", "write to", err);
	if (rc < 0 && !sqlite3_get_autocommit(d->db))
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static int sweep(struct day *d, struct marks *m, struct err *err)
{
	struct holes h = { .day = d };
	int rc;

	stack_tree_init(&h.tree);
	buf_init(&h.plain);
	buf_init(&h.packed);
	rc = change(&h, m, err);
	if (rc >= 0)
		day_make_holes(d, h.nodes, h.frames);
	else
		day_forget(d);
	stack_tree_done(&h.tree);
	buf_done(&h.plain);
	buf_done(&h.packed);
	free(h.nodes);
	free(h.frames);
	return rc;
}

int sqlite_store_sweep(struct sqlite_store *s, int64_t number, struct err *err)
{
	struct marks m = { 0 };
	struct day *d;
	int rc;

	buf_init(&m.scratch);
	rc = mark_day(s, number, &m, err);
	lock_take(&s->writer);
	if (rc >= 0)
		rc = sqlite_store_day(s, number, &d, err);
	if (rc >= 0 && d->device == m.device && d->inode == m.inode)
		rc = sweep(d, &m, err);
	lock_release(&s->writer);
	marks_done(&m);
	return rc;
}
