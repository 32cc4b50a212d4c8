/* functions.c: the functions of namespace Strobe. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "api.h"
#include "arginfo.h"
#include "classes.h"
#include "php_strobe.h"
#include "request_trace.h"
#include "runs.h"
#include "sampler.h"
#include "status.h"

#include <errno.h>

/* What says which run or which machine it is cannot be said by programs. */
static bool is_ours(const zend_string *key)
{
	return run_is_reserved(ZSTR_VAL(key), ZSTR_LEN(key)) || zend_string_equals_literal(key, "host") ||
	       zend_string_equals_literal(key, "sapi");
}

ZEND_FUNCTION(Strobe_add_label)
{
	struct api_thread *a = api_thread();
	struct request_labels all;
	zend_string *key, *value;
	int r;

	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(key)
		Z_PARAM_STR(value)
	ZEND_PARSE_PARAMETERS_END();

	if (is_ours(key)) {
		zend_argument_value_error(1, "must not be \"%s\", which strobe sets itself", ZSTR_VAL(key));
		RETURN_THROWS();
	}
	if (!api_may_start())
		RETURN_THROWS();
	/* There must be room beside those that are not the program's. */
	runs_labels(&all);
	r = request_labels_set(&all, ZSTR_VAL(key), ZSTR_LEN(key), ZSTR_VAL(value), ZSTR_LEN(value));
	if (!r)
		r = a ? request_labels_set(&a->labels, ZSTR_VAL(key), ZSTR_LEN(key), ZSTR_VAL(value), ZSTR_LEN(value)) :
			-ENOMEM;
	if (r == -EINVAL)
		zend_argument_value_error(1, "must be 1 to 64 letters, digits and \"_\", and not begin with a digit");
	else if (r)
		zend_throw_exception_ex(strobe_exception_ce, 0, "There is no room for more than %d labels",
					REQUEST_LABELS);
	else
		runs_hide_secret(&a->labels);
	if (a && a->labels.count)
		STROBE_G(own_labels) = &a->labels;
}

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
	ZEND_NS_NAMED_FE("Strobe", labels, ZEND_FN(Strobe_labels), arginfo_strobe_array)
	ZEND_NS_NAMED_FE("Strobe", is_sampling, ZEND_FN(Strobe_is_sampling), arginfo_strobe_bool)
	ZEND_NS_NAMED_FE("Strobe", is_tracing, ZEND_FN(Strobe_is_tracing), arginfo_strobe_bool)
	ZEND_NS_NAMED_FE("Strobe", can_trace, ZEND_FN(Strobe_can_trace), arginfo_strobe_bool)
	ZEND_NS_NAMED_FE("Strobe", status, ZEND_FN(Strobe_status), arginfo_strobe_array)
	ZEND_FE_END
};
