/* redis_pubsub.c: subscribes, hands over lines, and reports problems. */
#include "redis_pubsub.h"

#include "redis_address.h"
#include "clock.h"
#include "connection.h"
#include "log.h"
#include "mem.h"
#include "source_url.h"

#include <assert.h>
#include <fnmatch.h>
#include <hiredis/hiredis.h>
#include <string.h>

#define CHANNELS_MAX		1000u
#define CHANNEL_SIZE_MAX	1024u
#define RUN_ID_MAX		64u
#define MESSAGE_MAX		((size_t)64 << 20)	/* a message of many lines; a larger one costs the connection */
#define READ_TOGETHER		(64u * 1024)		/* some 60 messages */
#define DRAIN_MAX_NS		(2 * NS_PER_SECOND)
#define READ_AHEAD		((size_t)128 << 20)	/* Redis itself keeps 32 MB for us by default */

/* Channels, or patterns of them: "SUBSCRIBE", a, b. */
struct list {
	char **words;
	size_t *sizes;
	size_t count, capacity, size_capacity;
};

struct pubsub {
	struct source base;
	struct redis_connection *connection;
	struct source_hints hints;
	struct list channels, patterns;
	char *host;				/* address_canonical */
	unsigned port;
	size_t confirmed;			/* subscriptions of this connection */
	char channel[CHANNEL_SIZE_MAX + 1];	/* channel of the current message */
	char *names;				/* all names, for people */
	bool logged_bad;				/* an invalid line was logged */
	/* State of the server at the last subscription, to count missed messages when reconnecting. */
	char run_id[RUN_ID_MAX + 1];
	uint64_t published;			/* messages, on all channels, since it started */
	uint64_t arrived;			/* messages that arrived since then */
	int64_t lost_ns;			/* when the connection was lost, monotonic; 0: it never was */
	uint64_t hung;				/* number of times that the server did not answer */
	bool same_run;				/* the server has not been restarted since */
	uint64_t missed;
	char *logged;				/* the last trouble that was logged; NULL once it has subscribed */
};

static const struct source_ops redis_pubsub_ops;

/* --- Messages --- */

static void log_bad_line(struct pubsub *p, const struct err *err)
{
	if (!p->logged_bad)
		log_warning("%s: %s. Further ones are counted in /metrics, not logged", p->base.url, err->text);
	p->logged_bad = true;
}

static void on_message(struct redis_connection *c, struct str channel, struct str text, void *data)
{
	struct pubsub *p = data;
	struct message_metadata about = source_hints_about(&p->hints);
	struct err err = { 0 };
	size_t n = channel.n < CHANNEL_SIZE_MAX ? channel.n : CHANNEL_SIZE_MAX;

	memcpy(p->channel, channel.p, n);
	p->channel[n] = '\0';
	about.channel = p->channel;
	p->arrived++;
	source_lines(&p->base, about, text.p, text.n, &err);
	if (err.code)
		log_bad_line(p, &err);
}

/* Counts and logs the messages missed while disconnected. */
static void log_missed(struct pubsub *p)
{
	const double seconds = (double)(clock_monotonic_ns() - p->lost_ns) / NS_PER_SECOND;
	const char *why = "";

	if (p->same_run && p->hung == redis_connection_counters(p->connection)->hung) {
		p->base.counters.connections_closed_by_server++;
		why = "; Redis had closed the connection, as it does for slow subscribers "
		      "(client-output-buffer-limit pubsub) and on CLIENT KILL";
	}
	p->base.counters.messages_missed += p->missed;
	log_warning("%s: reconnected after %.1f s; up to %llu message%s missed%s",
		    p->base.url, seconds, (unsigned long long)p->missed, p->missed == 1 ? " was" : "s were", why);
}

static void on_subscription(struct pubsub *p)
{
	if (++p->confirmed < p->channels.count + p->patterns.count)
		return;
	free(p->logged);
	p->logged = NULL;
	source_set_state(&p->base, true, "subscribed to %s at %s", p->names, redis_connection_where(p->connection));
	log_info("%s: subscribed to %s", p->base.url, p->names);
	if (p->lost_ns)
		log_missed(p);
	p->lost_ns = 0;
}

static void on_push(struct redis_connection *c, const struct redisReply *r, void *data)
{
	struct pubsub *p = data;
	const char *word = r->type == REDIS_REPLY_ARRAY && r->elements ? r->element[0]->str : NULL;
	struct err err;

	if (word && (!strcmp(word, "subscribe") || !strcmp(word, "psubscribe")))
		on_subscription(p);
	else if (r->type == REDIS_REPLY_ERROR && redis_problem_explain(r, redis_connection_where(c), "SUBSCRIBE", &err))
		redis_connection_drop(c, "%s", err.text);
}

/* --- The connection --- */

static void subscribe_to(struct pubsub *p, const struct list *l)
{
	assert(!l->count || l->words[0]);		/* set by list_begin */
	if (l->count)
		redis_connection_subscribe(p->connection, (int)l->count + 1, (const char *const *)l->words, l->sizes);
}

/* Returns the value in "…\r\nname:VALUE\r\n…"; NULL if it is missing. */
static const char *info_value(const redisReply *reply, const char *name)
{
	const char *p = reply && reply->type == REDIS_REPLY_STRING ? strstr(reply->str, name) : NULL;

	return p && (p == reply->str || p[-1] == '\n') ? p + strlen(name) : NULL;
}

static void on_server_info(struct redis_connection *c, const struct redisReply *reply, void *data)
{
	const char *id = info_value(reply, "run_id:");
	struct pubsub *p = data;
	size_t n = id ? strcspn(id, "\r\n") : 0;

	p->same_run = n && n <= RUN_ID_MAX && strlen(p->run_id) == n && !memcmp(p->run_id, id, n);
	if (!n || n > RUN_ID_MAX)
		n = 0;
	if (n)
		memcpy(p->run_id, id, n);
	p->run_id[n] = '\0';
}

/* Its PUBLISH commands on any channel: what is missing among them is no more than that. */
static void on_command_info(struct redis_connection *c, const struct redisReply *reply, void *data)
{
	const char *calls = info_value(reply, "cmdstat_publish:calls=");
	uint64_t published = calls ? strtoull(calls, NULL, 10) : 0;
	struct pubsub *p = data;
	uint64_t before = p->same_run ? p->published + p->arrived : 0;

	p->missed = published > before ? published - before : 0;
	p->published = published;
	p->arrived = 0;
}

static void on_ready(struct redis_connection *c, void *data)
{
	struct pubsub *p = data;

	p->base.counters.connections++;
	p->base.counters.connections_now = 1;
	p->confirmed = 0;
	redis_connection_sendf(c, 0, on_server_info, p, "INFO server");
	redis_connection_sendf(c, 0, on_command_info, p, "INFO commandstats");
	subscribe_to(p, &p->channels);
	subscribe_to(p, &p->patterns);
}

static void on_lost(struct redis_connection *c, void *data)
{
	struct pubsub *p = data;

	p->base.counters.connections_now = 0;
	p->base.counters.connections_lost++;
	p->lost_ns = clock_monotonic_ns();
	p->hung = redis_connection_counters(c)->hung;
}

/* Reports losses only. The connection is reported once subscribed; a user without the right to subscribe would cause
 * a report at each attempt. */
static void on_state(void *data, bool is_up, const char *text)
{
	struct pubsub *p = data;

	if (is_up)
		return;
	source_set_state(&p->base, false, "%s", text);
	if (p->logged && !strcmp(p->logged, text))
		return;
	free(p->logged);
	p->logged = xstrdup(text);
	log_warning("%s: %s", p->base.url, text);
}

/* --- Lifecycle --- */

static void list_add(struct list *l, const char *word, size_t n)
{
	GROW(&l->words, &l->capacity, l->count + 2);
	GROW(&l->sizes, &l->size_capacity, l->count + 2);
	if (!l->count) {
		l->words[0] = NULL;
		l->sizes[0] = 0;
	}
	l->count++;
	l->words[l->count] = xstrndup(word, n);
	l->sizes[l->count] = n;
}

static void list_begin(struct list *l, const char *command)
{
	if (!l->count)
		return;
	assert(!l->words[0]);
	l->words[0] = xstrdup(command);
	l->sizes[0] = strlen(command);
}

static void list_done(struct list *l)
{
	for (size_t i = 0; l->count && i <= l->count; i++)
		free(l->words[i]);
	free(l->words);
	free(l->sizes);
}

static int add_names(struct list *l, const char *what, const char *names, struct err *err)
{
	for (const char *p = names; *p;) {
		const char *end = strchrnul(p, ',');

		if ((size_t)(end - p) > CHANNEL_SIZE_MAX)
			return err_set(err, -EINVAL, "a %s is longer than %u bytes", what, CHANNEL_SIZE_MAX);
		if (l->count == CHANNELS_MAX)
			return err_set(err, -EINVAL, "there are more than %u of %s=; use a pattern", CHANNELS_MAX,
				       what);
		if (end > p)
			list_add(l, p, (size_t)(end - p));
		p = *end ? end + 1 : end;
	}
	return 0;
}

static int set_parameter(struct pubsub *p, const struct redis_url *u, const char *name, const char *value,
			 struct err *err)
{
	int r;

	if (!strcmp(name, "channel"))
		return add_names(&p->channels, name, value, err);
	if (!strcmp(name, "pattern"))
		return add_names(&p->patterns, name, value, err);
	r = redis_url_is_own(u, name, err);
	if (r)
		return r < 0 ? r : 0;
	r = source_hints_set(&p->hints, name, value, err);
	return r ? r : err_set(err, -EINVAL, "unknown parameter '%.60s'; a subscription takes channel, pattern, "
					     "label.NAME, clock, period%s",
			       name, redis_url_own_names(u));
}

/* Redis sends a message once per matching subscription, and each copy would count. */
static int check_overlap(const struct list *patterns, const struct list *words, const char *what, struct err *err)
{
	for (size_t i = 1; patterns->count && i <= patterns->count; i++)
		for (size_t k = 1; words->count && k <= words->count; k++)
			if (patterns->words[i] != words->words[k] && fnmatch(patterns->words[i], words->words[k], 0) == 0)
				return err_set(err, -EINVAL, "pattern=%.64s includes %s=%.64s, whose messages would count twice; "
							     "remove one of them", patterns->words[i], what, words->words[k]);
	return 0;
}

static int set_parameters(struct pubsub *p, const struct redis_url *u, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < u->parameter_count && r >= 0; i++)
		r = set_parameter(p, u, u->parameters[i].name, u->parameters[i].value, err);
	if (r >= 0)
		r = check_overlap(&p->patterns, &p->channels, "channel", err);
	if (r >= 0)
		r = check_overlap(&p->patterns, &p->patterns, "pattern", err);
	if (r < 0)
		return err_prefix(err, "%s", u->shown);
	if (!p->channels.count && !p->patterns.count && (redis_url_get(u, "channel") || redis_url_get(u, "pattern")))
		return err_set(err, -EINVAL, "%s: channel= and pattern= are empty; use channel=excimer", u->shown);
	if (!p->channels.count && !p->patterns.count)
		return err_set(err, -EINVAL, "%s: missing channel to subscribe to, as in %s%cchannel=excimer",
			       u->shown, u->shown, u->parameter_count ? '&' : '?');
	list_begin(&p->channels, "SUBSCRIBE");
	list_begin(&p->patterns, "PSUBSCRIBE");
	return 0;
}

static char *printable(char *text)
{
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return text;
}

/* --- Two that subscribe to the same --- */

static bool is_same_server(const struct pubsub *a, const struct pubsub *b)
{
	return !strcmp(a->host, b->host) && (a->port == b->port || address_is_path(a->host));
}

/* Returns the first common word; NULL if there is none. */
static const char *find_common(const struct list *a, const struct list *b)
{
	for (size_t i = 1; a->count && i <= a->count; i++)
		for (size_t k = 1; b->count && k <= b->count; k++)
			if (!strcmp(a->words[i], b->words[k]))
				return a->words[i];
	return NULL;
}

static const char *included_word(const struct list *patterns, const struct list *words)
{
	for (size_t i = 1; patterns->count && i <= patterns->count; i++)
		for (size_t k = 1; words->count && k <= words->count; k++)
			if (fnmatch(patterns->words[i], words->words[k], 0) == 0)
				return words->words[k];
	return NULL;
}

static const char *channel_of_both(const struct pubsub *a, const struct pubsub *b)
{
	const char *word = find_common(&a->channels, &b->channels);

	if (!word)
		word = included_word(&a->patterns, &b->channels);
	return word ? word : included_word(&b->patterns, &a->channels);
}

static const char *pattern_of_both(const struct pubsub *a, const struct pubsub *b)
{
	const char *word = find_common(&a->patterns, &b->patterns);

	if (!word)
		word = included_word(&a->patterns, &b->patterns);
	return word ? word : included_word(&b->patterns, &a->patterns);
}

/* Redis sends a copy to each subscriber, and each copy would count. */
static int check_other(const struct pubsub *p, const struct source *base, struct err *err)
{
	const struct pubsub *other = (const struct pubsub *)base;
	_cleanup_(freep) char *shown = NULL;
	const char *word, *what = "channel";

	if (base->ops != &redis_pubsub_ops || !is_same_server(p, other))
		return 0;
	word = channel_of_both(p, other);
	if (!word) {
		word = pattern_of_both(p, other);
		what = "pattern";
	}
	if (!word)
		return 0;
	shown = printable(xasprintf("%.64s", word));
	return err_set(err, -EEXIST, "%s: %s already subscribes to the %s '%s', so each message would count "
				     "twice; remove one of them", p->base.url, base->url, what, shown);
}

static int check_others(const struct pubsub *p, struct err *err)
{
	const struct source_list *kept = &p->base.receiver.kept;
	int r = 0;

	for (size_t i = 0; i < kept->count && r >= 0; i++)
		r = check_other(p, kept->items[i], err);
	return r;
}

/* "excimer, excimer-wall and 3 more", in printable bytes. */
static char *name_all(const struct list *a, const struct list *b)
{
	const size_t all = a->count + b->count, shown = all > 4 ? 3 : all;
	struct buf text;

	assert(all > 0);
	buf_init(&text);
	for (size_t i = 0; i < shown; i++) {
		const char *word = i < a->count ? a->words[i + 1] : b->words[i - a->count + 1];

		buf_printf(&text, "%s%.64s", i ? ", " : "", word);
	}
	if (shown < all)
		buf_printf(&text, " and %zu more", all - shown);
	return printable(buf_take(&text, NULL));
}

static struct source *redis_pubsub_close(struct source *base)
{
	struct pubsub *p = (struct pubsub *)base;

	redis_connection_free(p->connection);
	list_done(&p->channels);
	list_done(&p->patterns);
	source_hints_done(&p->hints);
	free(p->host);
	free(p->names);
	free(p->logged);
	source_done(base);
	free(p);
	return NULL;
}

static void redis_pubsub_stop(struct source *base)
{
	struct pubsub *p = (struct pubsub *)base;

	if (p->connection)
		redis_connection_drain(p->connection, DRAIN_MAX_NS);
	p->connection = redis_connection_free(p->connection);
	base->counters.connections_now = 0;
	source_set_state(base, false, "closed");
}

int redis_pubsub_open(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		      struct err *err)
{
	struct pubsub *p = xcalloc(1, sizeof(*p));
	struct redis_connection_options o;
	struct redis_url u;
	int r = redis_url_parse(url, &u, err);

	p->base = (struct source){ .ops = &redis_pubsub_ops, .receiver = *receiver, .loop = loop };
	p->base.url = u.shown ? xstrdup(u.shown) : NULL;
	source_hints_init(&p->hints);
	if (r >= 0) {
		p->host = address_canonical(u.host);
		p->port = u.port;
		r = set_parameters(p, &u, err);
	}
	if (r >= 0)
		r = check_others(p, err);
	if (r >= 0) {
		p->names = name_all(&p->channels, &p->patterns);
		redis_connection_default_options(&o);
		o.url = &u;
		o.name = "strobe-subscriber";
		o.read_ahead = READ_AHEAD;
		o.read_together = READ_TOGETHER;
		o.reply_max = MESSAGE_MAX;
		o.ready = on_ready;
		o.lost = on_lost;
		o.pushed = on_push;
		o.message = on_message;
		o.state = on_state;
		o.data = p;
		source_set_state(&p->base, false, "connecting");
		r = redis_connection_new(&o, loop, &p->connection, err);
	}
	redis_url_done(&u);
	if (r < 0) {
		redis_pubsub_close(&p->base);
		return r;
	}
	*ret = &p->base;
	return 0;
}

static const struct source_ops redis_pubsub_ops = {
	.scheme = "redis",
	.stop = redis_pubsub_stop,
	.close = redis_pubsub_close,
};
