/* stack_tree.c: loads blocks of records from a day file into arrays, and validates them. */
#include "stack_tree.h"
#include "mem.h"
#include "pack.h"
#include "sqlite_error.h"
#include "strobe_wire.h"
#include <assert.h>

void stack_tree_init(struct stack_tree *t)
{
	memset(t, 0, sizeof(*t));
	arena_init(&t->bytes);
}

void stack_tree_done(struct stack_tree *t)
{
	free(t->records);
	free(t->starts);
	free(t->parents);
	free(t->node_lines);
	free(t->node_frames);
	for (size_t i = 0; i < t->block_count; i++)
		buf_done(&t->blocks[i]);
	free(t->blocks);
	arena_done(&t->bytes);
	memset(t, 0, sizeof(*t));
}

static bool get_text(struct strobe_wire_cursor *c, struct str *ret)
{
	uint64_t n;

	if (!strobe_wire_get_varint(c, &n) || n > (size_t)(c->end - c->p))
		return false;
	*ret = (struct str){ (const char *)c->p, (size_t)n };
	c->p += n;
	return true;
}

static bool get_frame(struct strobe_wire_cursor *c, struct str *name, struct str *file, uint64_t *line)
{
	return get_text(c, name) && get_text(c, file) && strobe_wire_get_varint(c, line) && *line <= UINT32_MAX;
}

/* Counts the varints in a block: the bytes below 0x80 end one. */
static size_t varints_in(const uint8_t *bytes, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += bytes[i] < 0x80;
	return count;
}

/* Keeps the memory of an unpacked block, and copies a block that was stored plain. */
static const uint8_t *keep_bytes(struct stack_tree *t, struct buf *scratch, const uint8_t *bytes, size_t n)
{
	if ((const char *)bytes != scratch->data)
		return (const uint8_t *)arena_copy(&t->bytes, bytes, n);
	GROW(&t->blocks, &t->block_capacity, t->block_count + 1);
	t->blocks[t->block_count++] = *scratch;
	buf_init(scratch);
	return bytes;
}

static int add_frames(struct stack_tree *t, const uint8_t *bytes, size_t n)
{
	struct strobe_wire_cursor c = { bytes, bytes + n };

	while (c.p < c.end) {
		const uint8_t *start = c.p;
		struct str name, file;
		uint64_t line;

		if (t->frame_count == STACK_TREE_FRAMES || !get_frame(&c, &name, &file, &line))
			return -EBADMSG;
		if (t->frame_count == t->record_capacity) {
			GROW(&t->records, &t->record_capacity, t->frame_count + 1);
			t->starts = xrealloc(t->starts, t->record_capacity * sizeof(*t->starts));
		}
		t->starts[t->frame_count] = (uint32_t)line;
		t->records[t->frame_count++] = (struct str){ (const char *)start, (size_t)(c.p - start) };
	}
	return 0;
}

static void reserve_nodes(struct stack_tree *t, size_t n)
{
	if (n <= t->node_capacity)
		return;
	t->parents = xrealloc(t->parents, n * sizeof(*t->parents));
	t->node_frames = xrealloc(t->node_frames, n * sizeof(*t->node_frames));
	t->node_capacity = n;
}

static int add_nodes(struct stack_tree *t, const uint8_t *bytes, size_t n)
{
	struct strobe_wire_cursor c = { bytes, bytes + n };
	size_t count = varints_in(bytes, n) / 2;

	if (count > STACK_TREE_NODES - t->node_count)
		return -EBADMSG;
	reserve_nodes(t, t->node_count + count);
	while (c.p < c.end) {
		uint64_t distance, frame;

		if (!strobe_wire_get_varint(&c, &distance) || !strobe_wire_get_varint(&c, &frame))
			return -EBADMSG;
		if (distance == 0 ? frame != 0 : distance > t->node_count || frame >= t->frame_count ||
		    stack_tree_is_hole(t, t->node_count - (uint32_t)distance))
			return -EBADMSG;
		assert(t->node_count < t->node_capacity);
		t->parents[t->node_count] = distance ? t->node_count - (uint32_t)distance : 0;
		t->node_frames[t->node_count] = distance ? (uint32_t)frame : STACK_TREE_HOLE;
		t->hole_count += !distance;
		assert(t->parents[t->node_count] < t->node_count);
		t->node_count++;
	}
	return 0;
}

static int add_lines(struct stack_tree *t, const uint8_t *bytes, size_t n)
{
	struct strobe_wire_cursor c = { bytes, bytes + n };

	while (c.p < c.end) {
		uint64_t distance, code;
		uint32_t frame;
		int64_t line;

		if (!strobe_wire_get_varint(&c, &distance) || !strobe_wire_get_varint(&c, &code) || !distance ||
		    distance >= t->node_count - t->last_lined)
			return -EBADMSG;
		t->last_lined += (uint32_t)distance;
		assert(t->last_lined > 0 && t->last_lined < t->node_count);
		frame = t->node_frames[t->last_lined];
		if (frame == STACK_TREE_HOLE)
			line = UINT32_MAX;
		else if (__builtin_add_overflow(strobe_wire_unzigzag(code), t->starts[frame], &line) || line < 1 || line > UINT32_MAX)
			return -EBADMSG;
		t->node_lines[t->last_lined] = (uint32_t)line;
	}
	return 0;
}

/* Returns the first number that the row of such a block has. */
static uint64_t first_of_lines(const struct stack_tree *t, const uint8_t *bytes, size_t n)
{
	struct strobe_wire_cursor c = { bytes, bytes + n };
	uint64_t distance;

	return strobe_wire_get_varint(&c, &distance) && distance < t->node_count ? t->last_lined + distance : 0;
}

enum block { FRAMES, NODES, LINES };

static const struct {
	const char *what, *sql;
} kinds[] = {
	{ "frames", "SELECT first, data FROM frame_block ORDER BY first" },
	{ "stacks", "SELECT first, data FROM node_block ORDER BY first" },
	{ "lines", "SELECT first, data FROM line_block ORDER BY first" },
};

static bool is_next(const struct stack_tree *t, enum block kind, sqlite3_int64 first, const uint8_t *bytes, size_t n)
{
	if (kind == LINES)
		return first == (sqlite3_int64)first_of_lines(t, bytes, n);
	return first == (kind == FRAMES ? t->frame_count : t->node_count);
}

static int add_block(struct stack_tree *t, enum block kind, struct buf *scratch, const uint8_t *bytes, size_t n)
{
	if (kind == LINES)
		return add_lines(t, bytes, n);
	return kind == FRAMES ? add_frames(t, keep_bytes(t, scratch, bytes, n), n) : add_nodes(t, bytes, n);
}

static int load_blocks(struct stack_tree *t, sqlite3 *db, const char *path, enum block kind, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	_cleanup_(buf_done) struct buf scratch = { 0 };
	int rc = sqlite_prepare(db, kinds[kind].sql, path, &s, err);

	if (rc < 0)
		return rc;
	buf_init(&scratch);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		const void *data = sqlite3_column_blob(s, 1);
		const uint8_t *bytes;
		size_t n;

		if (pack_get(data, (size_t)sqlite3_column_bytes(s, 1), &scratch, &bytes, &n) < 0 ||
		    !is_next(t, kind, sqlite3_column_int64(s, 0), bytes, n) || add_block(t, kind, &scratch, bytes, n) < 0)
			return err_set(err, -EBADMSG, "cannot read '%s': its list of %s is damaged at number %u", path,
				       kinds[kind].what, kind == FRAMES ? t->frame_count : kind == NODES ? t->node_count :
				       t->last_lined);
	}
	if (rc != SQLITE_DONE)
		return sqlite_failed(db, "read", path, err);
	return 0;
}

int stack_tree_has_lines(sqlite3 *db, const char *path, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = sqlite_prepare(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'line_block'", path, &s, err);

	if (rc < 0)
		return rc;
	rc = sqlite3_step(s);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return sqlite_failed(db, "read", path, err);
	return rc == SQLITE_ROW;
}

static int load_lines(struct stack_tree *t, sqlite3 *db, const char *path, struct err *err)
{
	int rc = stack_tree_has_lines(db, path, err);

	if (rc <= 0)
		return rc;
	assert(t->node_count > 0);
	t->node_lines = xcalloc(t->node_count, sizeof(*t->node_lines));
	return load_blocks(t, db, path, LINES, err);
}

int stack_tree_size(sqlite3 *db, const char *path, uint32_t *ret, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = sqlite_prepare(db, "SELECT max(first) FROM node_block", path, &s, err);
	sqlite3_int64 first;

	if (rc < 0)
		return rc;
	if (sqlite3_step(s) != SQLITE_ROW)
		return sqlite_failed(db, "read", path, err);
	first = sqlite3_column_int64(s, 0);
	*ret = first < 0 ? 0 : first > STACK_TREE_NODES ? STACK_TREE_NODES : (uint32_t)first;
	return 0;
}

/* Reserves memory for all nodes at once, assuming that those of the last block have two bytes each. Unused memory
 * costs nothing. */
static int reserve_all(struct stack_tree *t, sqlite3 *db, const char *path, struct err *err)
{
	_cleanup_(stmt_finalizep) sqlite3_stmt *s = NULL;
	int rc = sqlite_prepare(db, "SELECT first, length(data), substr(data, 1, ?) FROM node_block ORDER BY first DESC LIMIT 1", path, &s, err);
	size_t last, first;

	if (rc < 0)
		return rc;
	sqlite3_bind_int(s, 1, PACK_HEAD);
	rc = sqlite3_step(s);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : sqlite_failed(db, "read", path, err);
	first = (size_t)sqlite3_column_int64(s, 0);
	last = pack_plain_size(sqlite3_column_blob(s, 2), (size_t)sqlite3_column_bytes(s, 2), (size_t)sqlite3_column_int64(s, 1)) / 2;
	if (first <= STACK_TREE_NODES && last <= STACK_TREE_NODES - first)
		reserve_nodes(t, first + last);
	return 0;
}

int stack_tree_load(struct stack_tree *t, sqlite3 *db, const char *path, struct err *err)
{
	int rc;

	assert(t->node_count == 0);
	reserve_nodes(t, 1);
	rc = reserve_all(t, db, path, err);
	if (rc < 0)
		return rc;
	t->parents[0] = t->node_frames[0] = 0;
	t->node_count = 1;
	rc = load_blocks(t, db, path, FRAMES, err);
	if (rc >= 0)
		rc = load_blocks(t, db, path, NODES, err);
	return rc < 0 ? rc : load_lines(t, db, path, err);
}

void stack_tree_frame(const struct stack_tree *t, uint32_t frame, struct str *ret_name, struct str *ret_file,
		      uint32_t *ret_line)
{
	const uint8_t *p;
	size_t n;

	assert(frame < t->frame_count);
	p = (const uint8_t *)t->records[frame].p;
	ret_name->p = strobe_wire_next_string(&p, &n);
	ret_name->n = n;
	ret_file->p = strobe_wire_next_string(&p, &n);
	ret_file->n = n;
	*ret_line = (uint32_t)strobe_wire_next(&p);
}

void stack_tree_keep(struct stack_tree *t, const bool *needed)
{
	_cleanup_(freep) uint32_t *numbers = xmalloc(t->node_count * sizeof(*numbers));
	uint32_t count = 0;

	assert(needed[0]);
	for (uint32_t i = 0; i < t->node_count; i++) {
		if (!needed[i])
			continue;
		assert(!stack_tree_is_hole(t, i) && needed[t->parents[i]]);
		t->parents[count] = i ? numbers[t->parents[i]] : 0;
		t->node_frames[count] = t->node_frames[i];
		if (t->node_lines)
			t->node_lines[count] = t->node_lines[i];
		numbers[i] = count++;
	}
	t->node_count = count;
	t->hole_count = 0;
}
