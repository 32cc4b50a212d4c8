/* test_gather.c: senders that are socket pairs, and how often the loop is woken for them. */

#include "gather.h"

#include "clock.h"
#include "test.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAIRS	10

static struct loop *loop;
static struct gather *gather;

static struct pair {
	struct gather_sender sender;
	int fd;					/* to send to it */
} pairs[PAIRS];
static unsigned taken, wakes, closed;
static int64_t last_wake_ns;
static struct watch clock_watch;
static unsigned ticks_left, per_tick;
static size_t message_bytes;

static void ready(struct watch *w, uint32_t events)
{
	struct pair *p = (struct pair *)((char *)w - offsetof(struct pair, sender.watch));
	static char bytes[65536];
	int64_t now = clock_monotonic_ns();
	ssize_t n = recv(w->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	/* Messages received within a millisecond count as one wake. */
	wakes += now - last_wake_ns > NS_PER_SECOND / 1000;
	last_wake_ns = now;
	if (n > 0) {
		gather_note(gather, &p->sender, (size_t)n);
		taken++;
		return;
	}
	n = w->fd;
	gather_remove(gather, &p->sender);
	close((int)n);
	closed++;
}

static void begin(void)
{
	taken = wakes = closed = 0;
	loop = loop_new(NULL);
	CHECK(gather_new(loop, &gather, NULL) == 0);
	for (unsigned i = 0; i < PAIRS; i++) {
		int fds[2];

		CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == 0);
		pairs[i] = (struct pair){ .sender.watch = { .ready = ready, .fd = fds[0] }, .fd = fds[1] };
		CHECK(gather_add(gather, &pairs[i].sender, EPOLLIN, NULL) == 0);
	}
}

static void end(void)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		int fd = pairs[i].sender.watch.fd;

		gather_remove(gather, &pairs[i].sender);
		if (fd >= 0)
			close(fd);
		if (pairs[i].fd >= 0)
			close(pairs[i].fd);
	}
	gather = gather_free(gather);
	loop_free(loop);
}

static void send_one(unsigned i, size_t bytes)
{
	static const char zeros[65536];

	CHECK(send(pairs[i % PAIRS].fd, zeros, bytes, MSG_DONTWAIT) == (ssize_t)bytes);
}

static void tick(struct watch *w, uint32_t events)
{
	static unsigned next;

	loop_timer_read(w);
	if (!ticks_left--) {
		loop_stop(loop, 0);
		return;
	}
	for (unsigned i = 0; i < per_tick; i++)
		send_one(next++, message_bytes);
}

/* Runs `ticks` of 5 ms, each with `messages` of `bytes`. */
static void run(unsigned ticks, unsigned messages, size_t bytes)
{
	ticks_left = ticks;
	per_tick = messages;
	message_bytes = bytes;
	clock_watch = (struct watch){ .ready = tick, .fd = -1 };
	CHECK(loop_add_timer(loop, &clock_watch, 5 * NS_PER_SECOND / 1000, NULL) == 0);
	loop_run(loop, NULL);
	loop_remove_timer(loop, &clock_watch);
}

/* Repeats, since a busy machine may delay the test by a period or two. */
static unsigned run_until(bool has_pause, unsigned messages, size_t bytes)
{
	unsigned ticks = 0;

	for (; !gather_pause_ns(gather) == has_pause && ticks < 1000; ticks++)
		run(1, messages, bytes);
	CHECK(!gather_pause_ns(gather) != has_pause);
	return ticks * messages;
}

TEST(the_first_messages_are_read_immediately)
{
	begin();
	run(GATHER_MESSAGES - 1, 1, 100);
	run(2, 0, 0);
	CHECK_INT(taken, GATHER_MESSAGES - 1);
	CHECK_INT(gather_pause_ns(gather), 0);
	end();
}

TEST(frequent_messages_are_read_together)
{
	unsigned sent = 0, tries = 0;

	begin();
	/* On a busy machine a missed period ends the pauses, and they begin again. */
	do {
		sent += run_until(true, 1, 100);
		wakes = 0;
		run(100, 2, 100);
		sent += 200;
	} while (wakes >= 50 && ++tries < 20);
	CHECK(wakes < 50);
	run_until(false, 0, 0);
	CHECK_INT(taken, sent);
	end();
}

TEST(pauses_end_when_messages_become_rare)
{
	unsigned sent;

	begin();
	sent = run_until(true, 1, 100);
	run_until(false, 0, 0);
	CHECK_INT(taken, sent);
	send_one(0, 100);
	run(2, 0, 0);
	CHECK_INT(taken, sent + 1);
	end();
}

TEST(a_sender_of_large_messages_is_read_more_often)
{
	unsigned sent, rounds = 0;

	begin();
	sent = run_until(true, 1, 100);
	CHECK_INT(gather_pause_ns(gather), GATHER_PERIOD_NS);
	for (; gather_pause_ns(gather) == GATHER_PERIOD_NS && rounds < 1000; rounds++) {
		send_one(0, 60000);
		run(8, 3, 100);
	}
	CHECK(gather_pause_ns(gather) < GATHER_PERIOD_NS);
	sent += rounds * 25;
	/* Afterwards as rarely as before. */
	for (unsigned ticks = 0; gather_pause_ns(gather) != GATHER_PERIOD_NS && ticks < 1000; ticks++, sent++)
		run(1, 1, 100);
	CHECK_INT(gather_pause_ns(gather), GATHER_PERIOD_NS);
	run_until(false, 0, 0);
	CHECK_INT(taken, sent);
	end();
}

#define ROUND_NS	10000000	/* two ticks */

/* Sends `messages` in each round; `*sent` counts them. Returns whether all had room; `*has_slow` tells whether a round took far
 * longer than it should: a period with such a round looks calmer than the next one is, and a break may be too long for that. */
static bool send_in_rounds(unsigned messages, size_t bytes, unsigned *sent, bool *has_slow)
{
	static const char zeros[65536];
	int64_t began = clock_monotonic_ns(), now;

	for (int i = 0; i < 1000 && (i < 60 || !gather_pause_ns(gather)); i++, began = now) {
		for (unsigned k = 0; k < messages; k++, (*sent)++)
			if (send(pairs[0].fd, zeros, bytes, MSG_DONTWAIT) != (ssize_t)bytes)
				return false;
		run(1, 0, 0);
		CHECK(gather_pause_ns(gather) < GATHER_PERIOD_NS);
		now = clock_monotonic_ns();
		*has_slow |= now - began > 2 * ROUND_NS;
	}
	return true;
}

/* Each round sends more than a pause has room for, so sending all of it shows that messages are received in time. */
static void check_many(unsigned messages, size_t bytes)
{
	bool has_room = false, has_slow = true;

	for (int tries = 0; !has_room && has_slow && tries < 20; tries++) {
		unsigned sent = 0;

		has_slow = false;
		begin();
		has_room = send_in_rounds(messages, bytes, &sent, &has_slow);
		CHECK(!has_room || gather_pause_ns(gather) > 0);
		run_until(false, 0, 0);
		CHECK_INT(taken, sent);
		end();
	}
	CHECK(has_room);
}

TEST(a_busy_sender_causes_no_wakeups_and_finds_buffer_space)
{
	check_many(20, 1700);
	check_many(70, 40);	/* small messages take buffer space mostly by the kernel's overhead */
}

TEST(a_disconnect_during_a_pause_is_noticed_after_it)
{
	unsigned sent;

	begin();
	sent = run_until(true, 1, 100);
	send_one(3, 100);
	close(pairs[3].fd);
	pairs[3].fd = -1;
	run_until(false, 0, 0);
	run(2, 0, 0);
	CHECK_INT(taken, sent + 1);
	CHECK_INT(closed, 1);
	end();
}

TEST_MAIN()
