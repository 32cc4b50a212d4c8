/* stdin_source.c: folded lines on standard input, until it ends. */

#include "file_source.h"

#include "clock.h"
#include "line_feed.h"
#include "line_options.h"
#include "mem.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PIECE		(256u * 1024)
#define PIECES_PER_TURN	16u
#define DRAIN_MAX	(16u * 1024 * 1024)	/* 16 times the capacity of a pipe, which a fast writer refills
						 * before it is plugged */
#define PLUG_TRIES	1000u
#define PAUSE_NS	(20 * NS_PER_SECOND / 1000)	/* between checks for room */

struct stdin_source {
	struct source base;
	struct line_options options;
	struct line_feed feed;
	struct watch input, timer;
	int always;			/* replaces inputs that epoll refuses, such as files; -1: not needed */
	bool ended;			/* or stopped */
	char piece[PIECE];
};

static void on_line(void *data, uint64_t at, const char *line, size_t n)
{
	struct stdin_source *s = data;
	struct message_metadata about = source_hints_about(&s->options.hints);

	about.channel = s->options.channel;
	if (line)
		source_line(&s->base, about, line, n);
	else
		s->base.counters.rejected_lines[SOURCE_LINE_TOO_LONG]++;
}

static void unwatch(struct stdin_source *s)
{
	if (s->input.fd >= 0)
		loop_remove(s->base.loop, &s->input);
}

static void end(struct stdin_source *s)
{
	assert(!s->ended);
	s->ended = true;
	line_feed_end(&s->feed);
	unwatch(s);
	loop_remove_timer(s->base.loop, &s->timer);
	source_set_state(&s->base, false, "ended");
	if (s->base.receiver.ended)
		s->base.receiver.ended(s->base.receiver.ended_data, &s->base);
}

static bool is_full(const struct stdin_source *s)
{
	return s->base.receiver.full && s->base.receiver.full(s->base.receiver.data);
}

static int watch(struct stdin_source *s, struct err *err)
{
	s->input.fd = s->always >= 0 ? s->always : STDIN_FILENO;
	return loop_add(s->base.loop, &s->input, EPOLLIN, err);
}

static void readable(struct watch *w, uint32_t events)
{
	struct stdin_source *s = (struct stdin_source *)((char *)w - offsetof(struct stdin_source, input));

	for (unsigned i = 0; i < PIECES_PER_TURN; i++) {
		ssize_t n;

		if (is_full(s)) {
			unwatch(s);
			return;
		}
		n = read(STDIN_FILENO, s->piece, sizeof(s->piece));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			end(s);
			return;
		}
		line_feed_put(&s->feed, s->piece, (size_t)n);
		if (s->always < 0)		/* a pipe: the next read might wait */
			return;
	}
}

static void resume_if_room(struct watch *w, uint32_t events)
{
	struct stdin_source *s = (struct stdin_source *)((char *)w - offsetof(struct stdin_source, timer));
	struct err err;

	loop_timer_read(w);
	if (s->input.fd < 0 && !is_full(s) && watch(s, &err) < 0)
		end(s);
}

static void read_waiting(struct stdin_source *s, size_t *left)
{
	int waiting = 0;

	while (*left && !ioctl(STDIN_FILENO, FIONREAD, &waiting) && waiting > 0) {
		size_t most = *left < sizeof(s->piece) ? *left : sizeof(s->piece);
		ssize_t n = read(STDIN_FILENO, s->piece, (size_t)waiting < most ? (size_t)waiting : most);

		if (n <= 0)
			break;
		line_feed_put(&s->feed, s->piece, (size_t)n);
		*left -= (size_t)n;
	}
}

/* Shrinks the pipe to one page and fills it with a page of our own. This fails while the pipe has other data, and
 * afterwards the writer cannot add anything behind what was read. */
static bool plug(int writer)
{
	static const char page[65536];
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	return size <= sizeof(page) && fcntl(STDIN_FILENO, F_SETPIPE_SZ, (int)size) == (int)size &&
	       write(writer, page, size) == (ssize_t)size;
}

/* Reads what is waiting in the pipe: its writer (rsyslog's omprog, a shell) regards it as delivered. An unfinished
 * line is left out, since an interrupted writer writes it again as a whole to our successor. */
static void drain(struct stdin_source *s)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), writer = open("/proc/self/fd/0", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	size_t left = DRAIN_MAX;

	for (unsigned i = 0; i < PLUG_TRIES; i++) {
		read_waiting(s, &left);
		if (!left || writer < 0 || plug(writer))
			break;
	}
	/* From now on the writer gets EPIPE. */
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		close(null);
	}
	if (writer >= 0)
		close(writer);
}

static void finish(struct stdin_source *s, bool drains)
{
	unwatch(s);
	loop_remove_timer(s->base.loop, &s->timer);
	if (s->ended)
		return;
	s->ended = true;
	if (s->always < 0 && drains)
		drain(s);
	source_set_state(&s->base, false, "closed");
}

static void stdin_stop(struct source *base)
{
	finish((struct stdin_source *)base, true);
}

static struct source *stdin_close(struct source *base)
{
	struct stdin_source *s = (struct stdin_source *)base;

	finish(s, false);
	if (s->always >= 0)
		close(s->always);
	line_feed_done(&s->feed);
	line_options_done(&s->options);
	source_done(base);
	free(s);
	return NULL;
}

/* Files and /dev/null are always readable, and epoll refuses them. */
static int start(struct stdin_source *s, struct err *err)
{
	int r = watch(s, err);

	if (r == -EPERM) {
		s->always = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
		r = s->always < 0 ? err_set(err, -errno, "cannot create an eventfd: %s", strerror(errno)) : watch(s, err);
	}
	if (r < 0)
		return r;
	return loop_add_timer(s->base.loop, &s->timer, PAUSE_NS, err);
}

static int stdin_open(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		      struct err *err)
{
	struct stdin_source *s = xcalloc(1, sizeof(*s));
	const char *query = strchr(url, '?');
	int r;

	s->base = (struct source){ .ops = &stdin_source_ops, .receiver = *receiver, .loop = loop };
	s->base.url = xstrdup(url);
	s->input = (struct watch){ .ready = readable, .fd = -1 };
	s->timer = (struct watch){ .ready = resume_if_room, .fd = -1 };
	s->always = -1;
	line_feed_init(&s->feed, SOURCE_LINE_MAX, on_line, s);
	r = line_options_parse(query ? query + 1 : NULL, &s->options, err);
	if (r < 0)
		err_prefix(err, "standard input");
	if (r < 0 || (r = start(s, err)) < 0) {
		s->ended = true;	/* the pipe's content is left to the next reader */
		stdin_close(&s->base);
		return r;
	}
	source_set_state(&s->base, true, "reading");
	*ret = &s->base;
	return 0;
}

const struct source_ops stdin_source_ops = {
	.scheme = "-",
	.same_input = source_url_same_place,
	.open = stdin_open,
	.stop = stdin_stop,
	.close = stdin_close,
};
