/* export_draw.c: reads a log once and draws its pictures: all stacks forward and reversed, and those with certain
 * functions. */

#include "export.h"

#include "clock.h"
#include "compress.h"
#include "format.h"
#include "log_forms.h"
#include "mem.h"
#include "text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#define PICTURE_LEVEL	9	/* same as `gzip -9` */

bool export_has_variants(const struct export_options *o, const struct tree_name *log)
{
	return o->variant_count && log->entry.n == 3 && !memcmp(log->entry.p, "all", 3);
}

void export_drawn_put(const struct export_options *o, const struct tree_name *log, char out[DRAWN_MAX])
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	for (size_t i = 0; export_has_variants(o, log) && i < o->variant_count; i++)
		buf_printf(&b, "%s=%s\n", o->variants[i].label, o->variants[i].function);
	snprintf(out, DRAWN_MAX, "strobe export, functions %016llx", (unsigned long long)XXH64(b.data, b.size, 0));
}

/* --- Reading --- */

/* Adds one form of the log. Returns 0, 1 with a warning, or a negative errno. */
static int load(const struct draw *d, size_t i, struct profile *p, struct err *err)
{
	const struct format_options reading = { .format = &format_folded };
	_cleanup_(freep) char *path = tree_path(d->logs, &d->logs->files[i]);
	uint64_t begin = log_form_begin(d->logs, d->at, i);
	struct input in;
	int fd, r;

	if (begin == LOG_FORM_NOTHING)
		return 0;
	fd = log_form_open(d->logs, i, begin, err);
	if (fd < 0)
		return fd;
	r = input_open_fd(&in, path, fd, FORMAT_INPUT_MAX, err);
	if (r >= 0)
		r = format_load_input(&in, p, &reading, err);
	input_close(&in);
	if (r != -ENODATA)
		return r;
	*err = (struct err){ 0 };
	return 0;
}

static int load_all(const struct draw *d, struct profile *p, struct err *err)
{
	bool warned = false;

	for (size_t i = d->at; i < d->at + d->count; i++) {
		int r = load(d, i, p, err);

		if (r < 0)
			return r;
		warned |= r > 0;
	}
	return warned;
}

/* --- Writing --- */

struct pictures {
	const struct draw *d;
	const struct tree_name *log;
	const char *period;
	int dir;			/* the period's directory of pictures */
	int64_t started_ns;		/* timestamp for the files: the picture is outdated if the log is written to
					 * later */
	char drawn[DRAWN_MAX];
	uint32_t column;
	unsigned count;
	bool not_uploaded;
	struct err upload;		/* why */
};

static int64_t file_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

static void set_time(const struct pictures *s, const char *name, int64_t ns)
{
	const struct timespec t = { ns / NS_PER_SECOND, ns % NS_PER_SECOND };

	utimensat(s->dir, name, (struct timespec[]){ t, t }, AT_SYMLINK_NOFOLLOW);
}

static char *picture_name(const struct pictures *s, const char *label, bool reversed)
{
	return xasprintf("%.*s%s%s%s.svgz", (int)s->log->stem.n, s->log->stem.p, label ? ".fn-" : "",
			 label ? label : "", reversed ? ".reversed" : "");
}

static int write_packed(const struct pictures *s, int fd, const struct buf *svg, bool of_all, struct err *err)
{
	_cleanup_(compress_freep) struct compressor *c = NULL;
	const struct compress_options o = { .level = PICTURE_LEVEL, .comment = of_all ? s->drawn : NULL };
	int r = compress_start(fd, &o, &c, err);

	if (r >= 0)
		r = compress_put(c, svg->data, svg->size, err);
	return r < 0 ? r : compress_end(c, err);
}

static int write_picture(const struct pictures *s, const char *name, const struct buf *svg, bool of_all,
			 struct err *err)
{
	_cleanup_(freep) char *temporary = xasprintf("%s" TREE_TMP, name);
	_cleanup_(fd_closep) int fd = openat(s->dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
					     0644);
	int r = fd < 0 ? err_set(err, -errno, "%s", strerror(errno)) : write_packed(s, fd, svg, of_all, err);

	if (r >= 0) {
		set_time(s, temporary, s->started_ns);
		if (renameat(s->dir, temporary, s->dir, name) < 0)
			r = err_set(err, -errno, "%s", strerror(errno));
	}
	if (r < 0) {
		if (fd >= 0)
			unlinkat(s->dir, temporary, 0);
		err_prefix(err, "cannot write '%s/%s/%s'", s->d->o->svgs, s->period, name);
	}
	return r;
}

static void upload(struct pictures *s, const char *name)
{
	const struct export_options *o = s->d->o;
	_cleanup_(freep) char *path = xasprintf("%s/%s/%s", o->svgs, s->period, name);

	if (!o->upload || upload_run(o->upload, path, s->not_uploaded ? NULL : &s->upload) == 0)
		return;
	s->not_uploaded = true;
}

/* Returns "MediaWiki - daily - 2026-11-20 07.all": only the first _ of the name becomes a space. */
static char *title(const struct pictures *s, bool reversed)
{
	char *text = xasprintf("%s - %s - %.*s%s", s->d->o->name, s->period, (int)s->log->stem.n, s->log->stem.p,
			       reversed ? " - reversed" : "");
	char *underscore = strchr(text + strlen(s->d->o->name) + strlen(s->period) + 6, '_');

	if (underscore)
		*underscore = ' ';
	return text;
}

static int draw_one(struct pictures *s, const struct profile *p, const char *label, bool reversed, struct err *err)
{
	_cleanup_(freep) char *name = picture_name(s, label, reversed), *heading = title(s, reversed);
	_cleanup_(buf_done) struct buf svg = { 0 };
	struct flamegraph_options o = s->d->o->picture;
	int r;

	buf_init(&svg);
	o.title = heading;
	o.column = s->column;
	o.reverse = reversed;
	if (reversed)
		o.colors = "blue";
	r = flamegraph_svg(p, &o, &svg, err);
	if (r >= 0)
		r = write_picture(s, name, &svg, !label, err);
	if (r < 0)
		return r;
	s->count++;
	upload(s, name);
	return 0;
}

static bool has_samples(const struct pictures *s, const struct profile *p)
{
	return p->node_count > 1 && profile_sum(p, s->column) > 0;
}

/* --- One log --- */

static struct profile *only_through(const struct profile *p, const char *function)
{
	_cleanup_(freep) bool *keep = xcalloc((size_t)p->frame_count + 1, sizeof(*keep));
	size_t n = strlen(function);

	for (uint32_t i = 0; i < p->frame_count; i++) {
		struct str name = profile_name(p, i);

		keep[i] = name.n == n && !memcmp(name.p, function, n);
	}
	return profile_filter(p, keep);
}

static int draw_variant(struct pictures *s, const struct profile *p, const struct export_variant *v, struct err *err)
{
	_cleanup_(profile_freep) struct profile *some = only_through(p, v->function);
	int r;

	if (!has_samples(s, some)) {
		for (int reversed = 0; reversed < 2; reversed++) {
			_cleanup_(freep) char *name = picture_name(s, v->label, reversed);

			unlinkat(s->dir, name, 0);
		}
		return 0;
	}
	r = draw_one(s, some, v->label, false, err);
	return r < 0 ? r : draw_one(s, some, v->label, true, err);
}

/* The forward picture of all stacks is drawn last, because it marks the others as complete. */
static int draw_all(struct pictures *s, const struct profile *p, struct err *err)
{
	int r = 0;

	for (size_t i = 0; export_has_variants(s->d->o, s->log) && i < s->d->o->variant_count && r >= 0; i++)
		r = draw_variant(s, p, &s->d->o->variants[i], err);
	if (r >= 0)
		r = draw_one(s, p, NULL, true, err);
	return r < 0 ? r : draw_one(s, p, NULL, false, err);
}

static int open_period(struct pictures *s, struct err *err)
{
	if ((mkdirat(s->d->svgs, s->period, 0755) == 0 || errno == EEXIST) &&
	    (s->dir = openat(s->d->svgs, s->period, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0)
		return 0;
	return err_set(err, -errno, "cannot create the directory '%s/%s': %s", s->d->o->svgs, s->period, strerror(errno));
}

/* If an upload failed, the picture that marks the others as complete gets the log's time, so that all are drawn and
 * uploaded again. */
static void try_again(const struct pictures *s, int64_t log_ns)
{
	_cleanup_(freep) char *name = picture_name(s, NULL, false);

	set_time(s, name, log_ns);
}

static enum draw_code draw(const struct draw *d, struct job_result *result, struct err *err)
{
	const struct tree_file *log = &d->logs->files[d->at];
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct pictures s = { .d = d, .log = &log->parts, .period = tree_period(d->logs, log), .dir = -1,
			      .started_ns = file_clock() };
	int r = load_all(d, p, err);

	if (r == -ENOENT)
		return DRAW_GONE;
	if (r < 0)
		return DRAW_FAILED;
	p = profile_show_names(p);
	s.column = profile_pick_column(p, NULL);
	if (!has_samples(&s, p))
		return DRAW_NOTHING;
	export_drawn_put(d->o, s.log, s.drawn);
	r = open_period(&s, err);
	if (r >= 0)
		r = draw_all(&s, p, err);
	result->count = s.count;
	if (r >= 0 && s.not_uploaded)
		try_again(&s, log->mtime_ns);
	if (s.dir >= 0)
		close(s.dir);
	if (s.not_uploaded && r >= 0)
		*err = s.upload;
	return r < 0 ? DRAW_FAILED : s.not_uploaded ? DRAW_NOT_UPLOADED : DRAW_DONE;
}

void export_draw(const struct draw *d, struct job_result *result)
{
	struct err err = { 0 };

	result->code = draw(d, result, &err);
	memcpy(result->text, err.text, sizeof(result->text));
}
