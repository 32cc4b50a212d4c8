/* connection.h: a persistent connection to a Redis: connects, logs in, monitors, and reconnects. For the loop's
 * thread; it never blocks, and host names are resolved outside the loop. A thread of its own uses redis_client.h instead.
 *
 * It connects, sends AUTH, SELECT and CLIENT SETNAME as the URL wants, sends PING, and then calls `ready`: now commands
 * can be sent and a subscription be made. When the connection is lost (closed, or no answer in time) every command
 * in flight gets NULL as its reply, `lost` is called, and it reconnects after half a second to 30, with backoff. A silent
 * peer is sent PING; one that hangs, or is unreachable, is noticed within about 10 seconds.
 *
 * Only hiredis' reader and writer of the protocol are used, as they are in 0.14 and in 1.2: its own event layer looks
 * names up in the loop's thread, reads 16 KB at once, and asserts things about what a server sends. */
#ifndef REDIS_CONNECTION_H
#define REDIS_CONNECTION_H

#include "intern.h"
#include "loop.h"
#include "problem.h"
#include "redis_url.h"
#include <stdarg.h>

struct redis_connection;
struct redisReply;			/* <hiredis/hiredis.h> */

struct redis_connection_options {
	const struct redis_url *url;		/* copied. password-file= is read at each login */
	const char *host;			/* another node than the URL's, such as of the same cluster; NULL: the
						 * URL's */
	unsigned port;				/* on that host */
	const char *name;			/* ours in its CLIENT LIST; NULL: strobe */
	int64_t connect_timeout_ns;		/* also of the login; 5 s */
	int64_t answer_timeout_ns;		/* for a command unless it has its own; 5 s */
	int64_t ping_after_ns;			/* after this much silence; 3 s */
	int64_t retry_min_ns, retry_max_ns;	/* 1 s, 30 s; the waits are random, between half and all of it */
	size_t reply_max;			/* bytes of one reply; a larger one ends the connection. 256 MB */

	size_t read_together;			/* bytes to wait for, at most a quarter of a second; 0: none. For
						 * subscribers */
	size_t read_ahead;			/* bytes read from the socket before they are parsed; 1 MB */

	/* All from the loop, never from within a function of this header but redis_connection_drop; any may be NULL.
	 * All but `state` may send commands, drop the connection, or free it. */
	void (*ready)(struct redis_connection *c, void *data);
	void (*lost)(struct redis_connection *c, void *data);		/* after it had been ready */
	/* Unsolicited replies: messages, and the replies to SUBSCRIBE and the like, errors included. */
	void (*pushed)(struct redis_connection *c, const struct redisReply *reply, void *data);
	/* Messages of subscriptions; without it they go to `pushed`. Bytes live until it returns. */
	void (*message)(struct redis_connection *c, struct str channel, struct str text, void *data);
	/* A change: one sentence (what, where, remedy) without a password. Not called again while the sentence
	 * stays the same. A command refused for the server's state (READONLY, OOM, …) is a change, which is over when
	 * the same command succeeds; INFO is not. */
	void (*state)(void *data, bool is_up, const char *text);
	void *data;
};

/* Written and read by the loop's thread only. */
struct redis_connection_counters {
	uint64_t connections;			/* that became ready */
	uint64_t lost;				/* after they had been ready */
	uint64_t failed;			/* attempts */
	uint64_t hung;				/* ended for want of an answer, ready or not */
	uint64_t bytes_in;
};

void redis_connection_default_options(struct redis_connection_options *o);

/* Starts to connect in the loop's next iteration. Fails only without a free descriptor. */
int redis_connection_new(const struct redis_connection_options *o, struct loop *loop, struct redis_connection **ret,
			 struct err *err);

/* No callback is called any more, not even for commands in flight. NULL is fine; returns NULL. */
struct redis_connection *redis_connection_free(struct redis_connection *c);

bool redis_connection_is_ready(const struct redis_connection *c);
const char *redis_connection_where(const struct redis_connection *c);		/* "127.0.0.1:6379" */
const struct redis_connection_counters *redis_connection_counters(const struct redis_connection *c);

/* The reply is freed after the call. NULL: the connection was lost, and the command may or may not have run. */
typedef void redis_reply_fn(struct redis_connection *c, const struct redisReply *reply, void *data);

/* Sends a command; answers come in order. `timeout_ns` counts from when the server can begin with it, and from its last
 * byte; when it is over the connection is lost. 0: answer_timeout_ns; with BLOCK it has to be longer than that. `fn`
 * may be NULL. -ENOTCONN while not ready, -ENOBUFS when 64 MB wait to be sent. */
int redis_connection_send(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data, int argc,
			  const char *const *argv, const size_t *sizes);

/* The same with hiredis' format: %s, %b with pointer and size_t, %d … The format must be a constant. */
int redis_connection_sendf(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data,
			   const char *format, ...);
int redis_connection_vsendf(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data,
			    const char *format, va_list arguments);

/* Sends commands that start or end subscriptions: their answers go to `pushed`. Afterwards the server accepts only
 * these and PING, which is sent automatically. */
int redis_connection_subscribe(struct redis_connection *c, int argc, const char *const *argv, const size_t *sizes);

/* Ends the connection with a sentence for `state`, and reconnects after a wait. */
void redis_connection_drop(struct redis_connection *c, const char *format, ...) _printf_(2, 3);

/* Handles all input received so far, for at most `max_ns`; for shutdown. */
void redis_connection_drain(struct redis_connection *c, int64_t max_ns);

/* Pauses and resumes reading, for backpressure. A paused connection is not watched. */
void redis_connection_pause(struct redis_connection *c, bool paused);

#endif
