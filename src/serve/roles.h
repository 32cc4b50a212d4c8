/* roles.h: authenticates a request, and so decides whether it may read, or write as well (add and remove runs).
 *
 * One of these is enough, in this order:
 *   1. a token as "Authorization: Bearer …": one token allows everything, another one reading, a third health and
 *      metrics; for pushes also as the password of "Authorization: Basic …", with any user;
 *   2. the cookie of a session, which /login gives for one of these tokens;
 *   3. a header with the user's name, from the address of a reverse proxy that is trusted to authenticate users. Users
 *      are read-only unless listed.
 * If none of these is configured, which is allowed on loopback only, everybody may do everything.
 */
#ifndef SERVE_ROLES_H
#define SERVE_ROLES_H

#include "attempts.h"
#include "networks.h"
#include "sessions.h"

#define ROLES_COOKIE		"strobe_session"
#define ROLES_TOKEN_MIN		16u
#define ROLES_TOKEN_MAX		256u
#define ROLES_USER_MAX		128u
#define ROLES_USER_HEADER	"X-Forwarded-User"

/* As configured; strings stay the caller's. */
struct roles_options {
	const char *token, *read_token;		/* NULL: none. 16 to 256 printable characters */
	const char *probe_token;		/* likewise, for health and metrics only */
	const char *const *proxies;		/* addresses and ranges */
	size_t proxy_count;
	const char *user_header;		/* NULL: ROLES_USER_HEADER */
	const char *const *writers;		/* users of the proxies who may write; "*" means all */
	size_t writer_count;
};

struct roles {
	struct roles_options options;
	struct network *proxies;
	struct sessions *sessions;
	struct attempts *attempts;
};

/* Headers as received; NULL if missing. */
struct roles_request {
	const char *authorization, *cookie, *user, *forwarded_for, *forwarded_proto;
	const char *origin;
	const char *peer;			/* remote address of the connection; may be NULL */
	bool is_probe;				/* is for health or metrics */
	bool takes_basic;			/* pushes: their clients support passwords more often than tokens */
	bool only_probes;			/* arrived at an address for probes */
};

struct identity {
	enum role role;
	enum { IDENTITY_UNKNOWN, IDENTITY_ANONYMOUS, IDENTITY_TOKEN, IDENTITY_SESSION, IDENTITY_PROXY } by;
	char user[ROLES_USER_MAX + 1];		/* as named by a proxy, else "" */
	bool wrong_token;			/* a token was sent, and it is invalid */
	struct ip address;			/* address of the user, as reported by trusted proxies */
};

/* -EINVAL with a sentence that begins with the option's name. Free with roles_done, also after an error. */
int roles_init(struct roles *r, const struct roles_options *o, struct err *err);
void roles_done(struct roles *r);

/* Whether requests must authenticate. `only_probes`: for an address that serves only health and metrics. */
bool roles_are_set(const struct roles *r, bool only_probes);

/* Authenticates a request. */
struct identity roles_identify(const struct roles *r, const struct roles_request *q);

/* Returns the role of a token, in constant time. */
enum role roles_of_token(const struct roles *r, const char *token, size_t n);

/* Returns the session number in a Cookie header, with its length; NULL if there is none. */
const char *roles_session_in(const char *cookie, size_t *ret_n);

/* Whether the browser uses TLS, which a proxy must provide. The header is trusted: forging it only costs the sender's
 * own session, because browsers then send its cookie over TLS only. */
bool roles_is_tls(const struct roles_request *q);

/* -EINVAL with a sentence for a token that is too short to be safe or invalid in a header. */
int roles_check_token(const char *token, struct err *err);

#endif
