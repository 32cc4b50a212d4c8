/* trace_class.c: Strobe\Trace. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "arginfo.h"
#include "classes.h"
#include "php_strobe.h"
#include "send_runs.h"

#include <unistd.h>

struct trace_object {
	struct trace_session *session;		/* NULL: not running */
	pid_t pid;				/* the process that started it */
	struct trace_object *next, **link;	/* list of running traces */
	zend_object std;
};

static zend_class_entry *trace_ce;
static zend_object_handlers handlers;

static struct trace_object *from_object(zend_object *o)
{
	return (struct trace_object *)((char *)o - offsetof(struct trace_object, std));
}

static zend_object *create(zend_class_entry *ce)
{
	struct trace_object *t = zend_object_alloc(sizeof(*t), ce);

	zend_object_std_init(&t->std, ce);
	object_properties_init(&t->std, ce);
	t->std.handlers = &handlers;
	return &t->std;
}

/* Marks the trace as stopped; the caller closes the session. */
static struct trace_session *take_session(struct trace_object *t)
{
	struct trace_session *session = t->session;

	if (session) {
		*t->link = t->next;
		if (t->next)
			t->next->link = t->link;
	}
	t->session = NULL;
	return session;
}

/* Called if an exception or the end of the request comes before the trace was stopped: its measurements become a run
 * marked as unfinished. A forked child leaves that to its parent. */
static void save_unfinished(struct trace_session *session, pid_t pid)
{
	const zend_object *exception = class_exception();
	struct api_thread *a = api_thread();
	struct request_labels l;
	struct call_tree *t;
	char id[33] = "";

	if (!session || pid != a->pid) {
		tracer_drop(session);
		return;
	}
	t = tracer_stop(session);
	if (!t) {
		runs_lost(a, STROBE_DROP_NO_MEMORY);
		return;
	}
	runs_labels(&l);
	request_labels_set(&l, ZEND_STRL("unfinished"), ZEND_STRL("1"));
	if (exception)
		request_labels_set(&l, ZEND_STRL("exception"), ZSTR_VAL(exception->ce->name), ZSTR_LEN(exception->ce->name));
	runs_send(a, t, "unfinished", NULL, &l, a->scope->work->attributes, id);
	call_tree_free(t);
}

static void free_object(zend_object *o)
{
	struct trace_object *t = from_object(o);

	if (t->session && class_must_stay_silent())
		save_unfinished(take_session(t), t->pid);
	else
		tracer_drop(take_session(t));
	zend_object_std_dtor(o);
}

void trace_class_request_end(struct api_thread *a)
{
	while (a->traces) {
		struct trace_object *t = a->traces;

		save_unfinished(take_session(t), t->pid);
	}
}

static bool read_bool(zend_string *key, const zval *value, bool *ret)
{
	if (Z_TYPE_P(value) != IS_TRUE && Z_TYPE_P(value) != IS_FALSE) {
		zend_argument_type_error(2, "must have a bool as \"%s\", %s given", ZSTR_VAL(key), zend_zval_type_name(value));
		return false;
	}
	*ret = Z_TYPE_P(value) == IS_TRUE;
	return true;
}

static bool read_pattern(zend_string *key, const zval *value, bool include, struct name_filter **f)
{
	if (Z_TYPE_P(value) != IS_STRING) {
		zend_argument_type_error(2, "must have a string or a list of strings as \"%s\", %s given", ZSTR_VAL(key),
					 zend_zval_type_name(value));
		return false;
	}
	if (Z_STRLEN_P(value) == 0) {
		zend_argument_value_error(2, "must have no empty name in \"%s\"", ZSTR_VAL(key));
		return false;
	}
	if (name_filter_add(f, include, Z_STRVAL_P(value), Z_STRLEN_P(value)))
		return true;
	zend_throw_exception(strobe_exception_ce, "Not enough memory for a trace", 0);
	return false;
}

static bool read_patterns(zend_string *key, zval *value, bool include, struct name_filter **f)
{
	zval *pattern;

	if (Z_TYPE_P(value) != IS_ARRAY)
		return read_pattern(key, value, include, f);
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(value), pattern) {
		ZVAL_DEREF(pattern);
		if (!read_pattern(key, pattern, include, f))
			return false;
	} ZEND_HASH_FOREACH_END();
	return true;
}

static bool read_option(zend_string *key, zval *value, struct trace_options *o)
{
	bool on = true, read;

	if (zend_string_equals_literal(key, "internals")) {
		read = read_bool(key, value, &on);
		o->no_internals = !on;
		return read;
	}
	if (zend_string_equals_literal(key, "files"))
		return read_bool(key, value, &o->files);
	if (zend_string_equals_literal(key, "loads"))
		return read_bool(key, value, &o->loads);
	if (zend_string_equals_literal(key, "flame_chart")) {
		bool chart = false;

		read = read_bool(key, value, &chart);
		o->metrics |= chart ? TRACE_CHART : 0;
		return read;
	}
	if (zend_string_equals_literal(key, "include"))
		return read_patterns(key, value, true, &o->filter);
	if (zend_string_equals_literal(key, "exclude"))
		return read_patterns(key, value, false, &o->filter);
	zend_argument_value_error(2, "must have no other keys than \"internals\", \"files\", \"loads\", \"flame_chart\", "
				  "\"include\" and \"exclude\"");
	return false;
}

static bool read_options(HashTable *options, struct trace_options *o)
{
	zend_string *key;
	zval *value;

	ZEND_HASH_FOREACH_STR_KEY_VAL(options, key, value) {
		ZVAL_DEREF(value);
		if (!key) {
			zend_argument_value_error(2, "must have strings as keys");
			return false;
		}
		if (!read_option(key, value, o))
			return false;
	} ZEND_HASH_FOREACH_END();
	return true;
}

/* Reads the options. On failure throws and returns false; `o` then owns nothing. */
static bool may_start(HashTable *options, struct trace_options *o)
{
	bool fine = !options || read_options(options, o);

	if (fine && !tracer_available()) {
		zend_throw_exception(strobe_exception_ce, "Tracing " TRACER_UNAVAILABLE, 0);
		fine = false;
	}
	if (fine && api_may_start())
		return true;
	name_filter_free(o->filter);
	return false;
}

ZEND_METHOD(Strobe_Trace, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

ZEND_METHOD(Strobe_Trace, start)
{
	struct trace_options o = { .files = true };
	zend_long metrics = TRACE_WALL | TRACE_CPU | TRACE_MEMORY | TRACE_PEAK;
	struct api_thread *a = api_thread();
	HashTable *options = NULL;
	struct trace_object *t;

	ZEND_PARSE_PARAMETERS_START(0, 2)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(metrics)
		Z_PARAM_ARRAY_HT(options)
	ZEND_PARSE_PARAMETERS_END();

	if (metrics & ~(zend_long)TRACE_METRICS) {
		zend_argument_value_error(1, "must be a sum of Strobe\\WALL, CPU, MEMORY, PEAK_MEMORY, ALLOCATIONS and "
					  "SAMPLED_WALL");
		RETURN_THROWS();
	}
	if (!may_start(options, &o))
		RETURN_THROWS();
	o.metrics |= (unsigned)metrics;
	object_init_ex(return_value, trace_ce);
	t = from_object(Z_OBJ_P(return_value));
	if (a)
		t->session = tracer_start(&o);
	else
		name_filter_free(o.filter);
	if (!t->session) {
		zval_ptr_dtor(return_value);
		ZVAL_NULL(return_value);
		zend_throw_exception(strobe_exception_ce, "Not enough memory for a trace", 0);
		RETURN_THROWS();
	}
	t->pid = a->pid;
	t->next = a->traces;
	t->link = &a->traces;
	if (t->next)
		t->next->link = &t->next;
	a->traces = t;
}

ZEND_METHOD(Strobe_Trace, stop)
{
	struct trace_session *session;
	struct call_tree *tree;

	ZEND_PARSE_PARAMETERS_NONE();
	session = take_session(from_object(Z_OBJ_P(ZEND_THIS)));
	if (!session) {
		zend_throw_exception(strobe_exception_ce, "The trace is not running: it was stopped already", 0);
		RETURN_THROWS();
	}
	tree = tracer_stop(session);
	if (!tree) {
		zend_throw_exception(strobe_exception_ce, "Not enough memory for the profile", 0);
		RETURN_THROWS();
	}
	tracer_warn_of_folded(tree->folded_calls);
	profile_object_init(return_value, tree);
}

ZEND_METHOD(Strobe_Trace, isRunning)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(from_object(Z_OBJ_P(ZEND_THIS))->session);
}

static const zend_function_entry strobe_trace_methods[] = {
	ZEND_ME(Strobe_Trace, __construct, arginfo_strobe_private, ZEND_ACC_PRIVATE)
	ZEND_ME(Strobe_Trace, start, arginfo_strobe_trace_start, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
	ZEND_ME(Strobe_Trace, stop, arginfo_strobe_stop, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Trace, isRunning, arginfo_strobe_bool, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

void trace_class_register(void)
{
	zend_class_entry ce;

	INIT_NS_CLASS_ENTRY(ce, "Strobe", "Trace", strobe_trace_methods);
	trace_ce = zend_register_internal_class(&ce);
	trace_ce->create_object = create;
	class_seal(trace_ce, &handlers, offsetof(struct trace_object, std), free_object);
}
