/* daemon.c: connects the stages in the order of the data, and takes them apart in reverse order. */

#include "daemon_private.h"

#include "arclamp_metrics.h"
#include "buf.h"
#include "clock.h"
#include "collector.h"
#include "command.h"
#include "fd_budget.h"
#include "log.h"
#include "mem.h"
#include "notify.h"
#include "passed_socket.h"
#include "peer_labels.h"
#include "push_source.h"
#include "query_starter.h"
#include "state_lock.h"

#include <malloc.h>
#include <signal.h>
#include <string.h>

#define FLUSH_TIMEOUT_NS	(5 * NS_PER_SECOND)
#define DRAIN_SECONDS		300	/* unless STROBE_DRAIN_SECONDS is set, for tests */
#define ANSWERS_TIMEOUT_NS	(3 * NS_PER_SECOND)

static void feed_watchdog(struct watch *w, uint32_t events)
{
	loop_timer_read(w);
	notify_send("WATCHDOG=1");
}

static void tick(struct watch *w, uint32_t events)
{
	struct daemon *d = (struct daemon *)((char *)w - offsetof(struct daemon, tick));

	loop_timer_read(w);
	daemon_report_drops(d, false);
	daemon_close_drained_sources(d);
	daemon_warn_of_failing_removed(d);
}

/* --- Sinks --- */

struct sink_options daemon_sink_options(const struct daemon_options *o)
{
	return (struct sink_options){ .state = o->state, .limits = o->limits, .logs = o->logs };
}

/* The store before the lock, since its error says more about the other process. */
static int open_sinks(struct daemon *d, struct err *err)
{
	const struct daemon_options *o = &d->options;
	int r;

	if (o->store_url && (r = daemon_open_page(d, err)) < 0)
		return r;
	if (o->state && state_lock(o->state, &d->lock, err) < 0)
		return err_about(err, "state", NULL);
	r = daemon_check_conflicts(d, o, err);
	return r < 0 ? r : daemon_open_sinks(d, o, err);
}

/* Returns the store of the page, or else the first store; NULL if there is none. */
static const struct sink *first_store(const struct daemon *d)
{
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_IN_USE)
		if (f->sink->store)
			return f->sink;
	return NULL;
}

/* --- The collector --- */

/* A daemon that can be reloaded with other sources needs a journal from the start. */
static bool wants_journal(const struct daemon_options *o)
{
	bool wants = o->reload != NULL;

	for (size_t i = 0; i < o->source_count; i++)
		wants |= source_acknowledges(o->sources[i]);
	return wants && o->state;
}

int64_t daemon_drain_ns(void)
{
	const char *text = getenv("STROBE_DRAIN_SECONDS");
	int seconds = text ? atoi(text) : 0;

	return (seconds > 0 ? seconds : DRAIN_SECONDS) * NS_PER_SECOND;
}

struct collector_options daemon_collector_options(const struct daemon_options *o)
{
	struct collector_options options;

	collector_default_options(&options);
	options.queue_bytes = o->queue_bytes;
	options.max_label_values = o->label_values;
	options.max_series = o->series;
	options.drain_ns = daemon_drain_ns();
	return options;
}

static int open_collector(struct daemon *d, struct err *err)
{
	_cleanup_(freep) char *journal = NULL;
	struct collector_options options = daemon_collector_options(&d->options);
	struct collector_sink ports[COLLECTOR_SINKS];
	struct feed *f;
	size_t n = 0;
	int r;

	d->has_journal = wants_journal(&d->options);
	if (d->has_journal)
		options.journal = journal = xasprintf("%s/collect.journal", d->options.state);
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_OPENED) {
		ports[n++] = f->sink->port;
	}
	if ((r = collector_new(ports, n, &options, d->loop, &d->collector, err)) < 0)
		return r;
	n = 0;
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_OPENED) {
		f->worker = collector_sink(d->collector, n++);
		f->state = FEED_IN_USE;
	}
	return 0;
}

/* --- Sources --- */

static bool all_have_ended(const struct daemon *d)
{
	struct feed *f;
	size_t n = 0;

	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_OPENED | FEED_IN_USE) {
		if (!f->ended)
			return false;
		n++;
	}
	/* A source that is configured and not open waits for a draining one. */
	return n && (n >= d->options.source_count || !feeds_count(&d->feeds, FEED_SOURCE, FEED_DRAINING));
}

bool daemon_stop_at_eof(struct daemon *d)
{
	bool over = all_have_ended(d);

	if (over)
		loop_stop(d->loop, 0);
	return over;
}

static void source_ended(void *data, struct source *s)
{
	struct daemon *d = data;
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_ANY) {
		f->ended |= f->source == s;
	}
	daemon_stop_at_eof(d);
}

struct source_receiver daemon_receiver(struct daemon *d)
{
	struct source_receiver receiver = collector_receiver(d->collector);

	receiver.ended = source_ended;
	receiver.ended_data = d;
	receiver.state = d->options.state;
	receiver.peer_labels = d->peer_labels;
	return receiver;
}

static int open_sources(struct daemon *d, struct err *err)
{
	int r = peer_labels_new(d->options.label_rules, d->options.label_rule_count, &d->peer_labels, err);
	struct feed *f;

	if (r >= 0)
		r = daemon_open_sources(d, &d->options, err);
	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_OPENED)
		f->state = FEED_IN_USE;
	return r;
}

/* --- The server --- */

static struct server_sink shown_sink(const struct feed *f)
{
	return (struct server_sink){
		.url = f->sink->url,
		.counters = sink_worker_counters(f->worker),
		.is_draining = f->state == FEED_DRAINING,
		.figures = f->sink->ops->figures,
		.state = f->sink->ops->state,
		.data = f->sink,
	};
}

static struct shown *shown_now(const struct daemon *d)
{
	struct shown *s = xcalloc(1, sizeof(*s));
	struct feed *f;

	s->source_count = feeds_sources(&d->feeds, FEED_IN_USE, s->sources);
	if (d->pushes)
		s->sources[s->source_count++] = d->pushes;
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_IN_USE)
		s->sinks[s->sink_count++] = shown_sink(f);
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_DRAINING)
		s->sinks[s->sink_count++] = shown_sink(f);
	return s;
}

/* Also sets the options that change at run time, whose arrays are in d->shown. */
static void show(struct daemon *d, struct server_options *ret)
{
	const struct sink *store = first_store(d);

	d->shown = shown_now(d);
	ret->store = store ? store->store : NULL;
	ret->store_url = store ? store->url : NULL;
	ret->limits = d->options.limits;
	ret->sources = d->shown->sources;
	ret->source_count = d->shown->source_count;
	ret->sinks = d->shown->sinks;
	ret->sink_count = d->shown->sink_count;
}

void daemon_update_shown(struct daemon *d)
{
	struct shown *before = d->shown;
	struct server_options s = { 0 };

	if (!d->server)
		return;
	show(d, &s);
	server_show(d->server, &s);
	free(before);
}

/* Pictures are in a directory beside the logs: /srv/arclamp/logs and /srv/arclamp/svgs. */
static void put_arclamp_metrics(void *data, struct buf *out)
{
	struct daemon *d = data;
	const char *logs = d->options.arclamp_metrics;
	_cleanup_(freep) char *svgs = xstrdup(logs);
	_cleanup_(buf_done) struct buf series = { 0 };
	size_t n = strlen(svgs);
	struct err err = { 0 };
	bool failed;

	while (n > 1 && svgs[n - 1] == '/')
		svgs[--n] = '\0';
	buf_init(&series);
	if (n > 5 && !strcmp(svgs + n - 5, "/logs"))
		memcpy(svgs + n - 4, "svgs", 4);
	else
		n = 0;
	failed = arclamp_metrics_put(logs, n ? svgs : NULL, clock_wall_ns(), &series, &err) < 0;
	if (!failed)
		buf_put(out, series.data, series.size);
	else if (!d->metrics_failed)
		log_warning("the arclamp_* series are not available: %s", err.text);
	d->metrics_failed = failed;
}

/* Settings of the page are stored beside the samples, or in the state directory if samples are stored on servers. */
static const char *store_directory(const struct daemon_options *o)
{
	if (strncmp(o->store_url, "sqlite:", 7) == 0)
		return o->store_url + 7;
	return *o->store_url == '/' || !o->state ? o->store_url : o->state;
}

struct server_options daemon_server_options(const struct daemon_options *o)
{
	return (struct server_options){
		.listen = o->listen,
		.roles = o->roles,
		.probe_listen = o->probe_listen,
		.query_memory = o->query_memory,
		.allow_hosts = o->allow_hosts,
		.allow_host_count = o->allow_host_count,
		.source_dirs = o->source_dirs,
		.source_dir_count = o->source_dir_count,
		.service_labels = o->service_labels,
		.service_label_count = o->service_label_count,
		.connections = fd_budget_for_http(),
		.only_counters = !o->store_url,
	};
}

static int open_server(struct daemon *d, struct err *err)
{
	const struct daemon_options *o = &d->options;
	struct source_receiver receiver;
	struct server_options s;
	int r;

	if (o->no_server)
		return 0;
	if ((r = daemon_check_metrics(o, err)) < 0)
		return r;
	receiver = collector_receiver(d->collector);
	if ((r = push_source_open(d->loop, &receiver, &d->pushes, err)) < 0)
		return r;
	s = daemon_server_options(o);
	show(d, &s);
	s.pushes = d->pushes;
	s.query_starter = d->query_starter;
	if (o->store_url) {
		const char *directory = store_directory(o);

		free(d->filters_path);
		free(d->grafana_settings_path);
		d->filters_path = xasprintf("%s/" NAMED_FILTERS_FILE, directory);
		d->grafana_settings_path = xasprintf("%s/" GRAFANA_SETTINGS_FILE, directory);
	}
	s.filters_path = d->filters_path;
	s.grafana_settings_path = d->grafana_settings_path;
	s.collector = collector_counters(d->collector);
	s.start_ns = clock_wall_ns();
	if (o->arclamp_metrics) {
		s.more_metrics = put_arclamp_metrics;
		s.more_data = d;
	}
	r = server_new(&s, &d->server, err);
	if (r < 0 && o->listen_may_fail && r != -EINVAL && r != -EACCES) {
		log_warning("counters are not served: %s", err->text);
		return 0;
	}
	return r;
}

static void on_signal(int signo, void *data)
{
	struct daemon *d = data;

	if (signo == SIGHUP && d->options.reload)
		daemon_reload(d);
	else
		loop_stop(d->loop, 0);
}

/* Runs in the process of a query. The URL is the one that the daemon was started with. */
static int open_to_read(void *data, int64_t until_ns, struct store **ret, struct err *err)
{
	return store_open_until(data, until_ns, ret, err);
}

static void before_query(void *data)
{
	store_before_fork(data);
}

/* --- Top level --- */

static int open_all(struct daemon *d, struct err *err)
{
	int64_t watchdog_ns = notify_watchdog_ns();
	const struct daemon_options *o = &d->options;
	const struct query_start start = { open_to_read, (char *)o->store_url, before_query, o->source_dirs, o->source_dir_count,
					   o->service_labels, o->service_label_count };
	int r;

	if (o->store_url && (r = store_load(o->store_url, err)) < 0)
		return r;
	if (o->store_url && !o->no_server && (r = query_starter_new(&start, &d->query_starter, err)) < 0)
		return r;
	d->loop = loop_new(err);
	if (!d->loop)
		return err->code;
	/* Signals before threads, which inherit the mask. The sinks before the sources: a second instance that shares
	 * only a store must not take the samples. */
	if ((r = loop_on_signals(d->loop, on_signal, d, SIGHUP, err)) < 0 ||
	    (r = open_sinks(d, err)) < 0 ||
	    (r = open_collector(d, err)) < 0 ||
	    (r = open_sources(d, err)) < 0 ||
	    (r = open_server(d, err)) < 0 ||
	    (r = loop_add_timer(d->loop, &d->tick, NS_PER_SECOND, err)) < 0)
		return r;
	fd_budget_share();
	return watchdog_ns ? loop_add_timer(d->loop, &d->watchdog, watchdog_ns / 2, err) : 0;
}

static void log_ready(const struct daemon *d)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	const char *separator = " into ";
	struct feed *f;

	buf_init(&b);
	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_IN_USE)
		buf_printf(&b, "%s%s", b.size ? ", " : "", f->source->url);
	if (!b.size)
		buf_puts(&b, "pushes only");
	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_IN_USE) {
		buf_printf(&b, "%s%s", separator, f->sink->url);
		separator = ", ";
	}
	if (d->server)
		buf_printf(&b, "; listening on %s", server_url(d->server));
	log_info("collecting from %s", b.data);
	if (d->server && *server_probe_url(d->server))
		log_info("answering probes at %s", server_probe_url(d->server));
	passed_sockets_warn();
	notify_send("READY=1");
}

/* Stops the server first, since it shows the counters of the others; then from the inputs to the sinks. Received
 * samples are stored regardless of requests. */
static uint64_t stop_all(struct daemon *d)
{
	uint64_t left = 0;
	struct feed *f;

	source_stop(d->pushes);		/* its senders are told to retry */
	if (server_stop(d->server, ANSWERS_TIMEOUT_NS))
		d->server = server_free(d->server);
	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_IN_USE)
		source_stop(f->source);
	if (d->collector)
		left = collector_flush(d->collector, FLUSH_TIMEOUT_NS);
	daemon_report_drops(d, true);
	return left;
}

static void warn_of_unstored(const struct feed *f)
{
	const struct sink_counters *n = sink_worker_counters(f->worker);
	char why[256];

	if (!n->samples_queued && !n->runs_queued)
		return;
	sink_why(n, why, sizeof(why));
	log_warning("%llu sample%s and %llu run%s did not reach %s before shutdown%s%s", (unsigned long long)n->samples_queued,
		    n->samples_queued == 1 ? "" : "s", (unsigned long long)n->runs_queued, n->runs_queued == 1 ? "" : "s", f->sink->url, *why ? ": " : "",
		    why);
}

/* Data that one sink has stored counts as stored; sinks that missed it get a warning each. */
static int report_unstored(const struct daemon *d, struct err *err)
{
	uint64_t unstored = collector_unstored(d->collector);
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_IN_USE)
		warn_of_unstored(f);
	if (unstored)
		return err_set(err, -EIO, "%llu %s could not be stored before shutdown; see the warnings above",
			       (unsigned long long)unstored, unstored == 1 ? "sample or run" : "samples or runs");
	return err_set(err, -EIO, "all samples and runs are stored, but some did not reach every sink before shutdown; see the warnings "
		       "above");
}

/* Logs the totals; -ENODATA if the input held no stacks. */
static int log_totals(const struct daemon *d, struct err *err)
{
	const struct collector_counters *n = collector_counters(d->collector);
	uint64_t lines = 0, rejected = 0;
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SOURCE, FEED_IN_USE) {
		const struct source_counters *c = &f->source->counters;

		lines += c->lines;
		for (unsigned e = SOURCE_LINE_OK + 1; e < SOURCE_LINE_ERRORS; e++)
			rejected += e == SOURCE_LINE_BLANK ? 0 : c->rejected_lines[e];
	}
	if (!lines && !n->samples_received)
		return err_set(err, -ENODATA, "the input has no folded stacks such as 'main;function 12' (%llu "
					      "other line%s)", (unsigned long long)rejected, rejected == 1 ? "" : "s");
	log_info("%llu line%s with %llu sample%s: %llu stored, %llu dropped; %llu other line%s skipped",
		 (unsigned long long)lines, lines == 1 ? "" : "s",
		 (unsigned long long)n->samples_received, n->samples_received == 1 ? "" : "s",
		 (unsigned long long)n->samples_stored,
		 (unsigned long long)(n->samples_dropped_queue + n->samples_dropped_rejected),
		 (unsigned long long)rejected, rejected == 1 ? "" : "s");
	return 0;
}

static void free_all(struct daemon *d)
{
	feeds_remove_all(&d->feeds, FEED_SOURCE, FEED_ANY);
	d->pushes = source_close(d->pushes);
	d->collector = collector_free(d->collector);	/* reports sinks being closed */
	feeds_remove_all(&d->feeds, FEED_SINK, FEED_ANY);
	feeds_done(&d->feeds);
	d->peer_labels = peer_labels_free(d->peer_labels);
	if (d->loop) {
		loop_remove_timer(d->loop, &d->watchdog);
		loop_remove_timer(d->loop, &d->tick);
	}
	d->loop = loop_free(d->loop);
	d->query_starter = query_starter_free(d->query_starter);
	free(d->filters_path);
	free(d->grafana_settings_path);
	d->filters_path = d->grafana_settings_path = NULL;
	free(d->shown);
	if (d->lock >= 0)
		close(d->lock);
	drop_report_done(&d->drops);
}

/* Each second a batch of some MB is allocated and freed. By default malloc returns its memory to the kernel each time,
 * and requests it again: a tenth of a relay's CPU time. */
static void keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

/* Threads of the server still use the store and the counters, so nothing is freed. All data is committed. */
static void __attribute__((noreturn)) exit_unanswered(int r, const struct err *err)
{
	if (r < 0)
		log_error("%s", err->text);
	log_warning("shutting down with HTTP requests unanswered after %d seconds",
		 (int)(ANSWERS_TIMEOUT_NS / NS_PER_SECOND));
	_exit(r < 0 ? EXIT_ERROR : EXIT_OK);
}

int daemon_run(const struct daemon_options *o, struct err *err)
{
	struct daemon *d = xcalloc(1, sizeof(*d));
	uint64_t left;
	int r;

	d->options = *o;
	d->lock = -1;
	d->watchdog = (struct watch){ .ready = feed_watchdog, .fd = -1 };
	d->tick = (struct watch){ .ready = tick, .fd = -1 };
	drop_report_init(&d->drops);
	keep_memory();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* exceeding RLIMIT_FSIZE is handled like a full disk */
	r = open_all(d, err);
	if (r >= 0) {
		log_ready(d);
		r = loop_run(d->loop, err);
		notify_send("STOPPING=1");
	}
	left = stop_all(d);
	if (r >= 0 && left)
		r = report_unstored(d, err);
	else if (r >= 0 && all_have_ended(d))
		r = log_totals(d, err);
	if (d->server)
		exit_unanswered(r, err);
	free_all(d);
	free(d);
	return r;
}
