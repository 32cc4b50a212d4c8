/* file_source.c: selects files to read, ends those that are over, and resumes after a restart. */

#include "file_source.h"

#include "clock.h"
#include "file_paths.h"
#include "file_state.h"
#include "line_options.h"
#include "log.h"
#include "mem.h"
#include "missed_files.h"
#include "private_file.h"
#include "source_url.h"
#include "tail.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define POLL_NS		(NS_PER_SECOND / 5)
#define PIECE		(256u * 1024)
#define PIECES_PER_POLL	64u			/* then other sources have their turn */
#define OLD_QUIET_NS	(10 * NS_PER_SECOND)	/* a writer may keep the rotated file open for a while */
#define TAILS_MAX	256u			/* rotated files with lines that no sink has; each is open */

struct file_source {
	struct source base;
	struct line_options options;
	char *path;
	char *state_directory;		/* NULL: nothing is remembered */
	char *state_path;		/* in it; NULL as well */
	char *found_path;		/* holds the offsets until reading begins, perhaps under the name of another path;
					 * NULL: there are none */
	bool has_begun;			/* before, nothing is written */
	struct watch timer;
	struct tail *tails;		/* in the order of their epochs; the last one that is open is what the path
					 * names */
	struct tail *reading;		/* the file whose lines are being handed over */
	struct tail *current;		/* NULL: there is no such file now */
	uint32_t last_epoch;
	int64_t seen_ns;		/* when the path named `current` for the last time; 0: never */
	struct file_offset ended[FILE_STATE_ENDED];	/* rotated files that were read to their end, the oldest first */
	size_t ended_count;
	bool has_missed;		/* files were found that no state file has yet */
	bool caught_up, state_failed, logged_unreadable, logged_missing;
	int64_t next_full_ns;		/* when it may be logged again that there are too many */
	uint64_t acknowledged, saved;	/* ack tokens */
	struct file_source *next;	/* in `all` */
	char piece[PIECE];
};

/* The open ones, since a file may be renamed from the path of one to that of another. All belong to one thread, that of their loop. */
static struct file_source *all;

/* --- Lines --- */

static void on_line(void *data, uint64_t at, const char *line, size_t n)
{
	struct file_source *s = data;
	struct ack_token token = { .stream = s->reading->epoch, .high = s->reading->inode, .low = at };
	struct source_about about = source_hints_about(&s->options.hints);

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

/* Whether anything behind the position was acknowledged, and would be read again. */
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
				   t->device, t->inode, tail_position(t), tail_mark(t->fd, tail_position(t)));
	for (size_t i = 0; i < s->ended_count; i++)
		file_state_put_ended(&s->ended[i], &b);
	failed = private_file_write(s->state_path, b.data, b.size, false, &err) < 0;
	if (failed && !s->state_failed)
		log_warning("cannot save the offset in '%s': %s", s->path, err.text);
	s->state_failed = failed;
	if (!failed && !is_ahead(s))
		s->saved = s->acknowledged;
}

/* --- Tails --- */

static void add_tail(struct file_source *s, struct tail *t)
{
	struct tail **p = &s->tails;

	while (*p)
		p = &(*p)->next;
	*p = t;
	t->feed.max = SOURCE_LINE_MAX;
	t->feed.got = on_line;
	t->feed.data = s;
}

static struct tail *begin_tail(struct file_source *s, int fd, const struct stat *st, uint64_t position)
{
	struct tail *t = tail_new(fd, st->st_dev, st->st_ino, ++s->last_epoch, position);

	add_tail(s, t);
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

static void add_ended(struct file_source *s, const struct file_offset *o)
{
	if (s->ended_count == FILE_STATE_ENDED)
		memmove(s->ended, s->ended + 1, --s->ended_count * sizeof(*s->ended));
	s->ended[s->ended_count++] = *o;
}

static struct file_offset ended_at(const struct tail *t, uint64_t position)
{
	return (struct file_offset){
		.ended = clock_wall_ns() / NS_PER_SECOND,
		.device = t->device,
		.inode = t->inode,
		.position = position,
		.mark = tail_mark(t->fd, position),
	};
}

/* Remembers a rotated file that was read to its end, in case it is configured by its new name. */
static void note_ended(struct file_source *s, const struct tail *t)
{
	struct file_offset o = ended_at(t, t->feed.end);

	forget_ended(s, t->device, t->inode);
	add_ended(s, &o);
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
	t = begin_tail(s, TAKE_FD(fd), &st, 0);
	if (was_current)
		s->current = t;
	save(s);
}

static size_t count_tails(const struct file_source *s)
{
	size_t n = 0;

	for (const struct tail *t = s->tails; t; t = t->next)
		n++;
	return n;
}

static struct tail *find_tail(const struct file_source *s, const struct stat *st)
{
	for (struct tail *t = s->tails; t; t = t->next)
		if (t->fd >= 0 && t->device == st->st_dev && t->inode == st->st_ino)
			return t;
	return NULL;
}

/* Whether the source of another path reads this file, which was renamed. One that is being closed may still have lines of it
 * that are not stored. */
static bool is_read_elsewhere(const struct file_source *s, const struct stat *st)
{
	for (const struct file_source *o = all; o; o = o->next)
		if (o != s && o->base.loop == s->base.loop && find_tail(o, st))
			return true;
	return false;
}

/* Returns the position up to which the file was read under another name, or under this one before. */
static uint64_t find_position(const struct file_source *s, int fd, const struct stat *st)
{
	struct file_offset saved;
	uint64_t position = 0;

	if (s->state_directory && file_state_find_offset(s->state_directory, fd, st, &saved))
		position = saved.position;
	for (const struct file_source *o = all; o; o = o->next)
		for (size_t i = 0; o->base.loop == s->base.loop && i < o->ended_count; i++)
			if (o->ended[i].position > position && file_offset_was_of(&o->ended[i], fd, st))
				position = o->ended[i].position;
	return position;
}

/* Sources that are not open must not continue a file that is read here, should they be configured again. */
static void end_elsewhere(const struct file_source *s, const struct tail *t)
{
	struct file_offset ended = ended_at(t, tail_position(t));
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
		log_warning("the offset of '%s' also stays with its former name: %s", s->path, err.text);
}

static void begin_current(struct file_source *s, int fd, const struct stat *st)
{
	uint64_t position = find_position(s, fd, st);

	forget_ended(s, st->st_dev, st->st_ino);
	s->current = begin_tail(s, fd, st, position);
	save(s);
	if (position)
		end_elsewhere(s, s->current);
}

/* Begins the file that the path names, if it is another one than before. */
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
	if ((t = find_tail(s, &st))) {		/* its rotation was undone */
		s->current = t;
		s->seen_ns = now;
		source_set_state(&s->base, true, "reading");
		return;
	}
	if (count_tails(s) >= TAILS_MAX) {
		if (log_is_due(&s->next_full_ns))
			log_warning("%u rotated files of '%s' have lines that are not stored yet; those that are rotated away until they are "
				    "will not be read",
				    TAILS_MAX, s->path);
		return;
	}
	if (s->current)
		log_info("'%s' was rotated; the old file is read to its end", s->path);
	s->current = NULL;
	if (is_read_elsewhere(s, &st)) {
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

/* Returns false if there may be more. */
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

/* Reads new data of all of them, the oldest first. */
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

/* Not earlier, since the opening may be undone, and the offsets left to another source. */
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

/* --- The saved offset --- */

static void resume_tail(struct file_source *s, const struct file_offset *o)
{
	_cleanup_(fd_closep) int fd = -1;
	struct stat st = { .st_dev = o->device, .st_ino = o->inode };
	struct tail *t;

	if (find_tail(s, &st) || is_read_elsewhere(s, &st))
		return;
	if (file_find_rotated(s->path, o->device, o->inode, &fd, &st) < 0) {
		log_warning("a file that '%s' named is no longer in its directory; its lines after byte %" PRIu64 " are not read", s->path,
			    o->position);
		return;
	}
	if (!file_offset_matches(o, fd, &st)) {
		log_warning("the file that '%s' named was truncated or replaced; its lines after byte %" PRIu64 " are not read", s->path,
			    o->position);
		return;
	}
	t = tail_new(TAKE_FD(fd), o->device, o->inode, o->epoch, o->position);
	add_tail(s, t);
	if (stat(s->path, &st) == 0 && st.st_dev == o->device && st.st_ino == o->inode)
		s->current = t;
}

/* `*last` becomes the file that the path named last, as far as the lines tell. */
static void read_state_line(struct file_source *s, const char *line, struct file_offset *last)
{
	struct file_offset o;
	int64_t seen_ns;
	uint32_t epoch;

	if (!strncmp(line, FILE_STATE_ORIGIN, strlen(FILE_STATE_ORIGIN))) {
		free(s->base.identity);
		s->base.identity = xstrdup(line + strlen(FILE_STATE_ORIGIN));
	} else if (sscanf(line, "last %" SCNu32, &epoch) == 1) {
		s->last_epoch = epoch;
	} else if (sscanf(line, "seen %" SCNd64, &seen_ns) == 1) {
		s->seen_ns = seen_ns;
	} else if (count_tails(s) < TAILS_MAX && file_offset_parse(line, &o)) {
		resume_tail(s, &o);
		if (o.epoch >= last->epoch)
			*last = o;
	} else if (file_offset_parse_ended(line, &o)) {
		add_ended(s, &o);
		if (!last->epoch)
			*last = o;
	}
}

/* An epoch must be unique: in a file that was truncated since, lines would have the ack tokens of other ones that the
 * journal may still know, and be taken for those. The clock is ahead of all epochs: no file is truncated once a second. */
static void take_fresh_epoch(struct file_source *s)
{
	uint32_t now = (uint32_t)(clock_wall_ns() / NS_PER_SECOND);

	if (s->last_epoch < now)
		s->last_epoch = now;
}

/* The file is complete: an epoch, and terminated lines. */
static bool is_whole(const struct buf *b)
{
	return b->size && b->data[b->size - 1] == '\n' && strlen(b->data) == b->size && strstr(b->data, "\nlast ");
}

/* After a crash of the machine, only the complete lines of a state file are used. */
static void drop_unfinished_line(struct file_source *s, struct buf *b)
{
	char *end = strrchr(b->data, '\n');

	log_warning("'%s' is damaged, perhaps by a crash; files of '%s' without an offset are read from the "
		    "start, so lines may be counted twice", s->found_path, s->path);
	*(end ? end + 1 : b->data) = '\0';
}

/* Another source has the file, or had it. */
static bool is_known(const struct file_source *s, const struct missed_file *f)
{
	const struct source_list *staying = &s->base.receiver.staying;
	struct file_offset o;

	if (find_tail(s, &f->st) || is_read_elsewhere(s, &f->st))
		return true;
	for (size_t i = 0; i < staying->count; i++)
		if (staying->items[i]->ops == &file_source_ops &&
		    file_is_same(((const struct file_source *)staying->items[i])->path, f->path))
			return true;
	return file_state_find_offset(s->state_directory, f->fd, &f->st, &o);
}

static void warn_missed(const struct file_source *s, const struct missed_file *f, const struct file_offset *last)
{
	_cleanup_(buf_done) struct buf remedy = { 0 };

	buf_init(&remedy);
	if (f->is_compressed)
		buf_puts(&remedy, "to read it, uncompress it into another file and add that one as a source");
	else if (f->may_be_last)
		buf_printf(&remedy, "to read the rest, write `tail -c +%" PRIu64 "` of it to another file and add that one as a source",
			   last->position + 1);
	else
		buf_printf(&remedy, "if its lines are missing, add file:%s as a source", f->path);
	if (f->is_compressed && f->may_be_last && last->position)
		buf_printf(&remedy, "; if it is the file that was read last, only `tail -c +%" PRIu64 "` of it", last->position + 1);
	log_warning("'%s' may have lines that were written while '%s' was not followed, and is not read: %s; %s", f->path, s->path,
		    f->doubt ? f->doubt : "too many files have lines that are not stored yet", remedy.data);
}

/* Adds the files that the path named while nobody read it, from their start. */
static void add_missed(struct file_source *s, const struct file_offset *last)
{
	struct timespec seen = { .tv_sec = s->seen_ns / NS_PER_SECOND, .tv_nsec = s->seen_ns % NS_PER_SECOND };
	struct missed_files missed;

	missed_files_find(s->path, last, &seen, &missed);
	for (size_t i = 0; i < missed.count; i++) {
		struct missed_file *f = &missed.items[i];

		if (is_known(s, f))
			continue;
		if (f->doubt || count_tails(s) >= TAILS_MAX) {
			warn_missed(s, f, last);
			continue;
		}
		log_info("'%s' is read from its start: '%s' named it while it was not followed", f->path, s->path);
		begin_tail(s, TAKE_FD(f->fd), &f->st, 0);
		s->has_missed = true;
	}
	missed_files_done(&missed);
}

static int read_state(struct file_source *s, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	struct file_offset last = { 0 };
	char *rest, *line;
	struct stat st;
	bool whole;
	int r;

	buf_init(&b);
	if (!s->found_path)
		return 0;
	r = private_file_read(s->found_path, &b, FILE_STATE_MAX, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (stat(s->found_path, &st) == 0)	/* offsets of an earlier version do not say it */
		s->seen_ns = st.st_mtim.tv_sec * NS_PER_SECOND + st.st_mtim.tv_nsec;
	if (strncmp(b.data, FILE_STATE_BEGIN, strnlen(b.data, strlen(FILE_STATE_BEGIN))))
		return err_set(err, -EINVAL, "'%s' does not contain the offset of '%s'; remove it to read the "
					     "whole file again", s->found_path, s->path);
	whole = is_whole(&b);
	if (!whole)
		drop_unfinished_line(s, &b);
	for (rest = b.data; (line = strsep(&rest, "\n"));)
		read_state_line(s, line, &last);
	if (!whole)
		take_fresh_epoch(s);
	else if (last.inode)
		add_missed(s, &last);
	return 0;
}

/* --- Life --- */

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

	return stat(path, &st) == 0 && find_tail(s, &st);
}

/* The path may have been renamed since it was opened. One that stays reads the files that were renamed to their end, and this
 * one goes on from there. */
static bool is_same_source(const struct source *base, const struct file_source *s, bool is_leaving)
{
	const struct file_source *other = (const struct file_source *)base;

	return base->ops == &file_source_ops && (file_is_same(other->path, s->path) || (is_leaving && has_open(other, s->path)));
}

/* The one that is about to be closed, or has the same path, is the same source with other parameters. */
static const struct source *find_same(const struct file_source *s)
{
	const struct source_list *staying = &s->base.receiver.staying, *leaving = &s->base.receiver.leaving;

	for (size_t i = 0; i < staying->count; i++)
		if (is_same_source(staying->items[i], s, false))
			return staying->items[i];
	for (size_t i = 0; i < leaving->count; i++)
		if (is_same_source(leaving->items[i], s, true))
			return leaving->items[i];
	return NULL;
}

static int check_distinct(const struct file_source *s, const struct source_list *staying, struct err *err)
{
	for (size_t i = 0; i < staying->count; i++) {
		const struct source *other = staying->items[i];

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
	const struct source_list *staying = &s->base.receiver.staying, *leaving = &s->base.receiver.leaving;
	_cleanup_(freep) char **taken = xcalloc(2 * (staying->count + leaving->count) + 1, sizeof(*taken));
	size_t n = append_state_paths(staying, taken);

	n += append_state_paths(leaving, taken + n);
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
	return read_state(s, err);
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
	if ((r = check_distinct(s, &receiver->staying, err)) < 0 || (r = find_identity(s, err)) < 0 ||
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
