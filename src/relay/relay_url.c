/* relay_url.c: parameters with their caps, and names made of them. */
#include "relay_url.h"

#include "buf.h"
#include "clock.h"
#include "mem.h"
#include "redis_address.h"
#include "size.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define WINDOW_MAX_NS	(300 * NS_PER_SECOND)
#define NAME_BYTES	80u

static int parse_spool(const char *text, uint64_t *ret, struct err *err)
{
	int r = size_parse(text, ret, err);

	if (r < 0)
		return err_prefix(err, "spool");
	return *ret >= RELAY_SPOOL_LEAST ? 0 : err_set(err, -EINVAL, "spool=%.40s is too small; use at least 1M", text);
}

static int parse_window(const char *text, int64_t *ret, struct err *err)
{
	if (clock_parse_duration(text, ret, NULL) < 0 || *ret < 0 || *ret > WINDOW_MAX_NS)
		return err_set(err, -EINVAL, "window=%.40s: use a duration from 0 to 5m, such as 10s", text);
	return 0;
}

static int parse_keys(const char *text, unsigned *ret, struct err *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || n < 1 || n > RELAY_KEYS_MAX)
		return err_set(err, -EINVAL, "keys=%.40s: use a number from 1 to %u", text, RELAY_KEYS_MAX);
	*ret = (unsigned)n;
	return 0;
}

static int parse_parameters(struct relay_url *u, const char **stream, unsigned *keys, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < u->redis.parameter_count && r >= 0; i++) {
		const char *name = u->redis.parameters[i].name, *value = u->redis.parameters[i].value;

		if (!strcmp(name, "stream"))
			*stream = value;
		else if (!strcmp(name, "keys"))
			r = parse_keys(value, keys, err);
		else if (!strcmp(name, "window"))
			r = parse_window(value, &u->window_ns, err);
		else if (!strcmp(name, "spool"))
			r = parse_spool(value, &u->spool_bytes, err);
		else if (!strcmp(name, "host")) {
			free(u->host);
			u->host = xstrdup(value);
		} else if ((r = redis_url_is_own(&u->redis, name, err)) == 0) {
			r = err_set(err, -EINVAL, "unknown parameter '%.40s'; a sink stream takes "
						  "stream, keys, window, spool, host%s",
				    name, redis_url_own_names(&u->redis));
		}
	}
	return r;
}

static char *own_name(void)
{
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	return xstrdup(name);
}

/* A hash distinguishes names that differ only in characters not allowed in a file name. */
static char *name_spool(const char *host, unsigned port, unsigned database, const char *stream)
{
	_cleanup_(freep) char *text = database ? xasprintf("%s-%u.%u-%s", host, port, database, stream) :
						 xasprintf("%s-%u-%s", host, port, stream);
	bool same = strlen(text) <= NAME_BYTES;
	uint64_t hash = XXH3_64bits(text, strlen(text));

	for (char *p = text; *p; p++) {
		if (isalnum((unsigned char)*p) || strchr("._-", *p))
			continue;
		*p = '_';
		same = false;
	}
	assert(!strchr(text, '/'));	/* it names a file in the state directory, for any name of a stream */
	return same ? xasprintf("spool-%s", text) :
		      xasprintf("spool-%.*s-%08x", (int)NAME_BYTES, text, (unsigned)hash);
}

int relay_url_parse(const char *url, struct relay_url *u, struct err *err)
{
	const char *stream = NULL;
	unsigned keys = 0;
	int r;

	memset(u, 0, sizeof(*u));
	u->window_ns = 10 * NS_PER_SECOND;
	u->spool_bytes = (uint64_t)1 << 30;
	u->host = own_name();
	if ((r = redis_url_parse(url, &u->redis, err)) < 0 || (r = parse_parameters(u, &stream, &keys, err)) < 0)
		return r;
	if (!stream || !*stream || strlen(stream) > RELAY_STREAM_MAX)
		return err_set(err, -EINVAL, "'%.200s' names no stream to write to; add ?stream=strobe",
			       u->redis.shown);
	u->key = keys ? xasprintf("{%u}%s", (unsigned)(XXH3_64bits(u->host, strlen(u->host)) % keys), stream) :
			xstrdup(stream);
	u->spool_name = name_spool(u->redis.host, u->redis.port, u->redis.database, stream);
	if (u->redis.database)
		u->old_spool_name = name_spool(u->redis.host, u->redis.port, 0, stream);
	return 0;
}

static char *identity(const struct relay_url *u, unsigned database)
{
	_cleanup_(freep) char *host = address_canonical(u->redis.host);

	return name_spool(host, u->redis.port, database, redis_url_get(&u->redis, "stream"));
}

char *relay_url_identity(const struct relay_url *u)
{
	return identity(u, u->redis.database);
}

char *relay_url_old_identity(const struct relay_url *u)
{
	return u->redis.database ? identity(u, 0) : NULL;
}

void relay_url_done(struct relay_url *u)
{
	redis_url_done(&u->redis);
	free(u->key);
	free(u->host);
	free(u->spool_name);
	free(u->old_spool_name);
	memset(u, 0, sizeof(*u));
}
