/* retention.c: lists the files of tags that get new ones, and removes the oldest ones beyond the limit. */
#include "retention.h"

#include "arena.h"
#include "log.h"
#include "mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct old_file {
	uint32_t tag;
	int64_t mtime_ns;
	const char *name;
};

struct scan {
	struct intern tags;		/* in the caller's order */
	struct old_file *files;
	size_t count, capacity;
	struct arena names;
};

static void visit(struct scan *s, int directory, const struct log_name *format, const char *name)
{
	struct str found[LOG_NAME_TAGS];
	size_t n = log_name_tags(format, name, found);
	struct stat st;

	for (size_t i = 0; i < n; i++) {
		uint32_t tag = intern_find(&s->tags, found[i].p, found[i].n);

		if (tag == UINT32_MAX || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		GROW(&s->files, &s->capacity, s->count + 1);
		s->files[s->count++] = (struct old_file){
			tag, st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec,
			arena_copy(&s->names, name, strlen(name))
		};
	}
}

/* By tag, newest first; on equal times, by name in descending order. */
static int compare(const void *a, const void *b)
{
	const struct old_file *x = a, *y = b;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	if (x->mtime_ns != y->mtime_ns)
		return x->mtime_ns > y->mtime_ns ? -1 : 1;
	return strcmp(y->name, x->name);
}

static void remove_file(int directory, const char *path, const char *name, _Atomic uint64_t *removed)
{
	if (unlinkat(directory, name, 0) == 0)
		(*removed)++;
	else if (errno != ENOENT)
		log_warning("cannot remove '%s/%s', which retention expires: %s", path, name, strerror(errno));
}

void retention_apply(const char *directory, const struct log_name *format, unsigned retain,
		     const struct retention_tag *tags, size_t count,
		     bool (*keep)(void *data, const char *name), void *data, _Atomic uint64_t *removed)
{
	struct scan s = { 0 };
	DIR *d = opendir(directory);
	uint32_t tag = UINT32_MAX;
	int64_t room = 0;

	if (!d)
		return;			/* no directory yet, so nothing to remove */
	intern_init(&s.tags);
	arena_init(&s.names);
	for (size_t i = 0; i < count; i++)
		intern_add(&s.tags, tags[i].tag.p, tags[i].tag.n);
	for (struct dirent *e; (e = readdir(d));)
		visit(&s, dirfd(d), format, e->d_name);
	if (s.count)
		qsort(s.files, s.count, sizeof(*s.files), compare);
	for (size_t i = 0; i < s.count; i++) {
		if (s.files[i].tag != tag) {
			tag = s.files[i].tag;
			room = (int64_t)retain + 1 - tags[tag].new_files;
		}
		if (room-- <= 0 && !keep(data, s.files[i].name))
			remove_file(dirfd(d), directory, s.files[i].name, removed);
	}
	closedir(d);
	free(s.files);
	arena_done(&s.names);
	intern_done(&s.tags);
}
