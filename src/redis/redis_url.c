/* redis_url.c: parses redis:// URLs, including the database and the path of a unix socket. */
#include "redis_url.h"

#include "redis_address.h"
#include "redis_tls_options.h"
#include "cleanup.h"

#include <stdlib.h>
#include <string.h>

static const struct url_kind plain_kind = {
	.scheme = "redis",
	.port = 6379,
	.form = "a Redis URL looks like redis://host:6379/0?channel=excimer",
};

/* Our own listener; everything but the scheme is the same as for a Redis. */
static const struct url_kind listener_kind = {
	.scheme = "resp",
	.port = 6379,
	.form = "a listener looks like resp://127.0.0.1:6379",
};

static const struct url_kind tls_kind = {
	.scheme = "rediss",
	.port = 6379,
	.form = "a Redis URL with TLS looks like rediss://host:6379/0?channel=excimer",
};

bool redis_url_has_scheme(const char *url)
{
	return !strncmp(url, "redis:", 6) || !strncmp(url, "rediss:", 7);
}

/* Parses "/0"; empty or just "/" means 0. */
static int parse_database(const char *path, unsigned *ret)
{
	unsigned v = 0;

	for (const char *p = path + (*path == '/'); *p; p++) {
		if (*p < '0' || *p > '9')
			return -EINVAL;
		v = v * 10 + (unsigned)(*p - '0');
		if (v > 65535)
			return -EINVAL;
	}
	*ret = v;
	return 0;
}

int redis_url_parse(const char *url, struct redis_url *ret, struct err *err)
{
	const struct url_kind *kind = !strncmp(url, "rediss:", 7) ? &tls_kind :
				      !strncmp(url, "resp:", 5)	  ? &listener_kind : &plain_kind;
	struct url u;
	int r = url_parse(url, kind, &u, err);

	*ret = (struct redis_url){
		.tls = kind == &tls_kind,
		.host = TAKE_PTR(u.host),
		.port = u.port,
		.user = TAKE_PTR(u.user),
		.password = TAKE_PTR(u.password),
		.shown = TAKE_PTR(u.shown),
		.parameters = TAKE_PTR(u.parameters),
		.parameter_count = u.parameter_count,
	};
	u.parameter_count = 0;
	if (r == 0 && address_is_path(ret->host) && strlen(ret->host) > ADDRESS_PATH_MAX)
		r = url_invalid(kind, "the path of the socket is longer than 107 bytes", err);
	if (r == 0 && parse_database(u.path, &ret->database) < 0)
		r = url_invalid(kind, "the database must be a number from 0 to 65535", err);
	if (r == 0 && ret->tls)
		r = redis_tls_options_check(ret, err);
	url_done(&u);
	return r;
}

void redis_url_done(struct redis_url *u)
{
	struct url rest = {
		.host = u->host,
		.user = u->user,
		.password = u->password,
		.shown = u->shown,
		.parameters = u->parameters,
		.parameter_count = u->parameter_count,
	};

	url_done(&rest);
	memset(u, 0, sizeof(*u));
}

const char *redis_url_get(const struct redis_url *u, const char *name)
{
	struct url all = { .parameters = u->parameters, .parameter_count = u->parameter_count };

	return url_get(&all, name);
}

int redis_url_is_own(const struct redis_url *u, const char *name, struct err *err)
{
	if (!redis_tls_is_parameter(name))
		return !strcmp(name, "password-file");
	return u->tls ? 1 : err_set(err, -EINVAL, "%s= requires TLS; use rediss:// instead of redis://", name);
}

const char *redis_url_own_names(const struct redis_url *u)
{
	return u->tls ? ", password-file, ca-file, cert-file, key-file, server-name and verify" : " and password-file";
}
