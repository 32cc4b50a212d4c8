/* auth.h: who may ask. Pure: rules and the headers of a request in, a verdict out.
 *
 * Three doors, each for another attack of a web page on a daemon at 127.0.0.1:
 *   1. Host must be a name of this server. A page that rebinds its own DNS name to 127.0.0.1 still sends that name.
 *   2. Origin and Sec-Fetch-Site must be this server's own. A page elsewhere may link here, but neither call the API
 *      nor embed anything. Another port of localhost is "same-site" to a browser and counts as elsewhere.
 *      What changes something must come from a page of this server, or carry the token; where no token is set, which
 *      is on loopback only, from a program: that is who names no origin and is no browser.
 *   3. With a token, every request must carry it, as "Authorization: Bearer …" or as the cookie of /login.
 */
#ifndef SERVE_AUTH_H
#define SERVE_AUTH_H

#include "address.h"
#include "buf.h"
#include "err.h"
#include "server.h"

#define AUTH_COOKIE	"strobe_token"
#define AUTH_TOKEN_MIN	16u
#define AUTH_TOKEN_MAX	256u

struct auth_rules {
	struct address listen;			/* port as bound, never 0 */
	const char *token;			/* NULL: none */
	const char *probe_token;		/* one that is right for probes only; NULL: none */
	const char *const *allow_hosts;
	size_t allow_host_count;
};

/* Headers as they came; NULL where there was none. */
struct auth_request {
	const char *method, *host, *origin, *fetch_site, *fetch_mode, *fetch_dest, *authorization, *cookie, *user_agent;
	const char *local_address;		/* of the connection, "192.0.2.7" or "::1"; may be NULL */
	bool is_page;				/* something a person opens; links from elsewhere may lead to it */
	bool is_public;				/* needs no token: the login, and what its page looks like */
	bool is_probe;				/* health and metrics, which are only read */
};

/* Returns 0, or the status to refuse with (401, 403, 421), and appends the sentence that says why. */
int auth_check(const struct auth_rules *a, const struct auth_request *q, struct buf *why);

/* Whether `token` is the one of the rules; takes the same time wherever they differ. */
bool auth_token_is(const struct auth_rules *a, const char *token, size_t n);

/* -EINVAL with a sentence for a token that is too short to be safe or cannot stand in a header. */
int auth_check_token(const char *token, struct err *err);

/* -EINVAL with a sentence for a name that could never be in a Host header. */
int auth_check_allow_host(const char *name, struct err *err);

#endif
