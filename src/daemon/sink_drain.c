/* sink_drain.c: removed sinks: drained, restored by a reload that lists them again, or given up. */

#include "daemon_private.h"

#include "buf.h"
#include "clock.h"
#include "log.h"

static unsigned long long queued(const struct feed *f)
{
	const struct sink_counters *n = sink_worker_counters(f->worker);

	return n->samples_queued + n->runs_queued;
}

static const char *samples_or_runs(uint64_t n)
{
	return n == 1 ? "sample or run" : "samples or runs";
}

static bool is_failing(const struct feed *f)
{
	const struct sink_counters *n = sink_worker_counters(f->worker);

	return n->failing || n->runs_failing;
}

static void warn_of_failure(struct feed *f)
{
	char why[256];

	sink_why(sink_worker_counters(f->worker), why, sizeof(why));
	log_warning("removed sink %s is failing%s%s; its queue of %llu %s is given up once it has stored nothing for %lld seconds. To keep it, "
		    "add the sink again; to drop it now, restart",
		    f->sink->url, *why ? ": " : "", why, queued(f), samples_or_runs(queued(f)), (long long)(daemon_drain_ns() / NS_PER_SECOND));
	f->warned = true;
}

void daemon_warn_of_failing_removed(struct daemon *d)
{
	struct feed *f;

	FEEDS_EACH(f, &d->feeds, FEED_SINK, FEED_DRAINING)
		if (!f->warned && queued(f) && is_failing(f))
			warn_of_failure(f);
}

static void log_leftover(const struct feed *f, const struct sink_leftover *left)
{
	unsigned long long count = left->samples + left->runs, passed_on = left->samples_passed_on + left->runs_passed_on;
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	buf_printf(&text, "%s is closed; %llu %s in its queue could not be stored", f->sink->url, count, samples_or_runs(count));
	if (*left->why)
		buf_printf(&text, " (%s)", left->why);
	if (passed_on)
		buf_printf(&text, "; %llu of them were in no other sink and go to the remaining ones", passed_on);
	log_warning("%s", text.data);
}

static void sink_drained(void *data, const struct sink_leftover *left)
{
	struct feed *f = data;
	struct daemon *d = (struct daemon *)((char *)f->list - offsetof(struct daemon, feeds));
	unsigned long long waiting = f->sink->ops->stop ? f->sink->ops->stop(f->sink) : 0;

	if (waiting)
		log_warning("%s is closed; its spool still has %llu %s until a sink of this URL is added again", f->sink->url, waiting,
			    waiting == 1 ? "entry, which waits" : "entries, which wait");
	if (left->samples + left->runs)
		log_leftover(f, left);
	else if (!waiting)
		log_info("%s is closed; its queue was stored", f->sink->url);
	feeds_take_out(f);
	daemon_update_shown(d);
	feed_close(f);
}

void daemon_drain_sink(struct daemon *d, struct feed *f)
{
	collector_remove_sink(d->collector, f->worker, sink_drained, f);
	f->state = FEED_DRAINING;
	f->warned = false;
	if (queued(f) && is_failing(f))
		warn_of_failure(f);
	else if (queued(f))
		log_info("removed sink %s; %llu %s in its queue will be stored before it is closed", f->sink->url, queued(f), samples_or_runs(queued(f)));
}

void daemon_restore_sink(struct daemon *d, struct feed *f)
{
	log_info("took up sink %s again with its queue of %llu %s", f->sink->url, queued(f), samples_or_runs(queued(f)));
	collector_restore_sink(d->collector, f->worker);
	f->state = FEED_IN_USE;
}
