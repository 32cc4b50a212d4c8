/* redis_url.c: takes such a URL apart. */
#include "redis_url.h"

#include "redis_address.h"
#include "buf.h"
#include "mem.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT 6379

/* Percent-decoded copy; NULL if it holds a NUL or a bad escape. */
static char *decode(const char *p, size_t n)
{
	char *text = xstrndup(p, n);

	if (text_unescape_url(text, n, &n) < 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int bad(const char *what, struct err *err)
{
	return err_set(err, -EINVAL, "%s; a Redis is named as in redis://user:password@host:6379/0?channel=excimer",
		       what);
}

static int parse_number(const char *p, const char *end, unsigned max, unsigned *ret)
{
	unsigned v = 0;

	if (p == end)
		return -EINVAL;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return -EINVAL;
		v = v * 10 + (unsigned)(*p - '0');
		if (v > max)
			return -EINVAL;
	}
	*ret = v;
	return 0;
}

static int parse_user(const char *p, const char *end, struct redis_url *u, struct err *err)
{
	const char *colon = memchr(p, ':', (size_t)(end - p));

	if (colon && colon > p)
		u->user = decode(p, (size_t)(colon - p));
	u->password = decode(colon ? colon + 1 : p, (size_t)(end - (colon ? colon + 1 : p)));
	if (!u->password || (colon && colon > p && !u->user))
		return bad("the user or the password has a bad percent escape", err);
	return 0;
}

static int parse_host(const char *p, const char *end, struct redis_url *u, struct err *err)
{
	const char *colon = memrchr(p, ':', (size_t)(end - p)), *host_end;

	if (p < end && *p == '[') {
		const char *close = memchr(p, ']', (size_t)(end - p));

		if (!close)
			return bad("the address has no closing bracket", err);
		p++;
		host_end = close;
		colon = close + 1 < end ? close + 1 : NULL;
		if (colon && *colon != ':')
			return bad("behind the bracket of the address a port is expected", err);
	} else {
		host_end = colon ? colon : end;
	}
	u->host = decode(p, (size_t)(host_end - p));
	if (!u->host || !*u->host)
		return bad("the host is missing", err);
	if (address_is_path(u->host) && strlen(u->host) > ADDRESS_PATH_MAX)
		return bad("the path of the socket is longer than 107 bytes", err);
	if (colon && (parse_number(colon + 1, end, 65535, &u->port) < 0 || u->port == 0))
		return bad("the port is no number from 1 to 65535", err);
	return 0;
}

static int parse_parameters(const char *p, struct redis_url *u, struct err *err)
{
	size_t capacity = 0;

	while (*p) {
		const char *end = strchrnul(p, '&'), *is = memchr(p, '=', (size_t)(end - p));
		struct redis_url_parameter one;

		if (u->parameter_count == REDIS_URL_PARAMETERS)
			return bad("there are too many parameters", err);
		one.name = decode(p, (size_t)((is ? is : end) - p));
		one.value = is ? decode(is + 1, (size_t)(end - is - 1)) : xstrdup("");
		GROW(&u->parameters, &capacity, u->parameter_count + 1);
		u->parameters[u->parameter_count++] = one;
		if (!one.name || !one.value)
			return bad("a parameter has a bad percent escape", err);
		p = *end ? end + 1 : end;
	}
	return 0;
}

/* Everything but the password, which is shown as ***. */
static char *show(const char *url, const char *user_end)
{
	const char *start = url + strlen("redis://"), *colon;

	if (!user_end)
		return xstrdup(url);
	colon = memchr(start, ':', (size_t)(user_end - start));
	return xasprintf("redis://%.*s***%s", colon ? (int)(colon + 1 - start) : 0, start, user_end);
}

int redis_url_parse(const char *url, struct redis_url *ret, struct err *err)
{
	const char *p = url + strlen("redis://"), *end, *at, *question;
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->port = DEFAULT_PORT;
	if (strncmp(url, "redis://", strlen("redis://")) || strlen(url) > REDIS_URL_MAX)
		return bad("this is no address of a Redis", err);
	question = strchrnul(p, '?');
	end = memchr(p, '/', (size_t)(question - p));
	if (!end)
		end = question;
	at = memrchr(p, '@', (size_t)(end - p));
	ret->shown = show(url, at);
	if (at && (r = parse_user(p, at, ret, err)) < 0)
		return r;
	if ((r = parse_host(at ? at + 1 : p, end, ret, err)) < 0)
		return r;
	if (end < question && end + 1 < question && parse_number(end + 1, question, 65535, &ret->database) < 0)
		return bad("the database is no number", err);
	return *question ? parse_parameters(question + 1, ret, err) : 0;
}

void redis_url_done(struct redis_url *u)
{
	for (size_t i = 0; i < u->parameter_count; i++) {
		free(u->parameters[i].name);
		free(u->parameters[i].value);
	}
	free(u->parameters);
	free(u->host);
	free(u->user);
	free(u->password);
	free(u->shown);
	memset(u, 0, sizeof(*u));
}

const char *redis_url_get(const struct redis_url *u, const char *name)
{
	for (size_t i = 0; i < u->parameter_count; i++)
		if (!strcmp(u->parameters[i].name, name))
			return u->parameters[i].value;
	return NULL;
}
