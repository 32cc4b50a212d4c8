/* http_options.c: parses the parameters of an HTTP server's URL. */
#include "http_client.h"

#include "clock.h"
#include "url.h"

#include <string.h>

bool http_is_parameter(const char *name)
{
	static const char *const names[] = { "tls", "ca-file", "password-file", "token-file" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static int parse_tls(const char *value, bool *ret, struct err *err)
{
	*ret = value && !strcmp(value, "yes");
	if (!value || *ret || !strcmp(value, "no"))
		return 0;
	return err_set(err, -EINVAL, "tls=%s: use yes or no", value);
}

int http_options_from_url(struct http_options *o, const struct url *u, struct err *err)
{
	*o = (struct http_options){
		.host = u->host,
		.port = u->port,
		.prefix = u->path,
		.ca_file = url_get(u, "ca-file"),
		.user = u->user,
		.password = u->password,
		.password_file = url_get(u, "password-file"),
		.token_file = url_get(u, "token-file"),
		.connect_ns = 5 * NS_PER_SECOND,
		.total_ns = 30 * NS_PER_SECOND,
	};
	if (o->token_file && (o->password || o->password_file))
		return err_set(err, -EINVAL, "'%s' has a password and token-file=; use one of them", u->shown);
	if (parse_tls(url_get(u, "tls"), &o->tls, err) < 0)
		return -EINVAL;
	return o->ca_file && !o->tls ? err_set(err, -EINVAL, "'%s' has ca-file= without tls=yes; add tls=yes", u->shown) : 0;
}
