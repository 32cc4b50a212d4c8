/* runs_source.c: a queue of complete files, and one child process that reads them. runs_scan.c finds them. */
#include "runs_source_private.h"

#include "sandbox.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "run_name.h"
#include "source_url.h"
#include "text.h"
#include "wire_profile.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <xxhash.h>

#define TICK_NS		(NS_PER_SECOND / 5)
#define QUEUE_MAX	1000u			/* unless STROBE_RUN_FILES_QUEUED has fewer, for tests */
#define READ_MEMORY	((size_t)1 << 30)

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

void runs_refuse(struct runs_source *s, uint64_t id, enum source_file_error e, const char *name, const char *why)
{
	warn(s, e, name, why);
	runs_seen_add(&s->seen, id);
}

/* Logs a problem that may be solved without changing the file, once per file; reading is retried. */
static void complain(struct runs_source *s, uint64_t id, const char *name, const char *why)
{
	if (map_get(&s->logged, id) != MAP_NONE)
		return;
	map_set(&s->logged, id, 0);
	warn(s, SOURCE_FILE_UNREADABLE, name, why);
}

/* --- Files --- */

uint64_t runs_file_id(const char *name, const struct stat *st)
{
	uint64_t numbers[] = { st->st_ino, (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec };
	uint64_t id = XXH3_64bits_withSeed(numbers, sizeof(numbers), XXH3_64bits(name, strlen(name)));

	return id ? id : 1;
}

int64_t runs_file_changed_ns(const struct stat *st)
{
	return st->st_mtim.tv_sec * NS_PER_SECOND + st->st_mtim.tv_nsec;
}

struct run_file *runs_find_queued(struct runs_source *s, uint64_t id)
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

/* --- Reading one --- */

struct described {
	const struct runs_source *source;
	const struct run_file *file;
};

/* Runs in the child process. */
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
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || runs_file_id(f->name, &st) != f->id)
		return err_set(err, -ESTALE, "it has changed");
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Returns true if a child process has been started to read it. */
static bool start(struct runs_source *s, struct run_file *f)
{
	_cleanup_(fd_closep) int fd = -1;
	struct described d = { s, f };
	struct sandbox_input in = { .name = "the file", .memory = READ_MEMORY, .write = write_run, .data = &d };
	struct err err = { 0 };
	int r = open_file(s, f, &fd, &err);

	assert(!s->reading && !f->is_handed);
	in.fd = fd;
	if (r >= 0)
		r = sandbox_start(&s->sandbox, &in, &err);
	if (r >= 0) {
		s->child.fd = s->sandbox.done;
		r = loop_add(s->base.loop, &s->child, EPOLLIN, &err);
		if (r >= 0) {
			s->reading = f->id;
			return true;
		}
		s->child.fd = -1;
		sandbox_end(&s->sandbox, &(const char *){ NULL }, &(size_t){ 0 }, NULL);
	}
	/* A file that has changed or disappeared is found by a later scan. */
	if (r != -ESTALE && r != -ENOENT)
		complain(s, f->id, f->name, err.text);
	unqueue(s, f);
	return false;
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

void runs_read_next(struct runs_source *s)
{
	struct run_file *f;

	while (!s->reading && s->directory >= 0 && !is_full(s) && (f = first_waiting(s)))
		start(s, f);
}

static void hand_over(struct runs_source *s, struct run_file *f, const char *messages, size_t size)
{
	struct ack_token token = { .stream = s->epoch, .high = f->id };
	struct message_metadata about = { .ack_token = &token, .time_ns = f->changed_ns, .is_dated = true };
	struct strobe_wire_message m;

	if (source_parse(&s->base, messages, size, &m) || m.size != size) {
		runs_refuse(s, f->id, SOURCE_FILE_LARGE, f->name, "the run is too large for one message");
		unqueue(s, f);
		return;
	}
	f->is_handed = true;
	source_take(&s->base, about, &m);
}

/* Whether the file may still be being written. It is then found again when it has changed, or later. */
static bool may_be_incomplete(const struct run_file *f)
{
	int64_t age_ns = clock_wall_ns() - f->changed_ns;

	return !f->is_closed && age_ns >= 0 && age_ns < RUNS_GIVE_UP_NS;
}

static void end_reading(struct runs_source *s)
{
	struct run_file *f = runs_find_queued(s, s->reading);
	const char *messages;
	struct err err = { 0 };
	size_t size;
	int r;

	assert(f && !f->is_handed);
	loop_remove(s->base.loop, &s->child);
	r = sandbox_end(&s->sandbox, &messages, &size, &err);
	s->reading = 0;
	if (r >= 0) {
		hand_over(s, f, messages, size);
	} else {
		if (r == -EIO)
			complain(s, f->id, f->name, err.text);
		else if (may_be_incomplete(f))
			runs_scan_soon(s);
		else
			runs_refuse(s, f->id, r == -EFBIG || r == -ENOMEM || r == -ETIMEDOUT ? SOURCE_FILE_LARGE :
			       SOURCE_FILE_DAMAGED, f->name, err.text);
		unqueue(s, f);
	}
	sandbox_free_messages(messages, size);
}

static void child_ended(struct watch *w, uint32_t events)
{
	struct runs_source *s = (struct runs_source *)((char *)w - offsetof(struct runs_source, child));

	end_reading(s);
	runs_read_next(s);
}

static void tick(struct watch *w, uint32_t events)
{
	struct runs_source *s = (struct runs_source *)((char *)w - offsetof(struct runs_source, timer));

	loop_timer_read(w);
	if (s->reading && clock_monotonic_ns() >= s->sandbox.end_ns)
		end_reading(s);
	runs_scan_continue(s);
	runs_read_next(s);
	runs_seen_save(&s->seen);
}

/* --- Acknowledgements --- */

static void runs_ack(struct source *base, const struct ack_token *tokens, size_t n)
{
	struct runs_source *s = (struct runs_source *)base;

	for (size_t i = 0; i < n; i++) {
		struct run_file *f = runs_find_queued(s, tokens[i].high);

		if (!f)
			continue;
		assert(f->is_handed);
		runs_seen_add(&s->seen, f->id);
		base->counters.files++;
		base->counters.acked++;
		unqueue(s, f);
	}
}

/* --- Lifecycle --- */

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
		sandbox_end(&s->sandbox, &messages, &size, NULL);
		sandbox_free_messages(messages, size);
		s->reading = 0;
	}
	runs_scan_close(s);
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
	s->notify = (struct watch){ .ready = runs_scan_notified, .fd = -1 };
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
		r = runs_scan_open_seen(s, err);
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
	source_set_awaited(&s->base, s->path);
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
