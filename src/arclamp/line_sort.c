/* line_sort.c: sorts lines in memory; beyond its limit, writes sorted runs to files and merges them. */

#include "line_sort.h"

#include "mem.h"
#include "text.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define PIECE		((size_t)256 << 10)
#define SORTING		".sorting.tmp"
#define OF_A_LINE	((size_t)96)		/* approximate overhead of a line in the tables of a line set */

void line_sort_init(struct line_sort *s, size_t memory_bytes, int dir)
{
	*s = (struct line_sort){ .memory_bytes = memory_bytes, .dir = dir };
	line_set_init(&s->lines, false);
}

void line_sort_done(struct line_sort *s)
{
	line_set_done(&s->lines);
	for (unsigned i = 0; i < s->run_count; i++)
		fclose(s->runs[i]);
	*s = (struct line_sort){ 0 };
}

static int by_text(const void *a, const void *b)
{
	return text_compare(((const struct flamegraph_line *)a)->text, ((const struct flamegraph_line *)b)->text);
}

static void sort(struct line_set *lines)
{
	if (lines->count)
		qsort(lines->lines, lines->count, sizeof(*lines->lines), by_text);
}

/* --- Runs: records of count, length and line --- */

struct record {
	uint64_t repeat;
	uint64_t size;
};

static FILE *open_run(struct line_sort *s, struct err *err)
{
	int fd = openat(s->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	FILE *f;

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		/* The file system does not support O_TMPFILE. */
		fd = openat(s->dir, SORTING, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0)
			unlinkat(s->dir, SORTING, 0);
	}
	f = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!f) {
		err_set(err, -errno, "cannot create a temporary file: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	setvbuf(f, NULL, _IOFBF, PIECE);
	return f;
}

static int flush_run(struct line_sort *s, struct err *err)
{
	FILE *f;

	if (s->run_count == LINE_SORT_RUNS_MAX)
		return err_set(err, -E2BIG, "its distinct lines exceed the limit of %u times %zu MB",
			       LINE_SORT_RUNS_MAX, s->memory_bytes >> 20);
	f = open_run(s, err);
	if (!f)
		return err ? err->code : -EIO;
	s->runs[s->run_count++] = f;
	sort(&s->lines);
	for (size_t i = 0; i < s->lines.count; i++) {
		const struct flamegraph_line *l = &s->lines.lines[i];
		struct record r = { l->repeat, l->text.n };

		fwrite(&r, sizeof(r), 1, f);
		fwrite(l->text.p, 1, l->text.n, f);
	}
	line_set_done(&s->lines);
	line_set_init(&s->lines, false);
	if (fflush(f) || ferror(f))
		return err_set(err, -errno, "cannot write a temporary file: %s", strerror(errno));
	rewind(f);
	return 0;
}

int line_sort_add(struct line_sort *s, struct str line, struct err *err)
{
	line_set_take(&s->lines, line);
	if (s->lines.text.bytes + s->lines.count * OF_A_LINE < s->memory_bytes)
		return 0;
	return flush_run(s, err);
}

/* --- Writing --- */

struct sink {
	int (*put)(void *data, const void *bytes, size_t n, struct err *err);
	void *data;
	struct buf buf;
};

static int put_line(struct sink *to, struct str line, uint64_t repeat, struct err *err)
{
	int r;

	for (; repeat; repeat--) {
		buf_put(&to->buf, line.p, line.n);
		buf_putc(&to->buf, '\n');
		if (to->buf.size < PIECE)
			continue;
		r = to->put(to->data, to->buf.data, to->buf.size, err);
		if (r < 0)
			return r;
		buf_reset(&to->buf);
	}
	return 0;
}

static int put_all(struct line_sort *s, struct sink *to, struct err *err)
{
	int r = 0;

	sort(&s->lines);
	for (size_t i = 0; i < s->lines.count && r >= 0; i++)
		r = put_line(to, s->lines.lines[i].text, s->lines.lines[i].repeat, err);
	return r;
}

struct head {
	FILE *run;
	uint64_t repeat;
	struct buf line;
};

/* Reads the next record. Returns 1, or 0 at the end. */
static int advance(struct head *h, struct err *err)
{
	struct record r;
	char *at;

	if (fread(&r, 1, sizeof(r), h->run) != sizeof(r))
		return ferror(h->run) ? err_set(err, -EIO, "cannot read a temporary file") : 0;
	buf_reset(&h->line);
	at = buf_reserve(&h->line, r.size + 1);
	if (!at || fread(at, 1, r.size, h->run) != r.size)
		return err_set(err, -EIO, "cannot read a temporary file");
	buf_wrote(&h->line, r.size);
	h->repeat = r.repeat;
	return 1;
}

static struct str text_of(const struct head *h)
{
	return (struct str){ h->line.data, h->line.size };
}

static int merge(struct head *heads, unsigned n, struct sink *to, struct err *err)
{
	int r;

	for (unsigned i = 0; i < n; i++)
		if ((r = advance(&heads[i], err)) < 0)
			return r;
	for (;;) {
		struct head *least = NULL;

		for (unsigned i = 0; i < n; i++)
			if (heads[i].run && (!least || text_compare(text_of(&heads[i]), text_of(least)) < 0))
				least = &heads[i];
		if (!least)
			return 0;
		r = put_line(to, text_of(least), least->repeat, err);
		if (r >= 0)
			r = advance(least, err);
		if (r < 0)
			return r;
		if (r == 0)
			least->run = NULL;
	}
}

static int merge_runs(struct line_sort *s, struct sink *to, struct err *err)
{
	_cleanup_(freep) struct head *heads = NULL;
	int r;

	if (s->lines.count && (r = flush_run(s, err)) < 0)
		return r;
	heads = xcalloc(s->run_count, sizeof(*heads));
	for (unsigned i = 0; i < s->run_count; i++) {
		heads[i].run = s->runs[i];
		buf_init(&heads[i].line);
	}
	r = merge(heads, s->run_count, to, err);
	for (unsigned i = 0; i < s->run_count; i++)
		buf_done(&heads[i].line);
	return r;
}

int line_sort_write(struct line_sort *s, int (*put)(void *data, const void *bytes, size_t n, struct err *err),
		    void *data, struct err *err)
{
	struct sink to = { .put = put, .data = data };
	int r;

	buf_init(&to.buf);
	r = s->run_count ? merge_runs(s, &to, err) : put_all(s, &to, err);
	if (r >= 0)
		r = put(data, to.buf.data, to.buf.size, err);
	buf_done(&to.buf);
	return r;
}
