/* problem.h: explains Redis errors to the user. */
#ifndef REDIS_PROBLEM_H
#define REDIS_PROBLEM_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

struct redisReply;

enum redis_problem {
	REDIS_FINE,			/* no error reply */
	REDIS_OTHER,			/* an error that is not among these */
	REDIS_LOADING,			/* reads its data from disk; over by itself */
	REDIS_BUSY,			/* runs a script; over by itself, mostly */
	REDIS_MASTERDOWN,		/* a replica without its master that does not serve old data */
	REDIS_CLUSTERDOWN,
	REDIS_TRYAGAIN, /* a slot is being moved */
	REDIS_MOVED,
	REDIS_ASK,	/* another node of the cluster has the key */
	REDIS_READONLY, /* a replica */
	REDIS_OOM,	/* maxmemory is reached */
	REDIS_MISCONF,	/* cannot write to its disk and rejects writes */
	REDIS_NOREPLICAS,
	REDIS_NOAUTH,			/* requires a password */
	REDIS_WRONGPASS,
	REDIS_NOPERM,			/* the user may not do this */
	REDIS_PROTECTED,		/* DENIED: protected mode, from another host */
	REDIS_MAXCLIENTS,
	REDIS_WRONGTYPE,
	REDIS_NOGROUP,
	REDIS_BUSYGROUP,
	REDIS_NOSCRIPT, /* ordinary answers, for the caller to handle */
	REDIS_PROBLEMS
};

/* REDIS_FINE for anything but an error reply. NULL is fine. */
enum redis_problem redis_problem(const struct redisReply *reply);
enum redis_problem redis_problem_of_text(const char *text, size_t n);

/* It is about the state of the server and not about this one command. */
bool redis_problem_is_state(enum redis_problem p);

/* It is temporary: retried soon. */
bool redis_problem_passes(enum redis_problem p);

/* "127.0.0.1:6379 is loading its data; …": what, where, remedy; `what` is the command, such as "XADD". The server's own
 * text stands in it with bytes that are no printable ASCII as '?', and cut. Returns -EIO, -EACCES, … */
int redis_problem_explain(const struct redisReply *reply, const char *where, const char *what, struct err *err);

#endif
