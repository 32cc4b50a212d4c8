/* auth.h: access control. Pure: rules and the headers of a request in, a verdict out.
 *
 * Three checks, each against a different attack of a web page on a daemon at 127.0.0.1:
 *   1. Host must be a name of this server. A page that rebinds its own DNS name to 127.0.0.1 still sends that name.
 *   2. Origin and Sec-Fetch-Site must be this server's own. A page elsewhere may link here, but neither call the API
 *      nor embed anything. Another port of localhost is "same-site" to a browser and counts as elsewhere.
 *      Requests that change something must come from a page of this server, or carry a token; without roles (roles.h),
 *      and to log in and out, also from a program: a client that names no origin and is no browser.
 *   3. If there are roles, each request needs a user, and a request that changes something one who may write.
 */
#ifndef SERVE_AUTH_H
#define SERVE_AUTH_H

#include "address.h"
#include "buf.h"
#include "err.h"
#include "roles.h"

struct auth_rules {
	struct address listen;			/* port as bound, never 0 */
	struct roles roles;
	const char *const *allow_hosts;
	size_t allow_host_count;
};

/* Headers as received; NULL if missing. */
struct auth_request {
	const char *method, *host, *origin, *fetch_site, *fetch_mode, *fetch_dest, *user_agent;
	struct roles_request roles;
	const char *local_address;		/* our address of the connection, "192.0.2.7" or "::1"; may be NULL */
	bool is_page;				/* a page, which other sites may link to */
	bool is_push;				/* uploads profiles: from programs only, however they authenticate */
	bool is_public;				/* available to everybody: the login page and its assets */
	bool reads;				/* a POST that changes nothing: a query whose parameters are its body */
};

/* Returns 0, or the status to refuse the request with (401, 403, 421), and appends the reason. `identity` is the one of
 * roles_identify. */
int auth_check(const struct auth_rules *a, const struct auth_request *q, const struct identity *identity, struct buf *why);

/* -EINVAL with a sentence for a name that could never be in a Host header. */
int auth_check_allow_host(const char *name, struct err *err);

#endif
