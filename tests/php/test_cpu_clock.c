/* test_cpu_clock.c: the CPU clock of a trace, whatever the kernel says when it is asked. */
#include "cpu_clock.h"
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

#define LONG_TICKS 100000000000u	/* longer than any test runs */

static struct cpu_clock begin(void)
{
	struct cpu_clock c;

	clock_startup();
	cpu_clock_start(&c, clock_ns_per_tick());
	return c;
}

/* The kernel finds that so much of what passed was no time of this thread, and is asked. */
static void take_back(struct cpu_clock *c, uint64_t ticks)
{
	c->offset -= ticks;
	cpu_clock_resync(c);
}

/* Reads it often; the kernel takes back a little every `every` reads. Whether it never went back, nor faster than time. */
static bool is_steady(struct cpu_clock *c, int every)
{
	uint64_t ticks = clock_ticks(), cpu = cpu_clock_at(c, ticks);

	for (int i = 1; i < 10000; i++) {
		uint64_t now = clock_ticks(), then = cpu;

		if (i % every == 0)
			take_back(c, 20000);
		cpu = cpu_clock_at(c, now);
		if ((int64_t)(cpu - then) < 0 || cpu - then > now - ticks)
			return false;
		ticks = now;
	}
	return true;
}

TEST(between_two_reads_it_never_goes_back_and_never_faster_than_time)
{
	struct cpu_clock c = begin();

	CHECK(is_steady(&c, 100000));
	CHECK(is_steady(&c, 100));
	CHECK(is_steady(&c, 1));
	cpu_clock_stop(&c);
}

TEST(what_it_was_ahead_of_the_kernel_it_waits_for)
{
	struct cpu_clock c = begin();
	uint64_t cpu = cpu_clock_at(&c, clock_ticks());

	take_back(&c, LONG_TICKS);
	CHECK(cpu_clock_at(&c, clock_ticks()) == cpu);
	CHECK(is_steady(&c, 100));
	CHECK(cpu_clock_at(&c, clock_ticks()) == cpu);
	CHECK(cpu_clock_at(&c, clock_ticks() + 2 * LONG_TICKS) > cpu);
	cpu_clock_stop(&c);
}

TEST(what_the_kernel_adds_is_not_the_time_of_a_moment)
{
	struct cpu_clock c = begin();
	uint64_t ticks = clock_ticks(), cpu = cpu_clock_at(&c, ticks), now;

	c.offset += LONG_TICKS;
	cpu_clock_resync(&c);
	now = clock_ticks();
	CHECK(cpu_clock_at(&c, now) - cpu <= now - ticks);
	cpu_clock_stop(&c);
}

TEST(in_a_forked_child_it_goes_on_from_where_it_was)
{
	struct cpu_clock c = begin();
	uint64_t ticks = clock_ticks(), cpu = cpu_clock_at(&c, ticks);
	int status;
	pid_t pid;

	take_back(&c, LONG_TICKS);
	cpu_clock_before_fork(&c);
	pid = fork();
	if (pid == 0) {
		uint64_t now, in_child;

		cpu_clock_in_child(&c);
		now = clock_ticks();
		in_child = cpu_clock_at(&c, now);
		_exit(in_child - cpu <= now - ticks && is_steady(&c, 100) ? 0 : 1);
	}
	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(status == 0);
	cpu_clock_stop(&c);
}

TEST_MAIN()
