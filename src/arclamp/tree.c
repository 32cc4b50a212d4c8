/* tree.c: reads the directories of a tree of logs without following symbolic links. */

#include "tree.h"

#include "clock.h"
#include "mem.h"
#include "text.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* --- Names --- */

static bool cut_end(struct str *s, const char *end)
{
	size_t n = strlen(end);

	if (s->n <= n || memcmp(s->p + s->n - n, end, n) != 0)
		return false;
	s->n -= n;
	return true;
}

/* Removes ".fn-<label>" from the end of a picture's name. */
static void parse_function(struct str *rest, struct tree_name *ret)
{
	const char *point = memrchr(rest->p, '.', rest->n);
	size_t at = point ? (size_t)(point - rest->p) : 0;

	if (!point || rest->n - at <= 4 || memcmp(point, ".fn-", 4) != 0)
		return;
	ret->function = (struct str){ point + 4, rest->n - at - 4 };
	rest->n = at;
}

static bool parse_ending(struct str *rest, struct tree_name *ret)
{
	bool temporary = cut_end(rest, TREE_TMP), picture = cut_end(rest, ".svgz");

	ret->kind = temporary ? TREE_TEMPORARY : picture ? TREE_PICTURE : TREE_LOG;
	if (picture) {
		ret->reversed = cut_end(rest, ".reversed");
		parse_function(rest, ret);
		return true;
	}
	if (cut_end(rest, ".gz"))
		ret->packing = TREE_GZIP;
	else if (cut_end(rest, ".zst"))
		ret->packing = TREE_ZSTD;
	return cut_end(rest, ".log");
}

bool tree_name_parse(const char *name, struct tree_name *ret)
{
	struct str rest = { name, strlen(name) };
	const char *point;

	*ret = (struct tree_name){ 0 };
	if (*name == '.' || !parse_ending(&rest, ret))
		return false;
	point = memchr(rest.p, '.', rest.n);
	if (!point || point == rest.p || point + 1 == rest.p + rest.n)
		return false;
	ret->stem = rest;
	ret->time = (struct str){ rest.p, (size_t)(point - rest.p) };
	ret->tag = (struct str){ point + 1, rest.n - ret->time.n - 1 };
	ret->entry = ret->tag;
	point = memrchr(ret->tag.p, '.', ret->tag.n);
	if (point && point > ret->tag.p && point + 1 < ret->tag.p + ret->tag.n) {
		ret->profiler = (struct str){ ret->tag.p, (size_t)(point - ret->tag.p) };
		ret->entry = (struct str){ point + 1, ret->tag.n - ret->profiler.n - 1 };
	}
	return true;
}

/* --- Directories --- */

static void dir_closep(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Opens a stream of entries, which leaves `fd` open. */
static DIR *open_stream(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = own < 0 ? NULL : fdopendir(own);

	if (own >= 0 && !d)
		close(own);
	return d;
}

static int add_file(struct tree *t, uint32_t period, const char *name, const struct stat *st, struct err *err)
{
	struct tree_file f = { .period = period, .bytes = (uint64_t)st->st_size };

	if (t->count >= TREE_FILES_MAX)
		return err_set(err, -E2BIG, "'%s' exceeds the limit of %u files", t->base, TREE_FILES_MAX);
	f.name = arena_copy(&t->text, name, strlen(name));
	if (!tree_name_parse(f.name, &f.parts)) {
		t->others++;
		return 0;
	}
	f.mtime_ns = st->st_mtim.tv_sec * NS_PER_SECOND + st->st_mtim.tv_nsec;
	GROW(&t->files, &t->capacity, t->count + 1);
	t->files[t->count++] = f;
	return 0;
}

static int read_period(struct tree *t, uint32_t period, struct err *err)
{
	struct tree_period *p = &t->periods[period];
	_cleanup_(dir_closep) DIR *d = open_stream(p->fd);
	struct dirent *e;
	struct stat st;
	int r = 0;

	if (!d)
		return err_set(err, -errno, "cannot list '%s/%s': %s", t->base, p->name, strerror(errno));
	while (r >= 0 && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (fstatat(p->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!S_ISREG(st.st_mode)) {
			t->others++;
			continue;
		}
		p->bytes += (uint64_t)st.st_size;
		r = add_file(t, period, e->d_name, &st, err);
	}
	return r;
}

static int add_period(struct tree *t, int base, const char *name, struct err *err)
{
	int fd;

	if (t->period_count >= TREE_PERIODS_MAX)
		return err_set(err, -E2BIG, "'%s' exceeds the limit of %u directories", t->base,
			       TREE_PERIODS_MAX);
	fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP || errno == ENOENT)) {
		t->others++;
		return 0;
	}
	if (fd < 0)
		return err_set(err, -errno, "cannot open '%s/%s': %s", t->base, name, strerror(errno));
	GROW(&t->periods, &t->period_capacity, (size_t)t->period_count + 1);
	t->periods[t->period_count++] = (struct tree_period){ .name = arena_copy(&t->text, name, strlen(name)),
							      .fd = fd };
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tree_period *)a)->name, ((const struct tree_period *)b)->name);
}

static int read_base(struct tree *t, struct err *err)
{
	_cleanup_(dir_closep) DIR *d = opendir(t->base);
	struct dirent *e;
	int r = 0;

	if (!d)
		return err_set(err, -errno, "cannot list '%s': %s", t->base, strerror(errno));
	while (r >= 0 && (e = readdir(d)))
		if (*e->d_name != '.')
			r = add_period(t, dirfd(d), e->d_name, err);
	if (t->period_count)
		qsort(t->periods, t->period_count, sizeof(*t->periods), by_name);
	return r;
}

/* Sorts by stem without the ending, so that "a.log" and "a.log.gz" stay together even beside "a.log.b.log". */
static int by_period_and_name(const void *a, const void *b)
{
	const struct tree_file *f = a, *g = b;
	int r;

	if (f->period != g->period)
		return f->period < g->period ? -1 : 1;
	r = text_compare(f->parts.stem, g->parts.stem);
	if (r)
		return r;
	if (f->parts.kind != g->parts.kind)
		return f->parts.kind < g->parts.kind ? -1 : 1;
	return strcmp(f->name, g->name);
}

int tree_read(const char *base, struct tree *ret, struct err *err)
{
	size_t n = strlen(base);
	int r;

	*ret = (struct tree){ 0 };
	arena_init(&ret->text);
	while (n > 1 && base[n - 1] == '/')
		n--;
	ret->base = arena_copy(&ret->text, base, n);
	r = read_base(ret, err);
	for (uint32_t i = 0; i < ret->period_count && r >= 0; i++)
		r = read_period(ret, i, err);
	if (ret->count)
		qsort(ret->files, ret->count, sizeof(*ret->files), by_period_and_name);
	return r < 0 ? r : 0;
}

void tree_done(struct tree *t)
{
	for (uint32_t i = 0; i < t->period_count; i++)
		close(t->periods[i].fd);
	free(t->periods);
	free(t->files);
	arena_done(&t->text);
	*t = (struct tree){ 0 };
}

const char *tree_period(const struct tree *t, const struct tree_file *f)
{
	return t->periods[f->period].name;
}

char *tree_path(const struct tree *t, const struct tree_file *f)
{
	return xasprintf("%s/%s/%s", t->base, tree_period(t, f), f->name);
}

/* Does not block if the file was replaced by a pipe. */
int tree_open(const struct tree *t, const struct tree_file *f, struct err *err)
{
	int fd = openat(t->periods[f->period].fd, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? err_set(err, -errno, "cannot open '%s/%s/%s': %s", t->base, tree_period(t, f), f->name,
				strerror(errno)) : fd;
}

static bool same_log(const struct tree_file *f, const struct tree_file *g)
{
	return g->parts.kind == TREE_LOG && f->period == g->period && f->parts.stem.n == g->parts.stem.n &&
	       !memcmp(f->parts.stem.p, g->parts.stem.p, f->parts.stem.n);
}

size_t tree_logs_at(const struct tree *t, size_t at)
{
	size_t n = 0;

	if (at < t->count && t->files[at].parts.kind == TREE_LOG)
		while (at + n < t->count && same_log(&t->files[at], &t->files[at + n]))
			n++;
	return n;
}

size_t tree_find(const struct tree *t, const char *period, struct str stem, size_t *ret_first)
{
	size_t low = 0, high = t->count, n = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct tree_file *f = &t->files[middle];
		int r = strcmp(tree_period(t, f), period);

		if (r < 0 || (r == 0 && text_compare(f->parts.stem, stem) < 0))
			low = middle + 1;
		else
			high = middle;
	}
	*ret_first = low;
	while (low + n < t->count && !strcmp(tree_period(t, &t->files[low + n]), period) &&
	       !text_compare(t->files[low + n].parts.stem, stem))
		n++;
	return n;
}

char *tree_pictures_base(const char *logs)
{
	char *copy = xstrdup(logs), *end = copy + strlen(copy);

	while (end > copy) {
		char *start;

		while (end > copy && end[-1] == '/')
			end--;
		for (start = end; start > copy && start[-1] != '/';)
			start--;
		if (end - start == 4 && !memcmp(start, "logs", 4)) {
			memcpy(start, "svgs", 4);
			return copy;
		}
		end = start;
	}
	free(copy);
	return NULL;
}
