/* request_trace.c: begins and ends traces of requests and units. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "request_trace.h"

#include "open_run.h"
#include "php_strobe.h"
#include "request_url.h"
#include "send_runs.h"
#include "strobe_assert.h"
#include "timers.h"
#include "trigger.h"
#include "unit_class.h"

#include "SAPI.h"
#include "php_main.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic uint64_t traced, not_kept, no_memory, no_observer;

/* opcache.preload also runs as a request, during PHP's startup. */
static bool is_preloading(void)
{
	return php_during_module_startup() || (!SG(server_context) && strcmp(sapi_module.name, "fpm-fcgi") == 0);
}

bool request_trace_begin(struct api_thread *a, struct work *w, const char *source, bool own_fiber)
{
	const struct trace_options options = {
		.metrics = TRACE_WALL | TRACE_CPU | TRACE_MEMORY | TRACE_PEAK | (STROBE_G(trace_flame_chart) ? TRACE_CHART : 0),
		.files = true,
		.loads = true,
		.anew_in_child = true,
		.own_fiber = own_fiber,
		.began_anew = open_run_began_anew,
		.owner = w,
	};

	STROBE_ASSERT(!w->session);
	if (!tracer_available()) {
		atomic_fetch_add(&no_observer, 1);
		return false;
	}
	w->source = source;
	w->keep = (struct trace_keep){ 0 };
	w->session = tracer_start(&options);
	atomic_fetch_add(w->session ? &traced : &no_memory, 1);
	if (!*a->url)
		request_url(a->url, sizeof(a->url));
	if (w->session)
		open_run_begin(a, w);
	return w->session != NULL;
}

bool request_trace_draw(struct api_thread *a)
{
	double rate = STROBE_G(trace_rate);

	return rate > 0 && (rate >= 1 || random_share(&a->random) < rate);
}

void request_trace_start(void)
{
	bool asked = !is_preloading() && trigger_matched();
	struct api_thread *a;

	if (!asked && (STROBE_G(trace_rate) <= 0 || is_preloading()))
		return;
	a = api_thread();
	if (a && (asked || request_trace_draw(a)))
		request_trace_begin(a, &a->request, asked ? "trigger" : "sampled", false);
}

static bool is_kept(const struct api_thread *a, const struct work *w)
{
	struct trace_keep keep = w->keep;
	const char *setting = STROBE_G(trace_keep);

	if (strcmp(w->source, "sampled") == 0 && !keep.some && setting)
		trace_keep_parse(setting, strlen(setting), &keep);
	return trace_keep_wants(&keep, timer_now(TIMER_WALL) - w->start_ns, w == &a->request ? runs_status() : 0,
				w->failed);
}

static void send_run(struct api_thread *a, struct work *w, struct call_tree *t)
{
	struct request_labels *labels = malloc(sizeof(*labels));
	int reason = STROBE_DROP_NO_MEMORY;

	if (t && labels) {
		tracer_warn_of_folded(t->folded_calls);
		runs_labels(labels);
		if (w->failed)
			request_labels_set(labels, ZEND_STRL("failed"), ZEND_STRL("1"));
		if (w->unfinished)
			request_labels_set(labels, ZEND_STRL("unfinished"), ZEND_STRL("1"));
		reason = runs_send(a, t, runs_source(w, labels), NULL, labels, w->attributes, w->id);
	} else {
		runs_lost(a, reason);
	}
	if (reason)
		open_run_discard(a, w);
	free(labels);
}

void request_trace_end(struct api_thread *a, struct work *w)
{
	struct trace_session *session;
	struct call_tree *t;

	session = w->session;
	w->session = NULL;
	if (!session)
		return;
	a = api_thread();
	open_run_end(w);
	if (!is_kept(a, w)) {
		atomic_fetch_add(&not_kept, 1);
		tracer_drop(session);
		open_run_discard(a, w);
		return;
	}
	t = tracer_stop_own(session);
	send_run(a, w, t);
	call_tree_free(t);
}

bool request_trace_active(void)
{
	const struct api_thread *a = api_thread_if_any();

	return a && (a->request.session || a->scope->work->session);
}

bool request_trace_discard(struct work *w)
{
	if (!w->session || strcmp(w->source, "trigger") == 0)
		return false;
	atomic_fetch_add(&not_kept, 1);
	tracer_drop(w->session);
	w->session = NULL;
	open_run_discard(api_thread(), w);
	return true;
}

void request_trace_counts(struct request_trace_counts *ret)
{
	ret->traced = atomic_load(&traced);
	ret->not_kept = atomic_load(&not_kept);
	ret->no_memory = atomic_load(&no_memory);
	ret->no_observer = atomic_load(&no_observer);
}
