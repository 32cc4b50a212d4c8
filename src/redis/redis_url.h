/* redis_url.h: parses redis:// URLs: server, credentials, and options.
 *
 *	redis://[user:password@]host[:port][/database][?name=value&…]
 *	rediss://…				the same with TLS (redis_tls_options.h)
 *	resp://…				our own listener
 *
 * Parts may be percent-encoded. A host that begins with a '/', so "%2Frun%2Fredis.sock" in the URL, is the path of a
 * unix socket. The rest of the program does not see the password. */
#ifndef REDIS_REDIS_URL_H
#define REDIS_REDIS_URL_H

#include "url.h"

struct redis_url {
	bool tls;			/* rediss:// */
	char *host;
	unsigned port;			/* 6379 unless given */
	char *user, *password;		/* NULL: none */
	unsigned database;
	char *shown;			/* the URL without its password, for people */
	struct url_parameter *parameters;
	size_t parameter_count;
};

/* Returns -EINVAL with a sentence for an invalid URL. The caller frees with redis_url_done, also after an error. */
int redis_url_parse(const char *url, struct redis_url *ret, struct err *err);
void redis_url_done(struct redis_url *u);

const char *redis_url_get(const struct redis_url *u, const char *name);	/* NULL if it is missing */

/* Tells whether a parameter belongs to the connection itself: 1 or 0; -EINVAL with a sentence if this URL cannot have
 * it. */
int redis_url_is_own(const struct redis_url *u, const char *name, struct err *err);

/* Returns their names, as the end of a list: " and password-file". */
const char *redis_url_own_names(const struct redis_url *u);

/* Tells whether a URL has one of the two schemes; the rest is ignored. */
bool redis_url_has_scheme(const char *url);

#endif
