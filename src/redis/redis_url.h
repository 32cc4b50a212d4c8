/* redis_url.h: where a Redis is, who we are there, and what is wanted of it.
 *
 *	redis://[user:password@]host[:port][/database][?name=value&…]
 *
 * Parts may be percent-encoded. A host that begins with a '/', so "%2Frun%2Fredis.sock" in the URL, is the path of a
 * unix socket. Nothing else of the program sees the password. */
#ifndef REDIS_REDIS_URL_H
#define REDIS_REDIS_URL_H

#include "url.h"

struct redis_url {
	char *host;
	unsigned port;			/* 6379 unless given */
	char *user, *password;		/* NULL: none */
	unsigned database;
	char *shown;			/* the URL without its password, for people */
	struct url_parameter *parameters;
	size_t parameter_count;
};

/* -EINVAL with a sentence for what is no such URL. The caller frees with redis_url_done, also after an error. */
int redis_url_parse(const char *url, struct redis_url *ret, struct err *err);
void redis_url_done(struct redis_url *u);

const char *redis_url_get(const struct redis_url *u, const char *name);	/* NULL if it is not there */

#endif
