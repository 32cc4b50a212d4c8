/* uprofiler.c: stands in for uprofiler 0.11, which does not support PHP 7 and later. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "recording.h"

#include "php_strobe.h"
#include "standin.h"

#include "ext/standard/info.h"
#include "php_ini.h"

#include <limits.h>

#define VERSION "0.11"

#define INTERVAL_US 100000

enum {
	FLAG_NO_BUILTINS = 1,
	FLAG_CPU = 2,
	FLAG_MEMORY = 4,
	FLAG_FUNCTION_INFO = 8,
};

ZEND_BEGIN_MODULE_GLOBALS(strobe_uprofiler)
	struct recording recording;
ZEND_END_MODULE_GLOBALS(strobe_uprofiler)

static ZEND_DECLARE_MODULE_GLOBALS(strobe_uprofiler)
#define UPROFILER_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(strobe_uprofiler, v)

static const struct edge_names names = {
	.load = "load::", .load_eval = "eval::", .file = "run_init::", .closure_lines = true,
};

/* For programs that store runs; unused here. */
PHP_INI_BEGIN()
	PHP_INI_ENTRY("uprofiler.output_dir", "", PHP_INI_ALL, NULL)
PHP_INI_END()

static bool is_running(void)
{
	if (!UPROFILER_G(recording).running)
		return false;
	zend_error(E_NOTICE, "uprofiler is already enabled");
	return true;
}

static PHP_FUNCTION(uprofiler_enable)
{
	struct edge_format format = { .names = &names };
	zend_long flags = 0;
	zval *options = NULL;

	if (zend_parse_parameters(ZEND_NUM_ARGS(), "|lz", &flags, &options) == FAILURE)
		return;
	if (is_running())
		RETURN_FALSE;
	if (flags < 0) {
		zend_error(E_WARNING, "Can't use negative values for $flags, assuming 0");
		flags = 0;
	}
	recording_column(&format, "ct", TREE_CALLS);
	recording_column(&format, "wt", TREE_WALL_NS);
	if (flags & FLAG_CPU)
		recording_column(&format, "cpu", TREE_CPU_NS);
	if (flags & FLAG_MEMORY) {
		recording_column(&format, "mu", TREE_MEMORY_BYTES);
		recording_column(&format, "pmu", TREE_PEAK_BYTES);
	}
	format.function_info = (flags & FLAG_FUNCTION_INFO) != 0;
	/* A user's error handler may have started a recording. */
	RETURN_BOOL(!UPROFILER_G(recording).running &&
		    recording_start(&UPROFILER_G(recording), &format, (flags & FLAG_NO_BUILTINS) != 0, NULL, options));
}

static PHP_FUNCTION(uprofiler_sample_enable)
{
	struct sampled_options options = {
		.names = &names, .interval_us = INTERVAL_US, .depth = INT_MAX, .on_grid = true,
	};

	if (is_running())
		RETURN_FALSE;
	RETURN_BOOL(recording_start_sampled(&UPROFILER_G(recording), &options));
}

/* Either function stops both modes. */
static PHP_FUNCTION(uprofiler_disable)
{
	if (UPROFILER_G(recording).running)
		recording_stop(&UPROFILER_G(recording), return_value);
}

static PHP_FUNCTION(uprofiler_sample_disable)
{
	if (UPROFILER_G(recording).running)
		recording_stop(&UPROFILER_G(recording), return_value);
}

ZEND_BEGIN_ARG_INFO_EX(enable_arginfo, 0, 0, 0)
	ZEND_ARG_INFO(0, flags)
	ZEND_ARG_INFO(0, options)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(no_arginfo, 0, 0, 0)
ZEND_END_ARG_INFO()

static const zend_function_entry functions[] = {
	PHP_FE(uprofiler_enable, enable_arginfo)
	PHP_FE(uprofiler_disable, no_arginfo)
	PHP_FE(uprofiler_sample_enable, no_arginfo)
	PHP_FE(uprofiler_sample_disable, no_arginfo)
	PHP_FE_END
};

/* Programs use both spellings. */
static void register_flag(const char *name, zend_long value, int module_number)
{
	char constant[64];
	int n;

	n = snprintf(constant, sizeof(constant), "UPROFILER_FLAGS_%s", name);
	zend_register_long_constant(constant, (size_t)n, value, CONST_CS | CONST_PERSISTENT, module_number);
	n = snprintf(constant, sizeof(constant), "uprofiler_FLAGS_%s", name);
	zend_register_long_constant(constant, (size_t)n, value, CONST_CS | CONST_PERSISTENT, module_number);
}

static PHP_MINIT_FUNCTION(uprofiler)
{
	REGISTER_INI_ENTRIES();
	register_flag("NO_BUILTINS", FLAG_NO_BUILTINS, module_number);
	register_flag("CPU", FLAG_CPU, module_number);
	register_flag("MEMORY", FLAG_MEMORY, module_number);
	register_flag("FUNCTION_INFO", FLAG_FUNCTION_INFO, module_number);
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(uprofiler)
{
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(uprofiler)
{
	recording_drop(&UPROFILER_G(recording));
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(uprofiler)
{
	php_info_print_table_start();
	php_info_print_table_row(2, "uprofiler", "enabled");
	php_info_print_table_header(2, "uprofiler", VERSION);
	php_info_print_table_row(2, "Provided by", "Strobe " PHP_STROBE_VERSION);
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

static PHP_GINIT_FUNCTION(strobe_uprofiler)
{
	memset(strobe_uprofiler_globals, 0, sizeof(*strobe_uprofiler_globals));
}

zend_module_entry strobe_uprofiler_module = {
	STANDARD_MODULE_HEADER,
	"uprofiler",
	functions,
	PHP_MINIT(uprofiler),
	PHP_MSHUTDOWN(uprofiler),
	NULL,
	PHP_RSHUTDOWN(uprofiler),
	PHP_MINFO(uprofiler),
	VERSION,
	PHP_MODULE_GLOBALS(strobe_uprofiler),
	PHP_GINIT(strobe_uprofiler),
	NULL,
	NULL,
	STANDARD_MODULE_PROPERTIES_EX
};
