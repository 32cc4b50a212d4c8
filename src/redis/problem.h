/* problem.h: explains Redis errors to the user. */
#ifndef REDIS_PROBLEM_H
#define REDIS_PROBLEM_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

struct redisReply;

enum redis_problem {
	REDIS_FINE,			/* not an error reply */
	REDIS_OTHER,			/* any other error */
	REDIS_LOADING,			/* loads its data from disk; temporary */
	REDIS_BUSY,			/* runs a script; mostly temporary */
	REDIS_MASTERDOWN,		/* a replica without its master that does not serve stale data */
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
	REDIS_NOSCRIPT, /* ordinary replies, for the caller to handle */
	REDIS_PROBLEMS
};

/* Returns REDIS_FINE for anything but an error reply. NULL is fine. */
enum redis_problem redis_problem(const struct redisReply *reply);
enum redis_problem redis_problem_of_text(const char *text, size_t n);

/* Tells whether the problem is the state of the server rather than this one command. */
bool redis_problem_is_state(enum redis_problem p);

/* Tells whether the problem is temporary and can be retried soon. */
bool redis_problem_passes(enum redis_problem p);

/* Makes a sentence with what, where and remedy: "127.0.0.1:6379 is loading its data; …"; `what` is the command, such
 * as "XADD". The server's own text is included, truncated, and with '?' for bytes that are not printable ASCII.
 * Returns -EIO, -EACCES, … */
int redis_problem_explain(const struct redisReply *reply, const char *where, const char *what, struct err *err);

#endif
