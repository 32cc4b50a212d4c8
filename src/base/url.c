/* url.c: parses URLs. */
#include "url.h"

#include "mem.h"
#include "secrets.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* Returns a percent-decoded copy; NULL if it contains a NUL or an invalid escape. */
static char *decode(const char *p, size_t n)
{
	char *text = xstrndup(p, n);

	if (text_unescape_url(text, n, &n) < 0) {
		free(text);
		return NULL;
	}
	return text;
}

int url_invalid(const struct url_kind *kind, const char *problem, struct err *err)
{
	return err_set(err, -EINVAL, "%s; %s", problem, kind->form);
}

static int parse_port(const char *p, const char *end, unsigned *ret)
{
	unsigned v = 0;

	if (p == end)
		return -EINVAL;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return -EINVAL;
		v = v * 10 + (unsigned)(*p - '0');
		if (v > 65535)
			return -EINVAL;
	}
	*ret = v;
	return v ? 0 : -EINVAL;
}

static int parse_user(const char *p, const char *end, const struct url_kind *kind, struct url *u, struct err *err)
{
	const char *colon = memchr(p, ':', (size_t)(end - p));
	const char *user_end = colon ? colon : kind->name_is_user ? end : p;

	if (user_end > p && !(u->user = decode(p, (size_t)(user_end - p))))
		return url_invalid(kind, "the user has a bad percent escape", err);
	p = colon ? colon + 1 : user_end;
	if ((colon || p < end) && !(u->password = decode(p, (size_t)(end - p))))
		return url_invalid(kind, "the password has a bad percent escape", err);
	return 0;
}

static int parse_host(const char *p, const char *end, const struct url_kind *kind, struct url *u, struct err *err)
{
	const char *colon = memrchr(p, ':', (size_t)(end - p)), *host_end;

	if (p < end && *p == '[') {
		const char *close = memchr(p, ']', (size_t)(end - p));

		if (!close)
			return url_invalid(kind, "the address has no closing bracket", err);
		p++;
		host_end = close;
		colon = close + 1 < end ? close + 1 : NULL;
		if (colon && *colon != ':')
			return url_invalid(kind, "a port is expected after the bracket of the address", err);
	} else {
		host_end = colon ? colon : end;
	}
	u->host = decode(p, (size_t)(host_end - p));
	if (!u->host || !*u->host)
		return url_invalid(kind, "the host is missing", err);
	if (colon && parse_port(colon + 1, end, &u->port) < 0)
		return url_invalid(kind, "the port is not a number from 1 to 65535", err);
	return 0;
}

static int parse_parameters(const char *p, const struct url_kind *kind, struct url *u, struct err *err)
{
	size_t capacity = 0;

	while (*p) {
		const char *end = strchrnul(p, '&'), *is = memchr(p, '=', (size_t)(end - p));
		struct url_parameter one;

		if (u->parameter_count == URL_PARAMETERS)
			return url_invalid(kind, "there are too many parameters", err);
		one.name = decode(p, (size_t)((is ? is : end) - p));
		one.value = is ? decode(is + 1, (size_t)(end - is - 1)) : xstrdup("");
		GROW(&u->parameters, &capacity, u->parameter_count + 1);
		u->parameters[u->parameter_count++] = one;
		if (!one.name || !one.value)
			return url_invalid(kind, "a parameter has a bad percent escape", err);
		p = *end ? end + 1 : end;
	}
	return 0;
}

/* Returns the URL with passwords replaced by ***. */
static char *show(const char *url)
{
	size_t room = strlen(url) + sizeof("***") * (URL_PARAMETERS + 1);
	char *shown = xmalloc(room);

	snprintf(shown, room, "%s", url);
	secrets_redact(shown, room);
	return shown;
}

int url_parse(const char *text, const struct url_kind *kind, struct url *ret, struct err *err)
{
	size_t scheme = strlen(kind->scheme);
	const char *p, *end, *at, *question;
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->port = kind->port;
	if (strncmp(text, kind->scheme, scheme) || strncmp(text + scheme, "://", 3))
		return err_set(err, -EINVAL, "the address does not begin with %s://; %s", kind->scheme, kind->form);
	if (strlen(text) > URL_MAX)
		return url_invalid(kind, "the address is longer than 4,096 bytes", err);
	p = text + scheme + 3;
	question = strchrnul(p, '?');
	end = memchr(p, '/', (size_t)(question - p));
	if (!end)
		end = question;
	at = memrchr(p, '@', (size_t)(end - p));
	ret->shown = show(text);
	ret->path = xstrndup(end, (size_t)(question - end));
	if (at && (r = parse_user(p, at, kind, ret, err)) < 0)
		return r;
	if ((r = parse_host(at ? at + 1 : p, end, kind, ret, err)) < 0)
		return r;
	return *question ? parse_parameters(question + 1, kind, ret, err) : 0;
}

void url_done(struct url *u)
{
	for (size_t i = 0; i < u->parameter_count; i++) {
		free(u->parameters[i].name);
		free(u->parameters[i].value);
	}
	free(u->parameters);
	free(u->host);
	free(u->user);
	free(u->password);
	free(u->path);
	free(u->shown);
	memset(u, 0, sizeof(*u));
}

const char *url_get(const struct url *u, const char *name)
{
	for (size_t i = 0; i < u->parameter_count; i++)
		if (!strcmp(u->parameters[i].name, name))
			return u->parameters[i].value;
	return NULL;
}
