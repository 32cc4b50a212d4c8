/* runs_source.c: scans of the directory, a queue of complete files, and one child process that reads. */
#include "runs_source.h"

#include "apart.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "run_name.h"
#include "runs_seen.h"
#include "source_url.h"
#include "text.h"
#include "wire_profile.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <xxhash.h>

#define TICK_NS		(NS_PER_SECOND / 5)
#define SCAN_NS		(60 * NS_PER_SECOND)	/* from scan to scan if inotify reports new files */
#define SCAN_SOON_NS	(2 * NS_PER_SECOND)	/* if it does not, or files were too fresh */
#define ENTRIES_PER_TICK 2000u			/* then other sources have their turn */
#define QUEUE_MAX	1000u			/* unless STROBE_RUN_FILES_QUEUED has fewer, for tests */
#define READ_MEMORY	((size_t)1 << 30)

struct run_file {
	uint64_t id;				/* as in runs_seen.h */
	int64_t changed_ns;
	bool is_handed;				/* it waits to be committed */
	bool is_closed;				/* its writer is done with it */
	char name[NAME_MAX + 1];
};

struct runs_source {
	struct source base;
	struct source_hints hints;
	char *path;				/* as configured: where it leads may change */
	char *directory_path;			/* where it leads; NULL: not known any more */
	char *state;				/* NULL: nothing is remembered */
	struct runs_seen seen;
	struct map logged;			/* ids of files whose error was logged once, and that are retried */
	uint32_t epoch;				/* in ack tokens: those of before a restart are never met again */

	struct watch timer, notify, child;
	int directory;				/* -1 while there is none */
	dev_t device;
	ino_t inode;
	DIR *scan;				/* under way */
	int64_t next_scan_ns, next_check_ns;	/* monotonic; the check is whether the path still names the directory */
	bool has_fresh;				/* the scan has passed over a file that may still be written */
	bool has_caught_up;

	struct run_file *queue;			/* in the order in which they were found */
	size_t queue_count;
	size_t queue_max;
	struct apart apart;
	uint64_t reading;			/* id of the file that the child reads; 0: none */
	int64_t next_warning_ns;
};

/* --- Refusing --- */

static void put_name(const char *name, char *ret, size_t size)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	text_put_plain(&b, (struct str){ name, strlen(name) });
	snprintf(ret, size, "'%s'", b.data);
}

static void warn(struct runs_source *s, enum source_file_error e, const char *name, const char *why)
{
	char shown[NAME_MAX * 4 + 3];

	s->base.counters.rejected_files[e]++;
	put_name(name, shown, sizeof(shown));
	if (log_is_due(&s->next_warning_ns))
		log_warning("%s in '%s' was not imported: %s. Further ones are "
			    "counted, not logged", shown, s->path, why);
}

static void refuse(struct runs_source *s, uint64_t id, enum source_file_error e, const char *name, const char *why)
{
	warn(s, e, name, why);
	runs_seen_add(&s->seen, id);
}

/* For what may change without the file: it is said once, and tried again. */
static void complain(struct runs_source *s, uint64_t id, const char *name, const char *why)
{
	if (map_get(&s->logged, id) != MAP_NONE)
		return;
	map_set(&s->logged, id, 0);
	warn(s, SOURCE_FILE_UNREADABLE, name, why);
}

/* --- Files --- */

static uint64_t id_of(const char *name, const struct stat *st)
{
	uint64_t numbers[] = { st->st_ino, (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec };
	uint64_t id = XXH3_64bits_withSeed(numbers, sizeof(numbers), XXH3_64bits(name, strlen(name)));

	return id ? id : 1;
}

static int64_t changed_at(const struct stat *st)
{
	return st->st_mtim.tv_sec * NS_PER_SECOND + st->st_mtim.tv_nsec;
}

/* Whether the name ends like those of run files; its parts need not be valid names of runs. */
static bool is_of_runs(const char *name)
{
	static const char *const ends[] = { ".gz", ".zst", ".json" };
	struct str s = { name, strlen(name) };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (text_ends(s, ends[i]))
			s.n -= strlen(ends[i]);
	return *name != '.' && (text_ends(s, ".xhprof") || text_ends(s, ".uprofiler"));
}

static struct run_file *find_queued(struct runs_source *s, uint64_t id)
{
	for (size_t i = 0; i < s->queue_count; i++)
		if (s->queue[i].id == id)
			return &s->queue[i];
	return NULL;
}

static void unqueue(struct runs_source *s, struct run_file *f)
{
	size_t after = s->queue_count - (size_t)(f - s->queue) - 1;

	assert(f >= s->queue && f < s->queue + s->queue_count);
	memmove(f, f + 1, after * sizeof(*f));
	s->queue_count--;
	s->base.counters.pending = s->queue_count;
}

static bool is_file(struct runs_source *s, uint64_t id, const char *name, const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		refuse(s, id, SOURCE_FILE_LINK, name, "it is a symbolic link");
	else if (!S_ISREG(st->st_mode))
		refuse(s, id, SOURCE_FILE_KIND, name, "it is not a regular file");
	else
		return true;
	return false;
}

/* Checked only once the file is complete: a growing file has another id at each scan. */
static bool is_fit(struct runs_source *s, uint64_t id, const char *name, const struct stat *st)
{
	struct run_name parts;

	if ((uint64_t)st->st_size > APART_FILE_MAX)
		refuse(s, id, SOURCE_FILE_LARGE, name, "it is above 64 MB");
	else if (!run_name_of_file(name, &parts))
		refuse(s, id, SOURCE_FILE_NAME, name, "its name is not ID.SOURCE.xhprof, with letters, digits, '_' and '-', and "
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
	id = id_of(name, &st);
	if (runs_seen_has(&s->seen, id)) {
		runs_seen_meet(&s->seen, id);
		return;
	}
	if (find_queued(s, id) || !is_file(s, id, name, &st))
		return;
	age_ns = clock_wall_ns() - changed_at(&st);
	/* A time in the future is a clock's fault, and tells nothing. */
	if (st.st_size == 0 || (!is_closed && age_ns >= 0 && age_ns < RUNS_QUIET_NS) || s->queue_count == s->queue_max) {
		s->has_fresh |= st.st_size > 0;
		return;
	}
	if (!is_fit(s, id, name, &st))
		return;
	assert(s->queue_count < s->queue_max);
	s->queue[s->queue_count] = (struct run_file){ .id = id, .changed_ns = changed_at(&st), .is_closed = is_closed };
	strcpy(s->queue[s->queue_count++].name, name);
	s->base.counters.pending = s->queue_count;
}

/* --- Reading one --- */

struct described {
	const struct runs_source *source;
	const struct run_file *file;
};

/* In the child. */
static int write_run(void *data, struct profile *p, struct buf *out, struct err *err)
{
	const struct described *d = data;
	const struct labels *more = &d->source->hints.labels;
	uint32_t wall = profile_find_column(p, "wall_ns");
	int64_t took = wall == UINT32_MAX ? 0 : profile_sum(p, wall);
	struct run_name name;

	if (!run_name_of_file(d->file->name, &name))
		return err_set(err, -EINVAL, "its name is not that of a run");
	for (size_t i = 0; i < more->count; i++)
		labels_set(&p->labels, more->items[i].key, strlen(more->items[i].key), more->items[i].value,
			   strlen(more->items[i].value));
	labels_set(&p->labels, "source", 6, name.source, strlen(name.source));
	labels_set(&p->labels, "id", 2, name.id, strlen(name.id));
	p->end_ns = d->file->changed_ns;
	p->start_ns = took > 0 && took < p->end_ns ? p->end_ns - took : p->end_ns;
	return wire_profile_write_run(p, out, err);
}

/* Opens a file that was examined before, if it is still the same. */
static int open_file(struct runs_source *s, const struct run_file *f, int *ret_fd, struct err *err)
{
	_cleanup_(fd_closep) int fd = openat(s->directory, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return err_set(err, -errno, "cannot open it: %s", strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || id_of(f->name, &st) != f->id)
		return err_set(err, -ESTALE, "it has changed");
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Returns true if a child reads it now. */
static bool start(struct runs_source *s, struct run_file *f)
{
	_cleanup_(fd_closep) int fd = -1;
	struct described d = { s, f };
	struct apart_input in = { .name = "the file", .memory = READ_MEMORY, .write = write_run, .data = &d };
	struct err err = { 0 };
	int r = open_file(s, f, &fd, &err);

	assert(!s->reading && !f->is_handed);
	in.fd = fd;
	if (r >= 0)
		r = apart_start(&s->apart, &in, &err);
	if (r >= 0) {
		s->child.fd = s->apart.done;
		r = loop_add(s->base.loop, &s->child, EPOLLIN, &err);
		if (r >= 0) {
			s->reading = f->id;
			return true;
		}
		s->child.fd = -1;
		apart_end(&s->apart, &(const char *){ NULL }, &(size_t){ 0 }, NULL);
	}
	/* One that changes or goes is met again. */
	if (r != -ESTALE && r != -ENOENT)
		complain(s, f->id, f->name, err.text);
	unqueue(s, f);
	return false;
}

static void scan_soon(struct runs_source *s)
{
	int64_t soon = clock_monotonic_ns() + SCAN_SOON_NS;

	if (s->next_scan_ns > soon)
		s->next_scan_ns = soon;
}

static bool is_full(const struct runs_source *s)
{
	return s->base.receiver.full && s->base.receiver.full(s->base.receiver.data);
}

static struct run_file *first_waiting(struct runs_source *s)
{
	for (size_t i = 0; i < s->queue_count; i++)
		if (!s->queue[i].is_handed)
			return &s->queue[i];
	return NULL;
}

static void read_next(struct runs_source *s)
{
	struct run_file *f;

	while (!s->reading && s->directory >= 0 && !is_full(s) && (f = first_waiting(s)))
		start(s, f);
}

static void hand_over(struct runs_source *s, struct run_file *f, const char *messages, size_t size)
{
	struct ack_token token = { .stream = s->epoch, .high = f->id };
	struct source_about about = { .ack_token = &token, .time_ns = f->changed_ns, .is_dated = true };
	struct strobe_wire_message m;

	if (source_parse(&s->base, messages, size, &m) || m.size != size) {
		refuse(s, f->id, SOURCE_FILE_LARGE, f->name, "the run is too large for one message");
		unqueue(s, f);
		return;
	}
	f->is_handed = true;
	source_take(&s->base, about, &m);
}

/* It may still be written: the file is met again when it has changed, or has had time to. */
static bool may_be_under_way(const struct run_file *f)
{
	int64_t age_ns = clock_wall_ns() - f->changed_ns;

	return !f->is_closed && age_ns >= 0 && age_ns < RUNS_GIVE_UP_NS;
}

static void end_reading(struct runs_source *s)
{
	struct run_file *f = find_queued(s, s->reading);
	const char *messages;
	struct err err = { 0 };
	size_t size;
	int r;

	assert(f && !f->is_handed);
	loop_remove(s->base.loop, &s->child);
	r = apart_end(&s->apart, &messages, &size, &err);
	s->reading = 0;
	if (r >= 0) {
		hand_over(s, f, messages, size);
	} else {
		if (r == -EIO)
			complain(s, f->id, f->name, err.text);
		else if (may_be_under_way(f))
			scan_soon(s);
		else
			refuse(s, f->id, r == -EFBIG || r == -ENOMEM || r == -ETIMEDOUT ? SOURCE_FILE_LARGE :
			       SOURCE_FILE_DAMAGED, f->name, err.text);
		unqueue(s, f);
	}
	apart_free_messages(messages, size);
}

static void child_ended(struct watch *w, uint32_t events)
{
	struct runs_source *s = (struct runs_source *)((char *)w - offsetof(struct runs_source, child));

	end_reading(s);
	read_next(s);
}

/* --- Scanning the directory --- */

static void close_directory(struct runs_source *s)
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

	/* The one that is open, whatever the path names by now. */
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

/* The list belongs to the directory, whatever leads there. Lists of before were named after the path as configured. */
static int open_seen(struct runs_source *s, struct err *err)
{
	_cleanup_(freep) char *before = seen_path(s, s->path);
	int r = runs_seen_init(&s->seen, seen_path(s, s->directory_path), err);

	return r < 0 || !before || !strcmp(before, s->seen.path) ? r : runs_seen_read_also(&s->seen, before, err);
}

/* Changes to the list of another directory if the path leads there by now. */
static int follow_path(struct runs_source *s, struct err *err)
{
	char *now = source_url_directory(s->path), *before = s->directory_path;
	int r = 0;

	s->directory_path = now;
	if (!before || strcmp(now, before)) {
		runs_seen_done(&s->seen);
		r = open_seen(s, err);
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

static void open_directory(struct runs_source *s)
{
	struct err err = { 0 };
	struct stat st;

	close_directory(s);
	s->directory = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->directory < 0 || fstat(s->directory, &st) < 0) {
		source_set_state(&s->base, false, "waiting for the directory: %s", strerror(errno));
		close_directory(s);
		return;
	}
	if (follow_path(s, &err) < 0) {
		source_set_state(&s->base, false, "waiting: %s", err.text);
		close_directory(s);
		return;
	}
	s->device = st.st_dev;
	s->inode = st.st_ino;
	watch_directory(s);
	source_set_state(&s->base, true, s->notify.fd >= 0 ? "watching" : "scanning every %lld seconds",
			 SCAN_SOON_NS / NS_PER_SECOND);
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
	/* A file that was handed over becomes known only once it is committed. */
	if (!s->has_caught_up)
		s->base.receiver.caught_up(s->base.receiver.data, &s->base);
	s->has_caught_up = true;
}

/* A part of the directory. If the queue is full the scan waits for room. */
static void continue_scan(struct runs_source *s)
{
	int64_t now = clock_monotonic_ns();

	/* inotify tells nothing of a directory that is removed while it is open. */
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

/* A file that was made is ready at once only if it is a link to one that was there. */
static void on_event(struct runs_source *s, const struct inotify_event *e)
{
	s->has_fresh = false;
	if (e->mask & (IN_Q_OVERFLOW | IN_IGNORED) || !e->len || s->queue_count == s->queue_max)
		s->next_scan_ns = 0;
	else
		visit(s, e->name, !(e->mask & IN_CREATE));
	if (s->has_fresh)
		scan_soon(s);
}

static void notified(struct watch *w, uint32_t events)
{
	struct runs_source *s = (struct runs_source *)((char *)w - offsetof(struct runs_source, notify));
	char bytes[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(w->fd, bytes, sizeof(bytes));

	for (char *p = bytes; n > 0 && p < bytes + n;) {
		const struct inotify_event *e = (const struct inotify_event *)p;

		on_event(s, e);
		p += sizeof(*e) + e->len;
	}
	read_next(s);
}

static void tick(struct watch *w, uint32_t events)
{
	struct runs_source *s = (struct runs_source *)((char *)w - offsetof(struct runs_source, timer));

	loop_timer_read(w);
	if (s->reading && clock_monotonic_ns() >= s->apart.end_ns)
		end_reading(s);
	continue_scan(s);
	read_next(s);
	runs_seen_save(&s->seen);
}

/* --- Acknowledgements --- */

static void runs_ack(struct source *base, const struct ack_token *tokens, size_t n)
{
	struct runs_source *s = (struct runs_source *)base;

	for (size_t i = 0; i < n; i++) {
		struct run_file *f = find_queued(s, tokens[i].high);

		if (!f)
			continue;
		assert(f->is_handed);
		runs_seen_add(&s->seen, f->id);
		base->counters.files++;
		base->counters.acked++;
		unqueue(s, f);
	}
}

/* --- Life --- */

/* Files that were not read stay where they are. */
static void runs_stop(struct source *base)
{
	struct runs_source *s = (struct runs_source *)base;

	if (s->timer.fd >= 0)
		loop_remove_timer(base->loop, &s->timer);
	if (s->reading) {
		const char *messages;
		size_t size;

		loop_remove(base->loop, &s->child);
		apart_end(&s->apart, &messages, &size, NULL);
		apart_free_messages(messages, size);
		s->reading = 0;
	}
	close_directory(s);
	source_set_state(base, false, "closed");
}

static struct source *runs_close(struct source *base)
{
	struct runs_source *s = (struct runs_source *)base;

	runs_stop(base);
	runs_seen_done(&s->seen);
	map_done(&s->logged);
	source_hints_done(&s->hints);
	free(s->queue);
	free(s->path);
	free(s->directory_path);
	free(s->state);
	source_done(base);
	free(s);
	return NULL;
}

static int take_parameters(struct runs_source *s, const char *query, struct err *err)
{
	_cleanup_(freep) char *copy = xstrdup(query);
	char *rest = copy, *one;

	while ((one = strsep(&rest, "&"))) {
		char *value = strchr(one, '=');
		size_t n;
		int r = 0;

		if (value)
			*value++ = 0;
		if (value && text_unescape_url(value, strlen(value), &n) == 0 && !strncmp(one, "label.", 6))
			r = source_hints_set(&s->hints, one, value, err);
		if (r < 0)
			return r;
		if (r == 0)
			return err_set(err, -EINVAL, "unknown parameter '%.60s'; runs: takes label.NAME=VALUE", one);
	}
	return 0;
}

static int set_path(struct runs_source *s, const char *url, struct err *err)
{
	const char *path = url + strlen("runs:");

	if (!strncmp(path, "///", 3))
		path += 2;
	s->path = xstrndup(path, strcspn(path, "?"));
	if (*path != '/' || strlen(s->path) >= PATH_MAX)
		return err_set(err, -EINVAL, "'%s' needs the absolute path of a directory, as in runs:/var/xhprof", url);
	s->directory_path = source_url_directory(s->path);
	s->base.identity = xasprintf("runs:%s", s->directory_path);
	return 0;
}

static size_t queue_max(void)
{
	const char *text = getenv("STROBE_RUN_FILES_QUEUED");
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;

	return n > 0 && n < QUEUE_MAX ? n : QUEUE_MAX;
}

static int runs_open(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		     struct err *err)
{
	struct runs_source *s = xcalloc(1, sizeof(*s));
	const char *query = strchr(url, '?');
	struct stat st;
	int r;

	s->base = (struct source){ .ops = &runs_source_ops, .receiver = *receiver, .loop = loop, .url = xstrdup(url) };
	s->timer = (struct watch){ .ready = tick, .fd = -1 };
	s->notify = (struct watch){ .ready = notified, .fd = -1 };
	s->child = (struct watch){ .ready = child_ended, .fd = -1 };
	s->directory = -1;
	s->epoch = (uint32_t)(clock_wall_ns() / NS_PER_SECOND);
	s->queue_max = queue_max();
	s->queue = xcalloc(s->queue_max, sizeof(*s->queue));
	source_hints_init(&s->hints);
	map_init(&s->logged);
	s->state = receiver->state ? xstrdup(receiver->state) : NULL;
	runs_seen_init(&s->seen, NULL, NULL);
	r = set_path(s, url, err);
	if (r >= 0)
		r = open_seen(s, err);
	if (r >= 0 && query)
		r = take_parameters(s, query + 1, err);
	if (r >= 0 && stat(s->path, &st) == 0 && !S_ISDIR(st.st_mode))
		r = err_set(err, -ENOTDIR, "'%s' is not a directory; `strobe import` takes single files", s->path);
	if (r >= 0)
		r = loop_add_timer(loop, &s->timer, TICK_NS, err);
	if (r < 0) {
		runs_close(&s->base);
		return r;
	}
	source_set_state(&s->base, false, "starting");
	*ret = &s->base;
	return 0;
}

static bool runs_acknowledges(const char *url)
{
	return true;
}

const struct source_ops runs_source_ops = {
	.scheme = "runs",
	.acknowledges = runs_acknowledges,
	.same_input = source_url_same_place,
	.open = runs_open,
	.ack = runs_ack,
	.stop = runs_stop,
	.close = runs_close,
};
