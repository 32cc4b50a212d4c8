/* runs_scan.c: scans the directory for complete files, and queues those that are new. */
#include "runs_source_private.h"

#include "sandbox.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "run_name.h"
#include "source_url.h"
#include "text.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <xxhash.h>

#define SCAN_NS		(60 * NS_PER_SECOND)	/* from scan to scan if inotify reports new files */
#define SCAN_SOON_NS	(2 * NS_PER_SECOND)	/* if it does not, or files were too fresh */
#define ENTRIES_PER_TICK 2000u			/* then other sources have their turn */

/* --- Files --- */

/* Whether the name has a suffix of run files. Its other parts may still be invalid. */
static bool is_of_runs(const char *name)
{
	static const char *const ends[] = { ".gz", ".zst", ".json" };
	struct str s = { name, strlen(name) };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (text_ends(s, ends[i]))
			s.n -= strlen(ends[i]);
	return *name != '.' && (text_ends(s, ".xhprof") || text_ends(s, ".uprofiler"));
}

static bool is_file(struct runs_source *s, uint64_t id, const char *name, const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		runs_refuse(s, id, SOURCE_FILE_LINK, name, "it is a symbolic link");
	else if (!S_ISREG(st->st_mode))
		runs_refuse(s, id, SOURCE_FILE_KIND, name, "it is not a regular file");
	else
		return true;
	return false;
}

/* Checked only for complete files, since a growing file has another id at each scan. */
static bool is_fit(struct runs_source *s, uint64_t id, const char *name, const struct stat *st)
{
	struct run_name parts;

	if ((uint64_t)st->st_size > SANDBOX_FILE_MAX)
		runs_refuse(s, id, SOURCE_FILE_LARGE, name, "it is above 64 MB");
	else if (!run_name_of_file(name, &parts))
		runs_refuse(s, id, SOURCE_FILE_NAME, name, "its name is not ID.SOURCE.xhprof, with letters, digits, '_' and '-', and "
		       "'.' in the source");
	else
		return true;
	return false;
}

/* Queues the file if it is new and ready. `is_closed`: its writer has just closed it. */
static void visit(struct runs_source *s, const char *name, bool is_closed)
{
	int64_t age_ns;
	struct stat st;
	uint64_t id;

	if (!is_of_runs(name) || fstatat(s->directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode))
		return;
	id = runs_file_id(name, &st);
	if (runs_seen_has(&s->seen, id)) {
		runs_seen_mark(&s->seen, id);
		return;
	}
	if (runs_find_queued(s, id) || !is_file(s, id, name, &st))
		return;
	age_ns = clock_wall_ns() - runs_file_changed_ns(&st);
	/* A time in the future is a clock error: such a file counts as complete. */
	if (st.st_size == 0 || (!is_closed && age_ns >= 0 && age_ns < RUNS_QUIET_NS) || s->queue_count == s->queue_max) {
		s->has_fresh |= st.st_size > 0;
		return;
	}
	if (!is_fit(s, id, name, &st))
		return;
	assert(s->queue_count < s->queue_max);
	s->queue[s->queue_count] = (struct run_file){ .id = id, .changed_ns = runs_file_changed_ns(&st), .is_closed = is_closed };
	strcpy(s->queue[s->queue_count++].name, name);
	s->base.counters.pending = s->queue_count;
}

/* --- The directory --- */

void runs_scan_close(struct runs_source *s)
{
	if (s->scan)
		closedir(s->scan);
	s->scan = NULL;
	if (s->notify.fd >= 0) {
		int fd = s->notify.fd;

		loop_remove(s->base.loop, &s->notify);
		close(fd);
	}
	if (s->directory >= 0)
		close(s->directory);
	s->directory = -1;
}

static void watch_directory(struct runs_source *s)
{
	struct err err = { 0 };
	char self[64];
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	/* Watches the open directory, even if the path leads to another one by now. */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", s->directory);
	if (fd >= 0 && inotify_add_watch(fd, self, IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR) >= 0) {
		s->notify.fd = fd;
		if (loop_add(s->base.loop, &s->notify, EPOLLIN, &err) >= 0)
			return;
		s->notify.fd = -1;
	}
	log_info("inotify does not report new files in '%s' (%s); it is scanned every %lld seconds", s->path,
		 strerror(errno), SCAN_SOON_NS / NS_PER_SECOND);
	if (fd >= 0)
		close(fd);
}

static bool is_in_place(const struct runs_source *s)
{
	struct stat st;

	return s->directory >= 0 && stat(s->path, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode;
}

static char *seen_path(const struct runs_source *s, const char *directory)
{
	return s->state ? xasprintf("%s/runs-%016" PRIx64 ".seen", s->state, (uint64_t)XXH3_64bits(directory, strlen(directory))) :
			  NULL;
}

/* The list belongs to the directory, independent of the path that leads there. Earlier versions named lists after the
 * configured path. */
int runs_scan_open_seen(struct runs_source *s, struct err *err)
{
	_cleanup_(freep) char *before = seen_path(s, s->path);
	int r = runs_seen_init(&s->seen, seen_path(s, s->directory_path), err);

	return r < 0 || !before || !strcmp(before, s->seen.path) ? r : runs_seen_read_also(&s->seen, before, err);
}

/* Switches to the list of another directory if the path leads there now. */
static int follow_path(struct runs_source *s, struct err *err)
{
	char *now = source_url_directory(s->path), *before = s->directory_path;
	int r = 0;

	s->directory_path = now;
	if (!before || strcmp(now, before)) {
		runs_seen_done(&s->seen);
		r = runs_scan_open_seen(s, err);
	}
	free(before);
	if (r < 0) {
		runs_seen_done(&s->seen);
		runs_seen_init(&s->seen, NULL, NULL);
		free(s->directory_path);
		s->directory_path = NULL;
	}
	return r;
}

/* Logs the reason for waiting, once until the directory can be read or the reason changes. */
static void wait_for_directory(struct runs_source *s, int error, const char *why)
{
	if (s->logged_error != error && error == ENOENT)
		log_info("the directory '%s' does not exist; its runs are imported once it does", s->path);
	else if (s->logged_error != error)
		log_warning("cannot read the directory '%s': %s; retrying", s->path, why);
	s->logged_error = error;
	source_set_state(&s->base, false, "waiting for the directory: %s", why);
	runs_scan_close(s);
}

static void open_directory(struct runs_source *s)
{
	struct err err = { 0 };
	struct stat st;
	int r;

	runs_scan_close(s);
	s->directory = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->directory < 0 || fstat(s->directory, &st) < 0) {
		wait_for_directory(s, errno, strerror(errno));
		return;
	}
	if ((r = follow_path(s, &err)) < 0) {
		wait_for_directory(s, -r, err.text);
		return;
	}
	s->logged_error = 0;
	s->device = st.st_dev;
	s->inode = st.st_ino;
	watch_directory(s);
	source_set_state(&s->base, true, s->notify.fd >= 0 ? "watching" : "scanning every %lld seconds",
			 SCAN_SOON_NS / NS_PER_SECOND);
}

void runs_scan_soon(struct runs_source *s)
{
	int64_t soon = clock_monotonic_ns() + SCAN_SOON_NS;

	if (s->next_scan_ns > soon)
		s->next_scan_ns = soon;
}

static void begin_scan(struct runs_source *s)
{
	int fd;

	if (!is_in_place(s))
		open_directory(s);
	fd = s->directory < 0 ? -1 : openat(s->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->scan = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !s->scan)
		close(fd);
	s->has_fresh = false;
}

static void end_scan(struct runs_source *s)
{
	closedir(s->scan);
	s->scan = NULL;
	runs_seen_end_scan(&s->seen);
	/* Files handed over become known only when they are committed. */
	if (!s->has_caught_up)
		s->base.receiver.caught_up(s->base.receiver.data, &s->base);
	s->has_caught_up = true;
}

/* Scans a part of the directory. If the queue is full the scan waits for room. */
void runs_scan_continue(struct runs_source *s)
{
	int64_t now = clock_monotonic_ns();

	/* inotify does not report the removal of an open directory. */
	if (now >= s->next_check_ns) {
		s->next_check_ns = now + SCAN_SOON_NS;
		if (!s->scan && !is_in_place(s))
			s->next_scan_ns = 0;
	}
	if (!s->scan && now < s->next_scan_ns)
		return;
	if (!s->scan)
		begin_scan(s);
	for (unsigned n = 0; s->scan && n < ENTRIES_PER_TICK && s->queue_count < s->queue_max; n++) {
		struct dirent *e = readdir(s->scan);

		if (e)
			visit(s, e->d_name, false);
		else
			end_scan(s);
	}
	s->next_scan_ns = now + (s->notify.fd >= 0 && !s->has_fresh ? SCAN_NS : SCAN_SOON_NS);
}

/* A new name is ready at once only if it is a hard link to an existing file. */
static void on_event(struct runs_source *s, const struct inotify_event *e)
{
	s->has_fresh = false;
	if (e->mask & (IN_Q_OVERFLOW | IN_IGNORED) || !e->len || s->queue_count == s->queue_max)
		s->next_scan_ns = 0;
	else
		visit(s, e->name, !(e->mask & IN_CREATE));
	if (s->has_fresh)
		runs_scan_soon(s);
}

void runs_scan_notified(struct watch *w, uint32_t events)
{
	struct runs_source *s = (struct runs_source *)((char *)w - offsetof(struct runs_source, notify));
	char bytes[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(w->fd, bytes, sizeof(bytes));

	for (char *p = bytes; n > 0 && p < bytes + n;) {
		const struct inotify_event *e = (const struct inotify_event *)p;

		on_event(s, e);
		p += sizeof(*e) + e->len;
	}
	runs_read_next(s);
}
