/* profile_class.c: Strobe\Profile. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "arginfo.h"
#include "classes.h"
#include "tree_export.h"
#include "send_runs.h"
#include "trigger.h"

#include "ext/json/php_json.h"
#include "zend_interfaces.h"

#include <errno.h>
#include <stdlib.h>

zend_class_entry *strobe_profile_ce;

struct profile_object {
	struct call_tree *tree;		/* never NULL once PHP code has the object */
	zend_object std;
};

static zend_object_handlers handlers;

static struct profile_object *from_object(zend_object *o)
{
	return (struct profile_object *)((char *)o - offsetof(struct profile_object, std));
}

static zend_object *create(zend_class_entry *ce)
{
	struct profile_object *p = zend_object_alloc(sizeof(*p), ce);

	zend_object_std_init(&p->std, ce);
	object_properties_init(&p->std, ce);
	p->std.handlers = &handlers;
	return &p->std;
}

static void free_object(zend_object *o)
{
	struct profile_object *p = from_object(o);

	call_tree_free(p->tree);
	p->tree = NULL;
	zend_object_std_dtor(o);
}

void profile_object_init(zval *out, struct call_tree *t)
{
	object_init_ex(out, strobe_profile_ce);
	from_object(Z_OBJ_P(out))->tree = t;
}

static const struct call_tree *tree_of(const zval *this)
{
	return from_object(Z_OBJ_P(this))->tree;
}

ZEND_METHOD(Strobe_Profile, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

ZEND_METHOD(Strobe_Profile, count)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_LONG((zend_long)tree_of(ZEND_THIS)->node_count - 1);
}

ZEND_METHOD(Strobe_Profile, getMetrics)
{
	const struct call_tree *t = tree_of(ZEND_THIS);

	ZEND_PARSE_PARAMETERS_NONE();
	array_init(return_value);
	for (int m = 0; m < METRICS; m++)
		if (metric_exists(t, m))
			add_assoc_string(return_value, metric_name(m), metric_unit(m));
}

ZEND_METHOD(Strobe_Profile, getStartTime)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_DOUBLE((double)tree_of(ZEND_THIS)->start_ns / 1e9);
}

ZEND_METHOD(Strobe_Profile, getDuration)
{
	const struct call_tree *t = tree_of(ZEND_THIS);

	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_DOUBLE((double)(t->end_ns - t->start_ns) / 1e9);
}

ZEND_METHOD(Strobe_Profile, getFoldedCalls)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_LONG((zend_long)tree_of(ZEND_THIS)->folded_calls);
}

ZEND_METHOD(Strobe_Profile, getUnchartedCalls)
{
	const struct call_tree *t = tree_of(ZEND_THIS);

	ZEND_PARSE_PARAMETERS_NONE();
	if (t->charted)
		RETURN_LONG((zend_long)t->uncharted_calls);
}

ZEND_METHOD(Strobe_Profile, getTotals)
{
	ZEND_PARSE_PARAMETERS_NONE();
	export_totals(tree_of(ZEND_THIS), return_value);
}

ZEND_METHOD(Strobe_Profile, getFunctions)
{
	ZEND_PARSE_PARAMETERS_NONE();
	export_functions(tree_of(ZEND_THIS), return_value);
}

/* Reads the one argument of the exporters. Returns the metric, or -1 after throwing. */
static int metric_argument(INTERNAL_FUNCTION_PARAMETERS)
{
	zend_string *name = NULL;

	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR_OR_NULL(name)
	ZEND_PARSE_PARAMETERS_END_EX(return -1);
	return metric_find(tree_of(ZEND_THIS), name, 1);
}

ZEND_METHOD(Strobe_Profile, toFolded)
{
	int metric = metric_argument(INTERNAL_FUNCTION_PARAM_PASSTHRU);

	if (metric >= 0)
		RETURN_STR(export_folded(tree_of(ZEND_THIS), metric));
}

ZEND_METHOD(Strobe_Profile, toSpeedscope)
{
	int metric = metric_argument(INTERNAL_FUNCTION_PARAM_PASSTHRU);

	if (metric >= 0)
		export_speedscope(tree_of(ZEND_THIS), metric, return_value);
}

ZEND_METHOD(Strobe_Profile, toXhprof)
{
	ZEND_PARSE_PARAMETERS_NONE();
	if (export_xhprof(tree_of(ZEND_THIS), return_value))
		return;
	zval_ptr_dtor(return_value);
	ZVAL_NULL(return_value);
	zend_throw_exception(strobe_exception_ce, "Not enough memory for the array", 0);
}

ZEND_METHOD(Strobe_Profile, jsonSerialize)
{
	const struct call_tree *t = tree_of(ZEND_THIS);

	ZEND_PARSE_PARAMETERS_NONE();
	export_speedscope(t, metric_default(t), return_value);
}

ZEND_METHOD(Strobe_Profile, toPprof)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_STR(export_pprof(tree_of(ZEND_THIS)));
}

/* --- save --- */

static bool add_label(struct request_labels *l, zend_string *key, zval *value)
{
	zend_string *text, *tmp;
	int r;

	ZVAL_DEREF(value);
	if (!key || run_is_reserved(ZSTR_VAL(key), ZSTR_LEN(key))) {
		zend_argument_value_error(3, "must have keys of letters, digits and \"_\", other than source, id, url "
					  "and name");
		return false;
	}
	if (Z_TYPE_P(value) > IS_STRING) {
		zend_argument_type_error(3, "must have strings as values, %s given", zend_zval_type_name(value));
		return false;
	}
	text = zval_get_tmp_string(value, &tmp);
	r = request_labels_set(l, ZSTR_VAL(key), ZSTR_LEN(key), ZSTR_VAL(text), ZSTR_LEN(text));
	zend_tmp_string_release(tmp);
	if (r == -EINVAL)
		zend_argument_value_error(3, "must have keys of letters, digits and \"_\", other than source, id, url "
					  "and name");
	else if (r)
		zend_argument_value_error(3, "must leave the run with %d labels at most", REQUEST_LABELS);
	return r == 0;
}

static bool add_labels(struct request_labels *l, HashTable *labels)
{
	zend_string *key;
	zval *value;

	ZEND_HASH_FOREACH_STR_KEY_VAL(labels, key, value) {
		if (!add_label(l, key, value))
			return false;
	} ZEND_HASH_FOREACH_END();
	return true;
}

static void throw_lost(int reason)
{
	static const char *const sentences[STROBE_DROP_REASONS] = {
		[STROBE_DROP_NO_DAEMON] = "no daemon listens on the socket of strobe.socket",
		[STROBE_DROP_FULL] = "the daemon does not read its socket fast enough",
		[STROBE_DROP_TOO_LARGE] = "it is larger than the 64 MB that a run may have",
		[STROBE_DROP_NO_MEMORY] = "not enough memory",
		[STROBE_DROP_REFUSED] = "this user may not write to the socket of strobe.socket",
	};

	zend_throw_exception_ex(strobe_exception_ce, reason, "The run cannot be delivered: %s",
				reason < STROBE_DROP_REASONS ? sentences[reason] : "");
}

ZEND_METHOD(Strobe_Profile, save)
{
	zend_string *source, *name = NULL;
	HashTable *labels = NULL;
	struct api_thread *a = api_thread();
	struct request_labels l;
	char id[33] = "";
	int reason;

	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_STR(source)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR_OR_NULL(name)
		Z_PARAM_ARRAY_HT(labels)
	ZEND_PARSE_PARAMETERS_END();

	if (!strobe_wire_is_run_key(ZSTR_VAL(source), ZSTR_LEN(source))) {
		zend_argument_value_error(1, "must be 1 to 64 letters, digits, \".\", \"_\" or \"-\", and "
					  "neither \".\" nor \"..\"");
		RETURN_THROWS();
	}
	runs_labels(&l);
	if (labels && !add_labels(&l, labels))
		RETURN_THROWS();
	runs_hide_secret(&l);
	if (name && (ZSTR_LEN(name) == 0 || trigger_is_in(ZSTR_VAL(name), ZSTR_LEN(name))))
		name = NULL;
	reason = a ? runs_send(a, tree_of(ZEND_THIS), ZSTR_VAL(source), name ? ZSTR_VAL(name) : NULL, &l,
			       a->scope->work->attributes, id)
		   : STROBE_DROP_NO_MEMORY;
	if (reason) {
		throw_lost(reason);
		RETURN_THROWS();
	}
	RETURN_STRING(id);
}

static const zend_function_entry strobe_profile_methods[] = {
	ZEND_ME(Strobe_Profile, __construct, arginfo_strobe_private, ZEND_ACC_PRIVATE)
	ZEND_ME(Strobe_Profile, count, arginfo_strobe_int, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, getMetrics, arginfo_strobe_array, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, getStartTime, arginfo_strobe_float, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, getDuration, arginfo_strobe_float, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, getFoldedCalls, arginfo_strobe_int, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, getUnchartedCalls, arginfo_strobe_int_or_null, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, getTotals, arginfo_strobe_array, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, getFunctions, arginfo_strobe_array, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, toFolded, arginfo_strobe_folded, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, toSpeedscope, arginfo_strobe_speedscope, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, toXhprof, arginfo_strobe_array, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, toPprof, arginfo_strobe_string, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, jsonSerialize, arginfo_strobe_array, ZEND_ACC_PUBLIC)
	ZEND_ME(Strobe_Profile, save, arginfo_strobe_save, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

void profile_class_register(void)
{
	zend_class_entry ce;

	INIT_NS_CLASS_ENTRY(ce, "Strobe", "Profile", strobe_profile_methods);
	strobe_profile_ce = zend_register_internal_class(&ce);
	strobe_profile_ce->create_object = create;
	zend_class_implements(strobe_profile_ce, 2, zend_ce_countable, php_json_serializable_ce);
	class_seal(strobe_profile_ce, &handlers, offsetof(struct profile_object, std), free_object);
}
