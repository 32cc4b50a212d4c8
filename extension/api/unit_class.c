/* unit_class.c: Strobe\Unit. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "unit_class.h"

#include "arginfo.h"
#include "classes.h"
#include "label_arguments.h"
#include "php_strobe.h"
#include "request_trace.h"
#include "send_runs.h"
#include "sampler.h"
#include "timers.h"

#include <stdlib.h>

struct unit_object {
	struct work work;
	struct scope *scope;			/* NULL: ended */
	struct unit_object *next, **link;	/* list of open units */
	zend_object std;
};

/* The arguments of a unit, as given by the program. */
struct unit_options {
	struct request_labels labels;		/* includes its name as "entry" */
	enum { BY_RATE = -1, NO, YES } sample, trace;
	struct trace_keep keep;
};

static zend_class_entry *unit_ce;
static zend_object_handlers handlers;

static struct unit_object *from_object(zend_object *o)
{
	return (struct unit_object *)((char *)o - offsetof(struct unit_object, std));
}

static zend_object *create(zend_class_entry *ce)
{
	struct unit_object *u = zend_object_alloc(sizeof(*u), ce);

	memset(u, 0, offsetof(struct unit_object, std));
	zend_object_std_init(&u->std, ce);
	object_properties_init(&u->std, ce);
	u->std.handlers = &handlers;
	return &u->std;
}

struct unit_object *unit_next(struct api_thread *a, struct unit_object *u)
{
	return u ? u->next : a->units;
}

struct work *unit_work(struct unit_object *u)
{
	return &u->work;
}

static void begin(struct api_thread *a, struct unit_object *u, const struct unit_options *o)
{
	struct work *w = &u->work;

	w->start_ns = timer_now(TIMER_WALL);
	u->scope = scope_begin(a, w);
	if (!u->scope)
		return;		/* no memory: the work counts as the request's */
	u->next = a->units;
	u->link = &a->units;
	if (u->next)
		u->next->link = &u->next;
	a->units = u;
	request_labels_add(&u->scope->labels, &o->labels);
	w->sampled = (o->sample == BY_RATE ? sampler_draw() : o->sample == YES) && sampler_hold();
	scopes_changed(a);
	if (o->trace == YES || (o->trace == BY_RATE && request_trace_draw(a)))
		if (request_trace_begin(a, w, o->trace == YES ? "code" : "sampled", true))
			w->keep = o->keep;
}

static void end(struct api_thread *a, struct unit_object *u)
{
	struct scope *now = a->scope;

	if (!u->scope)
		return;
	if (u->work.sampled)
		sampler_releasing();
	*u->link = u->next;
	if (u->next)
		u->next->link = u->link;
	scope_visit(a, u->scope);
	request_trace_end(a, &u->work);
	scope_visit(a, now);
	free(u->work.attributes);
	u->work.attributes = NULL;
	scope_end(a, u->scope);
	u->scope = NULL;
	if (u->work.sampled)
		sampler_release();
	u->work.sampled = false;
}

void unit_class_request_end(struct api_thread *a)
{
	while (a->units) {
		a->units->work.unfinished = true;
		end(a, a->units);
	}
}

/* An object destroyed by an exception, with its fiber, or at the end of the request has not ended as intended by the
 * program. */
static void free_object(zend_object *o)
{
	struct unit_object *u = from_object(o);

	if (u->scope) {
		u->work.failed |= class_exception() != NULL;
		u->work.unfinished |= class_must_stay_silent() || (EG(exception) && zend_is_graceful_exit(EG(exception)));
		end(api_thread_if_any(), u);
	}
	zend_object_std_dtor(o);
}

/* --- arguments --- */

static bool read_bool(zend_string *key, zval *value, uint32_t number, int *ret)
{
	if (Z_TYPE_P(value) != IS_TRUE && Z_TYPE_P(value) != IS_FALSE) {
		zend_argument_type_error(number, "must have a bool as \"%s\", %s given", ZSTR_VAL(key), zend_zval_type_name(value));
		return false;
	}
	*ret = Z_TYPE_P(value) == IS_TRUE;
	return true;
}

static bool read_option(zend_string *key, zval *value, uint32_t number, struct unit_options *o)
{
	int on;

	if (key && (zend_string_equals_literal(key, "sample") || zend_string_equals_literal(key, "trace"))) {
		if (!read_bool(key, value, number, &on))
			return false;
		if (zend_string_equals_literal(key, "sample"))
			o->sample = on ? YES : NO;
		else
			o->trace = on ? YES : NO;
		return true;
	}
	if (!key || !zend_string_equals_literal(key, "keep")) {
		zend_argument_value_error(number, "must have no other keys than \"sample\", \"trace\" and \"keep\"");
		return false;
	}
	if (Z_TYPE_P(value) != IS_STRING) {
		zend_argument_type_error(number, "must have a string as \"keep\", %s given", zend_zval_type_name(value));
		return false;
	}
	if (!trace_keep_parse(Z_STRVAL_P(value), Z_STRLEN_P(value), &o->keep)) {
		zend_argument_value_error(number, "must have a valid value of strobe.trace_keep as \"keep\"");
		return false;
	}
	return true;
}

static bool read_options(HashTable *options, uint32_t number, struct unit_options *o)
{
	zend_string *key;
	zval *value;

	o->sample = o->trace = BY_RATE;
	o->keep = (struct trace_keep){ 0 };
	if (!options)
		return true;
	ZEND_HASH_FOREACH_STR_KEY_VAL(options, key, value) {
		ZVAL_DEREF(value);
		if (!read_option(key, value, number, o))
			return false;
	} ZEND_HASH_FOREACH_END();
	return true;
}

/* `first` is the position of the argument with labels; the options follow it. */
static bool read_arguments(zend_string *name, HashTable *labels, HashTable *options, uint32_t first, struct unit_options *o)
{
	o->labels.count = 0;
	if (ZSTR_LEN(name) == 0) {
		zend_argument_value_error(1, "must not be empty");
		return false;
	}
	if (labels && !labels_from_argument(labels, first, &o->labels))
		return false;
	request_labels_set(&o->labels, ZEND_STRL("entry"), ZSTR_VAL(name), ZSTR_LEN(name));
	runs_hide_secret(&o->labels);
	return read_options(options, first + 1, o) && labels_fit(&o->labels);
}

/* --- methods --- */

ZEND_METHOD(Strobe_Unit, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

/* Creates the object and begins its unit, unless the request has ended. A separate function, so that the labels are
 * not on the stack while the program continues in the callee. False after throwing. */
static zend_never_inline bool make(zval *object, zend_string *name, HashTable *labels, HashTable *options, uint32_t first)
{
	struct api_thread *a = api_thread();
	struct unit_options o;

	if (!read_arguments(name, labels, options, first, &o))
		return false;
	object_init_ex(object, unit_ce);
	if (a && STROBE_G(in_request))
		begin(a, from_object(Z_OBJ_P(object)), &o);
	return true;
}

ZEND_METHOD(Strobe_Unit, begin)
{
	HashTable *labels = NULL, *options = NULL;
	zend_string *name;

	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_STR(name)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT(labels)
		Z_PARAM_ARRAY_HT(options)
	ZEND_PARSE_PARAMETERS_END();

	if (!api_may_start() || !make(return_value, name, labels, options, 2))
		RETURN_THROWS();
}

ZEND_METHOD(Strobe_Unit, end)
{
	struct unit_object *u = from_object(Z_OBJ_P(ZEND_THIS));
	bool failed = false;

	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_BOOL(failed)
	ZEND_PARSE_PARAMETERS_END();

	if (!u->scope)
		return;
	u->work.failed |= failed;
	end(api_thread(), u);
}

ZEND_METHOD(Strobe_Unit, isRunning)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(from_object(Z_OBJ_P(ZEND_THIS))->scope);
}

/* After the end of the request, the callable is still called. */
ZEND_METHOD(Strobe_Unit, run)
{
	HashTable *labels = NULL, *options = NULL;
	zend_fcall_info_cache cache;
	zend_fcall_info call;
	struct unit_object *u;
	zend_string *name;
	zval object;

	ZEND_PARSE_PARAMETERS_START(2, 4)
		Z_PARAM_STR(name)
		Z_PARAM_FUNC(call, cache)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT(labels)
		Z_PARAM_ARRAY_HT(options)
	ZEND_PARSE_PARAMETERS_END();

	if (!make(&object, name, labels, options, 3))
		RETURN_THROWS();
	class_call(&call, &cache, return_value);
	u = from_object(Z_OBJ(object));
	if (u->scope) {
		u->work.failed |= class_exception() != NULL;
		u->work.unfinished |= EG(exception) && !class_exception();	/* exit() */
		end(api_thread(), u);
	}
	zval_ptr_dtor(&object);
}

static const zend_function_entry strobe_unit_methods[] = {
	ZEND_ME(Strobe_Unit, __construct, arginfo_strobe_private, ZEND_ACC_PRIVATE)
	ZEND_ME(Strobe_Unit, begin, arginfo_strobe_unit_begin, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
	ZEND_ME(Strobe_Unit, run, arginfo_strobe_unit_run, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
	ZEND_ME(Strobe_Unit, end, arginfo_strobe_unit_end, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Unit, isRunning, arginfo_strobe_bool, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

void unit_class_register(void)
{
	zend_class_entry ce;

	INIT_NS_CLASS_ENTRY(ce, "Strobe", "Unit", strobe_unit_methods);
	unit_ce = zend_register_internal_class(&ce);
	unit_ce->create_object = create;
	class_seal(unit_ce, &handlers, offsetof(struct unit_object, std), free_object);
}
