/* request_url.c: reads the URL from SAPI and removes secrets. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "request_url.h"

#include "secret.h"
#include "trigger.h"

#include "SAPI.h"

struct url {
	char *out;
	size_t size, n;
};

static void put(struct url *u, const char *p, size_t n)
{
	if (n > u->size - 1 - u->n)
		n = u->size - 1 - u->n;
	for (size_t i = 0; i < n; i++)
		u->out[u->n++] = (unsigned char)p[i] < 0x20 || p[i] == 0x7f ? '?' : p[i];
	u->out[u->n] = '\0';
}

/* Case-insensitive, since no other parameter has this name in any case. */
static bool is_trigger(const char *p, size_t n)
{
	char name[sizeof(TRIGGER_PARAMETER) * 3];
	const char *equals = memchr(p, '=', n);

	if (equals)
		n = (size_t)(equals - p);
	if (n > sizeof(name))
		return false;
	n = url_decode(name, p, n);
	return n == strlen(TRIGGER_PARAMETER) && zend_binary_strcasecmp(name, n, TRIGGER_PARAMETER, n) == 0;
}

static void put_query(struct url *u, const char *p)
{
	char separator = '?';

	while (*p) {
		size_t n = strcspn(p, "&");

		if (n && !is_trigger(p, n) && !trigger_is_in(p, n)) {
			put(u, &separator, 1);
			put(u, p, n);
			separator = '&';
		}
		p += n + (p[n] != '\0');
	}
}

/* Returns the URL as sent by the client, before any rewriting by the web server; "" if SAPI has none. */
static const char *wanted(void)
{
	const char *p = sapi_module.getenv ? sapi_module.getenv(ZEND_STRL("REQUEST_URI")) : NULL;

	if (!p || !*p)
		p = SG(request_info).request_uri;
	return p ? p : "";
}

size_t request_url(char *out, size_t size)
{
	struct url u = { out, size, 0 };
	const char *url, *query;
	size_t path;

	out[0] = '\0';
	if (!SG(request_info).request_method)
		return 0;
	url = wanted();
	path = strcspn(url, "?#");
	query = url[path] == '?' ? url + path + 1 : SG(request_info).query_string;
	if (trigger_is_in(url, path))
		return 0;
	put(&u, url, path);
	if (query)
		put_query(&u, query);
	/* A secret that contains "&" cannot be found in a single parameter. */
	if (trigger_is_in(out, u.n)) {
		u.n = path < size - 1 ? path : size - 1;
		out[u.n] = '\0';
	}
	return u.n;
}
