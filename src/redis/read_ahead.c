/* read_ahead.c: a list of chunks, in order of arrival. */
#include "read_ahead.h"

#include "mem.h"
#include "redis_tls.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define FILL_MAX	((size_t)16 << 20)

_Static_assert(READ_AHEAD_CHUNK / 2 >= REDIS_TLS_RECORD, "with_room() leaves room for a record");

struct read_ahead_chunk {
	struct read_ahead_chunk *next;
	size_t size;
	char data[READ_AHEAD_CHUNK];
};

void read_ahead_init(struct read_ahead *q, size_t max)
{
	*q = (struct read_ahead){ .max = max > READ_AHEAD_CHUNK ? max : READ_AHEAD_CHUNK };
}

void read_ahead_reset(struct read_ahead *q)
{
	while (q->first)
		read_ahead_drop(q);
	q->ended = false;
	q->error = 0;
}

void read_ahead_done(struct read_ahead *q)
{
	read_ahead_reset(q);
	free(q->spare);
	q->spare = NULL;
}

bool read_ahead_is_full(const struct read_ahead *q)
{
	return q->memory + READ_AHEAD_CHUNK > q->max && (!q->last || q->last->size > READ_AHEAD_CHUNK / 2);
}

/* Returns a chunk with room for at least half its size; NULL if the memory limit is reached. */
static struct read_ahead_chunk *with_room(struct read_ahead *q)
{
	struct read_ahead_chunk *c = q->last;

	if (c && c->size <= READ_AHEAD_CHUNK / 2)
		return c;
	if (read_ahead_is_full(q))
		return NULL;
	c = q->spare ? q->spare : xmalloc(sizeof(*c));
	q->spare = NULL;
	c->next = NULL;
	c->size = 0;
	if (q->last)
		q->last->next = c;
	else
		q->first = c;
	q->last = c;
	q->memory += READ_AHEAD_CHUNK;
	return c;
}

size_t read_ahead_fill(struct read_ahead *q, int fd, struct redis_tls *tls)
{
	struct read_ahead_chunk *c;
	size_t sum = 0;

	while (sum < FILL_MAX && !q->ended && (c = with_room(q))) {
		size_t room = READ_AHEAD_CHUNK - c->size;
		ssize_t n = tls ? redis_tls_recv(tls, c->data + c->size, room) :
				  recv(fd, c->data + c->size, room, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		q->ended = n <= 0;
		q->error = n < 0 ? errno : 0;
		if (n <= 0)
			break;
		c->size += (size_t)n;
		sum += (size_t)n;
		if ((size_t)n < room && !tls)		/* the socket is empty; TLS returns one record at a time */
			break;
	}
	return sum;
}

bool read_ahead_front(const struct read_ahead *q, const char **bytes, size_t *n)
{
	if (!q->first || !q->first->size)
		return false;
	*bytes = q->first->data;
	*n = q->first->size;
	return true;
}

void read_ahead_drop(struct read_ahead *q)
{
	struct read_ahead_chunk *c = q->first;

	q->first = c->next;
	if (!q->first)
		q->last = NULL;
	q->memory -= READ_AHEAD_CHUNK;
	if (q->spare)
		free(c);
	else
		q->spare = c;
}
