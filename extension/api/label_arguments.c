/* label_arguments.c: checks labels from programs. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "label_arguments.h"

#include "classes.h"
#include "php_strobe.h"
#include "run_message.h"
#include "send_runs.h"

#include <errno.h>

bool label_key_is_free(const zend_string *key)
{
	return !run_is_reserved(ZSTR_VAL(key), ZSTR_LEN(key)) && !zend_string_equals_literal(key, "host") &&
	       !zend_string_equals_literal(key, "sapi");
}

zend_string *label_text(zval *value)
{
	ZVAL_DEREF(value);
	switch (Z_TYPE_P(value)) {
	case IS_FALSE:
		return zend_string_init(ZEND_STRL("false"), 0);
	case IS_TRUE:
		return zend_string_init(ZEND_STRL("true"), 0);
	case IS_NULL:
	case IS_LONG:
	case IS_DOUBLE:
	case IS_STRING:
		return zval_get_string(value);
	default:
		return NULL;
	}
}

bool labels_from_argument(HashTable *labels, uint32_t number, struct request_labels *ret)
{
	zend_string *key, *text;
	zval *value;
	int r;

	ret->count = 0;
	ZEND_HASH_FOREACH_STR_KEY_VAL(labels, key, value) {
		if (key && !label_key_is_free(key)) {
			zend_argument_value_error(number, "must not have the key \"%s\", which strobe sets itself", ZSTR_VAL(key));
			return false;
		}
		text = label_text(value);
		if (!text) {
			zend_argument_type_error(number, "must have strings as values, %s given", zend_zval_type_name(value));
			return false;
		}
		r = key ? request_labels_set(ret, ZSTR_VAL(key), ZSTR_LEN(key), ZSTR_VAL(text), ZSTR_LEN(text)) : -EINVAL;
		zend_string_release(text);
		if (r == -EINVAL) {
			zend_argument_value_error(number, "must have keys of 1 to 64 letters, digits and \"_\", not beginning "
						  "with a digit");
			return false;
		}
		if (r) {
			zend_throw_exception_ex(strobe_exception_ce, 0, "The limit of %d "
				"labels is reached", REQUEST_LABELS);
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	runs_hide_secret(ret);
	return true;
}

/* Upper limit for labels set by others: entry, sapi, host, method, http_status, and those of strobe.labels. */
static unsigned others(void)
{
	unsigned n = 6;

	for (const char *p = STROBE_G(labels); p && *p; p++)
		n += *p == ',';
	return n;
}

bool labels_fit(const struct request_labels *more)
{
	struct request_labels all;

	/* Usually there is room, and no exact count is needed. */
	if (others() + (STROBE_G(own_labels) ? STROBE_G(own_labels)->count : 0) + more->count <= REQUEST_LABELS)
		return true;
	runs_labels(&all);
	for (unsigned i = 0; i < more->count; i++) {
		const struct request_label *l = &more->items[i];

		if (request_labels_set(&all, l->key, strlen(l->key), l->value, strlen(l->value)) == 0)
			continue;
		zend_throw_exception_ex(strobe_exception_ce, 0, "The limit of %d labels is reached", REQUEST_LABELS);
		return false;
	}
	return true;
}
