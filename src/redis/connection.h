/* connection.h: a persistent connection to a Redis: connects, logs in, monitors, and reconnects. For the loop's
 * thread: it never blocks, and host names are resolved outside the loop. Separate threads use redis_client.h instead.
 *
 * It connects, sends AUTH, SELECT and CLIENT SETNAME as required by the URL, then PING, and then calls `ready`: from
 * now on, commands can be sent and channels subscribed. When the connection is lost (closed, or no reply in time),
 * every command in flight gets NULL as its reply, `lost` is called, and it reconnects after half a second to 30, with
 * backoff. It sends PING to a silent peer; one that hangs, or is unreachable, is detected within about 10 seconds.
 *
 * Only hiredis' reader and writer of the protocol are used, which are the same in 0.14 and 1.2: its own event layer
 * resolves names in the loop's thread, reads only 16 KB at once, and has assertions on what a server sends. */
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
	const char *host;			/* another node than the URL's, such as one of the same cluster; NULL:
						 * the URL's */
	unsigned port;				/* on that host */
	const char *name;			/* our name in CLIENT LIST; NULL: strobe */
	int64_t connect_timeout_ns;		/* includes the login; 5 s */
	int64_t answer_timeout_ns;		/* for commands without their own timeout; 5 s */
	int64_t ping_after_ns;			/* after this much silence; 3 s */
	int64_t retry_min_ns, retry_max_ns;	/* 1 s, 30 s; waits are random, from half to all of it */
	size_t reply_max;			/* bytes per reply; a larger one ends the connection. 256 MB */

	size_t read_together;			/* bytes to wait for, up to a quarter of a second; 0: none. For
						 * subscribers */
	size_t read_ahead;			/* bytes read from the socket before they are parsed; 1 MB */

	/* All are called from the loop, never from within a function of this header except redis_connection_drop; any
	 * may be NULL. All but `state` may send commands, drop the connection, or free it. */
	void (*ready)(struct redis_connection *c, void *data);
	void (*lost)(struct redis_connection *c, void *data);		/* after it was ready */
	/* Unsolicited replies: messages, and the replies to SUBSCRIBE and similar commands, including errors. */
	void (*pushed)(struct redis_connection *c, const struct redisReply *reply, void *data);
	/* Messages of subscriptions; without it they go to `pushed`. The bytes are valid until it returns. */
	void (*message)(struct redis_connection *c, struct str channel, struct str text, void *data);
	/* Called on changes, with one sentence (what, where, remedy) without a password. Not called again while the
	 * sentence stays the same. A command refused because of the server's state (READONLY, OOM, …) is a change,
	 * which ends when the same command succeeds; INFO is not. */
	void (*state)(void *data, bool is_up, const char *text);
	void *data;
};

/* Written and read by the loop's thread only. */
struct redis_connection_counters {
	uint64_t connections;			/* became ready */
	uint64_t lost;				/* after they were ready */
	uint64_t failed;			/* failed attempts */
	uint64_t hung;				/* ended because no reply came in time, ready or not */
	uint64_t bytes_in;
};

void redis_connection_default_options(struct redis_connection_options *o);

/* Starts to connect in the loop's next iteration. Fails only if no descriptor is available. */
int redis_connection_new(const struct redis_connection_options *o, struct loop *loop, struct redis_connection **ret,
			 struct err *err);

/* Calls no callback any longer, not even for commands in flight. NULL is fine; returns NULL. */
struct redis_connection *redis_connection_free(struct redis_connection *c);

bool redis_connection_is_ready(const struct redis_connection *c);
const char *redis_connection_where(const struct redis_connection *c);		/* "127.0.0.1:6379" */
const struct redis_connection_counters *redis_connection_counters(const struct redis_connection *c);

/* The reply is freed after the call. NULL: the connection was lost, and the command may or may not have been executed. */
typedef void redis_reply_fn(struct redis_connection *c, const struct redisReply *reply, void *data);

/* Sends a command; replies arrive in order. `timeout_ns` counts from when the server can start with it, and from its
 * last byte; when it expires the connection is lost. 0: answer_timeout_ns; with BLOCK, it must be longer than that.
 * `fn` may be NULL. Returns -ENOTCONN while not ready, -ENOBUFS if 64 MB are waiting to be sent. */
int redis_connection_send(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data, int argc,
			  const char *const *argv, const size_t *sizes);

/* The same with hiredis' format: %s, %b with pointer and size_t, %d … The format must be a constant. */
int redis_connection_sendf(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data,
			   const char *format, ...);
int redis_connection_vsendf(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data,
			    const char *format, va_list arguments);

/* Sends commands that start or end subscriptions: their replies go to `pushed`. Afterwards the server accepts only
 * these and PING, which is sent automatically. */
int redis_connection_subscribe(struct redis_connection *c, int argc, const char *const *argv, const size_t *sizes);

/* Ends the connection with a sentence for `state`, and reconnects after a wait. */
void redis_connection_drop(struct redis_connection *c, const char *format, ...) _printf_(2, 3);

/* Handles all input received so far, for at most `max_ns`; for shutdown. */
void redis_connection_drain(struct redis_connection *c, int64_t max_ns);

/* Pauses and resumes reading, for backpressure. A paused connection is not monitored. */
void redis_connection_pause(struct redis_connection *c, bool paused);

#endif
