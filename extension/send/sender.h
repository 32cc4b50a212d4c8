/* sender.h: sends messages to the daemon over one persistent connection, without ever blocking.
 *
 * Independent of PHP. The connection (unix SOCK_SEQPACKET) is opened on the first message, kept, and reopened after
 * the daemon has restarted. A daemon that is missing, stopped, full or restarted costs a few microseconds and a counted
 * loss, except that messages that do not fit into the socket's buffer are queued (send_queue.h) until there is room
 * again: call sender_drain from time to time while messages are queued. The descriptor is moved out of the way of
 * small numbers, so that a script that closes and reopens its standard streams still gets the numbers it expects.
 */
#ifndef STROBE_SENDER_H
#define STROBE_SENDER_H

#include "send_queue.h"

struct sender {
	int fd;				/* -1 if not connected */
	dev_t device;			/* identify the socket, since others may close or replace fd */
	ino_t inode;
	char path[108];			/* the socket that fd is connected to */
	int error;			/* errno of the last attempt to connect or send; 0: success, or no attempt */
	bool tried;			/* there was an attempt */
	struct send_queue waiting;
	size_t packed;			/* bytes last sent together, which may not have been received yet */
	uint64_t messages;		/* messages sent */
	uint64_t lost[STROBE_DROP_REASONS];	/* total samples lost, for display */
	uint64_t unreported[STROBE_DROP_REASONS];	/* samples lost, not yet reported to the daemon */
};

void sender_init(struct sender *s);

/* Closes the connection and discards queued messages. Also safe in a forked child: the parent keeps its own. */
void sender_close(struct sender *s);

/* Whether the connection is open, as far as can be determined without sending. */
bool sender_is_connected(const struct sender *s);

/* Returns the error with which a connection to `path` would fail, judging by the file system: 0 or an errno such as
 * ENOTSOCK. Does not connect. */
int sender_probe(const char *path);

/* Sends a message of at most STROBE_WIRE_INLINE bytes, or queues it. Returns 0, or the reason for the loss
 * (STROBE_DROP_TOO_LARGE: the socket's buffer is smaller than the message, which may still be sent by memfd). */
int sender_send(struct sender *s, const char *path, const void *message, size_t size);

/* Unmaps `map` (NULL: nothing) and seals what platform_memfd or platform_memfd_of made, sends it and closes it.
 * Returns the same as sender_send. */
int sender_send_memfd(struct sender *s, const char *path, int memfd, void *map, size_t size);

/* Sends queued messages while there is room, without blocking. `last`: there will be no other opportunity soon, so
 * room is made for them. */
void sender_drain(struct sender *s, bool last);

static inline bool sender_waits(const struct sender *s)
{
	return s->waiting.first;
}

/* Losses in PHP have smaller reasons than this; the others are counted by receivers and system samplers. */
#define SENDER_DROP_REASONS	STROBE_DROP_KILLED

/* Counts samples lost for one of those reasons. */
void sender_lost(struct sender *s, int reason, uint64_t samples);

#endif
