/* sessions.h: login sessions of browsers.
 *
 * A session is a random number that a browser keeps in a cookie instead of the token. It becomes invalid after a
 * logout, after SESSION_IDLE_NS without a request, after SESSION_LONGEST_NS, or after a restart, because it is kept in memory
 * only. Any thread. Times are of the monotonic clock.
 */
#ifndef SERVE_SESSIONS_H
#define SERVE_SESSIONS_H

#include "clock.h"
#include "err.h"

#define SESSIONS_MAX		1000u		/* above it, the least recently used one is removed */
#define SESSION_IDLE_NS		(7 * NS_PER_DAY)
#define SESSION_LONGEST_NS	(30 * NS_PER_DAY)
#define SESSION_ID		64u		/* hexadecimal digits */

enum role {
	ROLE_NONE,
	ROLE_READ,				/* may read */
	ROLE_WRITE,				/* may also add and remove */
};

struct sessions;

struct sessions *sessions_new(void);
struct sessions *sessions_free(struct sessions *s);	/* NULL is fine; returns NULL */

/* -EIO if there are no random numbers. */
int sessions_begin(struct sessions *s, enum role role, int64_t now_ns, char id[SESSION_ID + 1], struct err *err);

/* Returns ROLE_NONE for an unknown or expired session. */
enum role sessions_role(struct sessions *s, const char *id, size_t n, int64_t now_ns);

void sessions_end(struct sessions *s, const char *id, size_t n);

#endif
