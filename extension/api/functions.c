/* functions.c: the functions of namespace Strobe. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "strobe_api.h"
#include "arginfo.h"
#include "classes.h"
#include "label_arguments.h"
#include "php_strobe.h"
#include "request_trace.h"
#include "run_message.h"
#include "send_runs.h"
#include "sampler.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

/* --- labels --- */

static void throw_bad_key(void)
{
	zend_argument_value_error(1, "must be 1 to 64 letters, digits and \"_\", and not begin with a digit");
}

static void throw_no_memory(void)
{
	zend_throw_exception(strobe_exception_ce, "Not enough memory", 0);
}

ZEND_FUNCTION(Strobe_add_label)
{
	struct api_thread *a = api_thread();
	struct request_labels one;
	zend_string *key, *value;

	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(key)
		Z_PARAM_STR(value)
	ZEND_PARSE_PARAMETERS_END();

	if (!label_key_is_free(key)) {
		zend_argument_value_error(1, "must not be \"%s\", which strobe sets itself", ZSTR_VAL(key));
		RETURN_THROWS();
	}
	if (!api_may_start())
		RETURN_THROWS();
	one.count = 0;		/* only the count: clearing all of it would write 10 KB */
	if (request_labels_set(&one, ZSTR_VAL(key), ZSTR_LEN(key), ZSTR_VAL(value), ZSTR_LEN(value))) {
		throw_bad_key();
		RETURN_THROWS();
	}
	if (!a) {
		throw_no_memory();
		RETURN_THROWS();
	}
	/* Strobe's own labels count towards the limit, too. */
	if (!request_labels_has(&a->scope->labels, ZSTR_VAL(key), ZSTR_LEN(key)) && !labels_fit(&one))
		RETURN_THROWS();
	runs_hide_secret(&one);
	scopes_changing();
	request_labels_add(&a->scope->labels, &one);
	scopes_changed(a);
}

ZEND_FUNCTION(Strobe_remove_label)
{
	struct api_thread *a = api_thread_if_any();
	zend_string *key;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();

	scopes_changing();
	if (!a || !request_labels_remove(&a->scope->labels, ZSTR_VAL(key), ZSTR_LEN(key)))
		RETURN_FALSE;
	scopes_changed(a);
	RETURN_TRUE;
}

/* A separate function, so that the labels are not on the stack while the program continues in the callee. Throws if
 * they are invalid. NULL without an exception: no scope is needed, as after the end of the request. */
static zend_never_inline struct scope *begin_labels(HashTable *labels)
{
	struct api_thread *a = api_thread();
	struct scope *scope = NULL;
	struct request_labels l;

	if (!labels_from_argument(labels, 1, &l) || !labels_fit(&l))
		return NULL;
	if (a && STROBE_G(in_request))
		scope = scope_begin(a, NULL);
	if (scope) {
		request_labels_add(&scope->labels, &l);
		scopes_changed(a);
	}
	return scope;
}

ZEND_FUNCTION(Strobe_with_labels)
{
	zend_fcall_info_cache cache;
	zend_fcall_info call;
	HashTable *labels;
	struct scope *scope;

	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_ARRAY_HT(labels)
		Z_PARAM_FUNC(call, cache)
	ZEND_PARSE_PARAMETERS_END();

	scope = begin_labels(labels);
	if (EG(exception))
		RETURN_THROWS();
	class_call(&call, &cache, return_value);
	if (scope)
		scope_end(api_thread(), scope);
}

/* Sets the label in all scopes of the innermost unit, or of the request, until its end. */
ZEND_FUNCTION(Strobe_set_entry)
{
	struct request_labels one;
	struct api_thread *a = api_thread();
	zend_string *name;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(name)
	ZEND_PARSE_PARAMETERS_END();

	if (ZSTR_LEN(name) == 0) {
		zend_argument_value_error(1, "must not be empty");
		RETURN_THROWS();
	}
	if (!api_may_start())
		RETURN_THROWS();
	if (!a)
		return;
	one.count = 0;
	request_labels_set(&one, ZEND_STRL("entry"), ZSTR_VAL(name), ZSTR_LEN(name));
	runs_hide_secret(&one);
	scopes_set_label(a, a->scope->work, &one.items[0]);
}

/* --- runs --- */

ZEND_FUNCTION(Strobe_set_attribute)
{
	struct request_labels one;
	struct api_thread *a = api_thread();
	zend_string *key, *text;
	struct work *w;
	zval *value;
	int r;

	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(key)
		Z_PARAM_ZVAL(value)
	ZEND_PARSE_PARAMETERS_END();

	if (!label_key_is_free(key)) {
		zend_argument_value_error(1, "must not be \"%s\", which strobe sets itself", ZSTR_VAL(key));
		RETURN_THROWS();
	}
	text = Z_TYPE_P(value) == IS_NULL ? NULL : label_text(value);
	if (!text) {
		zend_argument_type_error(2, "must be of type string|int|float|bool, %s given", zend_zval_type_name(value));
		RETURN_THROWS();
	}
	one.count = 0;
	r = request_labels_set(&one, ZSTR_VAL(key), ZSTR_LEN(key), ZSTR_VAL(text), ZSTR_LEN(text));
	zend_string_release(text);
	if (r) {
		throw_bad_key();
		RETURN_THROWS();
	}
	if (!api_may_start())
		RETURN_THROWS();
	w = a ? a->scope->work : NULL;
	if (w && !w->attributes)
		w->attributes = calloc(1, sizeof(*w->attributes));
	if (!w || !w->attributes) {
		throw_no_memory();
		RETURN_THROWS();
	}
	if (w->attributes->count >= WORK_ATTRIBUTES && !request_labels_has(w->attributes, ZSTR_VAL(key), ZSTR_LEN(key))) {
		zend_throw_exception_ex(strobe_exception_ce, 0, "The limit of %u "
								"attributes is reached", WORK_ATTRIBUTES);
		RETURN_THROWS();
	}
	runs_hide_secret(&one);
	request_labels_add(w->attributes, &one);
}

/* The given conditions also apply to a trace that is already running, except one triggered by the secret, which is
 * always kept. */
ZEND_FUNCTION(Strobe_trace_request)
{
	struct api_thread *a = api_thread();
	struct trace_keep k = { 0 };
	zend_string *keep = NULL;
	struct work *w;

	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR(keep)
	ZEND_PARSE_PARAMETERS_END();

	if (keep && !trace_keep_parse(ZSTR_VAL(keep), ZSTR_LEN(keep), &k)) {
		zend_argument_value_error(1, "must be a valid value of strobe.trace_keep");
		RETURN_THROWS();
	}
	if (!api_may_start())
		RETURN_THROWS();
	if (!a)
		RETURN_FALSE;
	w = a->scope->work;
	if (w->session && strcmp(w->source, "trigger") == 0)
		RETURN_TRUE;
	if (w->session)
		w->source = "code";
	else if (!request_trace_begin(a, w, "code", w != &a->request))
		RETURN_FALSE;
	w->keep = k;
	RETURN_TRUE;
}

ZEND_FUNCTION(Strobe_discard_trace)
{
	struct api_thread *a = api_thread_if_any();

	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(a && request_trace_discard(a->scope->work));
}

ZEND_FUNCTION(Strobe_flush)
{
	ZEND_PARSE_PARAMETERS_NONE();
	sampler_flush();
}

/* --- the current state --- */

ZEND_FUNCTION(Strobe_labels)
{
	struct request_labels l;

	ZEND_PARSE_PARAMETERS_NONE();
	runs_labels(&l);
	array_init(return_value);
	for (unsigned i = 0; i < l.count; i++)
		add_assoc_string(return_value, l.items[i].key, l.items[i].value);
}

ZEND_FUNCTION(Strobe_is_sampling)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(sampler_active());
}

ZEND_FUNCTION(Strobe_is_tracing)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(request_trace_active());
}

ZEND_FUNCTION(Strobe_can_trace)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(tracer_available());
}

ZEND_FUNCTION(Strobe_status)
{
	ZEND_PARSE_PARAMETERS_NONE();
	status_array(return_value);
}

const zend_function_entry strobe_functions[] = {
	ZEND_NS_NAMED_FE("Strobe", add_label, ZEND_FN(Strobe_add_label), arginfo_strobe_add_label)
	ZEND_NS_NAMED_FE("Strobe", remove_label, ZEND_FN(Strobe_remove_label), arginfo_strobe_remove_label)
	ZEND_NS_NAMED_FE("Strobe", with_labels, ZEND_FN(Strobe_with_labels), arginfo_strobe_with_labels)
	ZEND_NS_NAMED_FE("Strobe", set_entry, ZEND_FN(Strobe_set_entry), arginfo_strobe_set_entry)
	ZEND_NS_NAMED_FE("Strobe", set_attribute, ZEND_FN(Strobe_set_attribute), arginfo_strobe_set_attribute)
	ZEND_NS_NAMED_FE("Strobe", trace_request, ZEND_FN(Strobe_trace_request), arginfo_strobe_trace_request)
	ZEND_NS_NAMED_FE("Strobe", discard_trace, ZEND_FN(Strobe_discard_trace), arginfo_strobe_bool)
	ZEND_NS_NAMED_FE("Strobe", flush, ZEND_FN(Strobe_flush), arginfo_strobe_void)
	ZEND_NS_NAMED_FE("Strobe", labels, ZEND_FN(Strobe_labels), arginfo_strobe_array)
	ZEND_NS_NAMED_FE("Strobe", is_sampling, ZEND_FN(Strobe_is_sampling), arginfo_strobe_bool)
	ZEND_NS_NAMED_FE("Strobe", is_tracing, ZEND_FN(Strobe_is_tracing), arginfo_strobe_bool)
	ZEND_NS_NAMED_FE("Strobe", can_trace, ZEND_FN(Strobe_can_trace), arginfo_strobe_bool)
	ZEND_NS_NAMED_FE("Strobe", status, ZEND_FN(Strobe_status), arginfo_strobe_array)
	ZEND_FE_END
};
