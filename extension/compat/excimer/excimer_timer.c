/* excimer_timer.c: the class ExcimerTimer. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "excimer.h"
#include "excimer_event.h"

struct timer_object {
	struct excimer_event event;
	zval callback;			/* undefined: none */
	zend_object std;
};

#define CANNOT "The callback will not be called"

static zend_class_entry *timer_class;
static zend_object_handlers timer_handlers;

static struct timer_object *timer_object(zend_object *o)
{
	return EXCIMER_AROUND(struct timer_object, o);
}

#define THIS_TIMER timer_object(Z_OBJ_P(ZEND_THIS))

/* Handles an event. The callback may release the last reference to the timer. */
static void expired(struct strobe_timer *t, uint64_t periods, const struct tick_snapshot *m)
{
	struct timer_object *o = t->owner;
	zval count;

	if (Z_ISUNDEF(o->callback))
		return;
	GC_ADDREF(&o->std);
	ZVAL_LONG(&count, (zend_long)periods);
	if (!excimer_call("ExcimerTimer", &o->callback, &count))
		timer_stop(&o->event.timer);
	OBJ_RELEASE(&o->std);
}

static zend_object *timer_new(zend_class_entry *class)
{
	struct timer_object *o = zend_object_alloc(sizeof(*o), class);

	zend_object_std_init(&o->std, class);
	object_properties_init(&o->std, class);
	o->std.handlers = &timer_handlers;
	o->event.timer.expired = expired;
	o->event.timer.owner = o;
	o->event.type = EXCIMER_REAL;
	ZVAL_UNDEF(&o->callback);
	return &o->std;
}

static void timer_free(zend_object *object)
{
	struct timer_object *o = timer_object(object);

	timer_stop(&o->event.timer);
	zval_ptr_dtor(&o->callback);
	ZVAL_UNDEF(&o->callback);
	zend_object_std_dtor(object);
}

/* A stopped timer that is referenced only by its own callback is garbage; a running one is in use. */
static HashTable *timer_gc(zend_object *object, zval **table, int *n)
{
	struct timer_object *o = timer_object(object);

	*table = &o->callback;
	*n = o->event.timer.running ? 0 : 1;
	return zend_std_get_properties(object);
}

/* `callback` may be NULL. */
static void set_callback(struct timer_object *o, zval *callback)
{
	zval old;

	ZVAL_COPY_VALUE(&old, &o->callback);
	if (callback)
		ZVAL_COPY(&o->callback, callback);
	else
		ZVAL_UNDEF(&o->callback);
	zval_ptr_dtor(&old);
}

static ZEND_METHOD(ExcimerTimer, setEventType)
{
	zend_long type;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_LONG(type)
	ZEND_PARSE_PARAMETERS_END();
	excimer_event_set_type(&THIS_TIMER->event, type);
}

static ZEND_METHOD(ExcimerTimer, setInterval)
{
	double seconds;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_DOUBLE(seconds)
	ZEND_PARSE_PARAMETERS_END();
	THIS_TIMER->event.first_ns = excimer_ns(seconds);
}

static ZEND_METHOD(ExcimerTimer, setPeriod)
{
	double seconds;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_DOUBLE(seconds)
	ZEND_PARSE_PARAMETERS_END();
	THIS_TIMER->event.period_ns = excimer_ns(seconds);
}

static ZEND_METHOD(ExcimerTimer, setCallback)
{
	zval *callback;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ZVAL(callback)
	ZEND_PARSE_PARAMETERS_END();
	if (Z_TYPE_P(callback) == IS_NULL)
		set_callback(THIS_TIMER, NULL);
	else if (excimer_is_callable(callback, "timer callback"))
		set_callback(THIS_TIMER, callback);
}

static ZEND_METHOD(ExcimerTimer, start)
{
	ZEND_PARSE_PARAMETERS_NONE();
	excimer_event_start(&THIS_TIMER->event, CANNOT);
}

static ZEND_METHOD(ExcimerTimer, stop)
{
	ZEND_PARSE_PARAMETERS_NONE();
	timer_stop(&THIS_TIMER->event.timer);
}

static ZEND_METHOD(ExcimerTimer, getTime)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_DOUBLE((double)timer_left(&THIS_TIMER->event.timer) / 1e9);
}

void excimer_timer_create(zval *ret, zval *callback, double seconds)
{
	struct timer_object *o;

	if (!excimer_is_callable(callback, "timer callback")) {
		ZVAL_NULL(ret);
		return;
	}
	object_init_ex(ret, timer_class);
	o = timer_object(Z_OBJ_P(ret));
	set_callback(o, callback);
	o->event.first_ns = excimer_ns(seconds);
	excimer_event_start(&o->event, CANNOT);
}

ZEND_BEGIN_ARG_INFO(nothing, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO(takes_event_type, 0)
	ZEND_ARG_INFO(0, event_type)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO(takes_interval, 0)
	ZEND_ARG_INFO(0, interval)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO(takes_period, 0)
	ZEND_ARG_INFO(0, period)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO(takes_callback, 0)
	ZEND_ARG_INFO(0, callback)
ZEND_END_ARG_INFO()

static const zend_function_entry methods[] = {
	ZEND_ME(ExcimerTimer, setEventType, takes_event_type, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerTimer, setInterval, takes_interval, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerTimer, setPeriod, takes_period, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerTimer, setCallback, takes_callback, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerTimer, start, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerTimer, stop, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerTimer, getTime, nothing, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

void excimer_register_timer(void)
{
	timer_class = excimer_class("ExcimerTimer", methods, timer_new, &timer_handlers,
				    offsetof(struct timer_object, std), timer_free);
	timer_handlers.get_gc = timer_gc;
}
