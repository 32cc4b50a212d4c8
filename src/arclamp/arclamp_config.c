/* arclamp_config.c: parses the file, with the option names of arclamp-log and redis-py. */
#include "arclamp_config.h"

#include "mem.h"
#include "redis_url.h"
#include "text.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <string.h>

#define BASE_PATH	"/srv/arclamp/logs"
#define BOTH_CHANNELS	"excimer,arclamp"

static void warn(struct arclamp_config *c, const struct yaml_node *at, const char *format, ...) _printf_(3, 4);

static void warn(struct arclamp_config *c, const struct yaml_node *at, const char *format, ...)
{
	char text[512];
	va_list args;

	if (c->warning_count == ARCLAMP_WARNINGS)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	c->warnings[c->warning_count++] = xasprintf("%s:%u: %s", at->file, at->line, text);
}

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, list[i]))
			return true;
	return false;
}

static void warn_of_unknown(struct arclamp_config *c, const struct yaml_node *n, const char *where,
			    const char *const *known, size_t count)
{
	for (const struct yaml_item *i = n->first; i; i = i->next)
		if (!is_one_of(i->key->text, known, count))
			warn(c, i->key, "'%s%.64s' is unknown and was ignored", where, i->key->text);
}

#define WARN_OF_UNKNOWN(c, n, where, list) warn_of_unknown(c, n, where, list, ARRAY_SIZE(list))

/* --- redis --- */

struct redis_options {
	const char *host, *socket, *user, *password;	/* `socket` is a path, and replaces host and port */
	int64_t port, database;
	bool tls, is_unverified;
	const char *ca_file, *cert_file, *key_file;
	struct buf channels;		/* percent-encoded names separated by commas */
};

/* Options of redis-py that are always on here, or do not matter for a single listening connection. */
static const char *const needless[] = {
	"socket_timeout", "socket_connect_timeout", "socket_keepalive", "socket_keepalive_options", "socket_read_size",
	"socket_type", "connection_pool", "charset", "encoding", "errors", "encoding_errors", "decode_responses",
	"retry_on_timeout", "retry_on_error", "retry", "max_connections", "single_connection_client", "client_name",
	"health_check_interval", "auto_close_connection_pool", "protocol", "lib_name", "lib_version",
};

static const char *const used[] = { "host", "port", "db", "username", "password", "unix_socket_path", "ssl",
				    "ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs" };

static bool is_needless(const char *key, bool tls)
{
	return is_one_of(key, needless, ARRAY_SIZE(needless)) || (!tls && !strncmp(key, "ssl_", 4));
}

static int read_text(const struct yaml_node *redis, const char *key, const char *what, const char **ret,
		     struct err *err)
{
	const struct yaml_node *n = yaml_find(redis, key);

	return yaml_is_null(n) ? 0 : yaml_get_text(n, what, ret, err);
}

static int read_number(const struct yaml_node *redis, const char *key, const char *what, int64_t min, int64_t max,
		       int64_t *ret, struct err *err)
{
	const struct yaml_node *n = yaml_find(redis, key);

	return yaml_is_null(n) ? 0 : yaml_get_number(n, what, min, max, ret, err);
}

/* redis-py treats null like "none"; "optional" matters only for servers. */
static int read_verification(const struct yaml_node *redis, bool *is_unverified, struct err *err)
{
	static const char *const words[] = { "none", "optional", "required" };
	const struct yaml_node *n = yaml_find(redis, "ssl_cert_reqs");
	const char *word = n ? "none" : "required";
	int r;

	if (!yaml_is_null(n) && (r = yaml_get_text(n, "redis: ssl_cert_reqs", &word, err)) < 0)
		return r;
	if (!is_one_of(word, words, ARRAY_SIZE(words)))
		return yaml_error(n, err, "'redis: ssl_cert_reqs' must be required, optional or none, not '%.64s'", word);
	*is_unverified = !strcmp(word, "none");
	return 0;
}

static int read_tls(const struct yaml_node *redis, struct redis_options *o, struct err *err)
{
	const struct yaml_node *ssl = yaml_find(redis, "ssl");
	int r;

	if (!yaml_is_null(ssl) && (r = yaml_get_bool(ssl, "redis: ssl", &o->tls, err)) < 0)
		return r;
	if (!o->tls)
		return 0;
	if ((r = read_text(redis, "ssl_ca_certs", "redis: ssl_ca_certs", &o->ca_file, err)) < 0 ||
	    (r = read_text(redis, "ssl_certfile", "redis: ssl_certfile", &o->cert_file, err)) < 0 ||
	    (r = read_text(redis, "ssl_keyfile", "redis: ssl_keyfile", &o->key_file, err)) < 0)
		return r;
	return read_verification(redis, &o->is_unverified, err);
}

static int read_redis(struct arclamp_config *c, const struct yaml_node *redis, struct redis_options *o, struct err *err)
{
	const struct yaml_node *socket = yaml_find(redis, "unix_socket_path");
	int r;

	if ((r = yaml_want(redis, YAML_MAPPING, "redis", err)) < 0 || (r = read_tls(redis, o, err)) < 0)
		return r;
	for (const struct yaml_item *i = redis->first; i; i = i->next)
		if (!is_one_of(i->key->text, used, ARRAY_SIZE(used)) && !is_needless(i->key->text, o->tls))
			warn(c, i->key, "'redis: %.64s' is unknown and was ignored", i->key->text);
	if ((r = read_text(redis, "unix_socket_path", "redis: unix_socket_path", &o->socket, err)) < 0)
		return r;
	if (o->socket && *o->socket != '/')
		return yaml_error(socket, err, "'redis: unix_socket_path' must be an absolute path");
	if ((r = read_text(redis, "host", "redis: host", &o->host, err)) < 0 ||
	    (r = read_text(redis, "username", "redis: username", &o->user, err)) < 0 ||
	    (r = read_text(redis, "password", "redis: password", &o->password, err)) < 0 ||
	    (r = read_number(redis, "port", "redis: port", 1, 65535, &o->port, err)) < 0)
		return r;
	return read_number(redis, "db", "redis: db", 0, 65535, &o->database, err);
}

/* Appends one name, or several separated by commas. `*count` is the number so far. */
static int put_channels(const struct yaml_node *n, unsigned *count, struct buf *out, struct err *err)
{
	const char *name = NULL, *end;
	int r = yaml_get_text(n, "redis_channel", &name, err);

	if (r < 0)
		return r;
	for (;; name = end + 1) {
		end = strchrnul(name, ',');
		if (++*count > ARCLAMP_CHANNELS)
			return yaml_error(n, err, "'redis_channel' has more than %u names", ARCLAMP_CHANNELS);
		if (end == name || end - name > 200)
			return yaml_error(n, err, "invalid channel '%.64s'; use 1 to 200 bytes", name);
		if (*count > 1)
			buf_putc(out, ',');
		text_put_url(out, (struct str){ name, (size_t)(end - name) });
		if (!*end)
			return 0;
	}
}

static int read_channels(struct arclamp_config *c, const struct yaml_node *root, struct buf *out, struct err *err)
{
	const struct yaml_node *n = yaml_find(root, "redis_channel");
	unsigned count = 0;
	int r = 0;

	if (yaml_is_null(n)) {
		warn(c, n ? n : root, "redis_channel is not set: listening on \"excimer\", the channel "
				      "of Arc Lamp's client, and \"arclamp\", the default of arclamp-log");
		buf_puts(out, BOTH_CHANNELS);
		return 0;
	}
	if (n->kind == YAML_SCALAR)
		return put_channels(n, &count, out, err);
	if ((r = yaml_want(n, YAML_SEQUENCE, "redis_channel", err)) < 0)
		return r;
	if (!n->first)
		return yaml_error(n, err, "'redis_channel' is an empty list; give a name");
	for (const struct yaml_item *i = n->first; i && r >= 0; i = i->next)
		r = put_channels(i->value, &count, out, err);
	return r;
}

static void put_parameter(struct buf *b, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(b, "&%s=", name);
	text_put_url(b, (struct str){ value, strlen(value) });
}

static char *make_url(const struct redis_options *o)
{
	bool tls = o->tls && !o->socket;	/* redis-py does not use TLS over a unix socket */
	unsigned char address[16];
	const char *host = o->socket ? o->socket : o->host;
	bool is_ipv6 = inet_pton(AF_INET6, host, address) == 1;
	struct buf b;

	buf_init(&b);
	buf_puts(&b, tls ? "rediss://" : "redis://");
	if (o->user && o->password)
		text_put_url(&b, (struct str){ o->user, strlen(o->user) });
	if (o->password) {
		buf_putc(&b, ':');
		text_put_url(&b, (struct str){ o->password, strlen(o->password) });
		buf_putc(&b, '@');
	}
	buf_puts(&b, is_ipv6 ? "[" : "");
	if (is_ipv6)
		buf_puts(&b, host);
	else
		text_put_url(&b, (struct str){ host, strlen(host) });
	buf_puts(&b, is_ipv6 ? "]" : "");
	if (!o->socket)
		buf_printf(&b, ":%lld", (long long)o->port);
	if (o->database)
		buf_printf(&b, "/%lld", (long long)o->database);
	buf_printf(&b, "?channel=%s", o->channels.data);
	if (tls) {
		put_parameter(&b, "ca-file", o->ca_file);
		put_parameter(&b, "cert-file", o->cert_file);
		put_parameter(&b, "key-file", o->key_file);
		put_parameter(&b, "verify", o->is_unverified ? "no" : NULL);
	}
	return buf_take(&b, NULL);
}

/* Checks the URL with the parser that will open it. */
static int check_url(const char *url, const struct yaml_node *redis, struct err *err)
{
	struct redis_url u = { 0 };
	struct err why = { 0 };
	int r = redis_url_parse(url, &u, &why);

	redis_url_done(&u);
	return r < 0 ? yaml_error(redis, err, "'redis' is not a valid address: %s", why.text) : 0;
}

/* Records an error instead of returning it, since another source may replace this one. */
static void read_source(struct arclamp_config *c, const struct yaml_node *root)
{
	_cleanup_(freep) char *url = NULL;
	struct redis_options o = { .host = "localhost", .port = 6379 };
	const struct yaml_node *redis = yaml_find(root, "redis");
	struct err err = { 0 };
	int r;

	buf_init(&o.channels);
	r = yaml_is_null(redis) ? yaml_error(redis ? redis : root, &err, "there is no 'redis' with host and "
					     "port; name a source with --from, such as resp://127.0.0.1:6379") :
		read_redis(c, redis, &o, &err);
	if (r >= 0)
		r = read_channels(c, root, &o.channels, &err);
	if (r >= 0) {
		url = make_url(&o);
		r = check_url(url, redis, &err);
	}
	if (r >= 0)
		c->source_url = TAKE_PTR(url);
	else
		c->source_problem = xstrdup(err.text);
	buf_done(&o.channels);
}

/* Keeps the channels for a listener that replaces that Redis. */
static void keep_channels(struct arclamp_config *c, const struct yaml_node *root)
{
	struct err err = { 0 };
	struct buf b;

	buf_init(&b);
	if (!yaml_is_null(yaml_find(root, "redis_channel"))) {
		if (read_channels(c, root, &b, &err) >= 0)
			c->channels = buf_take(&b, NULL);
		else
			c->channels_problem = xstrdup(err.text);
	}
	buf_done(&b);
}

/* --- logs --- */

static int read_group_text(const struct yaml_node *n, const char *key, const char *what, char **ret, struct err *err)
{
	const struct yaml_node *value = yaml_find(n, key);
	const char *text = NULL;
	int r;

	if (!value)
		return yaml_error(n, err, "a group of 'logs' has no '%s'", key);
	r = yaml_get_text(value, what, &text, err);
	if (r >= 0)
		*ret = xstrdup(text);
	return r;
}

static int read_group_numbers(const struct yaml_node *n, struct logs_group *g, struct err *err)
{
	int64_t retain, pop = 1;
	int r;

	if (!yaml_find(n, "retain"))
		return yaml_error(n, err, "a group of 'logs' has no 'retain', the number of older files to keep");
	r = yaml_get_number(yaml_find(n, "retain"), "logs: retain", 0, LOGS_RETAIN_MAX, &retain, err);
	if (r >= 0)
		r = read_number(n, "sample_pop", "logs: sample_pop", 1, 1000000000, &pop, err);
	if (r < 0)
		return r;
	g->retain = (unsigned)retain;
	g->sample_pop = (unsigned)pop;
	return 0;
}

static int read_group(struct arclamp_config *c, const struct yaml_node *n, struct logs_group *g, struct err *err)
{
	static const char *const known[] = { "period", "format", "retain", "sample_pop", "channel" };
	struct err why = { 0 };
	int r;

	if ((r = yaml_want(n, YAML_MAPPING, "logs: group", err)) < 0 ||
	    (r = read_group_text(n, "period", "logs: period", &g->period, err)) < 0 ||
	    (r = read_group_text(n, "format", "logs: format", &g->format, err)) < 0 ||
	    (r = read_group_numbers(n, g, err)) < 0)
		return r;
	if (!yaml_is_null(yaml_find(n, "channel")) &&
	    (r = read_group_text(n, "channel", "logs: channel", &g->channel, err)) < 0)
		return r;
	WARN_OF_UNKNOWN(c, n, "logs: ", known);
	return logs_group_check(g, &why) < 0 ? yaml_error(n, err, "%s", why.text) : 0;
}

static int read_groups(struct arclamp_config *c, const struct yaml_node *root, struct err *err)
{
	const struct yaml_node *n = yaml_find(root, "logs");
	int r;

	if (!n)
		return yaml_error(root, err, "missing 'logs', the list of log groups to write");
	if ((r = yaml_want(n, YAML_SEQUENCE, "logs", err)) < 0)
		return r;
	if (!n->count || n->count > LOGS_GROUPS)
		return yaml_error(n, err, "'logs' has %u groups; use 1 to %u", n->count, LOGS_GROUPS);
	c->logs.groups = xcalloc(n->count, sizeof(*c->logs.groups));
	for (const struct yaml_item *i = n->first; i && r >= 0; i = i->next) {
		/* Counted first, so that a half-read group is freed, too; only then may period and format be NULL. */
		struct logs_group *g = &c->logs.groups[c->logs.group_count++];

		r = read_group(c, i->value, g, err);
	}
	return r;
}

static int read_base(struct arclamp_config *c, const struct yaml_node *root, struct err *err)
{
	const struct yaml_node *n = yaml_find(root, "base_path");
	const char *text = BASE_PATH;
	size_t length;
	int r = n ? yaml_get_text(n, "base_path", &text, err) : 0;

	if (r < 0)
		return r;
	for (length = strlen(text); length > 1 && text[length - 1] == '/'; length--)
		;
	if (!length)
		return yaml_error(n, err, "'base_path' is empty; give a directory such as " BASE_PATH);
	c->logs.base = xstrndup(text, length);
	return 0;
}

/* --- The file --- */

bool arclamp_config_is(const struct yaml_node *root)
{
	const struct yaml_node *logs = yaml_find(root, "logs"), *first;

	if (!logs || logs->kind != YAML_SEQUENCE || !logs->first)
		return false;
	first = logs->first->value;
	return first->kind == YAML_MAPPING && (yaml_find(first, "period") || yaml_find(first, "format"));
}

int arclamp_config_make(const struct yaml_node *root, struct arclamp_config *ret, struct err *err)
{
	static const char *const known[] = { "base_path", "redis", "redis_channel", "logs" };
	int r;

	*ret = (struct arclamp_config){ 0 };
	if ((r = yaml_want(root, YAML_MAPPING, NULL, err)) < 0 || (r = read_base(ret, root, err)) < 0 ||
	    (r = read_groups(ret, root, err)) < 0)
		return r;
	WARN_OF_UNKNOWN(ret, root, "", known);
	read_source(ret, root);
	keep_channels(ret, root);
	return 0;
}

int arclamp_config_read(const char *path, struct arclamp_config *ret, struct err *err)
{
	struct yaml_tree t;
	int r = yaml_tree_read(path, &t, err);

	*ret = (struct arclamp_config){ 0 };
	if (r >= 0)
		r = arclamp_config_make(t.root, ret, err);
	yaml_tree_done(&t);
	return r;
}

void arclamp_config_done(struct arclamp_config *c)
{
	logs_options_done(&c->logs);
	free(c->source_url);
	free(c->source_problem);
	free(c->channels);
	free(c->channels_problem);
	for (size_t i = 0; i < c->warning_count; i++)
		free(c->warnings[i]);
	*c = (struct arclamp_config){ 0 };
}
