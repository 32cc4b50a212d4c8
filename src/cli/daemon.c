/* daemon.c: connects the stages, in the order of the data, and takes them apart in the reverse one. */

#include "daemon.h"

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

struct daemon {
	const struct daemon_options *options;
	struct loop *loop;
	int lock;			/* of the state directory; -1: none */
	struct sink *sinks[COLLECTOR_SINKS];
	size_t sink_count;
	struct collector *collector;
	struct source *sources[DAEMON_SOURCES];
	size_t source_count, ended;
	struct server_sink shown[COLLECTOR_SINKS];
	struct server *server;
	struct watch watchdog;
};

static void got_signal(int signo, void *data)
{
	struct daemon *d = data;

	loop_stop(d->loop, 0);
}

static void feed_watchdog(struct watch *w, uint32_t events)
{
	loop_timer_read(w);
	notify_send("WATCHDOG=1");
}

/* --- Sinks --- */

static int add_sink(struct daemon *d, const char *url, const struct sink_ops *ops, struct err *err)
{
	const struct daemon_options *o = d->options;
	struct sink_options options = { .state = o->state, .limits = o->limits };
	struct sink **s = &d->sinks[d->sink_count];
	int r;

	if (d->sink_count == COLLECTOR_SINKS)
		return err_set(err, -E2BIG, "there are more than %u sinks", COLLECTOR_SINKS);
	r = ops ? ops->open(url, &options, s, err) : sink_open(url, &options, s, err);
	if (r >= 0)
		d->sink_count++;
	return r;
}

/* The store before the lock, since it has more to say about who else uses it. */
static int open_sinks(struct daemon *d, struct err *err)
{
	const struct daemon_options *o = d->options;
	int r;

	if (o->store_url && (r = add_sink(d, o->store_url, &sink_store_ops, err)) < 0)
		return r;
	if (o->state && (r = state_lock(o->state, &d->lock, err)) < 0)
		return r;
	for (size_t i = 0; i < o->sink_count; i++)
		if ((r = add_sink(d, o->sinks[i], NULL, err)) < 0)
			return r;
	return 0;
}

/* The store of the page, else the first that there is; NULL: none. */
static const struct sink *first_store(const struct daemon *d)
{
	for (size_t i = 0; i < d->sink_count; i++)
		if (d->sinks[i]->store)
			return d->sinks[i];
	return NULL;
}

/* --- The collector --- */

static bool gives_tickets(const char *url)
{
	return strncmp(url, "file:", 5) == 0 || (strncmp(url, "redis:", 6) == 0 && strstr(url, "stream="));
}

static bool wants_journal(const struct daemon_options *o)
{
	for (size_t i = 0; i < o->source_count; i++)
		if (o->state && gives_tickets(o->sources[i]))
			return true;
	return false;
}

static int open_collector(struct daemon *d, struct err *err)
{
	_cleanup_(freep) char *journal = NULL;
	const struct daemon_options *o = d->options;
	struct collector_sink ports[COLLECTOR_SINKS];
	struct collector_options options;

	collector_default_options(&options);
	options.queue_bytes = o->queue_bytes;
	options.max_label_values = o->label_values;
	options.max_series = o->series;
	if (wants_journal(o))
		options.journal = journal = xasprintf("%s/collect.journal", o->state);
	for (size_t i = 0; i < d->sink_count; i++)
		ports[i] = d->sinks[i]->port;
	return collector_new(ports, d->sink_count, &options, d->loop, &d->collector, err);
}

/* --- Sources --- */

static void source_ended(void *data, struct source *s)
{
	struct daemon *d = data;

	if (++d->ended == d->source_count)
		loop_stop(d->loop, 0);
}

static int add_source(struct daemon *d, const char *url, struct err *err)
{
	struct source_receiver receiver = collector_receiver(d->collector);
	int r;

	if (d->source_count == DAEMON_SOURCES)
		return err_set(err, -E2BIG, "there are more than %u sources", DAEMON_SOURCES);
	receiver.ended = source_ended;
	receiver.ended_data = d;
	receiver.state = d->options->state;
	r = source_open(url, d->loop, &receiver, &d->sources[d->source_count], err);
	if (r >= 0)
		d->source_count++;
	return r;
}

static int open_sources(struct daemon *d, struct err *err)
{
	const struct daemon_options *o = d->options;
	int r = 0;

	for (size_t i = 0; i < o->source_count && r >= 0; i++)
		r = add_source(d, o->sources[i], err);
	return r;
}

/* --- The server --- */

static void fill_shown(struct daemon *d)
{
	for (size_t i = 0; i < d->sink_count; i++)
		d->shown[i] = (struct server_sink){
			.url = d->sinks[i]->url, .counters = collector_sink_counters(d->collector, i),
			.figures = d->sinks[i]->ops->figures, .data = d->sinks[i],
		};
}

static int open_server(struct daemon *d, struct err *err)
{
	const struct daemon_options *o = d->options;
	const struct sink *store = first_store(d);
	struct server_options s = {
		.listen = o->listen,
		.token = o->token,
		.allow_hosts = o->allow_hosts,
		.allow_host_count = o->allow_host_count,
		.store = store ? store->store : NULL,
		.only_counters = !o->store_url,
		.store_url = store ? store->url : NULL,
		.limits = o->limits,
		.collector = collector_counters(d->collector),
		.sources = d->sources,
		.source_count = d->source_count,
		.sinks = d->shown,
		.sink_count = d->sink_count,
		.start_ns = clock_wall_ns(),
	};
	int r;

	if (o->no_server)
		return 0;
	fill_shown(d);
	r = server_new(&s, &d->server, err);
	if (r < 0 && o->listen_may_fail && r != -EINVAL && r != -EACCES) {
		log_warning("there will be no counters to ask for: %s", err->text);
		return 0;
	}
	return r;
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
	if ((r = loop_on_signals(d->loop, got_signal, d, false, err)) < 0 ||
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
	for (size_t i = 0; i < d->source_count; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", d->sources[i]->url);
	buf_puts(&b, " into ");
	for (size_t i = 0; i < d->sink_count; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", d->sinks[i]->url);
	if (d->server)
		buf_printf(&b, "; listening on %s", server_url(d->server));
	log_info("collecting from %s", b.data);
	notify_send("READY=1");
}

/* The server first, since it shows the counters of the others; then from the inputs to the sinks. */
static uint64_t close_all(struct daemon *d)
{
	uint64_t left = 0;

	d->server = server_free(d->server);
	for (size_t i = 0; i < d->source_count; i++)
		source_stop(d->sources[i]);
	if (d->collector)
		left = collector_flush(d->collector, FLUSH_TIMEOUT_NS);
	return left;
}

/* What came out of it, for whoever piped something in. */
static int say_ended(const struct daemon *d, struct err *err)
{
	uint64_t lines = 0, rejected = 0;
	const struct collector_counters *n = collector_counters(d->collector);

	for (size_t i = 0; i < d->source_count; i++) {
		const struct source_counters *c = &d->sources[i]->counters;

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
	for (size_t i = 0; i < d->source_count; i++)
		source_close(d->sources[i]);
	d->collector = collector_free(d->collector);
	for (size_t i = d->sink_count; i-- > 0;)
		sink_close(d->sinks[i]);
	if (d->loop)
		loop_remove_timer(d->loop, &d->watchdog);
	d->loop = loop_free(d->loop);
	if (d->lock >= 0)
		close(d->lock);
}

int daemon_run(const struct daemon_options *o, struct err *err)
{
	struct daemon d = { .options = o, .lock = -1, .watchdog = { .ready = feed_watchdog, .fd = -1 } };
	uint64_t left;
	int r;

	signal(SIGPIPE, SIG_IGN);
	r = open_all(&d, err);
	if (r >= 0) {
		say_ready(&d);
		r = loop_run(d.loop, err);
		notify_send("STOPPING=1");
	}
	left = close_all(&d);
	if (r >= 0 && left)
		r = err_set(err, -EIO, "%llu samples or runs could not be stored before the end; see the warnings above",
			    (unsigned long long)left);
	else if (r >= 0 && d.ended == d.source_count)
		r = say_ended(&d, err);
	free_all(&d);
	return r;
}
