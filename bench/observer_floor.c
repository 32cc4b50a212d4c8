/* observer_floor.c: an extension that does the least that any exact trace of calls must do: PHP's call observer calls it at
 * the beginning and the end of each call, and it reads the processor's counter. It keeps no stack and no tree. Its
 * cost is the floor for any tracer on this machine; bench/mediawiki.py builds it and runs it beside ours. */

#include "php.h"
#include "zend_observer.h"

#include <stdint.h>

static uint64_t began, sum;

static inline uint64_t counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#endif
}

static void begin(zend_execute_data *frame)
{
	(void)frame;
	began = counter();
}

static void end(zend_execute_data *frame, zval *result)
{
	(void)frame;
	(void)result;
	sum += counter() - began;
}

static zend_observer_fcall_handlers both(zend_execute_data *frame)
{
	(void)frame;
	return (zend_observer_fcall_handlers){ begin, end };
}

static PHP_MINIT_FUNCTION(observer_floor)
{
	zend_observer_fcall_register(both);
	return SUCCESS;
}

static zend_module_entry observer_floor_module_entry = {
	STANDARD_MODULE_HEADER, "observer_floor", NULL, PHP_MINIT(observer_floor), NULL, NULL, NULL, NULL, "1",
	STANDARD_MODULE_PROPERTIES
};

ZEND_GET_MODULE(observer_floor)
