/* sink_place.c: from the URL of a sink to its directory. */

#include "sink_place.h"

#include "buf.h"
#include "clickhouse_url.h"
#include "logs.h"
#include "mem.h"
#include "redis_address.h"
#include "relay_url.h"
#include "url.h"

#include <string.h>

static const struct url_kind receivers[] = {
	{ .scheme = "otlp", .port = 4318, .name_is_user = true, .form = "" },
	{ .scheme = "pyroscope", .port = 4040, .name_is_user = true, .form = "" },
};

static bool is_relay(const char *url)
{
	return redis_url_has_scheme(url);
}

static char *place_of_relay(const char *url, const char *state, char *(*identity)(const struct relay_url *u))
{
	struct err err = { 0 };
	struct relay_url u;
	char *place = NULL;

	if (relay_url_parse(url, &u, &err) >= 0 && state) {
		_cleanup_(freep) char *stream = identity(&u);

		place = stream ? xasprintf("%s/%s", state, stream) : NULL;
	}
	relay_url_done(&u);
	return place;
}

static char *place_of_logs(const char *url)
{
	struct logs_options o;
	struct err err = { 0 };
	char *place = logs_options_from_url(url, &o, &err) < 0 ? NULL : xstrdup(o.base);

	logs_options_done(&o);
	return place;
}

/* Normalizes the URL of a receiver. Parameters are kept, since they may select a tenant. A URL with a password has no
 * place, because places are shown in errors. */
static char *place_of_receiver(const struct url_kind *kind, const char *url)
{
	struct err err = { 0 };
	struct buf place;
	struct url u;
	size_t n;

	buf_init(&place);
	if (url_parse(url, kind, &u, &err) >= 0 && !u.password) {
		_cleanup_(freep) char *host = address_canonical(u.host);

		for (n = strlen(u.path); n && u.path[n - 1] == '/';)
			n--;
		buf_printf(&place, "%s://%s%s%s:%u%.*s", kind->scheme, u.user ? u.user : "", u.user ? "@" : "", host, u.port, (int)n,
			   u.path);
		for (size_t i = 0; i < u.parameter_count; i++)
			buf_printf(&place, "%c%s=%s", i ? '&' : '?', u.parameters[i].name, u.parameters[i].value);
	}
	url_done(&u);
	return place.size ? buf_take(&place, &n) : NULL;
}

static char *as_written(const char *url, const char *state)
{
	if (is_relay(url))
		return place_of_relay(url, state, relay_url_identity);
	for (size_t i = 0; i < ARRAY_SIZE(receivers); i++)
		if (!strncmp(url, receivers[i].scheme, strlen(receivers[i].scheme)) && url[strlen(receivers[i].scheme)] == ':')
			return place_of_receiver(&receivers[i], url);
	if (strncmp(url, "logs:", 5) == 0)
		return place_of_logs(url);
	if (strncmp(url, "sqlite:", 7) == 0 && url[7])
		return xstrdup(url + 7);
	return *url == '/' ? xstrdup(url) : NULL;
}

char *sink_place(const char *url, const char *state)
{
	_cleanup_(freep) char *place = as_written(url, state);
	char *real = place ? realpath(place, NULL) : NULL;

	return real ? real : TAKE_PTR(place);
}

char *sink_old_place(const char *url, const char *state)
{
	_cleanup_(freep) char *place = is_relay(url) ? place_of_relay(url, state, relay_url_old_identity) : NULL;
	char *real = place ? realpath(place, NULL) : NULL;

	return real ? real : TAKE_PTR(place);
}

/* --- Differences --- */

static bool are_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void add_word(struct buf *out, const char *word)
{
	buf_printf(out, out->size ? " and %s" : "another %s", word);
}

static void add_parameter(struct buf *out, const char *name)
{
	_cleanup_(freep) char *word = xasprintf("%s=", name);

	add_word(out, word);
}

/* Adds the parameters of `a` that `b` lacks and, with `also_other`, those that have another value in `b`. */
static void add_parameters(struct buf *out, const struct redis_url *a, const struct redis_url *b, bool also_other)
{
	for (size_t i = 0; i < a->parameter_count; i++) {
		const char *name = a->parameters[i].name, *other = redis_url_get(b, name);

		if (!other || (also_other && !are_equal(other, redis_url_get(a, name))))
			add_parameter(out, name);
	}
}

static void compare_relays(const char *before, const char *after, struct buf *out)
{
	struct redis_url a = { 0 }, b = { 0 };
	struct err err = { 0 };

	if (redis_url_parse(before, &a, &err) >= 0 && redis_url_parse(after, &b, &err) >= 0) {
		if (a.tls != b.tls)
			add_word(out, "scheme");
		if (!are_equal(a.user, b.user))
			add_word(out, "user");
		if (!are_equal(a.password, b.password))
			add_word(out, "password");
		if (a.database != b.database)
			add_word(out, "database");
		add_parameters(out, &b, &a, true);
		add_parameters(out, &a, &b, false);
	}
	redis_url_done(&a);
	redis_url_done(&b);
}

char *sink_place_difference(const char *before, const char *after)
{
	struct buf out;
	size_t size;

	buf_init(&out);
	if (is_relay(before) && is_relay(after))
		compare_relays(before, after, &out);
	if (!out.size)
		add_word(&out, "spelling");
	return buf_take(&out, &size);
}

/* --- Streams that count twice --- */

static bool is_one_stream(const struct redis_url *a, const struct redis_url *b)
{
	_cleanup_(freep) char *a_host = address_canonical(a->host), *b_host = address_canonical(b->host);

	return redis_url_get(a, "stream") && strcmp(a_host, b_host) == 0 && a->port == b->port && a->database == b->database &&
	       are_equal(redis_url_get(a, "stream"), redis_url_get(b, "stream"));
}

bool sink_feeds_source(const char *sink, const char *source)
{
	struct redis_url a = { 0 }, b = { 0 };
	struct err err = { 0 };
	bool feeds = is_relay(sink) && is_relay(source) && redis_url_parse(sink, &a, &err) >= 0 &&
		     redis_url_parse(source, &b, &err) >= 0 && is_one_stream(&a, &b);

	redis_url_done(&a);
	redis_url_done(&b);
	return feeds;
}

static const char *group_of(const struct redis_url *u)
{
	const char *group = redis_url_get(u, "group");

	return group ? group : "strobe";
}

bool sources_share_stream(const char *one, const char *other)
{
	struct redis_url a = { 0 }, b = { 0 };
	struct err err = { 0 };
	bool share = is_relay(one) && is_relay(other) && redis_url_parse(one, &a, &err) >= 0 &&
		     redis_url_parse(other, &b, &err) >= 0 && is_one_stream(&a, &b) && !are_equal(group_of(&a), group_of(&b));

	redis_url_done(&a);
	redis_url_done(&b);
	return share;
}

/* --- Servers that count twice --- */

static bool is_clickhouse(const char *url)
{
	return strncmp(url, "clickhouse:", 11) == 0;
}

static const struct clickhouse_server *find_server(const struct clickhouse_url *u, const struct clickhouse_server *server)
{
	_cleanup_(freep) char *host = address_canonical(server->host);

	for (unsigned i = 0; i < u->server_count; i++) {
		_cleanup_(freep) char *other = address_canonical(u->servers[i].host);

		if (u->servers[i].port == server->port && strcmp(other, host) == 0)
			return &u->servers[i];
	}
	return NULL;
}

char *sinks_shared_server(const char *other, const char *url)
{
	struct clickhouse_url a = { 0 }, b = { 0 };
	struct err err = { 0 };
	char *shared = NULL;

	if (is_clickhouse(other) && is_clickhouse(url) && clickhouse_url_parse(other, &a, &err) >= 0 &&
	    clickhouse_url_parse(url, &b, &err) >= 0 && strcmp(a.database, b.database) == 0)
		for (unsigned i = 0; i < b.server_count && !shared; i++)
			if (find_server(&a, &b.servers[i]))
				shared = xstrdup(b.servers[i].name);
	clickhouse_url_done(&a);
	clickhouse_url_done(&b);
	return shared;
}
