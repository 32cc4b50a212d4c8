/* connections.c: a list ordered by last activity. */

#include "connections.h"

#include "clock.h"
#include "log.h"
#include "mem.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

struct connection {
	struct connection *previous, *next;
	int fd;
	enum connection_state state;
	bool is_shut;
	int64_t since_ns;			/* last activity, clock_monotonic_ns() */
};

void connections_init(struct connections *c, unsigned most)
{
	*c = (struct connections){ .most = most };
	pthread_mutex_init(&c->lock, NULL);
}

void connections_done(struct connections *c)
{
	assert(!c->first);
	pthread_mutex_destroy(&c->lock);
}

static void append(struct connections *c, struct connection *one)
{
	one->since_ns = clock_monotonic_ns();
	one->previous = c->last;
	one->next = NULL;
	*(c->last ? &c->last->next : &c->first) = one;
	c->last = one;
}

static void take_out(struct connections *c, struct connection *one)
{
	*(one->previous ? &one->previous->next : &c->first) = one->next;
	*(one->next ? &one->next->previous : &c->last) = one->previous;
}

static struct connection *longest(const struct connections *c, enum connection_state state)
{
	struct connection *one = c->first;

	while (one && (one->is_shut || one->state != state))
		one = one->next;
	return one;
}

static void disconnect(struct connections *c, struct connection *one)
{
	shutdown(one->fd, SHUT_RDWR);
	one->is_shut = true;
	c->live--;
	c->evicted++;
}

static void make_room(struct connections *c)
{
	struct connection *one = longest(c, CONNECTION_READS);

	if (!one)
		one = longest(c, CONNECTION_SENDS);
	if (!one)
		return;
	disconnect(c, one);
	if (!c->is_full)
		log_warning("the limit of %u HTTP connections is reached; each new one closes the one that has "
			    "been idle longest, which is counted", c->most);
	c->is_full = true;
}

struct connection *connections_add(struct connections *c, int fd)
{
	struct connection *one = xcalloc(1, sizeof(*one));

	one->fd = fd;
	pthread_mutex_lock(&c->lock);
	if (++c->live > c->most)
		make_room(c);
	append(c, one);
	pthread_mutex_unlock(&c->lock);
	return one;
}

void connections_remove(struct connections *c, struct connection *one)
{
	if (!one)
		return;
	pthread_mutex_lock(&c->lock);
	take_out(c, one);
	c->live -= !one->is_shut;
	if (c->live <= c->most / 2)
		c->is_full = false;
	pthread_mutex_unlock(&c->lock);
	free(one);
}

void connections_set_state(struct connections *c, struct connection *one, enum connection_state state)
{
	if (!one)
		return;
	pthread_mutex_lock(&c->lock);
	one->state = state;
	take_out(c, one);
	append(c, one);
	pthread_mutex_unlock(&c->lock);
}

bool connections_evict(struct connections *c, int64_t longer_than_ns)
{
	struct connection *one;
	bool is_due;

	pthread_mutex_lock(&c->lock);
	one = longest(c, CONNECTION_SENDS);
	is_due = one && clock_monotonic_ns() - one->since_ns > longer_than_ns;
	if (is_due)
		disconnect(c, one);
	pthread_mutex_unlock(&c->lock);
	return is_due;
}
