/* relay_url.h: parses relay URLs. */
#ifndef RELAY_RELAY_URL_H
#define RELAY_RELAY_URL_H

#include "redis_url.h"
#include <stdint.h>

#define RELAY_KEYS_MAX		1024u
#define RELAY_STREAM_MAX	512u			/* bytes */
#define RELAY_SPOOL_LEAST	((uint64_t)1 << 20)

struct relay_url {
	struct redis_url redis;
	char *key;			/* key of the stream that this host uses */
	char *host;			/* name of this host */
	char *spool_name;		/* a file name: [A-Za-z0-9._-] only */
	char *old_spool_name;		/* the name in earlier versions, without the database; NULL: the same */
	int64_t window_ns;
	uint64_t spool_bytes;
};

/* -EINVAL with a sentence. The caller frees with relay_url_done, also after an error. */
int relay_url_parse(const char *url, struct relay_url *ret, struct err *err);
void relay_url_done(struct relay_url *u);

/* A name of the stream that does not depend on how the URL names this machine, as a spool would be named; the caller frees. */
char *relay_url_identity(const struct relay_url *u);

/* The same in the form of earlier versions, without the database; NULL if it does not differ. */
char *relay_url_old_identity(const struct relay_url *u);

#endif
