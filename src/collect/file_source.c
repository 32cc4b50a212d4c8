/* file_source.c: selects the files to read, and closes finished ones. */

#include "file_source_private.h"

#include "clock.h"
#include "file_paths.h"
#include "log.h"
#include "mem.h"
#include "private_file.h"
#include "source_url.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define POLL_NS		(NS_PER_SECOND / 5)
#define PIECES_PER_POLL	64u			/* then other sources have their turn */
#define OLD_QUIET_NS	(10 * NS_PER_SECOND)	/* a writer may keep the rotated file open for a while */

/* All open sources, since a file may be renamed from the path of one to the path of another. Used by the loop's
 * thread only. */
static struct file_source *all;

/* --- Lines --- */

static void on_line(void *data, uint64_t at, const char *line, size_t n)
{
	struct file_source *s = data;
	struct ack_token token = { .stream = s->reading->epoch, .high = s->reading->inode, .low = at };
	struct message_metadata about = source_hints_about(&s->options.hints);

	about.ack_token = &token;
	about.channel = s->options.channel;
	if (!line) {
		s->base.counters.rejected_lines[SOURCE_LINE_TOO_LONG]++;
	} else if (source_line(&s->base, about, line, n) == SOURCE_LINE_OK) {
		tail_note(s->reading, at);
		s->base.counters.pending++;
	}
}

/* --- Saving offsets --- */

/* Whether lines behind the offset have been acknowledged, which would be read again after a restart. */
static bool is_ahead(const struct file_source *s)
{
	for (const struct tail *t = s->tails; t; t = t->next)
		if (t->fd >= 0 && t->ahead)
			return true;
	return false;
}

static void save(struct file_source *s)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	struct err err = { 0 };
	bool failed;

	if (!s->state_path)
		return;
	buf_init(&b);
	buf_puts(&b, FILE_STATE_BEGIN);
	if (!strchr(s->base.identity, '\n'))
		buf_printf(&b, FILE_STATE_ORIGIN "%s\n", s->base.identity);
	buf_printf(&b, "last %" PRIu32 "\n", s->last_epoch);
	if (s->seen_ns)
		buf_printf(&b, "seen %" PRId64 "\n", s->seen_ns);
	for (struct tail *t = s->tails; t; t = t->next)
		if (t->fd >= 0)
			buf_printf(&b, "at %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", t->epoch,
				   t->device, t->inode, tail_offset(t), tail_mark(t->fd, tail_offset(t)));
	for (size_t i = 0; i < s->ended_count; i++)
		file_state_put_ended(&s->ended[i], &b);
	failed = private_file_write(s->state_path, b.data, b.size, false, &err) < 0;
	if (failed && !s->state_failed)
		log_warning("cannot save the offset in '%s': %s", s->path, err.text);
	s->state_failed = failed;
	if (!failed && !is_ahead(s))
		s->saved = s->acknowledged;
}

/* --- The list of tails --- */

void file_source_add_tail(struct file_source *s, struct tail *t)
{
	struct tail **p = &s->tails;

	while (*p)
		p = &(*p)->next;
	*p = t;
	t->feed.max = SOURCE_LINE_MAX;
	t->feed.got = on_line;
	t->feed.data = s;
}

struct tail *file_source_begin_tail(struct file_source *s, int fd, const struct stat *st, uint64_t offset)
{
	struct tail *t = tail_new(fd, st->st_dev, st->st_ino, ++s->last_epoch, offset);

	file_source_add_tail(s, t);
	return t;
}

static void forget_ended(struct file_source *s, uint64_t device, uint64_t inode)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ended_count; i++)
		if (s->ended[i].device != device || s->ended[i].inode != inode)
			s->ended[n++] = s->ended[i];
	s->ended_count = n;
}

void file_source_add_ended(struct file_source *s, const struct file_offset *o)
{
	if (s->ended_count == FILE_STATE_ENDED)
		memmove(s->ended, s->ended + 1, --s->ended_count * sizeof(*s->ended));
	s->ended[s->ended_count++] = *o;
}

static struct file_offset ended_at(const struct tail *t, uint64_t offset)
{
	return (struct file_offset){
		.ended = clock_wall_ns() / NS_PER_SECOND,
		.device = t->device,
		.inode = t->inode,
		.offset = offset,
		.mark = tail_mark(t->fd, offset),
	};
}

/* Remembers a rotated file that was read to its end, in case it is configured by its new name. */
static void note_ended(struct file_source *s, const struct tail *t)
{
	struct file_offset o = ended_at(t, t->feed.end);

	forget_ended(s, t->device, t->inode);
	file_source_add_ended(s, &o);
}

/* Ends a tail: a last line without a newline will never get one. */
static void end_tail(struct file_source *s, struct tail *t)
{
	assert(t->fd >= 0);
	s->reading = t;
	line_feed_end(&t->feed);
	close(t->fd);
	t->fd = -1;
	if (s->current == t)
		s->current = NULL;
}

static void free_done(struct file_source *s)
{
	for (struct tail **p = &s->tails; *p;) {
		struct tail *t = *p;

		if (t->fd < 0 && tail_is_done(t)) {
			*p = t->next;
			tail_free(t);
		} else {
			p = &t->next;
		}
	}
}

/* The same file begins anew: its old content cannot be read again. */
static void restart_tail(struct file_source *s, struct tail *t)
{
	_cleanup_(fd_closep) int fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 3);
	bool was_current = s->current == t;
	struct stat st;

	log_info("'%s' was truncated and is read from its start", s->path);
	for (struct file_source *o = all; o; o = o->next)
		if (o->base.loop == s->base.loop)
			forget_ended(o, t->device, t->inode);
	buf_reset(&t->feed.partial);
	end_tail(s, t);
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	t = file_source_begin_tail(s, TAKE_FD(fd), &st, 0);
	if (was_current)
		s->current = t;
	save(s);
}

size_t file_source_count_tails(const struct file_source *s)
{
	size_t n = 0;

	for (const struct tail *t = s->tails; t; t = t->next)
		n++;
	return n;
}

struct tail *file_source_find_tail(const struct file_source *s, const struct stat *st)
{
	for (struct tail *t = s->tails; t; t = t->next)
		if (t->fd >= 0 && t->device == st->st_dev && t->inode == st->st_ino)
			return t;
	return NULL;
}

bool file_source_is_read_elsewhere(const struct file_source *s, const struct stat *st)
{
	for (const struct file_source *o = all; o; o = o->next)
		if (o != s && o->base.loop == s->base.loop && file_source_find_tail(o, st))
			return true;
	return false;
}

/* Returns the offset up to which the file was read under another name, or under this one before. */
static uint64_t find_offset(const struct file_source *s, int fd, const struct stat *st)
{
	struct file_offset saved;
	uint64_t offset = 0;

	if (s->state_directory && file_state_find_offset(s->state_directory, fd, st, &saved))
		offset = saved.offset;
	for (const struct file_source *o = all; o; o = o->next)
		for (size_t i = 0; o->base.loop == s->base.loop && i < o->ended_count; i++)
			if (o->ended[i].offset > offset && file_offset_was_of(&o->ended[i], fd, st))
				offset = o->ended[i].offset;
	return offset;
}

/* Sources that are not open must not continue a file that is read here, should they be configured again. */
static void end_elsewhere(const struct file_source *s, const struct tail *t)
{
	struct file_offset ended = ended_at(t, tail_offset(t));
	_cleanup_(freep) char **taken = NULL;
	size_t n = 0, capacity = 0;
	struct err err = { 0 };

	if (!s->state_directory)
		return;
	for (const struct file_source *o = all; o; o = o->next) {
		GROW(&taken, &capacity, n + 2);
		taken[n++] = o->state_path;
		taken[n++] = o->has_begun ? NULL : o->found_path;
	}
	if (file_state_end(s->state_directory, &ended, taken, n, &err) < 0)
		log_warning("the offset of '%s' is also kept under its former name: %s", s->path, err.text);
}

static void begin_current(struct file_source *s, int fd, const struct stat *st)
{
	uint64_t offset = find_offset(s, fd, st);

	forget_ended(s, st->st_dev, st->st_ino);
	s->current = file_source_begin_tail(s, fd, st, offset);
	save(s);
	if (offset)
		end_elsewhere(s, s->current);
}

/* Starts reading the file at the path if it is not the one being read. */
static void check_files(struct file_source *s)
{
	_cleanup_(fd_closep) int fd = -1;
	int64_t now = clock_wall_ns();
	struct err err = { 0 };
	struct tail *t;
	struct stat st;
	int r;

	if (s->current && stat(s->path, &st) == 0 && st.st_dev == s->current->device && st.st_ino == s->current->inode) {
		s->seen_ns = now;
		return;
	}
	r = file_open_regular(s->path, &fd, &st, &err);
	if (r < 0) {
		if (!s->logged_unreadable && r != -ENOENT)
			log_warning("%s; retrying", err.text);
		s->logged_unreadable = r != -ENOENT;
		source_set_state(&s->base, s->current != NULL, "waiting for the file: %s", strerror(-r));
		return;
	}
	s->logged_unreadable = false;
	if ((t = file_source_find_tail(s, &st))) {		/* its rotation was undone */
		s->current = t;
		s->seen_ns = now;
		source_set_state(&s->base, true, "reading");
		return;
	}
	if (file_source_count_tails(s) >= FILE_TAILS_MAX) {
		if (log_is_due(&s->next_full_ns))
			log_warning("%u rotated files of '%s' have unstored lines; files rotated before these are stored will not be read",
				    FILE_TAILS_MAX, s->path);
		return;
	}
	if (s->current)
		log_info("'%s' was rotated; the old file is read to its end", s->path);
	s->current = NULL;
	if (file_source_is_read_elsewhere(s, &st)) {
		source_set_state(&s->base, true, "waiting: the file was renamed, and is read to its end under its former name");
		return;
	}
	s->seen_ns = now;
	begin_current(s, TAKE_FD(fd), &st);
	source_set_state(&s->base, true, "reading");
}

static bool is_full(const struct file_source *s)
{
	return s->base.receiver.full && s->base.receiver.full(s->base.receiver.data);
}

/* Returns false if more data may be available. */
static bool read_tail(struct file_source *s, struct tail *t, unsigned *pieces)
{
	s->reading = t;
	for (; *pieces; --*pieces) {
		int r;

		if (is_full(s))
			return false;
		r = tail_read(t, s->piece, sizeof(s->piece));
		if (r == -ESTALE) {
			restart_tail(s, t);
			return false;
		}
		if (r < 0) {
			log_warning("'%s' became unreadable: %s", s->path, strerror(-r));
			end_tail(s, t);
		}
		if (r <= 0)
			return true;
	}
	return false;
}

/* Reads new data of all files, the oldest first. */
static void read_all(struct file_source *s, unsigned pieces)
{
	int64_t now = clock_monotonic_ns();
	bool whole = true, ended = false;

	for (struct tail *t = s->tails, *next; t; t = next) {
		next = t->next;
		if (t->fd < 0)
			continue;
		whole &= read_tail(s, t, &pieces);
		/* Its offset is saved until all its lines are acknowledged. */
		if (t->fd >= 0 && t != s->current && t->quiet_since_ns && now - t->quiet_since_ns > OLD_QUIET_NS && tail_is_done(t)) {
			note_ended(s, t);
			end_tail(s, t);
			ended = true;
		}
	}
	if (whole && !s->caught_up) {
		s->caught_up = true;
		s->base.receiver.caught_up(s->base.receiver.data, &s->base);
	}
	free_done(s);
	if (ended)
		save(s);
}

/* Not at the opening, which may be undone: then another source keeps the offsets. */
static void start_reading(struct file_source *s)
{
	if (!s->has_begun && s->found_path && strcmp(s->found_path, s->state_path) &&
	    rename(s->found_path, s->state_path) < 0)
		log_warning("cannot rename '%s' to '%s': %s", s->found_path, s->state_path, strerror(errno));
	if (!s->has_begun && s->has_missed)
		save(s);
	s->has_begun = true;
}

static void tick(struct watch *w, uint32_t events)
{
	struct file_source *s = (struct file_source *)((char *)w - offsetof(struct file_source, timer));

	loop_timer_read(w);
	start_reading(s);
	if (!s->logged_missing && !s->tails && access(s->path, F_OK) < 0 && errno == ENOENT)
		log_info("'%s' does not exist yet; it is read from its start once it does", s->path);
	s->logged_missing = true;
	check_files(s);
	read_all(s, PIECES_PER_POLL);
	if (s->state_failed)
		save(s);
}

/* --- Acknowledgements --- */

static void file_ack(struct source *base, const struct ack_token *tokens, size_t n)
{
	struct file_source *s = (struct file_source *)base;
	struct tail *t = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!t || t->epoch != tokens[i].stream)
			for (t = s->tails; t && t->epoch != tokens[i].stream;)
				t = t->next;
		if (t && tail_acknowledge(t, tokens[i].low)) {
			base->counters.pending--;
			base->counters.acked++;
		}
	}
	s->acknowledged += n;
	free_done(s);
	save(s);
}

static uint64_t file_confirmed(struct source *base)
{
	const struct file_source *s = (const struct file_source *)base;

	assert(s->saved <= s->acknowledged);
	return s->state_path ? s->saved : s->acknowledged;
}

/* --- Lifecycle --- */

static void file_stop(struct source *base)
{
	struct file_source *s = (struct file_source *)base;

	if (s->timer.fd >= 0) {
		loop_remove_timer(base->loop, &s->timer);
		start_reading(s);
		check_files(s);
		read_all(s, PIECES_PER_POLL);
	}
	source_set_state(base, false, "closed");
}

static struct source *file_close(struct source *base)
{
	struct file_source *s = (struct file_source *)base, **p = &all;

	while (*p && *p != s)
		p = &(*p)->next;
	if (*p)
		*p = s->next;
	if (s->timer.fd >= 0)
		loop_remove_timer(base->loop, &s->timer);
	if (s->has_begun && s->last_epoch)
		save(s);
	while (s->tails) {
		struct tail *t = s->tails;

		s->tails = t->next;
		tail_free(t);
	}
	line_options_done(&s->options);
	free(s->path);
	free(s->state_path);
	free(s->found_path);
	free(s->state_directory);
	source_done(base);
	free(s);
	return NULL;
}

static int set_paths(struct file_source *s, const char *url, struct err *err)
{
	const char *path = url + strlen("file:");

	s->path = source_url_path(path, strcspn(path, "?"));
	if (*path != '/')
		return err_set(err, -EINVAL, "'%s' needs an absolute path, as in file:/var/log/strobe.folded", url);
	if (strlen(s->path) >= PATH_MAX || s->path[strlen(s->path) - 1] == '/')
		return err_set(err, -EINVAL, "'%s' names no file", url);
	return 0;
}

static bool has_open(const struct file_source *s, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && file_source_find_tail(s, &st);
}

/* The file may have been renamed since the other source opened it. If that source remains, it reads the renamed file
 * to its end, and this one continues from there. */
static bool is_same_source(const struct source *base, const struct file_source *s, bool is_leaving)
{
	const struct file_source *other = (const struct file_source *)base;

	return base->ops == &file_source_ops && (file_is_same(other->path, s->path) || (is_leaving && has_open(other, s->path)));
}

/* Finds the source that is the same with other parameters: one that is about to be closed, or that has the same
 * path. */
static const struct source *find_same(const struct file_source *s)
{
	const struct source_list *kept = &s->base.receiver.kept, *removed = &s->base.receiver.removed;

	for (size_t i = 0; i < kept->count; i++)
		if (is_same_source(kept->items[i], s, false))
			return kept->items[i];
	for (size_t i = 0; i < removed->count; i++)
		if (is_same_source(removed->items[i], s, true))
			return removed->items[i];
	return NULL;
}

static int check_distinct(const struct file_source *s, const struct source_list *kept, struct err *err)
{
	for (size_t i = 0; i < kept->count; i++) {
		const struct source *other = kept->items[i];

		if (is_same_source(other, s, false) && strcmp(((const struct file_source *)other)->path, s->path))
			return err_set(err, -EEXIST, "%s and %s are one file, whose lines would count twice; remove one "
						     "of them", other->url, s->base.url);
	}
	return 0;
}

static size_t append_state_paths(const struct source_list *l, char **taken)
{
	size_t n = 0;

	for (size_t i = 0; i < l->count; i++) {
		const struct file_source *other = (const struct file_source *)l->items[i];

		if (l->items[i]->ops != &file_source_ops)
			continue;
		taken[n++] = other->state_path;
		taken[n++] = other->found_path;
	}
	return n;
}

static char *find_state(const struct file_source *s)
{
	const struct source_list *kept = &s->base.receiver.kept, *removed = &s->base.receiver.removed;
	_cleanup_(freep) char **taken = xcalloc(2 * (kept->count + removed->count) + 1, sizeof(*taken));
	size_t n = append_state_paths(kept, taken);

	n += append_state_paths(removed, taken + n);
	return file_state_find(s->base.receiver.state, s->path, taken, n);
}

/* A new source has an identity that no file had before: the journal may have ack tokens of another one with this path. Offsets
 * without an identity are from a version that used the path as it was configured. */
static int find_identity(struct file_source *s, struct err *err)
{
	const char *state = s->base.receiver.state;
	_cleanup_(freep) char *real = file_state_real_path(s->path);
	const struct source *same = find_same(s);

	if (state) {
		s->state_directory = xstrdup(state);
		s->state_path = file_state_path(state, real);
	}
	if (state && !same)
		s->found_path = find_state(s);
	if (same)
		s->base.identity = xstrdup(source_identity(same));
	else if (s->found_path || !state)
		s->base.identity = xasprintf("file:%s", s->path);
	else
		s->base.identity = xasprintf("file:%s#%" PRIx64, real, (uint64_t)clock_wall_ns());
	return file_source_resume(s, err);
}

static int file_open(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		     struct err *err)
{
	struct file_source *s = xcalloc(1, sizeof(*s));
	const char *query = strchr(url, '?');
	struct stat st;
	int r;

	s->base = (struct source){ .ops = &file_source_ops, .receiver = *receiver, .loop = loop };
	s->base.url = xstrdup(url);
	s->timer = (struct watch){ .ready = tick, .fd = -1 };
	if ((r = line_options_parse(query ? query + 1 : NULL, &s->options, err)) < 0)
		err_prefix(err, "%s", url);
	if (r < 0 || (r = set_paths(s, url, err)) < 0)
		goto fail;
	if (stat(s->path, &st) == 0 && (r = file_check_regular(s->path, &st, err)) < 0)
		goto fail;
	source_set_awaited(&s->base, s->path);
	if ((r = check_distinct(s, &receiver->kept, err)) < 0 || (r = find_identity(s, err)) < 0 ||
	    (r = loop_add_timer(loop, &s->timer, POLL_NS, err)) < 0)
		goto fail;
	source_set_state(&s->base, s->current != NULL, s->current ? "reading" : "waiting for the file");
	s->next = all;
	all = s;
	*ret = &s->base;
	return 0;
fail:
	file_close(&s->base);
	return r;
}

static bool file_acknowledges(const char *url)
{
	return true;
}

const struct source_ops file_source_ops = {
	.scheme = "file",
	.acknowledges = file_acknowledges,
	.open = file_open,
	.ack = file_ack,
	.confirmed = file_confirmed,
	.stop = file_stop,
	.close = file_close,
};
