/* api.c: starts and ends what is in this folder. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "api.h"

#include "classes.h"
#include "php_strobe.h"
#include "request_trace.h"
#include "runs.h"
#include "tracer.h"
#include "trigger.h"

#include "ext/spl/spl_exceptions.h"
#include "ext/standard/info.h"

#include <stdlib.h>
#include <unistd.h>

zend_class_entry *strobe_exception_ce;

struct api_thread *api_thread_if_any(void)
{
	return STROBE_G(api);
}

static struct api_thread *make(void)
{
	struct api_thread *a = calloc(1, sizeof(*a));

	if (a) {
		sender_init(&a->sender);
		a->pid = getpid();
	}
	return STROBE_G(api) = a;
}

struct api_thread *api_thread(void)
{
	struct api_thread *a = STROBE_G(api);

	if (!a)
		return make();
	if (UNEXPECTED(a->pid != getpid())) {
		a->pid = getpid();
		a->random = (struct random){ 0 };
		sender_close(&a->sender);
		memset(a->sender.unreported, 0, sizeof(a->sender.unreported));
	}
	return a;
}

void api_thread_free(struct api_thread *a)
{
	if (!a)
		return;
	sender_close(&a->sender);
	trie_unmap(&a->spare);
	free(a->stack.functions);
	free(a);
}

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

void api_startup(int module_number)
{
	zend_class_entry ce;

	INIT_NS_CLASS_ENTRY(ce, "Strobe", "Exception", NULL);
	strobe_exception_ce = zend_register_internal_class_ex(&ce, spl_ce_RuntimeException);
	trace_class_register();
	sampler_class_register();
	profile_class_register();
	register_constants(module_number);
}

void api_request_start(void)
{
	struct api_thread *a = api_thread_if_any();

	/* The last message of the request before had them too, and that is sent after our end. */
	if (a)
		a->labels.count = 0;
	STROBE_G(own_labels) = NULL;
	trigger_request_start();
	request_trace_start();
}

void api_request_end(void)
{
	struct api_thread *a = api_thread_if_any();

	STROBE_G(in_request) = false;
	request_trace_end();
	if (!a)
		return;
	trace_class_request_end(a);
	sampler_class_request_end(a);
}

void api_info_request(void)
{
	php_info_print_table_row(2, "Trigger", trigger_state());
	php_info_print_table_row(2, "This request is traced", request_trace_active() ? "yes" : "no");
}

static void row(const char *name, uint64_t value)
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
	row("Requests traced", requests.traced);
	row("Requests not traced: no call observer", requests.no_observer);
	row("Requests not traced: no memory", requests.no_memory);
	row("Runs sent", runs.sent);
	for (unsigned reason = 1; reason < STROBE_DROP_REASONS; reason++) {
		char name[64];

		snprintf(name, sizeof(name), "Runs lost: %s", strobe_drop_name(reason));
		row(name, runs.lost[reason]);
	}
}
