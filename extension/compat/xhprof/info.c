/* info.c: extracts SQL and URLs from the arguments of calls. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "info.h"

#include "zend_exceptions.h"
#include "zend_smart_str.h"

#define EFFECTIVE_URL 0x100001		/* CURLINFO_EFFECTIVE_URL, part of libcurl's ABI */

static zend_string *first_argument(zend_execute_data *frame);
static zend_string *second_argument(zend_execute_data *frame);
static zend_string *statement_text(zend_execute_data *frame);
static zend_string *transfer_url(zend_execute_data *frame);

static const struct source {
	const char *class_name, *name;
	zend_string *(*text)(zend_execute_data *frame);		/* returned with a reference, or NULL */
} sources[] = {
	{ "PDO", "exec", first_argument },
	{ "PDO", "query", first_argument },
	{ "PDOStatement", "execute", statement_text },
	{ "mysqli", "query", first_argument },
	{ NULL, "mysqli_query", second_argument },
	{ NULL, "curl_exec", transfer_url },
};

static const struct source *source_of(const zend_function *f)
{
	const zend_class_entry *scope = f->common.scope;

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		const struct source *s = &sources[i];

		if (!zend_string_equals_cstr(f->common.function_name, s->name, strlen(s->name)))
			continue;
		if (!s->class_name ? !scope : scope && strcmp(ZSTR_VAL(scope->name), s->class_name) == 0)
			return s;
	}
	return NULL;
}

static zval *argument(zend_execute_data *frame, uint32_t n)
{
	zval *v;

	if (ZEND_CALL_NUM_ARGS(frame) < n)
		return NULL;
	v = ZEND_CALL_ARG(frame, n);
	ZVAL_DEREF(v);
	return v;
}

static zend_string *string_argument(zend_execute_data *frame, uint32_t n)
{
	zval *v = argument(frame, n);

	return v && Z_TYPE_P(v) == IS_STRING ? zend_string_copy(Z_STR_P(v)) : NULL;
}

static zend_string *first_argument(zend_execute_data *frame)
{
	return string_argument(frame, 1);
}

static zend_string *second_argument(zend_execute_data *frame)
{
	return string_argument(frame, 2);
}

/* --- statements */

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Returns the end of a quoted text that begins at `p`; quotes in it are doubled or escaped by a backslash. */
static const char *end_of_quoted(const char *p, const char *end)
{
	char quote = *p++;

	while (p < end && *p != quote)
		p += *p == '\\' && p + 1 < end ? 2 : 1;
	return p < end ? p + 1 : end;
}

/* Keys may have a leading colon. */
static const zval *value_named(HashTable *values, const char *name, size_t n)
{
	const zval *v = zend_hash_str_find(values, name, n);

	return v ? v : zend_hash_str_find(values, name + 1, n - 1);
}

static bool put_value(smart_str *out, const zval *v)
{
	zend_string *text;

	if (!v)
		return false;
	ZVAL_DEREF(v);
	if (Z_TYPE_P(v) > IS_STRING)
		return false;
	text = zval_get_string((zval *)v);
	smart_str_append(out, text);
	zend_string_release(text);
	return true;
}

static zend_string *with_values(const zend_string *query, HashTable *values)
{
	const char *p = ZSTR_VAL(query), *end = p + ZSTR_LEN(query);
	zend_ulong position = 0;
	smart_str out = { 0 };

	while (p < end) {
		const char *next = p + 1;
		bool put = false;

		if (*p == '\'' || *p == '"' || *p == '`') {
			next = end_of_quoted(p, end);
		} else if (*p == '?') {
			put = put_value(&out, zend_hash_index_find(values, position++));
		} else if (*p == ':' && next < end && is_word(*next)) {
			while (next < end && is_word(*next))
				next++;
			put = put_value(&out, value_named(values, p, (size_t)(next - p)));
		} else if (*p == ':' && next < end && *next == ':') {
			next++;		/* a cast of PostgreSQL */
		}
		if (!put)
			smart_str_appendl(&out, p, (size_t)(next - p));
		p = next;
	}
	smart_str_0(&out);
	return out.s ? out.s : ZSTR_EMPTY_ALLOC();
}

static zend_string *statement_text(zend_execute_data *frame)
{
	zval *query, *values = argument(frame, 1), buffer;
	zend_object *statement;

	if (Z_TYPE(frame->This) != IS_OBJECT)
		return NULL;
	statement = Z_OBJ(frame->This);
	ZVAL_UNDEF(&buffer);
	query = zend_read_property(statement->ce, statement, ZEND_STRL("queryString"), true, &buffer);
	ZVAL_DEREF(query);
	if (Z_TYPE_P(query) != IS_STRING)
		return NULL;
	if (!values || Z_TYPE_P(values) != IS_ARRAY)
		return zend_string_copy(Z_STR_P(query));
	return with_values(Z_STR_P(query), Z_ARRVAL_P(values));
}

/* --- transfers */

static zend_string *transfer_url(zend_execute_data *frame)
{
	zend_function *getinfo = zend_hash_str_find_ptr(EG(function_table), ZEND_STRL("curl_getinfo"));
	zval *handle = argument(frame, 1), arguments[2], result;
	zend_string *url = NULL;

	if (!getinfo || !handle || Z_TYPE_P(handle) != IS_OBJECT)
		return NULL;
	ZVAL_COPY(&arguments[0], handle);
	ZVAL_LONG(&arguments[1], EFFECTIVE_URL);
	ZVAL_UNDEF(&result);
	zend_call_known_function(getinfo, NULL, NULL, &result, 2, arguments, NULL);
	if (Z_TYPE(result) == IS_STRING)
		url = zend_string_copy(Z_STR(result));
	zval_ptr_dtor(&result);
	zval_ptr_dtor(&arguments[0]);
	return url;
}

/* --- the annotation */

static bool applies(const zend_function *f)
{
	return source_of(f) != NULL;
}

static zend_string *suffix(zend_execute_data *frame)
{
	const struct source *s = source_of(frame->func);
	zend_string *text, *suffix;

	if (!s)
		return NULL;
	text = s->text(frame);
	if (EG(exception))
		zend_clear_exception();
	if (!text)
		return NULL;
	suffix = zend_string_concat2("#", 1, ZSTR_VAL(text), ZSTR_LEN(text));
	zend_string_release(text);
	return suffix;
}

const struct trace_annotation info_annotation = { applies, suffix };
