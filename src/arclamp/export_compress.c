/* export_compress.c: `strobe export compress`: old logs, sorted, which makes them far smaller, and compressed.
 *
 *	x.log, maybe x.log.gz of before
 *		x.log.gz.tmp is written: all of their lines, and a note of what it was made of (log_forms.h)
 *		it becomes x.log.gz, in place of the one of before
 *	x.log, x.log.gz		readers see by the note what of x.log is in the other
 *		the command is run
 *	x.log, x.log.gz		it failed, or x.log was written to meanwhile: the next time all of this is done again.
 *				If nothing but the log is in x.log.gz, that is removed
 *		other compressed forms of before are removed, and x.log last
 *	x.log.gz
 *
 * An interruption at any of these points still leaves each line read once, also when lines are added to x.log later.
 */

#include "export.h"

#include "clock.h"
#include "compress.h"
#include "input.h"
#include "line_sort.h"
#include "log_forms.h"
#include "mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define LOCK		".export-compress.lock"
#define SORT_BYTES	((uint64_t)256 << 20)	/* memory to sort the lines of one log, by default */
#define BESIDE_BYTES	((uint64_t)1 << 30)	/* additional memory, for reading and writing */
#define QUIET_NS	(3600 * NS_PER_SECOND)	/* a log written to in the last hour is still in use */
#define GZIP_LEVEL	9
#define ZSTD_LEVEL	9

struct pack {
	const struct export_options *o;
	struct tree logs;
	struct todo { size_t at, count, plain; } *todo;
	size_t count, capacity;
	uint64_t plain, young, packed, failed, changed, gone;
};

enum pack_code { PACK_DONE, PACK_GONE, PACK_CHANGED, PACK_FAILED };

/* --- One log --- */

struct packing {
	const struct pack *all;
	const struct todo *todo;
	const struct tree_file *log;
	int dir;
	char *name, *temporary;
	char note[COMPRESS_COMMENT_MAX + 1];
	struct line_sort lines;
	uint64_t bytes_in, bytes_out;
	struct compressor *out;
};

static int read_lines(struct packing *p, struct input *in, struct err *err)
{
	struct str line;
	int r = 0;

	while (r >= 0 && input_line(in, &line)) {
		p->bytes_in += line.n + 1;
		r = line_sort_add(&p->lines, line, err);
	}
	return r < 0 ? r : input_end(in, err);
}

static int read_form(struct packing *p, size_t i, struct err *err)
{
	const struct tree *t = &p->all->logs;
	_cleanup_(freep) char *path = tree_path(t, &t->files[i]);
	uint64_t begin = log_form_begin(t, p->todo->at, i);
	struct input in;
	int fd, r;

	if (begin == LOG_FORM_NOTHING)
		return 0;
	fd = log_form_open(t, i, begin, err);
	if (fd < 0)
		return fd;
	r = input_open_fd(&in, path, fd, UINT64_MAX, err);
	if (r >= 0)
		r = read_lines(p, &in, err);
	input_close(&in);
	return r < 0 && r != -ENOENT ? err_prefix(err, "cannot sort '%s'", path) : r;
}

/* Includes earlier compressed forms, in case the log was recreated or extended since. */
static int read_all(struct packing *p, struct err *err)
{
	int r = 0;

	for (size_t i = p->todo->at; i < p->todo->at + p->todo->count && r >= 0; i++)
		r = read_form(p, i, err);
	return r < 0 ? r : log_forms_note(&p->all->logs, p->todo->at, p->todo->plain, p->name, p->note, err);
}

static int put(void *data, const void *bytes, size_t n, struct err *err)
{
	struct packing *p = data;

	p->bytes_out += n;
	return compress_put(p->out, bytes, n, err);
}

static int write_sorted(struct packing *p, int fd, struct err *err)
{
	const bool zstd = p->all->o->zstd;
	const struct compress_options o = {
		.zstd = zstd, .level = zstd ? ZSTD_LEVEL : GZIP_LEVEL, .name = p->log->name,
		.mtime = (uint32_t)(p->log->mtime_ns / NS_PER_SECOND), .comment = p->note,
	};
	int r = compress_start(fd, &o, &p->out, err);

	if (r >= 0)
		r = line_sort_write(&p->lines, put, p, err);
	if (r >= 0)
		r = compress_end(p->out, err);
	p->out = compress_free(p->out);
	/* The log is removed next, so the new file must be on disk. */
	if (r >= 0 && p->bytes_in != p->bytes_out)
		return err_set(err, -EIO, "read %llu bytes, but wrote %llu", (unsigned long long)p->bytes_in,
			       (unsigned long long)p->bytes_out);
	return r;
}

/* Whether the log has not changed since it was read. */
static int check_unchanged(const struct packing *p, struct stat *ret, struct err *err)
{
	if (fstatat(p->dir, p->log->name, ret, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(err, -errno, "%s", strerror(errno));
	if (ret->st_mtim.tv_sec * NS_PER_SECOND + ret->st_mtim.tv_nsec != p->log->mtime_ns ||
	    (uint64_t)ret->st_size != p->log->bytes)
		return err_set(err, -EAGAIN, "it is being written to");
	return 0;
}

/* Copies time, mode and owner of the log to the new file, as far as permitted. */
static int dress(const struct packing *p, int fd, struct err *err)
{
	const struct timespec t = { p->log->mtime_ns / NS_PER_SECOND, p->log->mtime_ns % NS_PER_SECOND };
	struct stat st;
	int r = check_unchanged(p, &st, err);

	if (r < 0)
		return r;
	if (fchown(fd, st.st_uid, st.st_gid) < 0)
		errno = 0;
	if (fchmod(fd, st.st_mode & 07777) < 0 || futimens(fd, (struct timespec[]){ t, t }) < 0 || fsync(fd) < 0)
		return err_set(err, -errno, "%s", strerror(errno));
	return 0;
}

static int write_packed(struct packing *p, struct err *err)
{
	_cleanup_(fd_closep) int fd = openat(p->dir, p->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW |
					     O_CLOEXEC, 0600);
	int r = fd < 0 ? err_set(err, -errno, "%s", strerror(errno)) : write_sorted(p, fd, err);

	if (r >= 0)
		r = dress(p, fd, err);
	if (r >= 0 && (renameat(p->dir, p->temporary, p->dir, p->name) < 0 || fsync(p->dir) < 0))
		r = err_set(err, -errno, "%s", strerror(errno));
	if (r < 0) {
		if (fd >= 0)
			unlinkat(p->dir, p->temporary, 0);
		err_prefix(err, "cannot write '%s/%s/%s'", p->all->logs.base, tree_period(&p->all->logs, p->log),
			   p->name);
	}
	return r;
}

static int upload(const struct packing *p, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s/%s", p->all->logs.base, tree_period(&p->all->logs, p->log),
						p->name);

	return p->all->o->upload ? upload_run(p->all->o->upload, path, err) : 0;
}

static int hand_on(const struct packing *p, struct err *err)
{
	struct stat st;
	int r = upload(p, err);

	return r < 0 ? r : check_unchanged(p, &st, err);
}

/* The log is removed last: while it exists, the next run does the rest. */
static void remove_others(const struct packing *p)
{
	for (size_t i = p->todo->at + p->todo->count; i-- > p->todo->at;)
		if (strcmp(p->all->logs.files[i].name, p->name) != 0)
			unlinkat(p->dir, p->all->logs.files[i].name, 0);
}

/* If the upload fails, the log is kept and both steps are retried. The new file is then removed, for readers that
 * ignore notes, unless it contains earlier compressed forms. */
static int replace(struct packing *p, struct err *err)
{
	int r = write_packed(p, err);

	if (r < 0)
		return r;
	r = hand_on(p, err);
	if (r >= 0)
		remove_others(p);
	else if (p->todo->count == 1)
		unlinkat(p->dir, p->name, 0);
	return r;
}

static void work(void *data, size_t number, struct job_result *result)
{
	struct pack *all = data;
	struct packing p = { .all = all, .todo = &all->todo[number], .log = &all->logs.files[all->todo[number].plain] };
	struct err err = { 0 };
	int r;

	p.dir = all->logs.periods[p.log->period].fd;
	p.name = xasprintf("%s%s", p.log->name, all->o->zstd ? ".zst" : ".gz");
	p.temporary = xasprintf("%s" TREE_TMP, p.name);
	line_sort_init(&p.lines, all->o->memory_bytes ? all->o->memory_bytes : SORT_BYTES, p.dir);
	r = read_all(&p, &err);
	if (r >= 0)
		r = replace(&p, &err);
	line_sort_done(&p.lines);
	free(p.name);
	free(p.temporary);
	result->code = r >= 0 ? PACK_DONE : r == -ENOENT ? PACK_GONE : r == -EAGAIN ? PACK_CHANGED : PACK_FAILED;
	memcpy(result->text, err.text, sizeof(result->text));
}

/* --- Choosing logs --- */

/* Like find -mtime +N: a file is older if N + 1 whole days have passed. Fractions of days are exact, and 0 means any
 * age. */
static double oldest_ns(double days)
{
	return (days >= 1 && days == (double)(int64_t)days ? days + 1 : days) * (double)NS_PER_DAY;
}

static void visit_log(struct pack *k, size_t at, size_t n, int64_t now_ns)
{
	double oldest = oldest_ns(k->o->older_than_days);

	for (size_t i = at; i < at + n; i++) {
		const struct tree_file *f = &k->logs.files[i];

		if (f->parts.packing != TREE_PLAIN)
			continue;
		k->plain++;
		if ((double)(now_ns - f->mtime_ns) < oldest || now_ns - f->mtime_ns < QUIET_NS) {
			k->young++;
			continue;
		}
		GROW(&k->todo, &k->capacity, k->count + 1);
		k->todo[k->count++] = (struct todo){ at, n, i };
	}
}

/* Also removes temporary files of interrupted processes, which is safe because we hold the lock. */
static void plan(struct pack *k)
{
	int64_t now_ns = clock_wall_ns();

	for (size_t at = 0, n; at < k->logs.count; at += n ? n : 1) {
		n = tree_logs_at(&k->logs, at);
		if (n)
			visit_log(k, at, n, now_ns);
		else if (k->logs.files[at].parts.kind == TREE_TEMPORARY)
			unlinkat(k->logs.periods[k->logs.files[at].period].fd, k->logs.files[at].name, 0);
	}
}

static void started(void *data, size_t number)
{
	struct pack *k = data;
	_cleanup_(freep) char *path = tree_path(&k->logs, &k->logs.files[k->todo[number].plain]);

	export_progress(k->o, number, k->count, path);
}

static void ended(void *data, size_t number, const struct job_result *r)
{
	struct pack *k = data;
	_cleanup_(freep) char *path = tree_path(&k->logs, &k->logs.files[k->todo[number].plain]);

	k->packed += r->code == PACK_DONE;
	k->gone += r->code == PACK_GONE;
	k->changed += r->code == PACK_CHANGED;
	k->failed += r->code == PACK_FAILED || r->code == -ECHILD;
	if (r->code == -ECHILD)
		export_warn(k->o, "cannot compress '%s': %s", path, r->text);
	else if (r->code == PACK_FAILED)
		export_warn(k->o, "%s", r->text);
}

static void report_summary(const struct pack *k)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	if (k->o->quiet)
		return;
	buf_init(&b);
	buf_printf(&b, "%llu plain log%s in '%s': %llu compressed, %llu too young", (unsigned long long)k->plain,
		   k->plain == 1 ? "" : "s", k->logs.base, (unsigned long long)k->packed, (unsigned long long)k->young);
	if (k->changed)
		buf_printf(&b, ", %llu being written", (unsigned long long)k->changed);
	if (k->gone)
		buf_printf(&b, ", %llu removed meanwhile", (unsigned long long)k->gone);
	if (k->failed)
		buf_printf(&b, ", %llu failed", (unsigned long long)k->failed);
	export_warn(k->o, "%s", b.data);
}

static int compress_old(struct pack *k, struct err *err)
{
	uint64_t memory = k->o->memory_bytes ? k->o->memory_bytes : SORT_BYTES;
	const struct jobs j = {
		.at_once = k->o->jobs, .memory_bytes = memory + BESIDE_BYTES, .nice = 10, .data = k,
		.work = work, .started = started, .ended = ended,
	};
	int r;

	plan(k);
	r = jobs_run(&j, k->count, err);
	export_progress_end(k->o);
	if (r >= 0)
		report_summary(k);
	return r;
}

int export_compress(const struct export_options *o)
{
	_cleanup_(fd_closep) int dir = open(o->logs, O_RDONLY | O_DIRECTORY | O_CLOEXEC), lock = -1;
	struct pack k = { .o = o };
	struct err err = { 0 };
	int r = dir < 0 ? err_set(&err, -errno, "cannot open '%s': %s", o->logs, strerror(errno)) :
			  export_lock(dir, LOCK, &lock, &err);

	if (r == -EBUSY)
		export_warn(o, "another export is already running in '%s'", o->logs);
	else if (r >= 0 && (r = tree_read(o->logs, &k.logs, &err)) >= 0)
		r = compress_old(&k, &err);
	tree_done(&k.logs);
	free(k.todo);
	if (r < 0 && r != -EBUSY)
		export_warn(o, "%s", err.text);
	return (r < 0 && r != -EBUSY) || k.failed ? EXIT_ERROR : EXIT_OK;
}
