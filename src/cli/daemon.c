/* daemon.c: connects the stages, in the order of the data, and takes them apart in the reverse one. */

#include "daemon.h"

#include "arclamp_metrics.h"
#include "buf.h"
#include "clock.h"
#include "collector.h"
#include "log.h"
#include "mem.h"
#include "notify.h"
#include "server.h"
#include "sinks.h"
#include "source.h"
#include "state_lock.h"

#include <signal.h>
#include <string.h>

#define FLUSH_TIMEOUT_NS	(5 * NS_PER_SECOND)
#define LEAVE_LOOK_NS		(NS_PER_SECOND / 5)

/* A source or a sink by what the person wrote: the URLs that are shown have no passwords. */
struct feed {
	char *given;
	struct source *source;
	struct sink *sink;
};

struct feeds {
	struct feed items[DAEMON_SOURCES];
	size_t count;
};

/* What the server's threads look at: replaced as a whole. */
struct shown {
	struct source *sources[DAEMON_SOURCES];
	struct server_sink sinks[COLLECTOR_SINKS];
};

struct daemon {
	struct daemon_options options;
	struct loop *loop;
	int lock;			/* of the state directory; -1: none */
	bool has_journal;
	struct feeds sinks;		/* in the collector's order */
	struct collector *collector;
	struct feeds sources;
	struct feeds leaving;		/* sources that were removed and have something under way */
	size_t ended;
	struct shown *shown;
	struct server *server;
	struct watch watchdog, leave_timer;
};

static void feed_watchdog(struct watch *w, uint32_t events)
{
	loop_timer_read(w);
	notify_send("WATCHDOG=1");
}

/* --- Lists of sources and sinks --- */

static void add_feed(struct feeds *f, const char *given, struct source *source, struct sink *sink)
{
	f->items[f->count++] = (struct feed){ xstrdup(given), source, sink };
}

static void remove_feed(struct feeds *f, size_t i)
{
	free(f->items[i].given);
	memmove(f->items + i, f->items + i + 1, (--f->count - i) * sizeof(*f->items));
}

static bool has(const char *const *urls, size_t n, const char *url)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(urls[i], url))
			return true;
	return false;
}

static bool is_open(const struct feeds *f, const char *url)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i].given, url))
			return true;
	return false;
}

/* --- Sinks --- */

static struct sink_options sink_options(const struct daemon_options *o)
{
	return (struct sink_options){ .state = o->state, .limits = o->limits, .logs = o->logs };
}

static int add_sink(struct feeds *f, const struct daemon_options *o, const char *url, const struct sink_ops *ops,
		    struct err *err)
{
	struct sink_options options = sink_options(o);
	struct sink *s;
	int r;

	if (f->count == COLLECTOR_SINKS)
		return err_set(err, -E2BIG, "there are more than %u sinks", COLLECTOR_SINKS);
	r = ops ? ops->open(url, &options, &s, err) : sink_open(url, &options, &s, err);
	if (r >= 0)
		add_feed(f, url, NULL, s);
	return r;
}

/* The store before the lock, since it has more to say about who else uses it. */
static int open_sinks(struct daemon *d, struct err *err)
{
	const struct daemon_options *o = &d->options;
	int r;

	if (o->store_url && (r = add_sink(&d->sinks, o, o->store_url, &sink_store_ops, err)) < 0)
		return r;
	if (o->state && (r = state_lock(o->state, &d->lock, err)) < 0)
		return r;
	for (size_t i = 0; i < o->sink_count; i++)
		if ((r = add_sink(&d->sinks, o, o->sinks[i], NULL, err)) < 0)
			return r;
	return 0;
}

/* The store of the page, else the first that there is; NULL: none. */
static const struct sink *first_store(const struct daemon *d)
{
	for (size_t i = 0; i < d->sinks.count; i++)
		if (d->sinks.items[i].sink->store)
			return d->sinks.items[i].sink;
	return NULL;
}

/* --- The collector --- */

static bool gives_tickets(const char *url)
{
	return strncmp(url, "file:", 5) == 0 || (strncmp(url, "redis:", 6) == 0 && strstr(url, "stream="));
}

/* What can be told to collect from other sources later has one from the start. */
static bool wants_journal(const struct daemon_options *o)
{
	bool wants = o->reload != NULL;

	for (size_t i = 0; i < o->source_count; i++)
		wants |= gives_tickets(o->sources[i]);
	return wants && o->state;
}

static struct collector_options collector_options(const struct daemon_options *o)
{
	struct collector_options options;

	collector_default_options(&options);
	options.queue_bytes = o->queue_bytes;
	options.max_label_values = o->label_values;
	options.max_series = o->series;
	return options;
}

static int open_collector(struct daemon *d, struct err *err)
{
	_cleanup_(freep) char *journal = NULL;
	struct collector_options options = collector_options(&d->options);
	struct collector_sink ports[COLLECTOR_SINKS];

	d->has_journal = wants_journal(&d->options);
	if (d->has_journal)
		options.journal = journal = xasprintf("%s/collect.journal", d->options.state);
	for (size_t i = 0; i < d->sinks.count; i++)
		ports[i] = d->sinks.items[i].sink->port;
	return collector_new(ports, d->sinks.count, &options, d->loop, &d->collector, err);
}

/* --- Sources --- */

static void source_ended(void *data, struct source *s)
{
	struct daemon *d = data;

	if (++d->ended == d->sources.count)
		loop_stop(d->loop, 0);
}

static int add_source(struct daemon *d, struct feeds *f, const char *url, struct err *err)
{
	struct source_receiver receiver = collector_receiver(d->collector);
	struct source *s;
	int r;

	if (f->count == DAEMON_SOURCES)
		return err_set(err, -E2BIG, "there are more than %u sources", DAEMON_SOURCES);
	receiver.ended = source_ended;
	receiver.ended_data = d;
	receiver.state = d->options.state;
	r = source_open(url, d->loop, &receiver, &s, err);
	if (r >= 0)
		add_feed(f, url, s, NULL);
	return r;
}

static int open_sources(struct daemon *d, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < d->options.source_count && r >= 0; i++)
		r = add_source(d, &d->sources, d->options.sources[i], err);
	return r;
}

/* --- The server --- */

static struct shown *show(const struct daemon *d)
{
	struct shown *s = xcalloc(1, sizeof(*s));

	for (size_t i = 0; i < d->sources.count; i++)
		s->sources[i] = d->sources.items[i].source;
	for (size_t i = 0; i < d->sinks.count; i++) {
		struct sink *sink = d->sinks.items[i].sink;

		s->sinks[i] = (struct server_sink){
			.url = sink->url, .counters = collector_sink_counters(d->collector, i),
			.figures = sink->ops->figures, .state = sink->ops->state, .data = sink,
		};
	}
	return s;
}

/* What changes while it runs; the arrays are those of d->shown. */
static struct server_options feeds_shown(const struct daemon *d, const struct store_limits *limits)
{
	const struct sink *store = first_store(d);

	return (struct server_options){
		.store = store ? store->store : NULL,
		.store_url = store ? store->url : NULL,
		.limits = *limits,
		.sources = d->shown->sources,
		.source_count = d->sources.count,
		.sinks = d->shown->sinks,
		.sink_count = d->sinks.count,
	};
}

/* Pictures lie beside the logs: /srv/arclamp/logs and /srv/arclamp/svgs. */
static void put_arclamp_metrics(void *data, struct buf *out)
{
	const char *logs = ((const struct daemon *)data)->options.arclamp_metrics;
	_cleanup_(freep) char *svgs = xstrdup(logs);
	_cleanup_(buf_done) struct buf series = { 0 };
	size_t n = strlen(svgs);
	struct err err = { 0 };

	while (n > 1 && svgs[n - 1] == '/')
		svgs[--n] = '\0';
	buf_init(&series);
	if (n > 5 && !strcmp(svgs + n - 5, "/logs"))
		memcpy(svgs + n - 4, "svgs", 4);
	else
		n = 0;
	if (arclamp_metrics_put(logs, n ? svgs : NULL, clock_wall_ns(), &series, &err) < 0)
		log_warning("there are no series of Arc Lamp: %s", err.text);
	else
		buf_put(out, series.data, series.size);
}

static int open_server(struct daemon *d, struct err *err)
{
	const struct daemon_options *o = &d->options;
	struct server_options s;
	int r;

	if (o->no_server)
		return 0;
	d->shown = show(d);
	s = feeds_shown(d, &o->limits);
	s.listen = o->listen;
	s.token = o->token;
	s.allow_hosts = o->allow_hosts;
	s.allow_host_count = o->allow_host_count;
	s.only_counters = !o->store_url;
	s.collector = collector_counters(d->collector);
	s.start_ns = clock_wall_ns();
	if (o->arclamp_metrics) {
		s.more_metrics = put_arclamp_metrics;
		s.more_data = d;
	}
	r = server_new(&s, &d->server, err);
	if (r < 0 && o->listen_may_fail && r != -EINVAL && r != -EACCES) {
		log_warning("there will be no counters to ask for: %s", err->text);
		return 0;
	}
	return r;
}

/* --- SIGHUP: other sources, sinks and limits --- */

struct change {
	struct feeds sources, sinks;		/* that are new and open, and nobody knows of yet */
};

static void undo(struct change *c)
{
	for (size_t i = 0; i < c->sources.count; i++) {
		source_close(c->sources.items[i].source);
		free(c->sources.items[i].given);
	}
	for (size_t i = 0; i < c->sinks.count; i++) {
		sink_close(c->sinks.items[i].sink);
		free(c->sinks.items[i].given);
	}
}

/* Opens what is new, before anything of what runs is touched. */
static int open_new(struct daemon *d, const struct daemon_options *n, struct change *c, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < n->sink_count && r >= 0; i++)
		if (!is_open(&d->sinks, n->sinks[i]))
			r = add_sink(&c->sinks, n, n->sinks[i], NULL, err);
	for (size_t i = 0; i < n->source_count && r >= 0; i++) {
		if (is_open(&d->sources, n->sources[i]))
			continue;
		if (gives_tickets(n->sources[i]) && !d->has_journal)
			return err_set(err, -ENOTSUP, "a source that remembers needs a restart, for there is no state directory");
		r = add_source(d, &c->sources, n->sources[i], err);
	}
	if (r >= 0 && (d->sinks.count + c->sinks.count > COLLECTOR_SINKS ||
		       d->sources.count + c->sources.count > DAEMON_SOURCES))
		return err_set(err, -E2BIG, "those of before and the new ones together are too many at once; remove some first");
	return r;
}

static void take_new(struct daemon *d, struct change *c)
{
	struct err err;

	for (size_t i = 0; i < c->sinks.count; i++) {
		struct feed *f = &c->sinks.items[i];

		if (collector_add_sink(d->collector, &f->sink->port, &err) < 0) {
			log_error("%s is not used: %s", f->sink->url, err.text);
			sink_close(f->sink);
		} else {
			log_info("samples go to %s now", f->sink->url);
			add_feed(&d->sinks, f->given, NULL, f->sink);
		}
		free(f->given);
	}
	for (size_t i = 0; i < c->sources.count; i++) {
		log_info("samples come from %s now", c->sources.items[i].source->url);
		add_feed(&d->sources, c->sources.items[i].given, c->sources.items[i].source, NULL);
		free(c->sources.items[i].given);
	}
}

static void sink_has_left(void *data)
{
	struct sink *s = data;

	log_info("%s is closed, with all that was for it", s->url);
	sink_close(s);
}

static void look_at_leaving(struct watch *w, uint32_t events)
{
	struct daemon *d = (struct daemon *)((char *)w - offsetof(struct daemon, leave_timer));

	loop_timer_read(w);
	for (size_t i = d->leaving.count; i-- > 0;) {
		struct source *s = d->leaving.items[i].source;

		if (!collector_forget(d->collector, s))
			continue;
		log_info("%s is closed, with all that came from it stored", s->url);
		source_close(s);
		remove_feed(&d->leaving, i);
	}
	if (!d->leaving.count)
		loop_remove_timer(d->loop, &d->leave_timer);
}

/* After the server has been shown what stays. */
static void drop_old(struct daemon *d, struct feeds *gone_sources, struct feeds *gone_sinks)
{
	struct err err;

	for (size_t i = 0; i < gone_sources->count; i++) {
		struct feed *f = &gone_sources->items[i];

		source_stop(f->source);
		if (d->leaving.count < DAEMON_SOURCES)
			add_feed(&d->leaving, f->given, f->source, NULL);
		free(f->given);
	}
	if (d->leaving.count && d->leave_timer.fd < 0 &&
	    loop_add_timer(d->loop, &d->leave_timer, LEAVE_LOOK_NS, &err) < 0)
		log_warning("%s", err.text);
	for (size_t i = 0; i < gone_sinks->count; i++)
		free(gone_sinks->items[i].given);
}

static void take_out(struct feeds *from, const char *const *urls, size_t n, size_t first, struct feeds *to)
{
	for (size_t i = first; i < from->count;) {
		if (has(urls, n, from->items[i].given)) {
			i++;
			continue;
		}
		add_feed(to, from->items[i].given, from->items[i].source, from->items[i].sink);
		remove_feed(from, i);
	}
}

/* The store of the page stays: it is the first sink. */
static void leave_old(struct daemon *d, const struct daemon_options *n)
{
	struct feeds sources = { 0 }, sinks = { 0 };
	struct shown *before = d->shown;

	for (size_t i = d->sinks.count; i-- > (d->options.store_url ? 1u : 0u);)
		if (!has(n->sinks, n->sink_count, d->sinks.items[i].given))
			collector_remove_sink(d->collector, i, sink_has_left, d->sinks.items[i].sink);
	take_out(&d->sources, n->sources, n->source_count, 0, &sources);
	take_out(&d->sinks, n->sinks, n->sink_count, d->options.store_url ? 1 : 0, &sinks);
	if (d->server) {
		struct server_options s;

		d->shown = show(d);
		s = feeds_shown(d, &n->limits);
		server_show(d->server, &s);
		free(before);
	}
	drop_old(d, &sources, &sinks);
}

static bool differs(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

static void say_what_stays(const struct daemon_options *o, const struct daemon_options *n)
{
	static const char later[] = "holds after a restart only";

	if (differs(o->listen, n->listen) || o->no_server != n->no_server)
		log_warning("the other address to listen on %s", later);
	if (differs(o->token, n->token))
		log_warning("the other token %s", later);
	if (differs(o->state, n->state))
		log_warning("the other state directory %s", later);
	if (differs(o->store_url, n->store_url))
		log_warning("the other store %s", later);
	if (o->allow_host_count != n->allow_host_count)
		log_warning("the other names to answer under (allow-host) %s", later);
}

/* What cannot change keeps its value, but not its string, which goes with the options of before. */
static int change(struct daemon *d, struct daemon_options *n, struct err *err)
{
	struct change c = { 0 };
	struct collector_options caps = collector_options(n);
	struct sink_options limits = sink_options(n);
	int r = open_new(d, n, &c, err);

	if (r < 0) {
		undo(&c);
		return r;
	}
	say_what_stays(&d->options, n);
	take_new(d, &c);
	leave_old(d, n);
	collector_set_caps(d->collector, &caps);
	for (size_t i = 0; i < d->sinks.count; i++)
		if (d->sinks.items[i].sink->ops->set_options)
			d->sinks.items[i].sink->ops->set_options(d->sinks.items[i].sink, &limits);
	return 0;
}

static void reload(struct daemon *d)
{
	struct daemon_options n;
	struct err err = { 0 };
	int r;

	notify_send("RELOADING=1");
	r = d->options.reload(&n, &err);
	if (r >= 0)
		r = change(d, &n, &err);
	if (r < 0) {
		log_error("the configuration was read again and is not used, nothing has changed: %s", err.text);
		d->options.reloaded(false);
	} else {
		d->options.sources = n.sources;
		d->options.source_count = n.source_count;
		d->options.sinks = n.sinks;
		d->options.sink_count = n.sink_count;
		d->options.limits = n.limits;
		log_info("the configuration was read again: %zu sources, %zu sinks", d->sources.count, d->sinks.count);
		d->options.reloaded(true);
	}
	notify_send("READY=1");
}

static void got_signal(int signo, void *data)
{
	struct daemon *d = data;

	if (signo == SIGHUP && d->options.reload)
		reload(d);
	else
		loop_stop(d->loop, 0);
}

/* --- All of it --- */

static int open_all(struct daemon *d, struct err *err)
{
	int64_t watchdog_ns = notify_watchdog_ns();
	int r;

	d->loop = loop_new(err);
	if (!d->loop)
		return err->code;
	/* Signals before threads, which inherit the mask. The sinks before the sources: a second instance that shares
	 * only a store must not take the samples. */
	if ((r = loop_on_signals(d->loop, got_signal, d, SIGHUP, err)) < 0 ||
	    (r = open_sinks(d, err)) < 0 ||
	    (r = open_collector(d, err)) < 0 ||
	    (r = open_sources(d, err)) < 0 ||
	    (r = open_server(d, err)) < 0)
		return r;
	return watchdog_ns ? loop_add_timer(d->loop, &d->watchdog, watchdog_ns / 2, err) : 0;
}

static void say_ready(const struct daemon *d)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	for (size_t i = 0; i < d->sources.count; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", d->sources.items[i].source->url);
	buf_puts(&b, " into ");
	for (size_t i = 0; i < d->sinks.count; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", d->sinks.items[i].sink->url);
	if (d->server)
		buf_printf(&b, "; listening on %s", server_url(d->server));
	log_info("collecting from %s", b.data);
	notify_send("READY=1");
}

/* The server first, since it shows the counters of the others; then from the inputs to the sinks. */
static uint64_t stop_all(struct daemon *d)
{
	uint64_t left = 0;

	d->server = server_free(d->server);
	for (size_t i = 0; i < d->sources.count; i++)
		source_stop(d->sources.items[i].source);
	if (d->collector)
		left = collector_flush(d->collector, FLUSH_TIMEOUT_NS);
	return left;
}

/* What came out of it, for whoever piped something in. */
static int say_ended(const struct daemon *d, struct err *err)
{
	const struct collector_counters *n = collector_counters(d->collector);
	uint64_t lines = 0, rejected = 0;

	for (size_t i = 0; i < d->sources.count; i++) {
		const struct source_counters *c = &d->sources.items[i].source->counters;

		lines += c->lines;
		for (unsigned e = SOURCE_LINE_OK + 1; e < SOURCE_LINE_ERRORS; e++)
			rejected += e == SOURCE_LINE_BLANK ? 0 : c->rejected_lines[e];
	}
	if (!lines)
		return err_set(err, -ENODATA, "there was no line like 'main;function 12' in the input (%llu other lines)",
			       (unsigned long long)rejected);
	log_info("%llu lines with %llu samples: %llu stored, %llu dropped; %llu other lines were left out",
		 (unsigned long long)lines, (unsigned long long)n->samples_received, (unsigned long long)n->samples_stored,
		 (unsigned long long)(n->samples_dropped_queue + n->samples_dropped_unfit), (unsigned long long)rejected);
	return 0;
}

static void free_all(struct daemon *d)
{
	struct feeds *sources[] = { &d->sources, &d->leaving };

	for (size_t list = 0; list < ARRAY_SIZE(sources); list++)
		while (sources[list]->count) {
			source_close(sources[list]->items[sources[list]->count - 1].source);
			remove_feed(sources[list], sources[list]->count - 1);
		}
	d->collector = collector_free(d->collector);
	while (d->sinks.count) {
		sink_close(d->sinks.items[d->sinks.count - 1].sink);
		remove_feed(&d->sinks, d->sinks.count - 1);
	}
	if (d->loop) {
		loop_remove_timer(d->loop, &d->watchdog);
		loop_remove_timer(d->loop, &d->leave_timer);
	}
	d->loop = loop_free(d->loop);
	free(d->shown);
	if (d->lock >= 0)
		close(d->lock);
}

int daemon_run(const struct daemon_options *o, struct err *err)
{
	struct daemon *d = xcalloc(1, sizeof(*d));
	uint64_t left;
	int r;

	d->options = *o;
	d->lock = -1;
	d->watchdog = (struct watch){ .ready = feed_watchdog, .fd = -1 };
	d->leave_timer = (struct watch){ .ready = look_at_leaving, .fd = -1 };
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a limit of file sizes is a full disk, and no end */
	r = open_all(d, err);
	if (r >= 0) {
		say_ready(d);
		r = loop_run(d->loop, err);
		notify_send("STOPPING=1");
	}
	left = stop_all(d);
	if (r >= 0 && left)
		r = err_set(err, -EIO, "%llu samples or runs could not be stored before the end; see the warnings above",
			    (unsigned long long)left);
	else if (r >= 0 && d->ended && d->ended == d->sources.count)
		r = say_ended(d, err);
	free_all(d);
	free(d);
	return r;
}
