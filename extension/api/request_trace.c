/* request_trace.c: the life of a traced request or unit. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "request_trace.h"

#include "php_strobe.h"
#include "request_url.h"
#include "runs.h"
#include "timers.h"
#include "trigger.h"
#include "unit_class.h"

#include "SAPI.h"
#include "php_main.h"
#include "zend_atomic.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic uint64_t traced, not_kept, no_memory, no_observer;

static void (*next_interrupt)(zend_execute_data *execute_data);

/* opcache.preload runs as a request too, while PHP still starts. */
static bool is_preloading(void)
{
	return php_during_module_startup() || (!SG(server_context) && strcmp(sapi_module.name, "fpm-fcgi") == 0);
}

bool request_trace_begin(struct api_thread *a, struct work *w, const char *source, bool own_fiber)
{
	const struct trace_options options = {
		.metrics = TRACE_WALL | TRACE_CPU | TRACE_MEMORY | TRACE_PEAK,
		.files = true,
		.loads = true,
		.own_fiber = own_fiber,
	};

	ZEND_ASSERT(!w->session);
	if (!tracer_available()) {
		atomic_fetch_add(&no_observer, 1);
		return false;
	}
	a->forked = false;
	w->source = source;
	w->keep = (struct trace_keep){ 0 };
	w->session = tracer_start(&options);
	atomic_fetch_add(w->session ? &traced : &no_memory, 1);
	if (!*a->url)
		request_url(a->url, sizeof(a->url));
	return w->session != NULL;
}

/* What the parent has seen is the parent's. */
static void become_child(struct api_thread *a)
{
	struct unit_object *u = NULL;

	a->forked = false;
	if (a->request.session)
		tracer_restart(a->request.session);
	while ((u = unit_next(a, u)))
		if (unit_work(u)->session)
			tracer_restart(unit_work(u)->session);
}

/* In the child, inside fork(): only stores. The interrupt brings us to become_child at the next safe point. */
static void after_fork(void)
{
	struct api_thread *a;

#ifdef ZTS
	if (!tsrm_get_ls_cache())
		return;		/* a thread that is none of PHP's */
#endif
	a = api_thread_if_any();
	if (!a)
		return;
	a->forked = true;
	if (a->request.session || a->units)
		zend_atomic_bool_store(&EG(vm_interrupt), true);
}

static void interrupt(zend_execute_data *execute_data)
{
	struct api_thread *a = api_thread_if_any();

	if (UNEXPECTED(a && a->forked))
		become_child(a);
	if (next_interrupt)
		next_interrupt(execute_data);
}

bool request_trace_draw(struct api_thread *a)
{
	double rate = STROBE_G(trace_rate);

	return rate > 0 && (rate >= 1 || random_share(&a->random) < rate);
}

void request_trace_start(void)
{
	bool asked = !is_preloading() && trigger_asked();
	struct api_thread *a;

	if (!asked && (STROBE_G(trace_rate) <= 0 || is_preloading()))
		return;
	a = api_thread();
	if (a && (asked || request_trace_draw(a)))
		request_trace_begin(a, &a->request, asked ? "trigger" : "sampled", false);
}

/* strobe.labels may say which source it is: `strobe run --trace` keeps its runs apart like that. */
static const char *source_of(const struct work *w, const struct request_labels *l)
{
	for (unsigned i = 0; i < l->count; i++)
		if (strcmp(l->items[i].key, "source") == 0 &&
		    strobe_wire_is_run_key(l->items[i].value, strlen(l->items[i].value)))
			return l->items[i].value;
	return w->source;
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
	char id[33];

	if (t && labels) {
		runs_labels(labels);
		if (w->failed)
			request_labels_set(labels, ZEND_STRL("failed"), ZEND_STRL("1"));
		if (w->unfinished)
			request_labels_set(labels, ZEND_STRL("unfinished"), ZEND_STRL("1"));
		runs_send(a, t, source_of(w, labels), NULL, labels, w->attributes, id);
	} else {
		runs_lost(a, STROBE_DROP_NO_MEMORY);
	}
	free(labels);
}

void request_trace_end(struct api_thread *a, struct work *w)
{
	struct trace_session *session;
	struct call_tree *t;

	if (a->forked)
		become_child(a);
	session = w->session;
	w->session = NULL;
	if (!session)
		return;
	a = api_thread();
	if (!is_kept(a, w)) {
		atomic_fetch_add(&not_kept, 1);
		tracer_drop(session);
		return;
	}
	t = tracer_stop(session);
	send_run(a, w, t);
	call_tree_free(t);
}

bool request_trace_discard(struct work *w)
{
	if (!w->session || strcmp(w->source, "trigger") == 0)
		return false;
	atomic_fetch_add(&not_kept, 1);
	tracer_drop(w->session);
	w->session = NULL;
	return true;
}

void request_trace_counts(struct request_trace_counts *ret)
{
	ret->traced = atomic_load(&traced);
	ret->not_kept = atomic_load(&not_kept);
	ret->no_memory = atomic_load(&no_memory);
	ret->no_observer = atomic_load(&no_observer);
}

void request_trace_startup(void)
{
	pthread_atfork(NULL, NULL, after_fork);
	next_interrupt = zend_interrupt_function;
	zend_interrupt_function = interrupt;
}

void request_trace_shutdown(void)
{
	if (zend_interrupt_function == interrupt)
		zend_interrupt_function = next_interrupt;
}
