/* daemon.c: connects the stages, in the order of the data, and takes them apart in the reverse one. */

#include "daemon.h"

#include "buf.h"
#include "clock.h"
#include "collector.h"
#include "log.h"
#include "mem.h"
#include "notify.h"
#include "server.h"
#include "source.h"
#include "wire_profile.h"

#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#define FLUSH_TIMEOUT_NS	(5 * NS_PER_SECOND)

struct daemon {
	const struct daemon_options *options;
	struct loop *loop;
	struct store *store;
	struct collector *collector;
	struct source **sources;
	size_t source_count;
	struct server *server;
	struct watch watchdog;
	bool maintain_failed;		/* the writer's thread only */
};

static int commit(void *data, const struct batch *b, struct err *err)
{
	struct daemon *d = data;

	return store_append(d->store, b, err);
}

/* The clock stands in the header of a message, and among the labels of a profile. */
static void add_clock(struct labels *labels, enum strobe_clock clock)
{
	const char *name = clock == STROBE_CLOCK_CPU ? "cpu" : "wall";

	if (clock != STROBE_CLOCK_NONE && !labels_get(labels, "clock"))
		labels_set(labels, "clock", 5, name, strlen(name));
}

static struct profile *profile_of_run(const struct collector_run *r)
{
	const struct strobe_wire_info *info = &r->message->info;
	struct profile *p = profile_new();
	int e = wire_profile_add(p, r->message);

	assert(e >= 0);		/* a message never has more columns than a profile */
	(void)e;
	wire_profile_labels(r->message, &p->labels);
	add_clock(&p->labels, info->clock);
	p->period_ns = (int64_t)info->period_ns;
	if (info->start_ns) {
		p->end_ns = r->time_ns;
		p->start_ns = r->time_ns - (int64_t)(info->end_ns - info->start_ns);
	}
	return p;
}

static int commit_runs(void *data, struct collector_run *runs, size_t count, struct err *err)
{
	struct daemon *d = data;
	struct store_new_run *list = xcalloc(count, sizeof(*list));
	int rc;

	for (size_t i = 0; i < count; i++)
		list[i].profile = profile_of_run(&runs[i]);
	rc = store_add_runs(d->store, list, count, clock_wall_ns(), err);
	for (size_t i = 0; i < count; i++) {
		runs[i].result = list[i].result;
		profile_free((struct profile *)list[i].profile);
	}
	free(list);
	return rc;
}

static void maintain(void *data)
{
	struct daemon *d = data;
	struct err err = { 0 };
	bool failed = store_maintain(d->store, &d->options->limits, clock_wall_ns(), &err) < 0;

	if (failed && !d->maintain_failed)
		log_warning("the store could not be tidied up, which is tried again every minute: %s", err.text);
	d->maintain_failed = failed;
}

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

static int open_sources(struct daemon *d, struct err *err)
{
	const struct daemon_options *o = d->options;

	struct source_receiver receiver = collector_receiver(d->collector);

	d->sources = xcalloc(o->source_count, sizeof(*d->sources));
	for (; d->source_count < o->source_count; d->source_count++) {
		int r = source_open(o->sources[d->source_count], d->loop, &receiver, &d->sources[d->source_count], err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int open_server(struct daemon *d, struct err *err)
{
	const struct daemon_options *o = d->options;
	struct server_options s = {
		.listen = o->listen,
		.token = o->token,
		.allow_hosts = o->allow_hosts,
		.allow_host_count = o->allow_host_count,
		.store = d->store,
		.store_url = o->store_url,
		.limits = o->limits,
		.collector = collector_counters(d->collector),
		.sources = d->sources,
		.source_count = d->source_count,
		.start_ns = clock_wall_ns(),
	};

	return server_new(&s, &d->server, err);
}

static int open_all(struct daemon *d, struct err *err)
{
	struct collector_sink sink = {
		.url = d->options->store_url, .commit = commit, .commit_runs = commit_runs, .maintain = maintain, .data = d,
	};
	struct collector_options options;
	int64_t watchdog_ns = notify_watchdog_ns();
	int r;

	collector_default_options(&options);
	d->loop = loop_new(err);
	if (!d->loop)
		return err->code;
	/* Signals before threads, which inherit the mask. The store before the socket: a second instance that shares
	 * only the store must not take the samples. */
	if ((r = loop_on_signals(d->loop, got_signal, d, false, err)) < 0 ||
	    (r = store_open(d->options->store_url, false, &d->store, err)) < 0 ||
	    (r = collector_new(&sink, 1, &options, d->loop, &d->collector, err)) < 0 ||
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
		buf_printf(&b, "%s, ", d->sources[i]->url);
	log_info("listening on %s%s", b.data, server_url(d->server));
	notify_send("READY=1");
}

/* The server first, since it shows the counters of the others; then from the inputs to the store. */
static uint64_t close_all(struct daemon *d)
{
	uint64_t left = 0;

	d->server = server_free(d->server);
	for (size_t i = 0; i < d->source_count; i++)
		source_stop(d->sources[i]);
	if (d->collector)
		left = collector_flush(d->collector, FLUSH_TIMEOUT_NS);
	for (size_t i = 0; i < d->source_count; i++)
		source_close(d->sources[i]);
	free(d->sources);
	d->collector = collector_free(d->collector);
	d->store = store_close(d->store);
	loop_remove_timer(d->loop, &d->watchdog);
	d->loop = loop_free(d->loop);
	return left;
}

int daemon_run(const struct daemon_options *o, struct err *err)
{
	struct daemon d = { .options = o, .watchdog = { .ready = feed_watchdog, .fd = -1 } };
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
		return err_set(err, -EIO, "%llu samples or runs could not be stored before the end; see the warnings above",
			       (unsigned long long)left);
	return r;
}
