/* redis_client.h: a blocking connection to a Redis, for use in a separate thread: send a command, get the reply.
 *
 * It connects on demand; a connection that fails is closed, and the next command opens a new one. The caller has to
 * wait between attempts. Looking up a name takes as long as the system's resolver needs, about ten seconds at worst. */
#ifndef REDIS_CLIENT_H
#define REDIS_CLIENT_H

#include "problem.h"
#include "redis_url.h"
#include <stdint.h>

struct redis_client;
struct redisReply;				/* <hiredis/hiredis.h> */

/* Copies the parts of `url` that it needs. `name` is our name in CLIENT LIST. Does not connect yet. */
struct redis_client *redis_client_new(const struct redis_url *url, const char *name, int64_t connect_timeout_ns,
				    int64_t answer_timeout_ns);
struct redis_client *redis_client_free(struct redis_client *a);		/* NULL is fine; returns NULL */

/* Switches to a node of the same cluster; closes the connection if it is another one. If `host` is "", it is the
 * current one, or 127.0.0.1 if that was reached through a unix socket. */
void redis_client_move(struct redis_client *a, const char *host, unsigned port);

/* If the reply names another node of the cluster, moves there and returns true: send the command again, after ASKING
 * if *ret_asking is set. */
bool redis_client_follow(struct redis_client *a, const struct redisReply *reply, bool *ret_asking);

const char *redis_client_address(const struct redis_client *a);		/* "127.0.0.1:6379" */
bool redis_client_is_connected(const struct redis_client *a);

/* Runs one command. Returns 0 with a reply in *ret_reply, which the caller frees (freeReplyObject). It may be an
 * error reply (redis_problem classifies it, redis_problem_explain makes a sentence). Returns a negative error with a
 * sentence if there is no reply: -ECONNREFUSED, -ETIMEDOUT (connecting has its own timeout, and so has the reply,
 * from the last byte sent), -EACCES for a wrong password, -EAGAIN while the server is loading, …; the command may or
 * may not have been executed, and the connection is closed. */
int redis_client_command(struct redis_client *a, int argc, const char *const *argv, const size_t *sizes,
	      struct redisReply **ret_reply, struct err *err);

/* The same with hiredis' format: %s, %b with pointer and size_t, %d … The format must be a constant. */
int redis_client_commandf(struct redis_client *a, struct redisReply **ret_reply, struct err *err, const char *format, ...);

/* Cancels from any thread, such as at shutdown: a command in flight fails with -ECANCELED, and so do later ones. */
void redis_client_cancel(struct redis_client *a);

#endif
