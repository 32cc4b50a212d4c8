/* read_ahead.h: bytes received from a socket and not yet parsed.
 *
 * A server disconnects a subscriber whose output buffer is too large, and may send faster than lines can be
 * processed, so the socket is emptied first, and its data processed in slices. The memory is bounded; beyond that the
 * server has to wait. */
#ifndef REDIS_READ_AHEAD_H
#define REDIS_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READ_AHEAD_CHUNK	(256u * 1024)

struct read_ahead_chunk;
struct redis_tls;

struct read_ahead {
	struct read_ahead_chunk *first, *last, *spare;
	size_t memory, max;			/* bytes of chunks */
	bool ended;				/* EOF; with its errno, 0 for an orderly end */
	int error;
};

void read_ahead_init(struct read_ahead *q, size_t max);		/* at least one chunk, regardless of `max` */
void read_ahead_done(struct read_ahead *q);
void read_ahead_reset(struct read_ahead *q);			/* for use with another socket */

bool read_ahead_is_full(const struct read_ahead *q);

/* Reads what has arrived, up to 16 MB and the remaining room; through `tls` unless that is NULL. Returns the number
 * of bytes. */
size_t read_ahead_fill(struct read_ahead *q, int fd, struct redis_tls *tls);

/* Returns the oldest bytes; false if there are none. They are valid until they are dropped. */
bool read_ahead_front(const struct read_ahead *q, const char **bytes, size_t *n);
void read_ahead_drop(struct read_ahead *q);

#endif
