/* test_loop.c: tests descriptors, timers and signals in the loop. */
#include "loop.h"
#include "mem.h"
#include "test.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>

static struct loop *loop;

/* A watch with the pipe it reads; freed by its own callback in some tests. */
struct pipe_watch {
	struct watch watch;
	int fds[2];
	unsigned calls;
	struct pipe_watch *victim;	/* removed and freed when this one is ready */
};

static unsigned deliveries;

static struct pipe_watch *pipe_watch_new(void (*ready)(struct watch *, uint32_t))
{
	struct pipe_watch *w = xcalloc(1, sizeof(*w));

	if (pipe2(w->fds, O_CLOEXEC | O_NONBLOCK))
		perror("pipe2");
	w->watch = (struct watch){ .ready = ready, .fd = w->fds[0] };
	CHECK_INT(loop_add(loop, &w->watch, EPOLLIN, NULL), 0);
	return w;
}

static void pipe_watch_free(struct pipe_watch *w)
{
	loop_remove(loop, &w->watch);
	close(w->fds[0]);
	close(w->fds[1]);
	free(w);
}

static void stop_after_three(struct watch *w, uint32_t events)
{
	struct pipe_watch *p = (struct pipe_watch *)w;

	CHECK(events & EPOLLIN);
	/* Level-triggered: unread data is reported again. */
	if (++p->calls == 3)
		loop_stop(loop, 7);
}

TEST(a_readable_descriptor_is_reported_until_it_is_read)
{
	struct pipe_watch *p;

	loop = loop_new(NULL);
	p = pipe_watch_new(stop_after_three);
	CHECK_INT(write(p->fds[1], "x", 1), 1);
	CHECK_INT(loop_run(loop, NULL), 7);
	CHECK_INT(p->calls, 3);
	pipe_watch_free(p);
	loop = loop_free(loop);
}

static void kill_the_other(struct watch *w, uint32_t events)
{
	struct pipe_watch *p = (struct pipe_watch *)w, *victim = p->victim;

	(void)events;
	deliveries++;
	if (victim)
		pipe_watch_free(victim);
	pipe_watch_free(p);
	loop_stop(loop, 0);
}

TEST(a_callback_may_free_itself_and_another_that_is_due)
{
	struct pipe_watch *a, *b;

	loop = loop_new(NULL);
	a = pipe_watch_new(kill_the_other);
	b = pipe_watch_new(kill_the_other);
	a->victim = b;
	b->victim = a;
	deliveries = 0;
	CHECK_INT(write(a->fds[1], "x", 1), 1);
	CHECK_INT(write(b->fds[1], "x", 1), 1);
	CHECK_INT(loop_run(loop, NULL), 0);
	CHECK_INT(deliveries, 1);
	loop = loop_free(loop);
}

static void note_signal(int signo, void *data)
{
	*(int *)data = signo;
	loop_stop(loop, 0);
}

TEST(signals_arrive_in_the_loop)
{
	sigset_t before, now;
	int got = 0;

	sigprocmask(SIG_SETMASK, NULL, &before);
	loop = loop_new(NULL);
	CHECK_INT(loop_on_signals(loop, note_signal, &got, SIGCHLD, NULL), 0);
	sigprocmask(SIG_SETMASK, NULL, &now);
	CHECK(sigismember(&now, SIGINT) && sigismember(&now, SIGTERM) && sigismember(&now, SIGCHLD));
	raise(SIGTERM);
	CHECK_INT(loop_run(loop, NULL), 0);
	CHECK_INT(got, SIGTERM);
	raise(SIGCHLD);
	CHECK_INT(loop_run(loop, NULL), 0);
	CHECK_INT(got, SIGCHLD);
	loop = loop_free(loop);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

struct timer {
	struct watch watch;
	unsigned turns;
	uint64_t expirations;
};

static void tick(struct watch *w, uint32_t events)
{
	struct timer *t = (struct timer *)w;

	(void)events;
	t->expirations += loop_timer_read(w);
	if (++t->turns == 3) {
		loop_remove_timer(loop, w);
		loop_stop(loop, 0);
	}
}

TEST(a_timer_fires_repeatedly_until_it_is_removed)
{
	struct timer t = { .watch = { .ready = tick, .fd = -1 } };

	loop = loop_new(NULL);
	CHECK_INT(loop_add_timer(loop, &t.watch, 1000000, NULL), 0);
	CHECK_INT(loop_run(loop, NULL), 0);
	CHECK_INT(t.turns, 3);
	CHECK(t.expirations >= 3);
	CHECK_INT(t.watch.fd, -1);
	loop_remove_timer(loop, &t.watch);
	loop = loop_free(loop);
}

TEST(watching_an_invalid_descriptor_is_an_error)
{
	struct watch w = { .ready = tick, .fd = 999999 };
	struct err err;

	loop = loop_new(NULL);
	CHECK_INT(loop_add(loop, &w, EPOLLIN, &err), -EBADF);
	CHECK(strstr(err.text, "999999"));
	loop = loop_free(loop);
	CHECK(!loop_free(NULL));
}

TEST_MAIN()
