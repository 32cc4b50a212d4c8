/* strobe_api.c: starts and stops the parts of this folder. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "strobe_api.h"

#include "classes.h"
#include "php_strobe.h"
#include "request_trace.h"
#include "send_runs.h"
#include "timers.h"
#include "tracer.h"
#include "trigger.h"
#include "unit_class.h"
#include "worker.h"

#include "ext/spl/spl_exceptions.h"
#include "ext/standard/info.h"
#include "zend_observer.h"

#include <stdlib.h>
#include <unistd.h>

zend_class_entry *strobe_exception_ce;

bool api_may_start(void)
{
	if (STROBE_G(in_request))
		return true;
	zend_throw_exception(strobe_exception_ce, "The request has ended", 0);
	return false;
}

void class_seal(zend_class_entry *ce, zend_object_handlers *handlers, size_t offset, zend_object_free_obj_t free_object)
{
	ce->ce_flags |= ZEND_ACC_FINAL | ZEND_ACC_NO_DYNAMIC_PROPERTIES | ZEND_ACC_NOT_SERIALIZABLE;
	memcpy(handlers, &std_object_handlers, sizeof(*handlers));
	handlers->offset = (int)offset;
	handlers->free_obj = free_object;
	handlers->clone_obj = NULL;
}

zend_object *class_exception(void)
{
	zend_object *e = EG(exception);

	return e && !zend_is_unwind_exit(e) && !zend_is_graceful_exit(e) ? e : NULL;
}

bool class_must_stay_silent(void)
{
	return class_exception() || (EG(exception) && zend_is_unwind_exit(EG(exception))) ||
	       (EG(flags) & EG_FLAGS_IN_SHUTDOWN);
}

void class_call(zend_fcall_info *call, zend_fcall_info_cache *cache, zval *return_value)
{
	zval value;

	ZVAL_UNDEF(&value);
	call->retval = &value;
	if (zend_call_function(call, cache) != SUCCESS || Z_TYPE(value) == IS_UNDEF)
		return;
	if (Z_ISREF(value))
		zend_unwrap_reference(&value);
	RETVAL_COPY_VALUE(&value);
}

static void register_constants(int module_number)
{
	REGISTER_NS_LONG_CONSTANT("Strobe", "COUNTS", 0, CONST_PERSISTENT);
	REGISTER_NS_LONG_CONSTANT("Strobe", "WALL", TRACE_WALL, CONST_PERSISTENT);
	REGISTER_NS_LONG_CONSTANT("Strobe", "CPU", TRACE_CPU, CONST_PERSISTENT);
	REGISTER_NS_LONG_CONSTANT("Strobe", "MEMORY", TRACE_MEMORY, CONST_PERSISTENT);
	REGISTER_NS_LONG_CONSTANT("Strobe", "PEAK_MEMORY", TRACE_PEAK, CONST_PERSISTENT);
	REGISTER_NS_LONG_CONSTANT("Strobe", "ALLOCATIONS", TRACE_ALLOCATIONS, CONST_PERSISTENT);
	REGISTER_NS_LONG_CONSTANT("Strobe", "SAMPLED_WALL", TRACE_SAMPLED_WALL, CONST_PERSISTENT);
	REGISTER_NS_STRING_CONSTANT("Strobe", "VERSION", PHP_STROBE_VERSION, CONST_PERSISTENT);
}

/* A fatal error ends the request, and everything begun in it. */
static void error_seen(int type, zend_string *file, uint32_t line, zend_string *message)
{
	struct api_thread *a = api_thread_if_any();
	struct unit_object *u = NULL;
	bool is_handled = (type & (E_USER_ERROR | E_RECOVERABLE_ERROR)) && Z_TYPE(EG(user_error_handler)) != IS_UNDEF;

	if (!a || is_handled || !(type & (E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR)))
		return;
	a->request.failed = true;
	while ((u = unit_next(a, u)))
		unit_work(u)->failed = true;
}

void api_startup(int module_number)
{
	zend_class_entry ce;

	INIT_NS_CLASS_ENTRY(ce, "Strobe", "Exception", NULL);
	strobe_exception_ce = zend_register_internal_class_ex(&ce, spl_ce_RuntimeException);
	trace_class_register();
	sampler_class_register();
	profile_class_register();
	unit_class_register();
	register_constants(module_number);
	scopes_startup();
	zend_observer_error_register(error_seen);
	worker_startup();
}

void api_shutdown(void)
{
	worker_shutdown();
}

static void start_request(void)
{
	struct api_thread *a = api_thread_if_any();

	STROBE_G(request_ns) = timer_now(TIMER_WALL);
	STROBE_G(own_labels) = NULL;
	STROBE_G(labels_version)++;
	if (a)
		api_thread_begin_request(a);
	request_trace_start();
}

/* Units end first, since they are inside the request. */
static void end_request(struct api_thread *a, bool free_all)
{
	unit_class_request_end(a);
	scope_visit(a, &a->base);
	request_trace_end(a, &a->request);
	if (free_all) {
		trace_class_request_end(a);
		sampler_class_request_end(a);
	}
	free(a->request.attributes);
	a->request.attributes = NULL;
	*a->url = '\0';
	timer_stop(&a->drain);
	sender_drain(&a->sender, true);
	scopes_request_end(a, free_all);
}

void api_request_start(void)
{
	trigger_request_start();
	start_request();
}

void api_request_end(void)
{
	struct api_thread *a = api_thread_if_any();

	STROBE_G(in_request) = false;
	if (!a)
		return;
	end_request(a, true);
}

void api_worker_request_start(void)
{
	start_request();
}

void api_worker_request_end(void)
{
	struct api_thread *a = api_thread_if_any();

	if (!a)
		return;
	end_request(a, false);
}

void api_info_request(void)
{
	struct api_thread *a = api_thread_if_any();

	php_info_print_table_row(2, "Trigger", trigger_state());
	php_info_print_table_row(2, "This request is traced", a && a->request.session ? "yes" : "no");
}

void api_info_row(const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	php_info_print_table_row(2, name, text);
}

void api_info_counts(void)
{
	struct request_trace_counts requests;
	struct runs_counts runs;

	request_trace_counts(&requests);
	runs_counts(&runs);
	api_info_row("Requests traced", requests.traced);
	api_info_row("Requests traced and not kept", requests.not_kept);
	api_info_row("Requests not traced: no call observer", requests.no_observer);
	api_info_row("Requests not traced: no memory", requests.no_memory);
	api_info_row("Runs sent", runs.sent);
	for (unsigned reason = 1; reason < SENDER_DROP_REASONS; reason++) {
		char name[64];

		/* Samples alone are lost to the JIT. */
		if (reason == STROBE_DROP_JIT)
			continue;
		snprintf(name, sizeof(name), "Runs lost: %s", strobe_drop_name(reason));
		api_info_row(name, runs.lost[reason]);
	}
}
