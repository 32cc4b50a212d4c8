/* file_resume.c: resumes the files of a source after a restart, by their saved offsets. */

#include "file_source_private.h"

#include "clock.h"
#include "file_paths.h"
#include "log.h"
#include "mem.h"
#include "missed_files.h"
#include "private_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void resume_tail(struct file_source *s, const struct file_offset *o)
{
	_cleanup_(fd_closep) int fd = -1;
	struct stat st = { .st_dev = o->device, .st_ino = o->inode };
	struct tail *t;

	if (file_source_find_tail(s, &st) || file_source_is_read_elsewhere(s, &st))
		return;
	if (file_find_rotated(s->path, o->device, o->inode, &fd, &st) < 0) {
		log_warning("a file that '%s' named is no longer in its directory; its lines after byte %" PRIu64 " are not read", s->path,
			    o->offset);
		return;
	}
	if (!file_offset_matches(o, fd, &st)) {
		log_warning("the file that '%s' named was truncated or replaced; its lines after byte %" PRIu64 " are not read", s->path,
			    o->offset);
		return;
	}
	t = tail_new(TAKE_FD(fd), o->device, o->inode, o->epoch, o->offset);
	file_source_add_tail(s, t);
	if (stat(s->path, &st) == 0 && st.st_dev == o->device && st.st_ino == o->inode)
		s->current = t;
}

/* Sets `*last` to the file that the path named last, according to the lines so far. */
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
	} else if (file_source_count_tails(s) < FILE_TAILS_MAX && file_offset_parse(line, &o)) {
		resume_tail(s, &o);
		if (o.epoch >= last->epoch)
			*last = o;
	} else if (file_offset_parse_ended(line, &o)) {
		file_source_add_ended(s, &o);
		if (!last->epoch)
			*last = o;
	}
}

/* Epochs must be unique: otherwise lines of a truncated file would have the ack tokens of earlier lines, which the
 * journal may still have, and be taken for them. The clock is ahead of all epochs, since no file is truncated once a
 * second. */
static void take_fresh_epoch(struct file_source *s)
{
	uint32_t now = (uint32_t)(clock_wall_ns() / NS_PER_SECOND);

	if (s->last_epoch < now)
		s->last_epoch = now;
}

/* Whether the state file is complete: it has an epoch, and its last line is terminated. */
static bool is_whole(const struct buf *b)
{
	return b->size && b->data[b->size - 1] == '\n' && strlen(b->data) == b->size && strstr(b->data, "\nlast ");
}

/* After a crash of the machine, only the complete lines of a state file are used. */
static void drop_unfinished_line(struct file_source *s, struct buf *b)
{
	char *end = strrchr(b->data, '\n');

	log_warning("'%s' is damaged, perhaps by a crash; files of '%s' without an offset are read from the "
		    "start, so lines may be counted twice",
		    s->found_path, s->path);
	*(end ? end + 1 : b->data) = '\0';
}

/* Whether this or another source reads the file, or has read it. */
static bool is_known(const struct file_source *s, const struct missed_file *f)
{
	const struct source_list *kept = &s->base.receiver.kept;
	struct file_offset o;

	if (file_source_find_tail(s, &f->st) || file_source_is_read_elsewhere(s, &f->st))
		return true;
	for (size_t i = 0; i < kept->count; i++)
		if (kept->items[i]->ops == &file_source_ops &&
		    file_is_same(((const struct file_source *)kept->items[i])->path, f->path))
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
			   last->offset + 1);
	else
		buf_printf(&remedy, "if its lines are missing, add file:%s as a source", f->path);
	if (f->is_compressed && f->may_be_last && last->offset)
		buf_printf(&remedy, "; if it is the file that was read last, only `tail -c +%" PRIu64 "` of it", last->offset + 1);
	log_warning("'%s' may have lines that were written while '%s' was not followed, and is not read: %s; %s", f->path, s->path,
		    f->doubt ? f->doubt : "too many files have lines that are not stored yet", remedy.data);
}

/* Adds the files that the path named while the daemon was down, from their start. */
static void add_missed(struct file_source *s, const struct file_offset *last)
{
	struct timespec seen = { .tv_sec = s->seen_ns / NS_PER_SECOND, .tv_nsec = s->seen_ns % NS_PER_SECOND };
	struct missed_files missed;

	missed_files_find(s->path, last, &seen, &missed);
	for (size_t i = 0; i < missed.count; i++) {
		struct missed_file *f = &missed.items[i];

		if (is_known(s, f))
			continue;
		if (f->doubt || file_source_count_tails(s) >= FILE_TAILS_MAX) {
			warn_missed(s, f, last);
			continue;
		}
		log_info("'%s' is read from its start: '%s' named it while it was not followed", f->path, s->path);
		file_source_begin_tail(s, TAKE_FD(f->fd), &f->st, 0);
		s->has_missed = true;
	}
	missed_files_done(&missed);
}

int file_source_resume(struct file_source *s, struct err *err)
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
	if (stat(s->found_path, &st) == 0)	/* earlier versions did not store the time */
		s->seen_ns = st.st_mtim.tv_sec * NS_PER_SECOND + st.st_mtim.tv_nsec;
	if (strncmp(b.data, FILE_STATE_BEGIN, strnlen(b.data, strlen(FILE_STATE_BEGIN))))
		return err_set(err, -EINVAL, "'%s' does not contain the offset of '%s'; remove it to read the "
					     "whole file again",
			       s->found_path, s->path);
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
