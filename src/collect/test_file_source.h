/* test_file_source.h: a followed file in a directory of its own, for the tests of its source. */
#ifndef COLLECT_TEST_FILE_SOURCE_H
#define COLLECT_TEST_FILE_SOURCE_H

#include "file_source.h"
#include "mem.h"
#include "test.h"

#include <fcntl.h>
#include <string.h>

static struct buf seen;				/* the lines of the last run(), each followed by | */

struct fixture {
	struct loop *loop;
	struct source *source;
	struct source_receiver receiver;
	struct watch timer;
	unsigned periods;			/* until the loop stops */
	char directory[32], *path, *url;
	struct ack_token ack_tokens[64];
	size_t lines, caught_up;
};

static inline void on_line(void *data, const struct message_metadata *about, const char *line, size_t n)
{
	struct fixture *f = data;

	buf_put(&seen, line, n);
	buf_putc(&seen, '|');
	f->ack_tokens[f->lines++] = *about->ack_token;
}

static inline void caught_up(void *data, struct source *s)
{
	((struct fixture *)data)->caught_up++;
}

static inline void stop_loop(struct watch *w, uint32_t events)
{
	struct fixture *f = (struct fixture *)((char *)w - offsetof(struct fixture, timer));

	loop_timer_read(w);
	if (!--f->periods)
		loop_stop(f->loop, 0);
}

static inline void setup(struct fixture *f)
{
	struct err err;

	memset(f, 0, sizeof(*f));
	strcpy(f->directory, "/tmp/test-file-XXXXXX");
	CHECK(mkdtemp(f->directory) != NULL);
	f->path = xasprintf("%s/x", f->directory);
	f->url = xasprintf("file:%s?channel=c", f->path);
	f->loop = loop_new(&err);
	f->receiver = (struct source_receiver){ .line = on_line, .caught_up = caught_up, .data = f, .state = f->directory };
	f->timer = (struct watch){ .ready = stop_loop, .fd = -1 };
	buf_done(&seen);
	buf_init(&seen);
}

static inline void open_it(struct fixture *f)
{
	struct err err = { 0 };

	if (source_open(f->url, f->loop, &f->receiver, &f->source, &err) < 0)
		CHECK_STR(err.text, "");
}

static inline void write_to(struct fixture *f, const char *text, bool cut)
{
	int fd = open(f->path, O_WRONLY | O_CREAT | O_APPEND | (cut ? O_TRUNC : 0), 0600);

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* Runs the loop for three periods of the source, so that it checks the file at least twice however late it is. */
static inline const char *run(struct fixture *f)
{
	struct err err;

	buf_reset(&seen);
	f->periods = 3;
	CHECK_INT(loop_add_timer(f->loop, &f->timer, 200 * 1000000LL, &err), 0);
	loop_run(f->loop, &err);
	loop_remove_timer(f->loop, &f->timer);
	return seen.data;
}

static inline void ack(struct fixture *f, size_t from, size_t to)
{
	f->source->ops->ack(f->source, f->ack_tokens + from, to - from);
}

static inline void rotate(struct fixture *f)
{
	_cleanup_(freep) char *to = xasprintf("%s.1", f->path);

	CHECK_INT(rename(f->path, to), 0);
}

static inline void teardown(struct fixture *f)
{
	_cleanup_(freep) char *command = xasprintf("rm -r %s", f->directory);

	source_close(f->source);
	loop_free(f->loop);
	CHECK_INT(system(command), 0);
	free(f->path);
	free(f->url);
}

#endif
