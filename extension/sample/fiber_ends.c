/* fiber_ends.c: remembers from where fibers are destroyed. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "fiber_ends.h"

#include "zend_fibers.h"

/* A destruction that goes on. Its finally blocks may destroy other fibers. */
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

static zend_object *(*create)(zend_class_entry *ce);
static zend_object_handlers *handlers;		/* of all fibers; NULL before the first one */
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

/* PHP does not export the handlers, but each fiber leads to them. */
static zend_object *create_fiber(zend_class_entry *ce)
{
	zend_object *o = create(ce);

	if (UNEXPECTED(o->handlers->dtor_obj != end_fiber)) {
		handlers = (zend_object_handlers *)o->handlers;
		destroy = handlers->dtor_obj;
		handlers->dtor_obj = end_fiber;
	}
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
	if (handlers && handlers->dtor_obj == end_fiber)
		handlers->dtor_obj = destroy;
	handlers = NULL;
	if (zend_ce_fiber->create_object == create_fiber)
		zend_ce_fiber->create_object = create;
}
