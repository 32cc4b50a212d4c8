/* fiber_ends.c: remembers the calls that destroy fibers. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "fiber_ends.h"

#include "zend_fibers.h"

#include <stdatomic.h>

/* A destruction in progress. Its finally blocks may destroy further fibers. */
struct ending {
	const zend_fiber *fiber;
	const zend_execute_data *by;
	struct ending *outer;
};

#ifdef ZTS
static TSRM_TLS struct ending *endings;
#else
static struct ending *endings;
#endif

/* PHP's table of handlers is private and may be constant, so fibers get a copy. Threads that fill it concurrently
 * write the same values. */
static zend_object *(*create)(zend_class_entry *ce);
static _Atomic(const zend_object_handlers *) original;	/* NULL before the first fiber */
static zend_object_handlers copy;
static zend_object_dtor_obj_t destroy;

static void end_suspended(zend_object *o)
{
	struct ending ending = { (const zend_fiber *)o, EG(current_execute_data), endings };

	endings = &ending;
	zend_try {
		destroy(o);
	} zend_catch {
		endings = ending.outer;
		zend_bailout();
	} zend_end_try();
	endings = ending.outer;
}

static void end_fiber(zend_object *o)
{
	if (((const zend_fiber *)o)->context.status == ZEND_FIBER_STATUS_SUSPENDED)
		end_suspended(o);
	else
		destroy(o);
}

/* PHP does not export the handlers, but each fiber points to them. A fiber with another extension's handlers keeps
 * those. */
static zend_object *create_fiber(zend_class_entry *ce)
{
	zend_object *o = create(ce);
	const zend_object_handlers *known = atomic_load_explicit(&original, memory_order_acquire);

	if (UNEXPECTED(!known)) {
		known = o->handlers;
		copy = *known;
		destroy = known->dtor_obj;
		copy.dtor_obj = end_fiber;
		atomic_store_explicit(&original, known, memory_order_release);
	}
	if (EXPECTED(o->handlers == known))
		o->handlers = &copy;
	return o;
}

const zend_execute_data *fiber_destroyed_by(const zend_execute_data *bottom)
{
	for (const struct ending *e = endings; e; e = e->outer)
		if (e->fiber->stack_bottom == bottom)
			return e->by;
	return NULL;
}

void fiber_ends_forget(void)
{
	endings = NULL;
}

void fiber_ends_startup(void)
{
	create = zend_ce_fiber->create_object;
	zend_ce_fiber->create_object = create_fiber;
}

void fiber_ends_shutdown(void)
{
	if (zend_ce_fiber->create_object == create_fiber)
		zend_ce_fiber->create_object = create;
	atomic_store(&original, NULL);
}
