/* excimer_log_class.c: the classes ExcimerLog and ExcimerLogEntry. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "excimer.h"
#include "excimer_formats.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

struct log_object {
	struct excimer_log log;
	zval current;			/* entry that current() has given, so that it gives the same again; or null */
	size_t position;
	zend_object std;
};

/* An entry references its log; the log may reference one entry as `current`. */
struct entry_object {
	zval log;			/* null in an object that PHP created without us (unserialize, reflection) */
	size_t index;
	zend_object std;
};

/* Each foreach has its own position. */
struct log_iterator {
	zend_object_iterator it;
	zval current;			/* or undefined */
	size_t position;
};

static zend_class_entry *log_class, *entry_class;
static zend_object_handlers log_handlers, entry_handlers;

static struct log_object *log_object(zend_object *o)
{
	return EXCIMER_AROUND(struct log_object, o);
}

struct excimer_log *excimer_log_of(zend_object *log)
{
	return &log_object(log)->log;
}

void excimer_log_create(zval *ret)
{
	object_init_ex(ret, log_class);
}

static zend_object *log_new(zend_class_entry *class)
{
	struct log_object *o = zend_object_alloc(sizeof(*o), class);

	zend_object_std_init(&o->std, class);
	object_properties_init(&o->std, class);
	o->std.handlers = &log_handlers;
	ZVAL_NULL(&o->current);
	return &o->std;
}

static void log_free(zend_object *object)
{
	struct log_object *o = log_object(object);

	excimer_log_done(&o->log);
	zval_ptr_dtor(&o->current);
	ZVAL_UNDEF(&o->current);
	zend_object_std_dtor(object);
}

static HashTable *log_gc(zend_object *object, zval **table, int *n)
{
	*table = &log_object(object)->current;
	*n = 1;
	return zend_std_get_properties(object);
}

static zend_result log_count(zend_object *object, zend_long *count)
{
	*count = (zend_long)log_object(object)->log.entry_count;
	return SUCCESS;
}

static void create_entry(zval *ret, zend_object *log, size_t index)
{
	struct entry_object *e;

	object_init_ex(ret, entry_class);
	e = EXCIMER_AROUND(struct entry_object, Z_OBJ_P(ret));
	ZVAL_OBJ_COPY(&e->log, log);
	e->index = index;
}

static void forget_current(struct log_object *o)
{
	zval old;

	ZVAL_COPY_VALUE(&old, &o->current);
	ZVAL_NULL(&o->current);
	zval_ptr_dtor(&old);
}

/* Iteration by foreach. */

static struct log_object *iterated(zend_object_iterator *it)
{
	return log_object(Z_OBJ(it->data));
}

static void iterator_invalidate(zend_object_iterator *it)
{
	struct log_iterator *i = (struct log_iterator *)it;

	zval_ptr_dtor(&i->current);
	ZVAL_UNDEF(&i->current);
}

static void iterator_dtor(zend_object_iterator *it)
{
	iterator_invalidate(it);
	zval_ptr_dtor(&it->data);
}

#if PHP_VERSION_ID >= 80300
static zend_result iterator_valid(zend_object_iterator *it)
#else
static int iterator_valid(zend_object_iterator *it)
#endif
{
	return ((struct log_iterator *)it)->position < iterated(it)->log.entry_count ? SUCCESS : FAILURE;
}

static zval *iterator_current(zend_object_iterator *it)
{
	struct log_iterator *i = (struct log_iterator *)it;

	if (iterator_valid(it) == FAILURE)
		return NULL;
	if (Z_ISUNDEF(i->current))
		create_entry(&i->current, Z_OBJ(it->data), i->position);
	return &i->current;
}

static void iterator_key(zend_object_iterator *it, zval *key)
{
	if (iterator_valid(it) == SUCCESS)
		ZVAL_LONG(key, (zend_long)((struct log_iterator *)it)->position);
	else
		ZVAL_NULL(key);
}

static void iterator_next(zend_object_iterator *it)
{
	iterator_invalidate(it);
	if (iterator_valid(it) == SUCCESS)
		((struct log_iterator *)it)->position++;
}

static void iterator_rewind(zend_object_iterator *it)
{
	iterator_invalidate(it);
	((struct log_iterator *)it)->position = 0;
}

static const zend_object_iterator_funcs iterator_functions = {
	.dtor = iterator_dtor,
	.valid = iterator_valid,
	.get_current_data = iterator_current,
	.get_current_key = iterator_key,
	.move_forward = iterator_next,
	.rewind = iterator_rewind,
	.invalidate_current = iterator_invalidate,
};

static zend_object_iterator *log_iterate(zend_class_entry *class, zval *log, int by_reference)
{
	struct log_iterator *i;

	if (by_reference) {
		zend_throw_exception(spl_ce_RuntimeException, "An iterator cannot be used with foreach by reference",
				     0);
		return NULL;
	}
	i = emalloc(sizeof(*i));
	zend_iterator_init(&i->it);
	ZVAL_OBJ_COPY(&i->it.data, Z_OBJ_P(log));
	i->it.funcs = &iterator_functions;
	i->position = 0;
	ZVAL_UNDEF(&i->current);
	return &i->it;
}

/* Methods of ExcimerLog. Methods that ignore their arguments accept any number of them, as in the original. */

#define THIS_LOG log_object(Z_OBJ_P(ZEND_THIS))

static ZEND_METHOD(ExcimerLog, __construct)
{
	php_error_docref(NULL, E_ERROR, "ExcimerLog cannot be constructed directly");
}

static ZEND_METHOD(ExcimerLog, formatCollapsed)
{
	RETURN_STR(excimer_collapsed(&THIS_LOG->log));
}

static ZEND_METHOD(ExcimerLog, getSpeedscopeData)
{
	excimer_speedscope(&THIS_LOG->log, return_value);
}

static ZEND_METHOD(ExcimerLog, aggregateByFunction)
{
	RETURN_ARR(excimer_by_function(&THIS_LOG->log));
}

static ZEND_METHOD(ExcimerLog, getEventCount)
{
	RETURN_LONG((zend_long)THIS_LOG->log.events);
}

static ZEND_METHOD(ExcimerLog, current)
{
	struct log_object *o = THIS_LOG;

	ZEND_PARSE_PARAMETERS_NONE();
	if (Z_TYPE(o->current) == IS_NULL && o->position < o->log.entry_count)
		create_entry(&o->current, &o->std, o->position);
	RETURN_COPY(&o->current);
}

static ZEND_METHOD(ExcimerLog, key)
{
	struct log_object *o = THIS_LOG;

	ZEND_PARSE_PARAMETERS_NONE();
	if (o->position >= o->log.entry_count)
		RETURN_NULL();
	RETURN_LONG((zend_long)o->position);
}

static ZEND_METHOD(ExcimerLog, next)
{
	struct log_object *o = THIS_LOG;

	ZEND_PARSE_PARAMETERS_NONE();
	forget_current(o);
	if (o->position < o->log.entry_count)
		o->position++;
}

static ZEND_METHOD(ExcimerLog, rewind)
{
	struct log_object *o = THIS_LOG;

	ZEND_PARSE_PARAMETERS_NONE();
	forget_current(o);
	o->position = 0;
}

static ZEND_METHOD(ExcimerLog, valid)
{
	struct log_object *o = THIS_LOG;

	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(o->position < o->log.entry_count);
}

static ZEND_METHOD(ExcimerLog, count)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_LONG((zend_long)THIS_LOG->log.entry_count);
}

static bool has_entry(const struct log_object *o, zend_long offset)
{
	return offset >= 0 && (zend_ulong)offset < o->log.entry_count;
}

static ZEND_METHOD(ExcimerLog, offsetExists)
{
	zend_long offset;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_LONG(offset)
	ZEND_PARSE_PARAMETERS_END();
	RETURN_BOOL(has_entry(THIS_LOG, offset));
}

static ZEND_METHOD(ExcimerLog, offsetGet)
{
	zend_long offset;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_LONG(offset)
	ZEND_PARSE_PARAMETERS_END();
	if (!has_entry(THIS_LOG, offset))
		RETURN_NULL();
	create_entry(return_value, Z_OBJ_P(ZEND_THIS), (size_t)offset);
}

static ZEND_METHOD(ExcimerLog, offsetSet)
{
	php_error_docref(NULL, E_WARNING, "ExcimerLog cannot be modified");
}

static ZEND_METHOD(ExcimerLog, offsetUnset)
{
	php_error_docref(NULL, E_WARNING, "ExcimerLog cannot be modified");
}

/* ExcimerLogEntry. */

static struct entry_object *entry_object(zend_object *o)
{
	return EXCIMER_AROUND(struct entry_object, o);
}

static zend_object *entry_new(zend_class_entry *class)
{
	struct entry_object *o = zend_object_alloc(sizeof(*o), class);

	zend_object_std_init(&o->std, class);
	object_properties_init(&o->std, class);
	o->std.handlers = &entry_handlers;
	ZVAL_NULL(&o->log);
	return &o->std;
}

static void entry_free(zend_object *object)
{
	struct entry_object *o = entry_object(object);

	zval_ptr_dtor(&o->log);
	ZVAL_UNDEF(&o->log);
	zend_object_std_dtor(object);
}

static HashTable *entry_gc(zend_object *object, zval **table, int *n)
{
	*table = &entry_object(object)->log;
	*n = 1;
	return zend_std_get_properties(object);
}

/* Returns the log of an entry and, in `ret`, the sample; an empty log and sample if the entry has none. */
static const struct excimer_log *sample_of(zend_object *object, struct excimer_entry *ret)
{
	static const struct excimer_log none;
	const struct entry_object *o = entry_object(object);
	const struct excimer_log *log;

	*ret = (struct excimer_entry){ 0 };
	if (Z_TYPE(o->log) != IS_OBJECT)
		return &none;
	log = excimer_log_of(Z_OBJ(o->log));
	*ret = log->entries[o->index];
	return log;
}

static ZEND_METHOD(ExcimerLogEntry, __construct)
{
	php_error_docref(NULL, E_ERROR, "ExcimerLogEntry cannot be constructed directly");
}

static ZEND_METHOD(ExcimerLogEntry, getTimestamp)
{
	const struct excimer_log *log;
	struct excimer_entry e;

	ZEND_PARSE_PARAMETERS_NONE();
	log = sample_of(Z_OBJ_P(ZEND_THIS), &e);
	RETURN_DOUBLE((double)(int64_t)(e.time_ns - log->epoch_ns) / 1e9);
}

static ZEND_METHOD(ExcimerLogEntry, getEventCount)
{
	struct excimer_entry e;

	ZEND_PARSE_PARAMETERS_NONE();
	sample_of(Z_OBJ_P(ZEND_THIS), &e);
	RETURN_LONG((zend_long)e.events);
}

static ZEND_METHOD(ExcimerLogEntry, getTrace)
{
	const struct excimer_log *log;
	struct excimer_entry e;

	ZEND_PARSE_PARAMETERS_NONE();
	log = sample_of(Z_OBJ_P(ZEND_THIS), &e);
	RETURN_ARR(excimer_trace(log, e.node));
}

ZEND_BEGIN_ARG_INFO(nothing, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(returns_array, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(tentatively_mixed, 0, 0, IS_MIXED, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(tentatively_void, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(tentatively_bool, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(tentatively_int, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_INFO(0, offset)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(get, 0, 1, IS_MIXED, 0)
	ZEND_ARG_INFO(0, offset)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(set, 0, 2, IS_VOID, 0)
	ZEND_ARG_INFO(0, offset)
	ZEND_ARG_INFO(0, value)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(unset, 0, 1, IS_VOID, 0)
	ZEND_ARG_INFO(0, offset)
ZEND_END_ARG_INFO()

static const zend_function_entry log_methods[] = {
	ZEND_ME(ExcimerLog, __construct, nothing, ZEND_ACC_PRIVATE | ZEND_ACC_FINAL)
	ZEND_ME(ExcimerLog, formatCollapsed, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, getSpeedscopeData, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, aggregateByFunction, returns_array, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, getEventCount, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, current, tentatively_mixed, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, key, tentatively_mixed, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, next, tentatively_void, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, rewind, tentatively_void, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, valid, tentatively_bool, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, count, tentatively_int, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, offsetExists, exists, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, offsetGet, get, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, offsetSet, set, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLog, offsetUnset, unset, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static const zend_function_entry entry_methods[] = {
	ZEND_ME(ExcimerLogEntry, __construct, nothing, ZEND_ACC_PRIVATE | ZEND_ACC_FINAL)
	ZEND_ME(ExcimerLogEntry, getTimestamp, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLogEntry, getEventCount, nothing, ZEND_ACC_PUBLIC)
	ZEND_ME(ExcimerLogEntry, getTrace, nothing, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

void excimer_register_log(void)
{
	log_class = excimer_class("ExcimerLog", log_methods, log_new, &log_handlers, offsetof(struct log_object, std),
				  log_free);
	log_handlers.get_gc = log_gc;
	log_handlers.count_elements = log_count;
	/* Set before the interface, which would make foreach call the methods. */
	log_class->get_iterator = log_iterate;
	zend_class_implements(log_class, 3, zend_ce_iterator, zend_ce_countable, zend_ce_arrayaccess);

	entry_class = excimer_class("ExcimerLogEntry", entry_methods, entry_new, &entry_handlers,
				    offsetof(struct entry_object, std), entry_free);
	entry_handlers.get_gc = entry_gc;
}
