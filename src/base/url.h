/* url.h: parses addresses of servers.
 *
 *	SCHEME://[user:password@]host[:port][/path][?name=value&…]
 *
 * Parts may be percent-encoded. The rest of the program does not see the password. */
#ifndef BASE_URL_H
#define BASE_URL_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

#define URL_MAX			4096u
#define URL_PARAMETERS		64u

struct url_kind {
	const char *scheme;		/* "redis" */
	unsigned port;			/* the default */
	bool name_is_user;		/* "name@host" is a user; otherwise a password, as with Redis */
	const char *form;		/* ends each error: "a Redis URL looks like redis://host:6379/0" */
};

struct url {
	char *host;			/* decoded; an IPv6 address without its brackets */
	unsigned port;
	char *user, *password;		/* decoded; NULL: none */
	char *path;			/* as written, from its '/' on, or "" */
	char *shown;			/* the URL without its password, for people */
	struct url_parameter { char *name, *value; } *parameters;
	size_t parameter_count;
};

/* Returns -EINVAL with a sentence for an invalid URL. The caller frees with url_done, also after an error. */
int url_parse(const char *text, const struct url_kind *kind, struct url *ret, struct err *err);
void url_done(struct url *u);

/* Makes the same kind of sentence for errors that only the caller can detect: "the database must be a number …; use a
 * URL such as …" */
int url_invalid(const struct url_kind *kind, const char *problem, struct err *err);

const char *url_get(const struct url *u, const char *name);	/* NULL if the parameter is missing */

#endif
