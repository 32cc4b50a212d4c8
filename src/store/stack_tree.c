/* stack_tree.c: blocks of records from a day file into arrays, checked on the way. */
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

static int add_frames(struct stack_tree *t, const uint8_t *bytes, size_t n)
{
	struct strobe_wire_cursor c;

	c.p = (const uint8_t *)arena_copy(&t->bytes, bytes, n);
	c.end = c.p + n;
	while (c.p < c.end) {
		const uint8_t *start = c.p;
		struct str name, file;
		uint64_t line;

		if (t->frame_count == STACK_TREE_FRAMES || !get_frame(&c, &name, &file, &line))
			return -EBADMSG;
		GROW(&t->records, &t->record_capacity, t->frame_count + 1);
		GROW(&t->starts, &t->start_capacity, t->frame_count + 1);
		t->starts[t->frame_count] = (uint32_t)line;
		t->records[t->frame_count++] = (struct str){ (const char *)start, (size_t)(c.p - start) };
	}
	return 0;
}

static int add_nodes(struct stack_tree *t, const uint8_t *bytes, size_t n)
{
	struct strobe_wire_cursor c = { bytes, bytes + n };

	while (c.p < c.end) {
		uint64_t distance, frame;

		if (!strobe_wire_get_varint(&c, &distance) || !strobe_wire_get_varint(&c, &frame))
			return -EBADMSG;
		if (t->node_count == STACK_TREE_NODES)
			return -EBADMSG;
		if (distance == 0 ? frame != 0 : distance > t->node_count || frame >= t->frame_count ||
		    stack_tree_is_hole(t, t->node_count - (uint32_t)distance))
			return -EBADMSG;
		GROW(&t->parents, &t->parent_capacity, t->node_count + 1);
		GROW(&t->node_frames, &t->frame_capacity, t->node_count + 1);
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

/* The number that a block with these bytes has in its row. */
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

static int add_block(struct stack_tree *t, enum block kind, const uint8_t *bytes, size_t n)
{
	if (kind == LINES)
		return add_lines(t, bytes, n);
	return kind == FRAMES ? add_frames(t, bytes, n) : add_nodes(t, bytes, n);
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
		    !is_next(t, kind, sqlite3_column_int64(s, 0), bytes, n) || add_block(t, kind, bytes, n) < 0)
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

int stack_tree_load(struct stack_tree *t, sqlite3 *db, const char *path, struct err *err)
{
	uint32_t size;
	int rc = stack_tree_size(db, path, &size, err);

	assert(t->node_count == 0);
	if (rc < 0)
		return rc;
	GROW(&t->parents, &t->parent_capacity, size + 1);
	GROW(&t->node_frames, &t->frame_capacity, size + 1);
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
