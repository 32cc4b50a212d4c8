/* redis_tls_options.c: copies and checks the parameters of a URL. */
#include "redis_tls_options.h"

#include "mem.h"
#include "redis_address.h"
#include "redis_url.h"

#include <string.h>

bool redis_tls_is_parameter(const char *name)
{
	static const char *const names[] = { "ca-file", "cert-file", "key-file", "server-name", "verify" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

int redis_tls_options_check(const struct redis_url *u, struct err *err)
{
	const char *verify = redis_url_get(u, "verify"), *name = redis_url_get(u, "server-name");

	if (address_is_path(u->host))
		return err_set(err, -EINVAL, "'%s' is a unix socket, which needs no TLS; use redis://", u->host);
	if (verify && strcmp(verify, "yes") && strcmp(verify, "no"))
		return err_set(err, -EINVAL, "verify=%.60s: use yes or no", verify);
	if (redis_url_get(u, "key-file") && !redis_url_get(u, "cert-file"))
		return err_set(err, -EINVAL, "key-file= needs cert-file=, the certificate that belongs to the key");
	if (name && (!*name || strlen(name) > 255))
		return err_set(err, -EINVAL, "server-name= must have 1 to 255 bytes");
	return 0;
}

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

void redis_tls_options_init(struct redis_tls_options *o, const struct redis_url *u)
{
	const char *verify = redis_url_get(u, "verify"), *key = redis_url_get(u, "key-file");

	*o = (struct redis_tls_options){ .is_wanted = u->tls };
	if (!u->tls)
		return;
	o->is_unverified = verify && !strcmp(verify, "no");
	o->ca_file = copy(redis_url_get(u, "ca-file"));
	o->cert_file = copy(redis_url_get(u, "cert-file"));
	o->key_file = copy(key ? key : o->cert_file);
	o->server_name = copy(redis_url_get(u, "server-name"));
}

void redis_tls_options_done(struct redis_tls_options *o)
{
	free(o->ca_file);
	free(o->cert_file);
	free(o->key_file);
	free(o->server_name);
	*o = (struct redis_tls_options){ 0 };
}
