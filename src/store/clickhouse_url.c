/* clickhouse_url.c: parses clickhouse:// URLs. */
#include "clickhouse_url.h"
#include "clock.h"
#include "mem.h"
#include "size.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

#define TIMEOUT_NS	(30 * NS_PER_SECOND)
#define MEMORY_BYTES	((uint64_t)4 << 30)
#define TLS_PORT	8443
#define TTL_DAYS_MAX	36500		/* a Date wraps in 2149 */

static const struct url_kind kind = {
	.scheme = "clickhouse",
	.port = 8123,
	.name_is_user = true,
	.form = "use a URL such as clickhouse://host:8123/strobe",
};

static bool is_database(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > 64 || isdigit((unsigned char)*name))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!(name[i] >= 'a' && name[i] <= 'z') && !(name[i] >= 'A' && name[i] <= 'Z') &&
		    !(name[i] >= '0' && name[i] <= '9') && name[i] != '_')
			return false;
	return true;
}

static bool parse_port(const char *p, size_t n, unsigned *ret)
{
	unsigned v = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9' || v > 65535)
			return false;
		v = v * 10 + (unsigned)(p[i] - '0');
	}
	*ret = v;
	return v > 0 && v <= 65535;
}

static int add_server(struct clickhouse_url *u, const char *host, size_t n, unsigned port, struct err *err)
{
	struct clickhouse_server *s = &u->servers[u->server_count++];

	s->host = xstrndup(host, n);
	s->port = port;
	s->name = xasprintf(strchr(s->host, ':') ? "[%s]:%u" : "%s:%u", s->host, port);
	for (const struct clickhouse_server *other = u->servers; other < s; other++)
		if (!strcasecmp(other->name, s->name))
			return err_set(err, -EINVAL, "shards= has %s twice; remove one of them", s->name);
	return 0;
}

/* "db1", "db1:8123", "[::1]:8123". */
static int parse_server(struct clickhouse_url *u, const char *p, size_t n, struct err *err)
{
	const char *close = n && *p == '[' ? memchr(p, ']', n) : NULL, *from = close ? close + 1 : p;
	const char *colon = memchr(from, ':', n - (size_t)(from - p));
	size_t host = (size_t)((close ? close : colon ? colon : p + n) - p);
	unsigned port = u->http.tls ? TLS_PORT : kind.port;

	if (u->server_count == CLICKHOUSE_SHARDS)
		return url_invalid(&kind, "there are more than 64 shards", err);
	if (host == (close ? 1u : 0u) || (n && *p == '[' && !close) || (close && !colon && from != p + n))
		return url_invalid(&kind, "the host of a shard is missing or invalid", err);
	if (colon && !parse_port(colon + 1, n - (size_t)(colon + 1 - p), &port))
		return url_invalid(&kind, "the port of a shard is not a number from 1 to 65535", err);
	return add_server(u, close ? p + 1 : p, close ? host - 1 : host, port, err);
}

static int parse_shards(struct clickhouse_url *u, const char *list, struct err *err)
{
	for (const char *p = list; ; p++) {
		size_t n = strcspn(p, ",");
		int rc = parse_server(u, p, n, err);

		if (rc < 0)
			return rc;
		p += n;
		if (!*p)
			return 0;
	}
}

static int set_cluster(struct clickhouse_url *u, const char *name, struct err *err)
{
	size_t n = strlen(name);

	if (!n || n > 64 || name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")])
		return url_invalid(&kind, "cluster= is not a name of up to 64 letters, digits, '_', '-' and '.'", err);
	free(u->cluster);
	u->cluster = xstrdup(name);
	return 0;
}

static int set_ttl(struct clickhouse_url *u, const char *value, struct err *err)
{
	int64_t ns;

	if (clock_parse_duration(value, &ns, NULL) < 0 || ns <= 0 || ns % NS_PER_DAY || ns / NS_PER_DAY > TTL_DAYS_MAX)
		return url_invalid(&kind, "ttl= is not a whole number of days from 1d to 36500d", err);
	u->ttl_days = (uint32_t)(ns / NS_PER_DAY);
	return 0;
}

static int set_parameter(struct clickhouse_url *u, const char *name, const char *value, struct err *err)
{
	int rc;

	if (http_is_parameter(name))
		return 0;
	if (!strcmp(name, "shards"))
		return parse_shards(u, value, err);
	if (!strcmp(name, "memory"))
		return size_parse(value, &u->memory_bytes, err);
	if (!strcmp(name, "timeout")) {
		rc = clock_parse_duration(value, &u->timeout_ns, err);
		return rc < 0 ? rc : u->timeout_ns < NS_PER_SECOND ? url_invalid(&kind, "timeout= is below 1s", err) : 0;
	}
	if (!strcmp(name, "cluster"))
		return set_cluster(u, value, err);
	if (!strcmp(name, "ttl"))
		return set_ttl(u, value, err);
	return err_set(err, -EINVAL, "unknown parameter '%.40s' of a clickhouse: URL; known are shards, cluster, timeout, memory, "
		       "ttl, tls, ca-file and password-file", name);
}

static int compare_servers(const void *x, const void *y)
{
	const struct clickhouse_server *a = x, *b = y;

	return strcmp(a->name, b->name);
}

/* ClickHouse uses another port for TLS. */
static int parse_base(const char *text, struct clickhouse_url *ret, struct err *err)
{
	struct url_kind secure = kind;
	int rc = url_parse(text, &kind, &ret->url, err);

	if (rc >= 0)
		rc = http_options_from_url(&ret->http, &ret->url, err);
	if (rc < 0 || !ret->http.tls)
		return rc;
	secure.port = TLS_PORT;
	url_done(&ret->url);
	rc = url_parse(text, &secure, &ret->url, err);
	return rc < 0 ? rc : http_options_from_url(&ret->http, &ret->url, err);
}

int clickhouse_url_parse(const char *text, struct clickhouse_url *ret, struct err *err)
{
	int rc;

	*ret = (struct clickhouse_url){ .timeout_ns = TIMEOUT_NS, .memory_bytes = MEMORY_BYTES };
	rc = parse_base(text, ret, err);
	if (rc < 0)
		return rc;
	ret->http.prefix = "";
	ret->database = xstrdup(*ret->url.path ? ret->url.path + 1 : "");
	if (!is_database(ret->database))
		return url_invalid(&kind, "the database name is missing or invalid: use letters, digits and '_'", err);
	for (size_t i = 0; rc >= 0 && i < ret->url.parameter_count; i++)
		rc = set_parameter(ret, ret->url.parameters[i].name, ret->url.parameters[i].value, err);
	if (rc >= 0 && !ret->server_count)
		rc = add_server(ret, ret->url.host, strlen(ret->url.host), ret->url.port, err);
	assert(rc < 0 || ret->server_count > 0);
	/* A server's number determines its data, so it must not depend on the order in the URL. A cluster has its own
	 * numbers. */
	if (rc >= 0 && !ret->cluster)
		qsort(ret->servers, ret->server_count, sizeof(*ret->servers), compare_servers);
	return rc < 0 ? rc : 0;
}

void clickhouse_url_done(struct clickhouse_url *u)
{
	for (unsigned i = 0; i < u->server_count; i++) {
		free(u->servers[i].name);
		free(u->servers[i].host);
	}
	free(u->database);
	free(u->cluster);
	url_done(&u->url);
	*u = (struct clickhouse_url){ 0 };
}
