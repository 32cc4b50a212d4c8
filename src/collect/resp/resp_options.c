/* resp_options.c: parses the URL of a listener. */
#include "resp_private.h"

#include "clock.h"
#include "io.h"
#include "mem.h"
#include "redis_url.h"

#include <ctype.h>
#include <string.h>

#define CLIENTS_MAX		20000u
#define CHANNELS_MAX		1000u

static int read_password(const char *path, struct resp_options *o, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	int r;

	buf_init(&b);
	r = io_read_secret(path, "password", &b, err);
	if (r < 0)
		return r;
	free(o->password);
	o->password = buf_take(&b, NULL);
	return 0;
}

static int add_channels(const char *list, struct resp_options *o, struct err *err)
{
	for (const char *p = list; *p;) {
		const char *end = strchrnul(p, ',');

		if (o->channel_count == CHANNELS_MAX)
			return err_set(err, -EINVAL, "more than %u channels", CHANNELS_MAX);
		if (end > p) {
			GROW(&o->channels, &o->channel_capacity, o->channel_count + 1);
			o->channels[o->channel_count++] = xstrndup(p, (size_t)(end - p));
		}
		p = *end ? end + 1 : end;
	}
	return 0;
}

static int parse_idle(const char *value, struct resp_options *o, struct err *err)
{
	int r = clock_parse_duration(value, &o->idle_ns, err);

	if (r < 0)
		return err_prefix(err, "idle");
	return o->idle_ns > 0 ? 0 : err_set(err, -EINVAL, "idle=%s: it must be positive", value);
}

static int parse_clients(const char *value, struct resp_options *o, struct err *err)
{
	char *end;
	unsigned long v = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end || v < 1 || v > CLIENTS_MAX)
		return err_set(err, -EINVAL, "clients=%s: use a number from 1 to %u", value, CLIENTS_MAX);
	o->clients_max = (unsigned)v;
	return 0;
}

static int set_password(const char *value, struct resp_options *o, struct err *err)
{
	if (!*value)
		return err_set(err, -EINVAL, "the password is empty");
	free(o->password);
	o->password = xstrdup(value);
	return 0;
}

static int set(const char *name, const char *value, struct resp_options *o, struct err *err)
{
	int r = source_hints_set(&o->hints, name, value, err);

	if (r)
		return r;
	if (!strcmp(name, "channel"))
		return add_channels(value, o, err);
	if (!strcmp(name, "password"))
		return set_password(value, o, err);
	if (!strcmp(name, "password-file"))
		return read_password(value, o, err);
	if (!strcmp(name, "idle"))
		return parse_idle(value, o, err);
	if (!strcmp(name, "clients"))
		return parse_clients(value, o, err);
	return err_set(err, -EINVAL, "unknown parameter '%s'; a listener takes channel, password, password-file, "
		       "label.NAME, clock, period, idle and clients", name);
}

/* Returns all parameters but the password as written. Names may contain escapes, so parsed names are compared. */
static char *shown_parameters(const char *url, const struct redis_url *u)
{
	const char *p = strchr(url, '?');
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; p && i < u->parameter_count; i++) {
		const char *end = strchrnul(p + 1, '&');

		if (strcmp(u->parameters[i].name, "password")) {
			buf_putc(&b, b.size ? '&' : '?');
			buf_put(&b, p + 1, (size_t)(end - p - 1));
		}
		p = end;
	}
	return buf_take(&b, NULL);
}

static int parse(const char *url, struct redis_url *u, struct resp_options *o, struct err *err)
{
	size_t authority = strlen("resp://") + strcspn(url + strlen("resp://"), "/?");
	bool any_port = !strncmp(url + authority - 2, ":0", 2);		/* no Redis has port 0 */
	_cleanup_(freep) char *with_port = xasprintf("%.*s%s", (int)(authority - 2 * any_port), url, url + authority);
	int r = redis_url_parse(with_port, u, err);

	if (r < 0)
		return r;
	o->parameters = shown_parameters(url, u);
	o->host = strcmp(u->host, "*") ? xstrdup(u->host) : NULL;
	o->port = any_port ? 0 : u->port;
	if (u->user)
		o->user = xstrdup(u->user);
	if (u->password && (r = set_password(u->password, o, err)) < 0)
		return r;
	for (size_t i = 0; i < u->parameter_count && r >= 0; i++)
		r = set(u->parameters[i].name, u->parameters[i].value, o, err);
	return r;
}

int resp_options_parse(const char *url, struct resp_options *ret, struct err *err)
{
	struct redis_url u = { 0 };
	int r;

	*ret = (struct resp_options){ .idle_ns = 3600 * NS_PER_SECOND, .clients_max = CLIENTS_MAX };
	source_hints_init(&ret->hints);
	if (strncmp(url, "resp://", 7))
		return err_set(err, -EINVAL, "a listener looks like resp://127.0.0.1:6379");
	r = parse(url, &u, ret, err);
	redis_url_done(&u);
	return r < 0 ? r : 0;
}

void resp_options_done(struct resp_options *o)
{
	for (size_t i = 0; i < o->channel_count; i++)
		free(o->channels[i]);
	free(o->channels);
	free(o->host);
	free(o->user);
	free(o->password);
	free(o->parameters);
	source_hints_done(&o->hints);
	*o = (struct resp_options){ 0 };
}
