/* runs_seen.c: two sets of numbers, and a file of lines. */
#include "runs_seen.h"

#include "cleanup.h"
#include "io.h"
#include "log.h"
#include "mem.h"
#include "private_file.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define BEGIN		"strobe runs 1\n"
#define LINE		17u			/* 16 digits and a newline */
#define FILE_MAX	((size_t)256 << 20)	/* 15 million files */
#define SPARE_LINES	1000u			/* the file is not rewritten for fewer lines of deleted files */

static bool add(struct runs_seen_set *s, uint64_t id)
{
	uint32_t *slot = map_slot(&s->map, id);

	if (*slot != MAP_NONE)
		return false;
	*slot = 0;
	GROW(&s->items, &s->capacity, s->count + 1);
	s->items[s->count++] = id;
	return true;
}

static void done(struct runs_seen_set *s)
{
	map_done(&s->map);
	free(s->items);
	memset(s, 0, sizeof(*s));
}

static void begin(struct runs_seen_set *s)
{
	memset(s, 0, sizeof(*s));
	map_init(&s->map);
}

/* Skips a line that was being written when the machine crashed. */
static int read_lines(struct runs_seen *s, const char *path, const char *text, size_t n, struct err *err)
{
	size_t at = strlen(BEGIN);

	if (n < at || memcmp(text, BEGIN, at))
		return n ? err_set(err, -EINVAL, "'%s' is not a list of imported files; remove it to import all "
						 "files again",
				   path) :
			   0;
	for (; at + LINE <= n; at += LINE) {
		char digits[LINE], *end;
		uint64_t id;

		memcpy(digits, text + at, LINE - 1);
		digits[LINE - 1] = 0;
		id = strtoull(digits, &end, 16);
		if (text[at + LINE - 1] != '\n' || *end)
			break;
		add(&s->known, id);
		s->lines++;
	}
	if (at < n)
		log_warning("'%s' is damaged, perhaps by a crash; some files may be imported again", path);
	return 0;
}

int runs_seen_read_also(struct runs_seen *s, const char *path, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	int r;

	buf_init(&b);
	r = private_file_read(path, &b, FILE_MAX, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return read_lines(s, path, b.data, b.size, err);
}

int runs_seen_init(struct runs_seen *s, char *path, struct err *err)
{
	*s = (struct runs_seen){ .path = path, .fd = -1 };
	begin(&s->known);
	begin(&s->met);
	return path ? runs_seen_read_also(s, path, err) : 0;
}

void runs_seen_done(struct runs_seen *s)
{
	done(&s->known);
	done(&s->met);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->path);
	s->path = NULL;
}

bool runs_seen_has(const struct runs_seen *s, uint64_t id)
{
	return map_get(&s->known.map, id) != MAP_NONE;
}

static void put_line(struct buf *b, uint64_t id)
{
	buf_printf(b, "%016" PRIx64 "\n", id);
}

static int write_all(struct runs_seen *s, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	int r;

	assert(s->fd < 0);
	buf_init(&b);
	buf_puts(&b, BEGIN);
	for (size_t i = 0; i < s->known.count; i++)
		put_line(&b, s->known.items[i]);
	r = private_file_write(s->path, b.data, b.size, false, err);
	if (r >= 0)
		r = private_file_open(s->path, O_WRONLY | O_APPEND, &s->fd, err);
	if (r >= 0)
		s->lines = s->known.count;
	return r;
}

static int append(struct runs_seen *s, uint64_t id, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	int r;

	assert(s->fd >= 0);
	buf_init(&b);
	put_line(&b, id);
	r = io_write_all(s->fd, b.data, b.size, err);
	s->lines++;
	return r;
}

static void note(struct runs_seen *s, int result, const struct err *err)
{
	if (result < 0 && s->fd >= 0) {
		close(s->fd);
		s->fd = -1;
	}
	if (result < 0 && !s->logged)
		log_warning("cannot save the list of imported files: %s", err->text);
	s->logged = result < 0;
}

void runs_seen_save(struct runs_seen *s)
{
	struct err err = { 0 };

	if (s->path && s->fd < 0 && s->known.count)
		note(s, write_all(s, &err), &err);
}

void runs_seen_add(struct runs_seen *s, uint64_t id)
{
	struct err err = { 0 };

	add(&s->met, id);
	if (!add(&s->known, id) || !s->path)
		return;
	if (s->fd >= 0)
		note(s, append(s, id, &err), &err);
	else
		runs_seen_save(s);
}

void runs_seen_mark(struct runs_seen *s, uint64_t id)
{
	add(&s->met, id);
}

void runs_seen_end_scan(struct runs_seen *s)
{
	assert(s->met.count <= s->known.count);
	done(&s->known);
	s->known = s->met;
	begin(&s->met);
	if (s->lines <= 2 * s->known.count + SPARE_LINES)
		return;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	runs_seen_save(s);
}
