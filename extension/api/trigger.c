/* trigger.c: stores the secret and searches requests for it. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "trigger.h"

#include "api_thread.h"
#include "php_strobe.h"

#include "SAPI.h"

#define SETTING	"strobe.trigger_secret"
#define HEADER	"HTTP_X_STROBE_TRACE"

/* The secret of php.ini or of the pool; changes only before requests run. */
static struct secret configured;
static bool registered;

/* Returns the secret in effect here. */
static const struct secret *current(void)
{
	const struct api_thread *a = api_thread_if_any();

	return a && a->has_secret ? &a->secret : &configured;
}

/* PHP keeps the value passed here after we return; trigger_startup and trigger_request_start remove it. A directory's
 * value (.user.ini) applies to one request; that of a pool, which FPM sets in a new child, permanently. PHP restores
 * the empty value that we have left in its table at the end of a request. */
ZEND_INI_MH(trigger_on_change)
{
	const char *p = new_value ? ZSTR_VAL(new_value) : "";
	size_t n = new_value ? ZSTR_LEN(new_value) : 0;
	struct api_thread *a;

	switch (stage) {
	case ZEND_INI_STAGE_RUNTIME:
		return FAILURE;
	case ZEND_INI_STAGE_DEACTIVATE:
		if ((a = api_thread_if_any()))
			a->has_secret = false;
		return SUCCESS;
	case ZEND_INI_STAGE_HTACCESS:
		if (!(a = api_thread()))
			return FAILURE;
		secret_set(&a->secret, p, n);
		a->has_secret = true;
		return SUCCESS;
	default:
		/* A new PHP thread reads the table again, where the value has been removed. */
		if (n || !registered)
			secret_set(&configured, p, n);
		return SUCCESS;
	}
}

/* For phpinfo(): shows whether there is a secret, but not the secret. */
void trigger_show(zend_ini_entry *entry, int type)
{
	const struct secret *s = type == ZEND_INI_DISPLAY_ORIG ? &configured : current();

	if (s->size || s->refused)
		php_write((void *)ZEND_STRL("(hidden)"));
	else
		php_write((void *)ZEND_STRL("no value"));
}

static void hide_value(void)
{
	zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), ZEND_STRL(SETTING));

	if (!entry || !entry->value || ZSTR_LEN(entry->value) == 0)
		return;
	zend_string_release(entry->value);
	entry->value = ZSTR_EMPTY_ALLOC();
}

/* Clears what get_cfg_var() would read from php.ini and the command line. */
static void hide_configuration(void)
{
	zend_string *name = zend_string_init(ZEND_STRL(SETTING), 0);
	zval *value = cfg_get_entry_ex(name);

	if (value && Z_TYPE_P(value) == IS_STRING && Z_STRLEN_P(value)) {
		zend_string_release(Z_STR_P(value));
		ZVAL_EMPTY_STRING(value);
	}
	zend_string_release(name);
}

void trigger_startup(void)
{
	registered = true;
	hide_value();
	hide_configuration();
}

void trigger_request_start(void)
{
	hide_value();
}

bool trigger_is_configured(void)
{
	return configured.size > 0;
}

const char *trigger_state(void)
{
	const struct secret *s = current();

	if (s->refused)
		return "off: strobe.trigger_secret must have 16 to 256 bytes";
	if (!s->size)
		return "off: strobe.trigger_secret is empty";
	return tracer_available() ? "on" : "off: strobe.trigger_secret " TRACER_UNAVAILABLE;
}

bool trigger_is_in(const char *p, size_t n)
{
	return secret_is_in(current(), p, n);
}

static bool is_parameter(const char *p, size_t n)
{
	char name[sizeof(TRIGGER_PARAMETER) * 3];

	if (n > sizeof(name))
		return false;
	n = url_decode(name, p, n);
	return n == strlen(TRIGGER_PARAMETER) && memcmp(name, TRIGGER_PARAMETER, n) == 0;
}

/* Searches "a=b; STROBE_TRACE=secret" or "a=b&STROBE_TRACE=secret". */
static bool is_in_pairs(const struct secret *s, const char *p, char separator)
{
	bool found = false;

	while (p && *p) {
		const char *end = strchrnul(p, separator);
		const char *equals;

		p += strspn(p, " \t");
		equals = memchr(p, '=', end > p ? (size_t)(end - p) : 0);
		if (equals && is_parameter(p, (size_t)(equals - p)))
			found |= secret_equals(s, equals + 1, (size_t)(end - equals - 1));
		p = *end ? end + 1 : end;
	}
	return found;
}

/* The built-in server provides variables only all at once, through the input filter. This call installs our own
 * filter, which inspects each variable and keeps none, so programs notice nothing. */
static bool seen_by_filter;

static unsigned int look(int arg, const char *name, char **value, size_t size, size_t *new_size)
{
	if (strcmp(name, HEADER) == 0)
		seen_by_filter |= secret_equals(current(), *value, size);
	return 0;
}

static bool is_shown_to_filter(void)
{
	unsigned int (*filter)(int, const char *, char **, size_t, size_t *) = sapi_module.input_filter;
	zval variables;

	array_init(&variables);
	seen_by_filter = false;
	sapi_module.input_filter = look;
	zend_try {
		sapi_module.register_server_variables(&variables);
	} zend_catch {
		sapi_module.input_filter = filter;
		zend_bailout();
	} zend_end_try();
	sapi_module.input_filter = filter;
	zval_ptr_dtor(&variables);
	return seen_by_filter;
}

/* Other servers with this limitation have threads, which share the filter. */
static bool is_in_variables(const struct secret *s)
{
	bool found = false;
	zval variables, *header;

	array_init(&variables);
	sapi_module.register_server_variables(&variables);
	header = zend_hash_str_find(Z_ARRVAL(variables), ZEND_STRL(HEADER));
	if (header && Z_TYPE_P(header) == IS_STRING)
		found = secret_equals(s, Z_STRVAL_P(header), Z_STRLEN_P(header));
	zval_ptr_dtor(&variables);
	return found;
}

static bool is_in_header(const struct secret *s)
{
	const char *header;

	/* FrankenPHP's function reads only the environment. */
	bool has_getenv = sapi_module.getenv && strcmp(sapi_module.name, "frankenphp") != 0;

	if (!has_getenv && (!SG(server_context) || !sapi_module.register_server_variables))
		return false;
	if (!has_getenv)
		return strcmp(sapi_module.name, "cli-server") == 0 ? is_shown_to_filter() : is_in_variables(s);
	header = sapi_module.getenv(HEADER, strlen(HEADER));
	return header && secret_equals(s, header, strlen(header));
}

bool trigger_matched(void)
{
	const struct secret *s = current();
	bool found;

	/* Without a method there is no request: the environment of a command line cannot trigger a trace. */
	if (!s->size || !SG(request_info).request_method)
		return false;
	found = is_in_header(s);
	found |= is_in_pairs(s, SG(request_info).cookie_data, ';');
	found |= is_in_pairs(s, SG(request_info).query_string, '&');
	return found;
}
