/* resp_commands.c: answers clients' commands like Redis 7, as far as these clients need. */
#include "resp_private.h"

#include "clock.h"
#include "log.h"
#include "mem.h"
#include "source_entry.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define REDIS_VERSION	"7.0.0"		/* the version whose replies we imitate */
#define DATABASES	16u
#define LOGINS_MAX	10u		/* failed logins before the client is closed */
#define SHOWN_NAME	128u		/* bytes of a command's name in errors */
#define SHOWN_ARGUMENTS	128u

struct command {
	const char *name;
	unsigned least, most;		/* arguments, with the name */
	void (*run)(struct resp_client *c, const struct str *a, size_t n);
	bool before_auth;		/* also before AUTH */
};

static bool is(struct str s, const char *text)
{
	return s.n == strlen(text) && !strncasecmp(s.p, text, s.n);
}

static struct buf *out_of(struct resp_client *c)
{
	return &c->source->out;
}

static bool parse_number(struct str s, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (!s.n || s.n > 20)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	*ret = v;
	return v <= max;
}

static void wrong_count(struct resp_client *c, const char *name)
{
	resp_put_error(out_of(c), "ERR wrong number of arguments for '%s' command", name);
}

static void not_an_integer(struct resp_client *c)
{
	resp_put_error(out_of(c), "ERR value is not an integer or out of range");
}

static void ok(struct resp_client *c)
{
	resp_put_status(out_of(c), "OK");
}

/* --- Samples --- */

static bool is_wanted(const struct resp_options *o, const char *channel)
{
	for (size_t i = 0; i < o->channel_count; i++)
		if (!strcmp(o->channels[i], channel))
			return true;
	return !o->channel_count;
}

/* Clients mostly publish on one channel, so it is looked up only when it changes. */
static void set_channel(struct resp_source *s, struct str channel)
{
	if (s->channel && s->channel_size == channel.n && !memcmp(s->channel, channel.p, channel.n))
		return;
	free(s->channel);
	s->channel_size = channel.n;
	s->channel = xstrndup(channel.p, channel.n);
	s->takes_channel = is_wanted(&s->options, s->channel);
	s->about.channel = s->channel;
}

static void publish(struct resp_client *c, const struct str *a, size_t n)
{
	struct resp_source *s = c->source;
	size_t taken = 0;

	assert(n == 3);			/* checked by the table of commands */
	set_channel(s, a[1]);
	if (!s->takes_channel)
		s->base.counters.rejected_channel++;
	else if (a[2].n > SOURCE_LINE_MAX + 1)
		s->base.counters.rejected_lines[SOURCE_LINE_TOO_LONG]++;
	else
		taken = source_lines(&s->base, s->about, a[2].p, a[2].n, NULL);
	/* The number of receivers. */
	resp_put_integer(out_of(c), taken > 0);
}

/* Parses "*", "5-*", "5" or "5-3". Generated ids increase even if the clock is set back. */
static bool take_id(struct resp_source *s, struct str id, uint64_t *ms, uint64_t *sequence)
{
	const char *dash = memchr(id.p, '-', id.n);
	struct str first = { id.p, dash ? (size_t)(dash - id.p) : id.n }, second = { 0 };
	uint64_t now = (uint64_t)clock_wall_ns() / 1000000;

	if (dash)
		second = (struct str){ dash + 1, id.n - first.n - 1 };
	if (is(id, "*"))
		*ms = now > s->last_ms ? now : s->last_ms;
	else if (!parse_number(first, UINT64_MAX, ms))
		return false;
	if (is(id, "*") || (dash && is(second, "*")))
		*sequence = *ms == s->last_ms ? s->last_sequence + 1 : 0;
	else
		*sequence = 0;
	if (dash && !is(second, "*") && !parse_number(second, UINT64_MAX, sequence))
		return false;
	if (*ms > s->last_ms || (*ms == s->last_ms && *sequence > s->last_sequence)) {
		s->last_ms = *ms;
		s->last_sequence = *sequence;
	}
	return true;
}

/* Skips NOMKSTREAM and MAXLEN ~ 1000 LIMIT 10 between the key and the id: nothing is stored here that could be trimmed.
 * Returns the index of the id, 0 if there is none. */
static size_t skip_trimming(const struct str *a, size_t n)
{
	size_t i = 2;

	if (i < n && is(a[i], "nomkstream"))
		i++;
	if (i < n && (is(a[i], "maxlen") || is(a[i], "minid"))) {
		i++;
		i += i < n && (is(a[i], "~") || is(a[i], "="));
		i++;
		i += i < n && is(a[i], "limit") ? 2 : 0;
	}
	return i < n ? i : 0;
}

static void xadd(struct resp_client *c, const struct str *a, size_t n)
{
	struct resp_source *s = c->source;
	struct message_metadata about = s->about;
	size_t at = skip_trimming(a, n);
	uint64_t ms, sequence;
	char id[64];
	struct err err;

	if (!at || at + 2 >= n || (n - at) % 2 == 0) {
		wrong_count(c, "xadd");
		return;
	}
	if (!take_id(s, a[at], &ms, &sequence)) {
		resp_put_error(out_of(c), "ERR Invalid stream ID specified as stream command argument");
		return;
	}
	about.channel = NULL;
	if (!source_entry(&s->base, about, a + at + 1, n - at - 1, &err)) {
		resp_put_error(out_of(c), "ERR %s", err.text);
		return;
	}
	snprintf(id, sizeof(id), "%" PRIu64 "-%" PRIu64, ms, sequence);
	resp_put_text(out_of(c), id);
}

/* --- Authentication and client state --- */

/* Takes the same time for right and wrong passwords. */
static bool is_password(const char *wanted, struct str given)
{
	size_t n = strlen(wanted);
	unsigned char differs = given.n != n;

	assert(n > 0);			/* no password is empty: resp_options.c */
	for (size_t i = 0; i < given.n; i++)
		differs |= (unsigned char)(given.p[i] ^ wanted[i % n]);
	return !differs;
}

static void admit(struct resp_client *c)
{
	c->may_publish = true;
	c->parser.argument_max = RESP_ARGUMENT_MAX;
	c->parser.arguments_max = RESP_ARGUMENTS_MAX;
}

static bool login(struct resp_client *c, const struct str *user, struct str password)
{
	struct resp_source *s = c->source;
	const struct resp_options *o = &s->options;
	bool user_fits = !user || (user->n == strlen(o->user ? o->user : "default") &&
				   !memcmp(user->p, o->user ? o->user : "default", user->n));

	if (!o->password && !user) {
		resp_put_error(out_of(c), "ERR AUTH <password> called without any password configured for the "
			       "default user. Are you sure your configuration is correct?");
		return false;
	}
	if (user_fits && (!o->password || is_password(o->password, password))) {
		admit(c);
		return true;
	}
	s->base.counters.logins_refused++;
	if (!s->logged_login)
		log_warning("%s: a client sent a wrong password; further ones are counted, not logged", s->base.url);
	s->logged_login = true;
	c->is_closing = ++c->failed_logins >= LOGINS_MAX;
	resp_put_error(out_of(c), "WRONGPASS invalid username-password pair or user is disabled.");
	return false;
}

static void auth(struct resp_client *c, const struct str *a, size_t n)
{
	if (login(c, n == 3 ? &a[1] : NULL, a[n - 1]))
		ok(c);
}

static bool set_name(struct resp_client *c, struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] < '!' || name.p[i] > '~' || name.n > RESP_NAME_MAX) {
			resp_put_error(out_of(c), "ERR Client names cannot contain spaces, newlines or special "
				       "characters.");
			return false;
		}
	free(c->name);
	c->name = name.n ? xstrndup(name.p, name.n) : NULL;
	return true;
}

static void put_hello(struct resp_client *c)
{
	struct buf *out = out_of(c);

	resp_put_map(out, 7, c->version);
	resp_put_text(out, "server");
	resp_put_text(out, "redis");
	resp_put_text(out, "version");
	resp_put_text(out, REDIS_VERSION);
	resp_put_text(out, "proto");
	resp_put_integer(out, c->version);
	resp_put_text(out, "id");
	resp_put_integer(out, (int64_t)c->id);
	resp_put_text(out, "mode");
	resp_put_text(out, "standalone");
	resp_put_text(out, "role");
	resp_put_text(out, "master");
	resp_put_text(out, "modules");
	resp_put_array(out, 0);
}

/* HELLO [2|3 [AUTH user password] [SETNAME name]] */
static void hello(struct resp_client *c, const struct str *a, size_t n)
{
	uint64_t version = (uint64_t)c->version;
	size_t i = 2;

	if (n > 1 && !parse_number(a[1], 99, &version)) {
		resp_put_error(out_of(c), "ERR Protocol version is not an integer or out of range");
		return;
	}
	if (version != 2 && version != 3) {
		resp_put_error(out_of(c), "NOPROTO unsupported protocol version");
		return;
	}
	while (i < n) {
		if (is(a[i], "auth") && i + 2 < n) {
			if (!login(c, &a[i + 1], a[i + 2]))
				return;
			i += 3;
		} else if (is(a[i], "setname") && i + 1 < n) {
			if (!set_name(c, a[i + 1]))
				return;
			i += 2;
		} else {
			resp_put_error(out_of(c), "ERR Syntax error in HELLO option '%.*s'",
				       (int)(a[i].n < SHOWN_NAME ? a[i].n : SHOWN_NAME), a[i].p);
			return;
		}
	}
	if (!c->may_publish) {
		resp_put_error(out_of(c), "NOAUTH HELLO must be called with the client already authenticated, "
			       "otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the "
			       "client and select the RESP protocol version at the same time");
		return;
	}
	c->version = (int)version;
	put_hello(c);
}

static void reset(struct resp_client *c, const struct str *a, size_t n)
{
	c->version = 2;
	c->answers_off = c->skip_next = false;
	set_name(c, (struct str){ "", 0 });
	if (c->source->options.password) {
		c->may_publish = false;
		c->parser.argument_max = RESP_STRANGER_ARGUMENT_MAX;
		c->parser.arguments_max = RESP_STRANGER_ARGUMENTS_MAX;
	}
	resp_put_status(out_of(c), "RESET");
}

static void quit(struct resp_client *c, const struct str *a, size_t n)
{
	ok(c);
	c->is_closing = true;
}

/* --- CLIENT --- */

static void client_reply(struct resp_client *c, const struct str *a, size_t n)
{
	if (n == 3 && is(a[2], "on")) {
		c->answers_off = false;
		ok(c);
	} else if (n == 3 && is(a[2], "off")) {
		c->answers_off = true;
	} else if (n == 3 && is(a[2], "skip")) {
		c->skip_next = c->skip_this = !c->answers_off;
	} else {
		resp_put_error(out_of(c), "ERR syntax error");
	}
}

static void client_info(struct resp_client *c)
{
	char text[RESP_NAME_MAX + 128];

	snprintf(text, sizeof(text), "id=%" PRIu64 " name=%s db=0 resp=%d\n", c->id, c->name ? c->name : "",
		 c->version);
	resp_put_text(out_of(c), text);
}

static void client(struct resp_client *c, const struct str *a, size_t n)
{
	if (is(a[1], "id") && n == 2)
		resp_put_integer(out_of(c), (int64_t)c->id);
	else if (is(a[1], "getname") && n == 2 && c->name)
		resp_put_text(out_of(c), c->name);
	else if (is(a[1], "getname") && n == 2)
		resp_put_null(out_of(c), c->version);
	else if (is(a[1], "setname") && n == 3)
		(void)(set_name(c, a[2]) && (ok(c), true));
	else if ((is(a[1], "info") || is(a[1], "list")) && n == 2)
		client_info(c);
	else if ((is(a[1], "setinfo") && n == 4) || (is(a[1], "no-evict") && n == 3) ||
		 (is(a[1], "no-touch") && n == 3))
		ok(c);
	else if (is(a[1], "reply"))
		client_reply(c, a, n);
	else
		resp_put_error(out_of(c), "ERR unknown subcommand or wrong number of arguments for '%.*s'. Try "
			       "CLIENT HELP.", (int)(a[1].n < SHOWN_NAME ? a[1].n : SHOWN_NAME), a[1].p);
}

/* --- Other commands --- */

static void ping(struct resp_client *c, const struct str *a, size_t n)
{
	if (n == 2)
		resp_put_bulk(out_of(c), a[1].p, a[1].n);
	else
		resp_put_status(out_of(c), "PONG");
}

static void echo(struct resp_client *c, const struct str *a, size_t n)
{
	resp_put_bulk(out_of(c), a[1].p, a[1].n);
}

static void select_database(struct resp_client *c, const struct str *a, size_t n)
{
	uint64_t v;

	if (!parse_number(a[1], INT32_MAX, &v))
		not_an_integer(c);
	else if (v >= DATABASES)
		resp_put_error(out_of(c), "ERR DB index is out of range");
	else
		ok(c);
}

/* COMMAND returns no descriptions; clients work without them. */
static void command(struct resp_client *c, const struct str *a, size_t n)
{
	if (n > 1 && is(a[1], "count"))
		resp_put_integer(out_of(c), 0);
	else if (n > 1 && is(a[1], "docs"))
		resp_put_map(out_of(c), 0, c->version);
	else
		resp_put_array(out_of(c), 0);
}

static void info(struct resp_client *c, const struct str *a, size_t n)
{
	const struct source_counters *k = &c->source->base.counters;
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	buf_puts(&b, "# Server\r\nredis_version:" REDIS_VERSION "\r\nredis_mode:standalone\r\nstrobe_version:"
		 STROBE_VERSION "\r\n");
	buf_printf(&b, "tcp_port:%u\r\n\r\n# Clients\r\nconnected_clients:%u\r\nmaxclients:%u\r\n", c->source->port,
		   c->source->client_count, c->source->options.clients_max);
	buf_printf(&b, "\r\n# Stats\r\ntotal_connections_received:%" PRIu64 "\r\nstrobe_lines:%" PRIu64 "\r\n"
		   "strobe_messages:%" PRIu64
		   "\r\n", k->connections, k->lines, k->messages);
	buf_puts(&b, "\r\n# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
	resp_put_bulk(out_of(c), b.data, b.size);
}

/* Refuses relays: a reply of success would mean that the samples are safe, but here they are committed only a second
 * later. */
static void eval(struct resp_client *c, const struct str *a, size_t n)
{
	resp_put_error(out_of(c), "ERR this is a Strobe listener, not a Redis: a relay needs a Redis, from "
				  "which the collector reads with --from redis://HOST/?stream=NAME&group=NAME");
}

static const struct command commands[] = {
	{ "publish", 3, 3, publish, false },
	{ "xadd", 5, RESP_ARGUMENTS_MAX, xadd, false },
	{ "ping", 1, 2, ping, false },
	{ "auth", 2, 3, auth, true },
	{ "hello", 1, RESP_ARGUMENTS_MAX, hello, true },
	{ "select", 2, 2, select_database, false },
	{ "client", 2, RESP_ARGUMENTS_MAX, client, false },
	{ "echo", 2, 2, echo, false },
	{ "quit", 1, RESP_ARGUMENTS_MAX, quit, true },
	{ "reset", 1, 1, reset, true },
	{ "command", 1, RESP_ARGUMENTS_MAX, command, false },
	{ "info", 1, RESP_ARGUMENTS_MAX, info, false },
	{ "eval", 1, RESP_ARGUMENTS_MAX, eval, false },
	{ "evalsha", 1, RESP_ARGUMENTS_MAX, eval, false },
};

/* A web page can make a browser send requests here, and a line of their bodies would be a command. */
static bool is_browser(struct str name)
{
	return is(name, "post") || is(name, "host:");
}

static void disconnect(struct resp_client *c)
{
	struct resp_source *s = c->source;

	s->base.counters.connections_closed_for_garbage++;
	if (!s->logged_attack)
		log_warning("%s: possible attack: a client sent an HTTP request, perhaps a browser on behalf of a web "
			    "page; its connection was closed. Further ones are counted, not logged", s->base.url);
	s->logged_attack = true;
	c->is_closing = true;
}

static void put_unknown(struct resp_client *c, const struct str *a, size_t n)
{
	_cleanup_(buf_done) struct buf shown = { 0 };

	buf_init(&shown);
	for (size_t i = 1; i < n && shown.size < SHOWN_ARGUMENTS; i++) {
		buf_putc(&shown, '\'');
		buf_put(&shown, a[i].p, a[i].n < SHOWN_ARGUMENTS - shown.size ? a[i].n : SHOWN_ARGUMENTS - shown.size);
		buf_puts(&shown, "' ");
	}
	resp_put_error(out_of(c), "ERR unknown command '%.*s', with args beginning with: %s",
		       (int)(a[0].n < SHOWN_NAME ? a[0].n : SHOWN_NAME), a[0].p, shown.data);
}

static void run(struct resp_client *c, const struct str *a, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *k = &commands[i];

		if (!is(a[0], k->name))
			continue;
		if (!c->may_publish && !k->before_auth)
			resp_put_error(out_of(c), "NOAUTH Authentication required.");
		else if (n < k->least || n > k->most)
			wrong_count(c, k->name);
		else
			k->run(c, a, n);
		return;
	}
	if (is_browser(a[0]))
		disconnect(c);
	else if (!c->may_publish)
		resp_put_error(out_of(c), "NOAUTH Authentication required.");
	else
		put_unknown(c, a, n);
}

void resp_command(struct resp_client *c)
{
	size_t before = c->source->out.size;

	assert(c->parser.count > 0 && !c->is_closing);
	c->skip_this = c->skip_next;
	c->skip_next = false;
	run(c, c->parser.arguments, c->parser.count);
	assert(c->source->out.size >= before);
	if (c->answers_off || c->skip_this)
		c->source->out.size = before;
}
