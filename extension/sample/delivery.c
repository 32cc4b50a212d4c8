/* delivery.c: decides how ticks are delivered to the program. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "delivery.h"

#include "guarded_read.h"
#include "jit.h"
#include "timers.h"

#include "php.h"
#include "zend_vm.h"

#define REMEDY "; set strobe.instrument=1 in php.ini to sample at function calls instead"

static void (*watch_calls)(bool on);

/* Interrupts have been tested on these versions and kinds of the VM, without the JIT. */
static bool is_known_vm(void)
{
	int kind = zend_vm_kind();

	return PHP_VERSION_ID < 80500 && (kind == ZEND_VM_KIND_CALL || kind == ZEND_VM_KIND_HYBRID);
}

void delivery_startup(void)
{
	jit_startup(timers_interrupts_unsafe);
}

void delivery_shutdown(void)
{
	jit_shutdown();
}

void delivery_request_start(void)
{
	jit_request_start();
}

enum delivery delivery_way(void)
{
	if (is_known_vm() && !jit_may_run())
		return DELIVERY_INTERRUPTS;
	return watch_calls ? DELIVERY_CALLS : DELIVERY_NONE;
}

const char *delivery_reason(void)
{
	if (delivery_way() != DELIVERY_NONE)
		return NULL;
	return is_known_vm() ? DELIVERY_UNSAFE REMEDY :
			       "interrupts have not been tested on this version of PHP" REMEDY;
}

const char *delivery_text(void)
{
	switch (delivery_way()) {
	case DELIVERY_INTERRUPTS:
		return "by interrupts, at safe points of the VM";
	case DELIVERY_CALLS:
		return "at function calls, by the call observer: interrupts are not safe here";
	default:
		return delivery_reason();
	}
}

bool delivery_notes(void)
{
	const char *reason;

	return guarded_read_works(&reason);
}

void delivery_offer_calls(void (*watch)(bool on))
{
	watch_calls = watch;
}

bool delivery_has_calls(void)
{
	return watch_calls;
}

void delivery_watch_calls(bool on)
{
	if (watch_calls)
		watch_calls(on);
}
