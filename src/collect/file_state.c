/* file_state.c: names of the state files of followed files, and the search for the one that knows a file. */
#include "file_state.h"

#include "mem.h"
#include "private_file.h"
#include "source_url.h"
#include "tail.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define PREFIX	"file-"
#define SUFFIX	".position"

/* The file that a source follows; fd is -1 if there is none now. */
struct followed {
	int fd;
	struct stat st;
	struct statx birth;
};

bool file_offset_parse(const char *line, struct file_offset *ret)
{
	return sscanf(line, "at %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNx64, &ret->epoch, &ret->device,
		      &ret->inode, &ret->offset, &ret->mark) == 5 &&
	       ret->offset < INT64_MAX;
}

bool file_offset_parse_ended(const char *line, struct file_offset *ret)
{
	ret->epoch = 0;
	return sscanf(line, "was %" SCNd64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNx64, &ret->ended, &ret->device, &ret->inode,
		      &ret->offset, &ret->mark) == 5 &&
	       ret->offset < INT64_MAX;
}

bool file_offset_matches(const struct file_offset *o, int fd, const struct stat *st)
{
	return st->st_dev == o->device && st->st_ino == o->inode && (uint64_t)st->st_size >= o->offset &&
	       (!o->mark || tail_mark(fd, o->offset) == o->mark);
}

char *file_state_real_path(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	_cleanup_(freep) char *directory = xstrndup(path, (size_t)(name - path)), *real = source_url_directory(directory);

	return xasprintf("%s/%s", strcmp(real, "/") ? real : "", name);
}

char *file_state_path(const char *directory, const char *path)
{
	return xasprintf("%s/" PREFIX "%016" PRIx64 SUFFIX, directory, (uint64_t)XXH3_64bits(path, strlen(path)));
}

/* --- The search --- */

static struct followed followed_of(int fd, const struct stat *st)
{
	struct followed f = { .fd = fd, .st = *st };

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &f.birth) < 0)
		f.birth.stx_mask = 0;
	return f;
}

static struct followed open_followed(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st = { 0 };

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return followed_of(fd, &st);
}

/* Inodes are used again: a file that was made after the offset was saved is another one. */
static bool is_younger(const struct followed *f, const struct timespec *saved)
{
	const struct statx_timestamp *born = &f->birth.stx_btime;

	if (!(f->birth.stx_mask & STATX_BTIME))
		return false;
	return born->tv_sec > saved->tv_sec || (born->tv_sec == saved->tv_sec && (long)born->tv_nsec > saved->tv_nsec);
}

static bool was_of(const struct file_offset *ended, const struct followed *f)
{
	struct timespec at = { .tv_sec = ended->ended + 1 };

	return !is_younger(f, &at) && file_offset_matches(ended, f->fd, &f->st);
}

bool file_offset_was_of(const struct file_offset *ended, int fd, const struct stat *st)
{
	struct followed f = followed_of(fd, st);

	return was_of(ended, &f);
}

/* Compares the last offset only; the others belong to rotated files. */
static bool has_offset_of(const char *state_path, const struct stat *state, const struct followed *f)
{
	struct file_offset o, last = { 0 };
	_cleanup_(buf_done) struct buf b = { 0 };
	char *rest, *line;
	bool found = false;

	buf_init(&b);
	if (f->fd < 0 || is_younger(f, &state->st_mtim) || private_file_read(state_path, &b, FILE_STATE_MAX, NULL) < 0 ||
	    strncmp(b.data, FILE_STATE_BEGIN, strlen(FILE_STATE_BEGIN)))
		return false;
	for (rest = b.data; (line = strsep(&rest, "\n"));)
		if (file_offset_parse(line, &o) && (!found || o.epoch >= last.epoch)) {
			last = o;
			found = true;
		}
	return found && file_offset_matches(&last, f->fd, &f->st);
}

static bool is_one_of(const char *path, char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] && !strcmp(list[i], path))
			return true;
	return false;
}

static bool is_state_file(const char *name)
{
	size_t n = strlen(name);

	return n == strlen(PREFIX) + 16 + strlen(SUFFIX) && !strncmp(name, PREFIX, strlen(PREFIX)) &&
	       !strcmp(name + n - strlen(SUFFIX), SUFFIX);
}

static bool is_later(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec :
							a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* Returns the latest state file: among `own`, or without them among those with an offset of the file. */
static char *find_latest(const char *directory, char *const own[2], const struct followed *f, char *const *taken, size_t taken_count)
{
	DIR *d = opendir(directory);
	char *found = NULL;
	struct stat st, found_st = { 0 };
	struct dirent *e;

	while (d && (e = readdir(d))) {
		_cleanup_(freep) char *other = xasprintf("%s/%s", directory, e->d_name);

		if (!is_state_file(e->d_name) || is_one_of(other, taken, taken_count) || lstat(other, &st) < 0 ||
		    (found && !is_later(&st, &found_st)) || !(own ? is_one_of(other, own, 2) : has_offset_of(other, &st, f)))
			continue;
		free(found);
		found = TAKE_PTR(other);
		found_st = st;
	}
	if (d)
		closedir(d);
	return found;
}

/* Prefers the file under its own name, which would be overwritten, and may have offsets of other files. */
char *file_state_find(const char *directory, const char *path, char *const *taken, size_t taken_count)
{
	_cleanup_(freep) char *real = file_state_real_path(path);
	char *const own[] = { file_state_path(directory, real), file_state_path(directory, path) };
	struct followed f = open_followed(path);
	char *found = find_latest(directory, own, &f, taken, taken_count);

	if (!found)
		found = find_latest(directory, NULL, &f, taken, taken_count);
	if (f.fd >= 0)
		close(f.fd);
	free(own[0]);
	free(own[1]);
	return found;
}

/* --- Files that were renamed from another path --- */

static bool read_lines(const char *state_path, struct buf *b)
{
	return private_file_read(state_path, b, FILE_STATE_MAX, NULL) >= 0 &&
	       !strncmp(b->data, FILE_STATE_BEGIN, strlen(FILE_STATE_BEGIN));
}

/* A file being read may also have a "was" line, if it was read to its end and then renamed back. */
static bool find_in(const char *state_path, const struct stat *state, const struct followed *f, struct file_offset *ret)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	struct file_offset o;
	bool found = false;
	char *rest, *line;

	buf_init(&b);
	if (!read_lines(state_path, &b))
		return false;
	for (rest = b.data; (line = strsep(&rest, "\n"));) {
		bool ended = file_offset_parse_ended(line, &o);

		if (ended ? (found && !ret->ended) || !was_of(&o, f) :
			    !file_offset_parse(line, &o) || is_younger(f, &state->st_mtim) || !file_offset_matches(&o, f->fd, &f->st))
			continue;
		if (!ended)
			o.ended = 0;
		*ret = o;
		found = true;
	}
	return found;
}

bool file_state_find_offset(const char *directory, int fd, const struct stat *file, struct file_offset *ret)
{
	struct followed f = followed_of(fd, file);
	DIR *d = fd < 0 ? NULL : opendir(directory);
	struct file_offset o = { 0 };
	bool found = false;
	struct stat st;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", directory, e->d_name);

		if (!is_state_file(e->d_name) || lstat(path, &st) < 0 || !find_in(path, &st, &f, &o) ||
		    (found && o.offset <= ret->offset))
			continue;
		*ret = o;
		found = true;
	}
	if (d)
		closedir(d);
	return found;
}

void file_state_put_ended(const struct file_offset *o, struct buf *out)
{
	buf_printf(out, "was %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", o->ended, o->device, o->inode, o->offset,
		   o->mark);
}

static int end_in(const char *state_path, const struct file_offset *o, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 }, out = { 0 };
	struct file_offset other;
	char *rest, *line;
	bool found = false;

	buf_init(&b);
	buf_init(&out);
	if (!read_lines(state_path, &b))
		return 0;
	for (rest = b.data; (line = strsep(&rest, "\n"));) {
		if (file_offset_parse(line, &other) && other.device == o->device && other.inode == o->inode) {
			file_state_put_ended(o, &out);
			found = true;
		} else if (*line) {
			buf_printf(&out, "%s\n", line);
		}
	}
	return found ? private_file_write(state_path, out.data, out.size, false, err) : 0;
}

int file_state_end(const char *directory, const struct file_offset *ended, char *const *taken, size_t taken_count, struct err *err)
{
	DIR *d = opendir(directory);
	struct dirent *e;
	int r = 0;

	while (d && r >= 0 && (e = readdir(d))) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", directory, e->d_name);

		if (is_state_file(e->d_name) && !is_one_of(path, taken, taken_count))
			r = end_in(path, ended, err);
	}
	if (d)
		closedir(d);
	return r;
}
