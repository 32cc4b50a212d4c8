/* export_svgs.c: `strobe export svgs`: keeps the pictures of a tree of logs up to date. */

#include "export.h"

#include "compress.h"
#include "io.h"
#include "mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define LOCK		".export-svgs.lock"
#define MEMORY_BYTES	((uint64_t)4 << 30)	/* memory limit for one log, by default */

struct todo {
	size_t at, count;		/* in the tree of logs */
	int64_t mtime_ns;
};

struct svgs {
	const struct export_options *o;
	struct tree logs, svgs;
	int dir;			/* the pictures' directory */
	struct todo *todo;
	size_t count, capacity, begun;
	uint64_t log_count, current, empty, gone, drawn, failed, pictures, removed;
};

/* --- Up-to-date pictures --- */

static const struct tree_file *find_picture(const struct svgs *s, size_t first, size_t n, const char *label,
					    bool reversed)
{
	for (size_t i = first; i < first + n; i++) {
		const struct tree_name *p = &s->svgs.files[i].parts;

		if (p->kind == TREE_PICTURE && p->reversed == reversed && p->function.n == strlen(label) &&
		    (!p->function.n || !memcmp(p->function.p, label, p->function.n)))
			return &s->svgs.files[i];
	}
	return NULL;
}

static bool is_newer(const struct tree_file *picture, int64_t log_ns)
{
	return picture && picture->bytes >= PICTURE_BYTES_MIN && picture->mtime_ns > log_ns;
}

/* The parts of a .svgz that are examined: its beginning, and the size at its end. */
struct ends {
	uint8_t head[128];
	size_t head_size;
	uint32_t plain_size;		/* size of the picture, modulo 2^32 */
};

static bool read_ends(const struct svgs *s, const struct tree_file *f, struct ends *ret)
{
	_cleanup_(fd_closep) int fd = tree_open(&s->svgs, f, NULL);
	ssize_t n = fd < 0 ? -1 : pread(fd, ret->head, sizeof(ret->head), 0);
	uint8_t tail[4];

	if (n < 2 || pread(fd, tail, sizeof(tail), (off_t)f->bytes - 4) != sizeof(tail))
		return false;
	ret->head_size = (size_t)n;
	ret->plain_size = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 |
		(uint32_t)tail[3] << 24;
	return true;
}

/* Our files are complete once they have their name, but other programs write in place. A truncated file has arbitrary
 * bytes in place of the size; deflate shrinks data at most 1032 times, which bounds a plausible one. */
static bool is_whole(const struct tree_file *f, const struct ends *e)
{
	return e->head[0] == 0x1f && e->head[1] == 0x8b && e->plain_size > f->bytes && e->plain_size / 1032 <= f->bytes;
}

static bool is_complete(const struct svgs *s, const struct tree_file *f)
{
	struct ends e;

	return read_ends(s, f, &e) && is_whole(f, &e);
}

/* Reads the comment that lists the requested functions. */
static bool read_drawn(const struct svgs *s, const struct tree_file *f, char out[DRAWN_MAX])
{
	struct ends e;

	return read_ends(s, f, &e) && compress_comment(e.head, e.head_size, out, DRAWN_MAX);
}

/* Whether each function has its pictures, or is known to occur in no stack. */
static bool has_variants(const struct svgs *s, size_t first, size_t n, const struct tree_file *all,
			 const struct todo *t)
{
	const struct tree_name *log = &s->logs.files[t->at].parts;
	char drawn[DRAWN_MAX], wanted[DRAWN_MAX];

	if (!export_has_variants(s->o, log))
		return true;
	export_drawn_put(s->o, log, wanted);
	if (read_drawn(s, all, drawn) && !strcmp(drawn, wanted))
		return true;
	for (size_t i = 0; i < s->o->variant_count; i++)
		for (int reversed = 0; reversed < 2; reversed++)
			if (!is_newer(find_picture(s, first, n, s->o->variants[i].label, reversed), t->mtime_ns))
				return false;
	return true;
}

static bool is_current(const struct svgs *s, const struct todo *t)
{
	const struct tree_file *log = &s->logs.files[t->at], *forward, *reversed;
	size_t first, n;

	if (s->o->redraw)
		return false;
	n = tree_find(&s->svgs, tree_period(&s->logs, log), log->parts.stem, &first);
	forward = find_picture(s, first, n, "", false);
	reversed = find_picture(s, first, n, "", true);
	return is_newer(forward, t->mtime_ns) && is_newer(reversed, t->mtime_ns) && is_complete(s, forward) &&
	       is_complete(s, reversed) && has_variants(s, first, n, forward, t);
}

/* Newest first, since those are looked at most. */
static int newest_first(const void *a, const void *b)
{
	const struct todo *x = a, *y = b;

	return x->mtime_ns != y->mtime_ns ? (x->mtime_ns < y->mtime_ns ? 1 : -1) : x->at < y->at ? -1 : 1;
}

static void visit_log(struct svgs *s, size_t at, size_t n)
{
	struct todo t = { .at = at, .count = n, .mtime_ns = INT64_MIN };
	uint64_t bytes = 0;

	for (size_t i = at; i < at + n; i++) {
		if (s->logs.files[i].mtime_ns > t.mtime_ns)
			t.mtime_ns = s->logs.files[i].mtime_ns;
		bytes += s->logs.files[i].bytes;
	}
	s->log_count++;
	if (!bytes) {
		s->empty++;
	} else if (is_current(s, &t)) {
		s->current++;
	} else {
		GROW(&s->todo, &s->capacity, s->count + 1);
		s->todo[s->count++] = t;
	}
}

static void plan(struct svgs *s)
{
	for (size_t at = 0, n; at < s->logs.count; at += n ? n : 1) {
		n = tree_logs_at(&s->logs, at);
		if (n)
			visit_log(s, at, n);
	}
	if (s->count)
		qsort(s->todo, s->count, sizeof(*s->todo), newest_first);
}

/* --- Drawing --- */

static void work(void *data, size_t number, struct job_result *result)
{
	struct svgs *s = data;
	struct draw d = { s->o, &s->logs, s->todo[number].at, s->todo[number].count, s->dir };

	export_draw(&d, result);
}

static void started(void *data, size_t number)
{
	struct svgs *s = data;
	_cleanup_(freep) char *path = tree_path(&s->logs, &s->logs.files[s->todo[number].at]);

	export_progress(s->o, number, s->count, path);
}

static void ended(void *data, size_t number, const struct job_result *r)
{
	struct svgs *s = data;
	_cleanup_(freep) char *path = tree_path(&s->logs, &s->logs.files[s->todo[number].at]);

	s->pictures += r->count;
	s->drawn += r->code == DRAW_DONE;
	s->empty += r->code == DRAW_NOTHING;
	s->gone += r->code == DRAW_GONE;
	if (r->code == -ECHILD)
		export_warn(s->o, "cannot draw '%s': %s", path, r->text);
	else if (*r->text && r->code != DRAW_GONE)
		export_warn(s->o, "%s", r->text);
	s->failed += r->code == -ECHILD || r->code == DRAW_FAILED || r->code == DRAW_NOT_UPLOADED;
}

static int draw_all(struct svgs *s, struct err *err)
{
	const struct jobs j = {
		.at_once = s->o->jobs, .memory_bytes = s->o->memory_bytes ? s->o->memory_bytes : MEMORY_BYTES,
		.data = s,
		.work = work, .started = started, .ended = ended,
	};
	int r = jobs_run(&j, s->count, err);

	export_progress_end(s->o);
	return r;
}

/* --- Removal --- */

/* Removes temporary files of interrupted processes, which is safe because we hold the lock. */
static void remove_temporaries(const struct svgs *s)
{
	for (size_t i = 0; i < s->svgs.count; i++)
		if (s->svgs.files[i].parts.kind == TREE_TEMPORARY)
			unlinkat(s->svgs.periods[s->svgs.files[i].period].fd, s->svgs.files[i].name, 0);
}

/* Checks names in the order in which a log becomes a compressed one, so that it is not missed during the change. */
static bool has_log(int logs, const char *period, struct str stem)
{
	static const char *const endings[] = { ".log", ".log.gz", ".log.zst" };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		_cleanup_(freep) char *path = xasprintf("%s/%.*s%s", period, (int)stem.n, stem.p, endings[i]);

		if (faccessat(logs, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return false;
}

static void remove_stale(struct svgs *s)
{
	_cleanup_(fd_closep) int logs = open(s->logs.base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t first;

	for (size_t i = 0; i < s->svgs.count && logs >= 0; i++) {
		const struct tree_file *f = &s->svgs.files[i];
		const char *period = tree_period(&s->svgs, f);

		if (f->parts.kind == TREE_PICTURE && !tree_find(&s->logs, period, f->parts.stem, &first) &&
		    !has_log(logs, period, f->parts.stem) && unlinkat(s->svgs.periods[f->period].fd, f->name, 0) == 0)
			s->removed++;
	}
}

/* --- Top level --- */

static void report_summary(const struct svgs *s)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	if (s->o->quiet)
		return;
	buf_init(&b);
	buf_printf(&b, "%llu log%s in '%s': %llu drawn (%llu pictures), %llu up to date",
		   (unsigned long long)s->log_count,
		   s->log_count == 1 ? "" : "s", s->logs.base, (unsigned long long)s->drawn,
		   (unsigned long long)s->pictures, (unsigned long long)s->current);
	if (s->empty)
		buf_printf(&b, ", %llu without a sample", (unsigned long long)s->empty);
	if (s->gone)
		buf_printf(&b, ", %llu removed meanwhile", (unsigned long long)s->gone);
	if (s->failed)
		buf_printf(&b, ", %llu failed", (unsigned long long)s->failed);
	if (s->removed)
		buf_printf(&b, "; removed %llu pictures without a log", (unsigned long long)s->removed);
	export_warn(s->o, "%s", b.data);
}

static int read_trees(struct svgs *s, struct err *err)
{
	int r = tree_read(s->o->logs, &s->logs, err);

	return r < 0 ? r : tree_read(s->o->svgs, &s->svgs, err);
}

static int run_forever(struct svgs *s, struct err *err)
{
	int r = read_trees(s, err);

	if (r < 0)
		return r;
	remove_temporaries(s);
	plan(s);
	if (!s->log_count) {
		/* If the disk is not mounted, pictures must not be removed. */
		export_warn_no_log(s->o, &s->logs, "; pictures are left alone");
		return 0;
	}
	r = draw_all(s, err);
	if (r < 0)
		return r;
	remove_stale(s);
	report_summary(s);
	return 0;
}

static int open_svgs(struct svgs *s, int *ret_lock, struct err *err)
{
	int r = io_make_dirs(s->o->svgs, 0755, err);

	if (r < 0)
		return r;
	s->dir = open(s->o->svgs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return err_set(err, -errno, "cannot open '%s': %s", s->o->svgs, strerror(errno));
	return export_lock(s->dir, LOCK, ret_lock, err);
}

int export_svgs(const struct export_options *o)
{
	_cleanup_(fd_closep) int lock = -1;
	struct svgs s = { .o = o, .dir = -1 };
	struct err err = { 0 };
	int r = open_svgs(&s, &lock, &err);

	if (r == -EBUSY)
		export_warn(o, "another export is already running in '%s'", o->svgs);
	else if (r >= 0)
		r = run_forever(&s, &err);
	tree_done(&s.logs);
	tree_done(&s.svgs);
	free(s.todo);
	if (s.dir >= 0)
		close(s.dir);
	if (r < 0 && r != -EBUSY)
		export_warn(o, "%s", err.text);
	return (r < 0 && r != -EBUSY) || s.failed ? EXIT_ERROR : EXIT_OK;
}
