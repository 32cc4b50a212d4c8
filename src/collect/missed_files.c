/* missed_files.c: tells rotated files from copies by their names, and by the times at which they were made. */
#include "missed_files.h"

#include "file_paths.h"
#include "mem.h"
#include "tail.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#define HEAD		4096u	/* number of bytes compared at the start of files */
#define SLACK_SECONDS	1	/* the times of files are those of the last tick of the kernel's clock */

/* The part of a name that rotation made. */
struct rotated_name {
	enum { NAME_NONE,
	       NAME_NUMBER,
	       NAME_DATE,
	       NAME_OTHER } kind;
	const char *part; /* ".1", "-20261129" */
	size_t size;
	bool before_extension, compressed;
};

/* A file of the directory, opened. */
struct entry {
	char *name;
	struct rotated_name rotated;
	int fd;
	struct stat st;
	struct timespec born;
	bool has_birth;
	char head[HEAD];
	size_t head_size;
	char *doubt;
	bool is_excluded;		/* for its own properties, so other files may still equal it */
};

struct directory {
	const char *path, *base;	/* the directory, and the name of the path in it */
	const struct file_offset *last;
	struct timespec seen, since;
	struct entry *items;
	size_t count, capacity;
	struct entry read_last, current;	/* the name is NULL if there is no such file */
	bool has_read_last;			/* the file that was read last is in this directory, and was not
						 * truncated */
	bool is_anchored;			/* and its name was made by rotation */
};

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* --- Names --- */

static size_t without_compression(const char *name, bool *ret_compressed)
{
	static const char *const extensions[] = { ".gz", ".xz", ".bz2", ".zst", ".lz4", ".lzo", ".Z", ".zip" };
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++) {
		size_t m = strlen(extensions[i]);

		if (n > m && !strcmp(name + n - m, extensions[i])) {
			*ret_compressed = true;
			return n - m;
		}
	}
	return n;
}

/* Accepts year, month, day in this order, so that the digits sort by date. */
static bool is_date(const char *digits)
{
	int month = (digits[4] - '0') * 10 + digits[5] - '0', day = (digits[6] - '0') * 10 + digits[7] - '0';

	return !strncmp(digits, "20", 2) && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static void classify(struct rotated_name *n)
{
	char digits[8];
	size_t count = 0;

	if (n->size == 4 && !strncmp(n->part, ".old", 4)) {
		n->kind = NAME_OTHER;
		return;
	}
	if (n->size < 2 || !strchr(".-_", n->part[0]))
		return;
	for (size_t i = 0; i < n->size; i++) {
		if (!isdigit((unsigned char)n->part[i]) && !strchr(".-_:+T", n->part[i]))
			return;
		if (isdigit((unsigned char)n->part[i]) && count++ < sizeof(digits))
			digits[count - 1] = n->part[i];
	}
	if (count == n->size - 1 && count <= 5)
		n->kind = NAME_NUMBER;
	else if (count >= sizeof(digits) && is_date(digits))
		n->kind = NAME_DATE;
	else if (count)
		n->kind = NAME_OTHER;
}

static struct rotated_name parse_name(const char *base, const char *name)
{
	const char *extension = strrchr(base, '.');
	size_t stem = extension ? (size_t)(extension - base) : 0, tail = extension ? strlen(extension) : 0, whole = strlen(base);
	struct rotated_name n = { 0 };
	size_t size = without_compression(name, &n.compressed);

	if (size > whole && !strncmp(name, base, whole)) {
		n.part = name + whole;
		n.size = size - whole;
	} else if (stem && size > whole && !strncmp(name, base, stem) && !strncmp(name + size - tail, extension, tail)) {
		n.part = name + stem;
		n.size = size - whole;
		n.before_extension = true;
	} else {
		return n;
	}
	classify(&n);
	return n;
}

static bool has_same_form(const struct rotated_name *a, const struct rotated_name *b)
{
	if (a->kind != b->kind || a->before_extension != b->before_extension)
		return false;
	if (a->kind == NAME_NUMBER)
		return a->part[0] == b->part[0];
	if (a->size != b->size)
		return false;
	for (size_t i = 0; i < a->size; i++)
		if (isdigit((unsigned char)a->part[i]) ? !isdigit((unsigned char)b->part[i]) : a->part[i] != b->part[i])
			return false;
	return true;
}

/* A higher number is older, a higher date is younger. */
static bool is_later(const struct rotated_name *a, const struct rotated_name *b)
{
	if (a->kind == NAME_NUMBER)
		return atoi(a->part + 1) < atoi(b->part + 1);
	return memcmp(a->part, b->part, b->size) > 0;
}

/* --- The directory --- */

static void doubt(struct entry *e, char *text)
{
	if (e->doubt)
		free(text);
	else
		e->doubt = text;
}

static void entry_done(struct entry *e)
{
	if (e->name && e->fd >= 0)
		close(e->fd);
	free(e->name);
	free(e->doubt);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void open_entry(struct directory *d, const char *name, const struct stat *st, struct entry *ret)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", d->path, name);
	struct err err = { 0 };
	struct statx x;
	ssize_t n;

	*ret = (struct entry){ .name = xstrdup(name), .fd = -1, .st = *st };
	ret->rotated = parse_name(d->base, ret->name);
	if (file_open_regular(path, &ret->fd, &ret->st, &err) < 0) {
		doubt(ret, xstrdup(err.text));
		return;
	}
	if (statx(ret->fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) == 0 && (x.stx_mask & STATX_BTIME)) {
		ret->has_birth = true;
		ret->born = (struct timespec){ .tv_sec = x.stx_btime.tv_sec, .tv_nsec = x.stx_btime.tv_nsec };
	}
	n = pread(ret->fd, ret->head, HEAD, 0);
	ret->head_size = n > 0 ? (size_t)n : 0;
}

/* Rotation keeps the order: a file with a later name is between the one that was read last and the path. Other files that were
 * there at the last look have never been named by the path since. */
static bool is_candidate(const struct directory *d, const struct entry *e)
{
	if (d->is_anchored && has_same_form(&e->rotated, &d->read_last.rotated))
		return e->st.st_size && is_later(&e->rotated, &d->read_last.rotated);
	return e->st.st_size && !is_before(&e->st.st_mtim, &d->since) && (!e->has_birth || !is_before(&e->born, &d->since));
}

static void add_candidate(struct directory *d, const char *name, const struct stat *st)
{
	struct entry e;

	if ((d->current.name && is_same_file(st, &d->current.st)) || parse_name(d->base, name).kind == NAME_NONE)
		return;
	open_entry(d, name, st, &e);
	if (!is_candidate(d, &e)) {
		entry_done(&e);
		return;
	}
	GROW(&d->items, &d->capacity, d->count + 1);
	d->items[d->count++] = e;
}

/* The inode may have been reused by another file. */
static bool is_unchanged(const struct directory *d, const struct entry *e)
{
	return e->fd >= 0 && file_offset_matches(d->last, e->fd, &e->st) && e->has_birth && !is_before(&d->seen, &e->born);
}

static void find_read_last(struct directory *d, DIR *list)
{
	struct dirent *e;
	struct stat st;

	while (!d->read_last.name && (e = readdir(list)))
		if (fstatat(dirfd(list), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		    st.st_dev == d->last->device && st.st_ino == d->last->inode)
			open_entry(d, e->d_name, &st, &d->read_last);
	d->has_read_last = d->read_last.name && is_unchanged(d, &d->read_last);
	d->is_anchored = d->has_read_last && !d->read_last.rotated.compressed &&
			 (d->read_last.rotated.kind == NAME_NUMBER || d->read_last.rotated.kind == NAME_DATE);
}

static void scan(struct directory *d)
{
	DIR *list = opendir(d->path);
	struct dirent *e;
	struct stat st;

	if (!list)
		return;
	if (fstatat(dirfd(list), d->base, &st, 0) == 0 && S_ISREG(st.st_mode))
		open_entry(d, d->base, &st, &d->current);
	find_read_last(d, list);
	rewinddir(list);
	while ((e = readdir(list)))
		if (fstatat(dirfd(list), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		    !(d->has_read_last && is_same_file(&st, &d->read_last.st)))
			add_candidate(d, e->d_name, &st);
	closedir(list);
}

/* --- Comparing beginnings --- */

static bool begin_alike(const struct entry *a, const struct entry *b)
{
	size_t n = a->head_size < b->head_size ? a->head_size : b->head_size;

	return n && !memcmp(a->head, b->head, n);
}

/* Compares with the file that was read last; by the hash of its first bytes if it is gone. */
static bool begins_as_read(const struct directory *d, const struct entry *e)
{
	if (d->has_read_last)
		return begin_alike(e, &d->read_last);
	return d->last->mark && (uint64_t)e->st.st_size >= d->last->offset &&
	       tail_mark(e->fd, d->last->offset) == d->last->mark;
}

static void judge(const struct directory *d, struct entry *e)
{
	if (e->rotated.compressed)
		doubt(e, xstrdup("it is compressed"));
	if (e->fd < 0)
		return;
	if (begins_as_read(d, e))
		doubt(e, xasprintf("it may be a copy, which begins like the file that was read up to byte %llu",
				   (unsigned long long)d->last->offset));
	if (d->current.name && begin_alike(e, &d->current))
		doubt(e, xasprintf("it may be a copy, which begins like '%s'", d->current.name));
	if (!d->is_anchored)
		doubt(e, xstrdup("it may be a copy: the last-read file is not next to it under a rotated name"));
	else if (!has_same_form(&e->rotated, &d->read_last.rotated))
		doubt(e, xasprintf("it may be a copy: its name does not match the pattern of '%s'", d->read_last.name));
	else if (!e->has_birth)
		doubt(e, xstrdup("it may be a copy: the file system does not report creation times"));
	else if (is_before(&e->born, &d->since) || is_before(&e->born, &d->read_last.born) || is_before(&e->st.st_mtim, &e->born) ||
		 (d->current.name && is_before(&d->current.born, &e->born)))
		doubt(e, xstrdup("it may be a copy: its creation time does not match a rotation"));
}

static void judge_pair(struct entry *a, struct entry *b)
{
	if (a->is_excluded || b->is_excluded)
		return;
	if (begin_alike(a, b)) {
		doubt(a, xasprintf("it may be a copy, which begins like '%s'", b->name));
		doubt(b, xasprintf("it may be a copy, which begins like '%s'", a->name));
	}
	if (!is_later(&b->rotated, &a->rotated)) {
		doubt(a, xasprintf("it may be a copy, which was made before '%s'", b->name));
		doubt(b, xasprintf("it may be a copy, which was made after '%s'", a->name));
	}
}

static int compare_births(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (is_before(&x->born, &y->born) || is_before(&y->born, &x->born))
		return is_before(&x->born, &y->born) ? -1 : 1;
	if (x->rotated.kind == y->rotated.kind && has_same_form(&x->rotated, &y->rotated))
		return is_later(&y->rotated, &x->rotated) ? -1 : is_later(&x->rotated, &y->rotated);
	return strcmp(x->name, y->name);
}

static void take(struct directory *d, struct missed_files *ret)
{
	ret->items = xcalloc(d->count + 1, sizeof(*ret->items));
	for (size_t i = 0; i < d->count; i++) {
		struct entry *e = &d->items[i];
		bool may_be_last = e->fd >= 0 && !d->has_read_last && (e->rotated.compressed || begins_as_read(d, e));

		ret->items[ret->count++] = (struct missed_file){
			.path = xasprintf("%s/%s", d->path, e->name),
			.fd = TAKE_FD(e->fd),
			.st = e->st,
			.doubt = TAKE_PTR(e->doubt),
			.is_compressed = e->rotated.compressed,
			.may_be_last = may_be_last,
		};
	}
}

static void find_in(struct directory *d, struct missed_files *ret)
{
	scan(d);
	if (d->count)
		qsort(d->items, d->count, sizeof(*d->items), compare_births);
	for (size_t i = 0; i < d->count; i++) {
		judge(d, &d->items[i]);
		d->items[i].is_excluded = d->items[i].doubt;
	}
	for (size_t i = 0; i < d->count; i++)
		for (size_t j = i + 1; j < d->count; j++)
			judge_pair(&d->items[i], &d->items[j]);
	take(d, ret);
}

static bool still_names(const char *path, const struct file_offset *last)
{
	_cleanup_(fd_closep) int fd = -1;
	struct stat st;

	return file_open_regular(path, &fd, &st, NULL) == 0 && file_offset_matches(last, fd, &st);
}

void missed_files_find(const char *path, const struct file_offset *last, const struct timespec *seen, struct missed_files *ret)
{
	_cleanup_(freep) char *real = realpath(path, NULL);
	_cleanup_(freep) char *for_directory = xstrdup(real ? real : path), *for_base = xstrdup(real ? real : path);
	struct directory d = {
		.path = dirname(for_directory),
		.base = basename(for_base),
		.last = last,
		.seen = *seen,
		.since = { .tv_sec = seen->tv_sec - SLACK_SECONDS, .tv_nsec = seen->tv_nsec },
	};

	*ret = (struct missed_files){ 0 };
	if (still_names(path, last))
		return;
	find_in(&d, ret);
	for (size_t i = 0; i < d.count; i++)
		entry_done(&d.items[i]);
	entry_done(&d.read_last);
	entry_done(&d.current);
	free(d.items);
}

void missed_files_done(struct missed_files *m)
{
	for (size_t i = 0; i < m->count; i++) {
		if (m->items[i].fd >= 0)
			close(m->items[i].fd);
		free(m->items[i].path);
		free(m->items[i].doubt);
	}
	free(m->items);
	*m = (struct missed_files){ 0 };
}
