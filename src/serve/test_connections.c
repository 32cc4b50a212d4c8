/* test_connections.c: tests which connection is closed first to make room for another. */

#include "connections.h"

#include "cleanup.h"
#include "test.h"

#include <sys/socket.h>
#include <unistd.h>

#define MOST	4u
#define ALL	12u

struct crowd {
	struct connections all;
	struct connection *one[ALL];
	int fds[ALL][2];		/* our end, the client's end */
	unsigned count;
};

static void come(struct crowd *c)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, c->fds[c->count]) < 0)
		perror("socketpair");
	c->one[c->count] = connections_add(&c->all, c->fds[c->count][0]);
	c->count++;
}

static void go(struct crowd *c, unsigned i)
{
	connections_remove(&c->all, c->one[i]);
	c->one[i] = NULL;
}

static struct crowd begin(unsigned n)
{
	struct crowd c = { 0 };

	connections_init(&c.all, MOST);
	while (c.count < n)
		come(&c);
	return c;
}

static void end(struct crowd *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		go(c, i);
		close(c->fds[i][0]);
		close(c->fds[i][1]);
	}
	connections_done(&c->all);
}

static bool is_shut(const struct crowd *c, unsigned i)
{
	char byte;

	return read(c->fds[i][1], &byte, 1) == 0;
}

static unsigned count_shut(const struct crowd *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->count; i++)
		n += is_shut(c, i);
	return n;
}

TEST(connections_within_the_limit_stay_open)
{
	struct crowd c = begin(MOST);

	CHECK_INT(count_shut(&c), 0);
	go(&c, 1);
	come(&c);
	CHECK_INT(count_shut(&c), 0);
	CHECK_INT(c.all.evicted, 0);
	end(&c);
}

TEST(the_longest_idle_connection_is_closed_first)
{
	struct crowd c = begin(MOST);

	connections_set_state(&c.all, c.one[0], CONNECTION_READS);	/* a piece of a body */
	come(&c);
	CHECK(is_shut(&c, 1) && count_shut(&c) == 1);
	come(&c);
	CHECK(is_shut(&c, 2) && count_shut(&c) == 2);
	come(&c);
	come(&c);
	CHECK(is_shut(&c, 0) && is_shut(&c, 3) && count_shut(&c) == 4);
	CHECK_INT(c.all.evicted, 4);
	end(&c);
}

TEST(idle_connections_are_closed_before_slow_readers_and_active_ones_never)
{
	struct crowd c = begin(MOST);

	connections_set_state(&c.all, c.one[0], CONNECTION_SENDS);
	connections_set_state(&c.all, c.one[1], CONNECTION_ANSWERS);
	connections_set_state(&c.all, c.one[2], CONNECTION_ANSWERS);
	connections_set_state(&c.all, c.one[3], CONNECTION_READS);
	come(&c);
	CHECK(is_shut(&c, 3) && count_shut(&c) == 1);
	connections_set_state(&c.all, c.one[4], CONNECTION_ANSWERS);
	come(&c);
	CHECK(is_shut(&c, 0) && count_shut(&c) == 2);
	connections_set_state(&c.all, c.one[5], CONNECTION_ANSWERS);
	come(&c);
	come(&c);
	CHECK(is_shut(&c, 6) && count_shut(&c) == 3);
	end(&c);
}

TEST(a_closed_connection_frees_its_slot_once)
{
	struct crowd c = begin(MOST + 1);

	CHECK(is_shut(&c, 0));
	go(&c, 0);		/* its place was already reassigned */
	go(&c, 1);
	come(&c);
	CHECK_INT(count_shut(&c), 1);
	come(&c);
	CHECK(is_shut(&c, 2) && count_shut(&c) == 2);
	end(&c);
}

TEST(a_slow_response_is_evicted_when_memory_is_low)
{
	struct crowd c = begin(3);

	connections_set_state(&c.all, c.one[1], CONNECTION_SENDS);
	connections_set_state(&c.all, c.one[0], CONNECTION_SENDS);
	connections_set_state(&c.all, c.one[2], CONNECTION_ANSWERS);
	CHECK(!connections_evict(&c.all, INT64_MAX));
	CHECK(connections_evict(&c.all, -1));
	CHECK(is_shut(&c, 1) && !is_shut(&c, 0));
	CHECK(connections_evict(&c.all, -1));
	CHECK(is_shut(&c, 0) && !is_shut(&c, 2));
	CHECK(!connections_evict(&c.all, -1));
	CHECK_INT(c.all.evicted, 2);
	end(&c);
}

TEST_MAIN()
