/* settings.c: the ini table and its checks. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "settings.h"
#include "standin.h"
#include "trace_keep.h"
#include "trigger.h"

#include "php_ini.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ZEND_INI_MH(on_mode)
{
	if (zend_string_equals_literal(new_value, "sample"))
		STROBE_G(sample) = true;
	else if (ZSTR_LEN(new_value) == 0 || zend_string_equals_literal(new_value, "off"))
		STROBE_G(sample) = false;
	else
		return FAILURE;
	return SUCCESS;
}

static ZEND_INI_MH(on_clock)
{
	if (zend_string_equals_literal(new_value, "wall"))
		STROBE_G(cpu_clock) = false;
	else if (zend_string_equals_literal(new_value, "cpu"))
		STROBE_G(cpu_clock) = true;
	else
		return FAILURE;
	return SUCCESS;
}

/* Reads a whole number with fraction, nothing else behind it. */
static bool parse_double(const zend_string *s, double *ret)
{
	const char *end;

	if (ZSTR_LEN(s) == 0)
		return false;
	*ret = zend_strtod(ZSTR_VAL(s), &end);
	return *end == '\0' && isfinite(*ret);
}

static ZEND_INI_MH(on_period)
{
	double v;

	if (!parse_double(new_value, &v) || v < STROBE_MIN_PERIOD || v > STROBE_MAX_PERIOD)
		return FAILURE;
	STROBE_G(period) = v;
	return SUCCESS;
}

static ZEND_INI_MH(on_request_rate)
{
	double v;

	if (!parse_double(new_value, &v) || v < 0 || v > 1)
		return FAILURE;
	STROBE_G(request_rate) = v;
	return SUCCESS;
}

static ZEND_INI_MH(on_max_depth)
{
	double v;

	if (!parse_double(new_value, &v) || v < STROBE_MIN_DEPTH || v > STROBE_MAX_DEPTH || v != floor(v))
		return FAILURE;
	STROBE_G(max_depth) = (zend_long)v;
	return SUCCESS;
}

/* "auto" waits for the other settings: settings_register decides. */
static ZEND_INI_MH(on_instrument)
{
	if (zend_string_equals_literal(new_value, "auto") || zend_ini_parse_bool(new_value) ||
	    zend_string_equals_literal(new_value, "0") || ZSTR_LEN(new_value) == 0 ||
	    zend_string_equals_literal_ci(new_value, "off"))
		return SUCCESS;
	return FAILURE;
}

static ZEND_INI_MH(on_trace_rate)
{
	double v;

	if (!parse_double(new_value, &v) || v < 0 || v > 1)
		return FAILURE;
	STROBE_G(trace_rate) = v;
	return SUCCESS;
}

static ZEND_INI_MH(on_trace_max_nodes)
{
	double v;

	if (!parse_double(new_value, &v) || v < STROBE_MIN_NODES || v > STROBE_MAX_NODES || v != floor(v))
		return FAILURE;
	STROBE_G(trace_max_nodes) = (zend_long)v;
	return SUCCESS;
}

/* The socket decides where data goes, so that a script cannot change it; all else only decides what is measured. */
PHP_INI_BEGIN()
	PHP_INI_ENTRY("strobe.mode", "off", PHP_INI_ALL, on_mode)
	PHP_INI_ENTRY("strobe.clock", "wall", PHP_INI_ALL, on_clock)
	PHP_INI_ENTRY("strobe.period", "0.01", PHP_INI_ALL, on_period)
	PHP_INI_ENTRY("strobe.request_rate", "1.0", PHP_INI_ALL, on_request_rate)
	PHP_INI_ENTRY("strobe.max_depth", "512", PHP_INI_ALL, on_max_depth)
	STD_PHP_INI_ENTRY("strobe.socket", "", PHP_INI_SYSTEM, OnUpdateString, socket, zend_strobe_globals,
			  strobe_globals)
	STD_PHP_INI_ENTRY("strobe.labels", "", PHP_INI_ALL, OnUpdateString, labels, zend_strobe_globals, strobe_globals)
	STD_PHP_INI_ENTRY("strobe.compat", "", PHP_INI_SYSTEM, OnUpdateString, compat, zend_strobe_globals,
			  strobe_globals)
	PHP_INI_ENTRY("strobe.instrument", "auto", PHP_INI_SYSTEM, on_instrument)
	STD_PHP_INI_BOOLEAN("strobe.compat_builtins", "0", PHP_INI_SYSTEM, OnUpdateBool, compat_builtins,
			    zend_strobe_globals, strobe_globals)
	PHP_INI_ENTRY("strobe.trace_rate", "0", PHP_INI_ALL, on_trace_rate)
	PHP_INI_ENTRY("strobe.trace_keep", "", PHP_INI_ALL, trace_keep_on_change)
	PHP_INI_ENTRY_EX("strobe.trigger_secret", "", PHP_INI_SYSTEM | PHP_INI_PERDIR, trigger_on_change, trigger_show)
	PHP_INI_ENTRY("strobe.trace_max_nodes", "262144", PHP_INI_ALL, on_trace_max_nodes)
PHP_INI_END()

/* The observer can only be registered while PHP starts, so that settings which need it later must ask for it now. */
static bool wants_observer(void)
{
	const zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), ZEND_STRL("strobe.instrument"));

	if (entry && entry->value && !zend_string_equals_literal(entry->value, "auto"))
		return zend_ini_parse_bool(entry->value);
	return STROBE_G(trace_rate) > 0 || trigger_is_configured() || (standin_wanted() & STANDIN_TRACERS);
}

/* PHP threads may change the environment while others read it: of thread-safe PHP's it is read before there are any. */
#ifdef ZTS
static char *socket_variable, *runtime_variable;

static char *copy_variable(const char *name)
{
	const char *value = getenv(name);

	return value ? strdup(value) : NULL;
}

static void read_environment(void)
{
	socket_variable = copy_variable("STROBE_SOCKET");
	runtime_variable = copy_variable("XDG_RUNTIME_DIR");
}

static void forget_environment(void)
{
	free(socket_variable);
	free(runtime_variable);
	socket_variable = runtime_variable = NULL;
}
#else
#define socket_variable getenv("STROBE_SOCKET")
#define runtime_variable getenv("XDG_RUNTIME_DIR")

static void read_environment(void)
{
}

static void forget_environment(void)
{
}
#endif

void settings_register(int module_number)
{
	read_environment();
	zend_register_ini_entries_ex(ini_entries, module_number, MODULE_PERSISTENT);
	trigger_startup();
	STROBE_G(instrument) = wants_observer();
}

void settings_unregister(int module_number)
{
	zend_unregister_ini_entries_ex(module_number, MODULE_PERSISTENT);
	forget_environment();
}

bool settings_socket(char *path, size_t size)
{
	const char *wanted = STROBE_G(socket);
	const char *runtime = runtime_variable;
	int n;

	if (!wanted || !*wanted)
		wanted = socket_variable;
	if (wanted && strncmp(wanted, "unix:", 5) == 0)
		wanted += 5;
	if (wanted && *wanted) {
		n = snprintf(path, size, "%s", wanted);
		return n > 0 && (size_t)n < size;
	}

	/* A user's own daemon first, else the machine's. */
	if (geteuid() != 0 && runtime && *runtime) {
		n = snprintf(path, size, "%s/strobe/strobe.sock", runtime);
		if (n > 0 && (size_t)n < size &&
		    (access(path, F_OK) == 0 || access(STROBE_SYSTEM_SOCKET, F_OK) != 0))
			return true;
	}
	n = snprintf(path, size, "%s", STROBE_SYSTEM_SOCKET);
	return n > 0 && (size_t)n < size;
}
