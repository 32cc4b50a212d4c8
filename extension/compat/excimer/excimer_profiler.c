/* excimer_profiler.c: the class ExcimerProfiler. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "excimer.h"
#include "delivery.h"
#include "excimer_event.h"
#include "random.h"

#include "php_ini.h"
#include "zend_exceptions.h"

#include <unistd.h>

#define DEFAULT_PERIOD 0.1	/* seconds */

struct profiler_object {
	struct excimer_event event;
	zval log;			/* an ExcimerLog that receives samples */
	zval callback;			/* called when the log is full; undefined: none */
	zend_long max_samples;		/* the log is full with that many; 0: never */
	struct excimer_stack stack;
	zend_object std;
};

static zend_object_handlers profiler_handlers;

static struct profiler_object *profiler_object(zend_object *o)
{
	return EXCIMER_AROUND(struct profiler_object, o);
}

#define THIS_PROFILER profiler_object(Z_OBJ_P(ZEND_THIS))

static struct excimer_log *log_of(const struct profiler_object *o)
{
	return excimer_log_of(Z_OBJ(o->log));
}

/* Returns a random number from 0 to below 1. A system call each time would be most of the cost of creating, starting
 * and stopping a profiler. */
static double own_share(void)
{
	ZEND_TLS struct random random;
	ZEND_TLS pid_t pid;

	if (UNEXPECTED(pid != getpid())) {
		pid = getpid();
		random = (struct random){ 0 };
	}
	return random_share(&random);
}

/* The first sample comes after a random fraction of a period, so that short requests are sampled in proportion to
 * their time. */
static void set_period(struct profiler_object *o, double seconds)
{
	o->event.period_ns = excimer_ns(seconds);
	o->event.first_ns = (int64_t)(own_share() * (double)o->event.period_ns);
	log_of(o)->period_ns = o->event.period_ns;
}

/* Replaces the log by a new one; `ret_old` is the previous one. */
static void change_log(struct profiler_object *o, zval *ret_old)
{
	const struct excimer_log *from = log_of(o);
	struct excimer_log *to;

	ZVAL_COPY_VALUE(ret_old, &o->log);
	excimer_log_create(&o->log);
	to = log_of(o);
	to->epoch_ns = from->epoch_ns;
	to->period_ns = from->period_ns;
	to->max_depth = from->max_depth;
}

/* A sample that does not fill the log runs no PHP code, so it can be taken while another callback is running. */
static void decide_passive(struct profiler_object *o)
{
	const struct strobe_timer *t = &o->event.timer;

	o->event.timer.passive = o->max_samples <= 0 || log_of(o)->entry_count + 1 < (zend_ulong)o->max_samples ||
				 (t->running && t->lane == LANE_CALLS);
}

/* Replaces the log, and passes the old one to the callback. */
static void flush(struct profiler_object *o, zval *ret_old)
{
	change_log(o, ret_old);
	decide_passive(o);
	if (!Z_ISUNDEF(o->callback) && !excimer_call("ExcimerProfiler", &o->callback, ret_old))
		timer_stop(&o->event.timer);
}

/* Takes a sample. The callback may release the last reference to the profiler. */
static void expired(struct strobe_timer *t, uint64_t periods, const struct tick_snapshot *m)
{
	struct profiler_object *o = t->owner;
	struct excimer_log *log = log_of(o);
	zval old;

	if (!excimer_stack_collect(&o->stack, m, log->max_depth) ||
	    !excimer_log_add(log, &o->stack, periods, (uint64_t)timer_now(TIMER_WALL)))
		return;
	if (t->passive) {
		decide_passive(o);
		return;
	}
	if (o->max_samples <= 0 || log->entry_count < (zend_ulong)o->max_samples)
		return;
	GC_ADDREF(&o->std);
	flush(o, &old);
	zval_ptr_dtor(&old);
	OBJ_RELEASE(&o->std);
}

static zend_object *profiler_new(zend_class_entry *class)
{
	struct profiler_object *o = zend_object_alloc(sizeof(*o), class);

	zend_object_std_init(&o->std, class);
	object_properties_init(&o->std, class);
	o->std.handlers = &profiler_handlers;
	o->event.timer.expired = expired;
	o->event.timer.owner = o;
	o->event.type = EXCIMER_REAL;
	ZVAL_UNDEF(&o->callback);
	excimer_log_create(&o->log);
	log_of(o)->max_depth = zend_ini_long(ZEND_STRL("excimer.default_max_depth"), 0);
	log_of(o)->epoch_ns = (uint64_t)timer_now(TIMER_WALL);
	set_period(o, DEFAULT_PERIOD);
	decide_passive(o);
	return &o->std;
}

/* Saves a pending exception, as PHP does around destructors; `leave` restores it. */
struct aside {
	zend_object *exception;
	const zend_op *opline;
};

static struct aside enter(void)
{
	struct aside a = { EG(exception), EG(opline_before_exception) };

	if (a.exception && EG(current_execute_data) && EG(current_execute_data)->func &&
	    ZEND_USER_CODE(EG(current_execute_data)->func->common.type)) {
		zend_rethrow_exception(EG(current_execute_data));
		a.opline = EG(opline_before_exception);
	}
	EG(exception) = NULL;
	return a;
}

static void leave(struct aside a)
{
	if (!a.exception)
		return;
	EG(opline_before_exception) = a.opline;
	if (EG(exception))
		zend_exception_set_previous(EG(exception), a.exception);
	else
		EG(exception) = a.exception;
}

/* The last samples are passed on, even if an exception destroys the profiler. */
static void profiler_destroy(zend_object *object)
{
	struct profiler_object *o = profiler_object(object);
	struct aside aside;
	zval old;

	zend_objects_destroy_object(object);
	if (!log_of(o)->entry_count)
		return;
	aside = enter();
	flush(o, &old);
	zval_ptr_dtor(&old);
	leave(aside);
}

static void profiler_free(zend_object *object)
{
	struct profiler_object *o = profiler_object(object);

	timer_stop(&o->event.timer);
	excimer_stack_done(&o->stack);
	zval_ptr_dtor(&o->log);
	ZVAL_UNDEF(&o->log);
	zval_ptr_dtor(&o->callback);
	ZVAL_UNDEF(&o->callback);
	zend_object_std_dtor(object);
}

/* A stopped profiler that is referenced only by its own callback is garbage; a running one is in use. */
static HashTable *profiler_gc(zend_object *object, zval **table, int *n)
{
	struct profiler_object *o = profiler_object(object);

	*table = &o->callback;
	*n = o->event.timer.running ? 0 : 1;
	return zend_std_get_properties(object);
}

static ZEND_METHOD(ExcimerProfiler, setPeriod)
{
	double seconds;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_DOUBLE(seconds)
	ZEND_PARSE_PARAMETERS_END();
	set_period(THIS_PROFILER, seconds);
}

static ZEND_METHOD(ExcimerProfiler, setEventType)
{
	zend_long type;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_LONG(type)
	ZEND_PARSE_PARAMETERS_END();
	excimer_event_set_type(&THIS_PROFILER->event, type);
}

static ZEND_METHOD(ExcimerProfiler, setMaxDepth)
{
	zend_long depth;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_LONG(depth)
	ZEND_PARSE_PARAMETERS_END();
	log_of(THIS_PROFILER)->max_depth = depth;
}

static ZEND_METHOD(ExcimerProfiler, setFlushCallback)
{
	struct profiler_object *o = THIS_PROFILER;
	zval *callback, old;
	zend_long max_samples;

	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_ZVAL(callback)
		Z_PARAM_LONG(max_samples)
	ZEND_PARSE_PARAMETERS_END();
	if (!excimer_is_callable(callback, "flush callback"))
		return;
	ZVAL_COPY_VALUE(&old, &o->callback);
	ZVAL_COPY(&o->callback, callback);
	o->max_samples = max_samples;
	decide_passive(o);
	zval_ptr_dtor(&old);
}

static ZEND_METHOD(ExcimerProfiler, clearFlushCallback)
{
	struct profiler_object *o = THIS_PROFILER;
	zval old;

	ZVAL_COPY_VALUE(&old, &o->callback);
	ZVAL_UNDEF(&o->callback);
	o->max_samples = 0;
	decide_passive(o);
	zval_ptr_dtor(&old);
}

static ZEND_METHOD(ExcimerProfiler, start)
{
	struct profiler_object *o = THIS_PROFILER;
	struct strobe_timer *t = &o->event.timer;

	ZEND_PARSE_PARAMETERS_NONE();

	/* If the log is nearly full, a safe point is needed. */
	t->passive = t->passive || delivery_way() == DELIVERY_CALLS;
	excimer_event_start(&o->event, "No samples can be taken");
	if (t->running && t->lane == LANE_CALLS && o->max_samples > 0)
		excimer_warn_of_delivery("The flush callback is called only by flush() and at the end");
}

static ZEND_METHOD(ExcimerProfiler, stop)
{
	ZEND_PARSE_PARAMETERS_NONE();
	if (THIS_PROFILER->event.timer.passive)
		timer_deliver_rest(&THIS_PROFILER->event.timer);
	timer_stop(&THIS_PROFILER->event.timer);
}

static ZEND_METHOD(ExcimerProfiler, getLog)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_COPY(&THIS_PROFILER->log);
}

static ZEND_METHOD(ExcimerProfiler, flush)
{
	ZEND_PARSE_PARAMETERS_NONE();
	flush(THIS_PROFILER, return_value);
}

ZEND_BEGIN_ARG_INFO(nothing, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(returns_log, 0, 0, ExcimerLog, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO(takes_period, 0)
	ZEND_ARG_INFO(0, period)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO(takes_event_type, 0)
	ZEND_ARG_INFO(0, event_type)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO(takes_max_depth, 0)
	ZEND_ARG_INFO(0, max_depth)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO(takes_callback, 0)
	ZEND_ARG_INFO(0, callback)
	ZEND_ARG_INFO(0, max_samples)
ZEND_END_ARG_INFO()

static const zend_function_entry methods[] = {
	ZEND_ME(ExcimerProfiler, setPeriod, takes_period, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerProfiler, setEventType, takes_event_type, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerProfiler, setMaxDepth, takes_max_depth, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerProfiler, setFlushCallback, takes_callback, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerProfiler, clearFlushCallback, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerProfiler, start, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerProfiler, stop, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerProfiler, getLog, returns_log, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerProfiler, flush, nothing, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

void excimer_register_profiler(void)
{
	excimer_class("ExcimerProfiler", methods, profiler_new, &profiler_handlers,
		      offsetof(struct profiler_object, std), profiler_free);
	profiler_handlers.dtor_obj = profiler_destroy;
	profiler_handlers.get_gc = profiler_gc;
}
