/* request_trace.c: the life of a traced request. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "request_trace.h"

#include "php_strobe.h"
#include "runs.h"
#include "trigger.h"

#include "SAPI.h"
#include "php_main.h"
#include "zend_atomic.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic uint64_t traced, no_memory, no_observer;

static void (*next_interrupt)(zend_execute_data *execute_data);

/* opcache.preload runs as a request too, while PHP still starts. */
static bool is_preloading(void)
{
	return php_during_module_startup() || (!SG(server_context) && strcmp(sapi_module.name, "fpm-fcgi") == 0);
}

static void open_session(struct api_thread *a)
{
	const struct trace_options options = {
		.metrics = TRACE_WALL | TRACE_CPU | TRACE_MEMORY | TRACE_PEAK,
		.files = true,
		.loads = true,
	};

	if (!tracer_available()) {
		atomic_fetch_add(&no_observer, 1);
		return;
	}
	a->session = tracer_start(&options);
	atomic_fetch_add(a->session ? &traced : &no_memory, 1);
}

/* What the parent has seen is the parent's. */
static void become_child(struct api_thread *a)
{
	a->forked = false;
	if (a->session)
		tracer_restart(a->session);
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
	if (a->session)
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

static bool is_chosen(struct api_thread *a)
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
	if (!a || (!asked && !is_chosen(a)))
		return;
	a->forked = false;
	a->source = asked ? "trigger" : "sampled";
	open_session(a);
}

/* strobe.labels may say which source it is: `strobe run --trace` keeps its runs apart like that. */
static const char *source_of(const struct api_thread *a, const struct request_labels *l)
{
	for (unsigned i = 0; i < l->count; i++)
		if (strcmp(l->items[i].key, "source") == 0 &&
		    strobe_wire_is_run_key(l->items[i].value, strlen(l->items[i].value)))
			return l->items[i].value;
	return a->source;
}

void request_trace_end(void)
{
	struct api_thread *a = api_thread_if_any();
	struct request_labels *labels;
	struct call_tree *t;
	char id[33];

	if (a && a->forked)
		become_child(a);
	if (!a || !a->session)
		return;
	a = api_thread();
	t = tracer_stop(a->session);
	a->session = NULL;
	labels = malloc(sizeof(*labels));
	if (t && labels) {
		tracer_tell_folded(t->folded_calls);
		runs_labels(labels);
		runs_send(a, t, source_of(a, labels), NULL, labels, id);
	} else {
		runs_lost(a, STROBE_DROP_NO_MEMORY);
	}
	free(labels);
	call_tree_free(t);
}

bool request_trace_active(void)
{
	const struct api_thread *a = api_thread_if_any();

	return a && a->session;
}

void request_trace_counts(struct request_trace_counts *ret)
{
	ret->traced = atomic_load(&traced);
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
