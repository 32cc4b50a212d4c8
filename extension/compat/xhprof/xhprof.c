/* xhprof.c: stands in for xhprof 2.3. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "info.h"
#include "recording.h"

#include "php_strobe.h"
#include "standin.h"

#include "ext/standard/info.h"
#include "php_ini.h"

#include <limits.h>

#define VERSION "2.3.10"

#define DEFAULT_INTERVAL_US	100000
#define MIN_INTERVAL_US		100
#define MAX_INTERVAL_US		(365ll * 24 * 3600 * 1000000)	/* in nanoseconds, this still fits into 64 bits */

enum {
	FLAG_NO_BUILTINS = 1,
	FLAG_CPU = 2,
	FLAG_MEMORY = 4,
};

ZEND_BEGIN_MODULE_GLOBALS(strobe_xhprof)
	struct recording recording;
	bool collect_additional_info;
	zend_long sampling_interval;	/* µs */
	zend_long sampling_depth;
ZEND_END_MODULE_GLOBALS(strobe_xhprof)

static ZEND_DECLARE_MODULE_GLOBALS(strobe_xhprof)
#define XHPROF_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(strobe_xhprof, v)

static const struct edge_names names = { .load = "load::", .load_eval = "eval::" };

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

/* xhprof.output_dir is for programs that store runs, such as xhprof's own PHP classes. */
PHP_INI_BEGIN()
	PHP_INI_ENTRY("xhprof.output_dir", "", PHP_INI_ALL, NULL)
	STD_PHP_INI_ENTRY("xhprof.collect_additional_info", "0", PHP_INI_ALL, OnUpdateBool, collect_additional_info,
			  zend_strobe_xhprof_globals, strobe_xhprof_globals)
	STD_PHP_INI_ENTRY("xhprof.sampling_interval", TEXT(DEFAULT_INTERVAL_US), PHP_INI_ALL, OnUpdateLong,
			  sampling_interval, zend_strobe_xhprof_globals, strobe_xhprof_globals)
	STD_PHP_INI_ENTRY("xhprof.sampling_depth", "2147483647", PHP_INI_ALL, OnUpdateLong, sampling_depth,
			  zend_strobe_xhprof_globals, strobe_xhprof_globals)
PHP_INI_END()

static PHP_FUNCTION(xhprof_enable)
{
	struct edge_format format = { .names = &names };
	zend_long flags = 0;
	zval *options = NULL;

	if (zend_parse_parameters(ZEND_NUM_ARGS(), "|lz", &flags, &options) == FAILURE)
		return;
	if (XHPROF_G(recording).running)
		return;
	recording_column(&format, "ct", TREE_CALLS);
	recording_column(&format, "wt", TREE_WALL_NS);
	if (flags & FLAG_CPU)
		recording_column(&format, "cpu", TREE_CPU_NS);
	if (flags & FLAG_MEMORY) {
		recording_column(&format, "mu", TREE_MEMORY_BYTES);
		recording_column(&format, "pmu", TREE_PEAK_BYTES);
	}
	recording_start(&XHPROF_G(recording), &format, (flags & FLAG_NO_BUILTINS) != 0,
			XHPROF_G(collect_additional_info) ? &info_annotation : NULL, options);
}

static PHP_FUNCTION(xhprof_sample_enable)
{
	struct sampled_options options = { .names = &names };

	if (XHPROF_G(recording).running)
		return;
	options.interval_us = (uint64_t)MIN(MAX(XHPROF_G(sampling_interval), MIN_INTERVAL_US), MAX_INTERVAL_US);
	options.depth = XHPROF_G(sampling_depth);
	recording_start_sampled(&XHPROF_G(recording), &options);
}

/* Either function stops both modes. */
static PHP_FUNCTION(xhprof_disable)
{
	if (XHPROF_G(recording).running)
		recording_stop(&XHPROF_G(recording), return_value);
}

static PHP_FUNCTION(xhprof_sample_disable)
{
	if (XHPROF_G(recording).running)
		recording_stop(&XHPROF_G(recording), return_value);
}

ZEND_BEGIN_ARG_INFO_EX(enable_arginfo, 0, 0, 0)
	ZEND_ARG_INFO(0, flags)
	ZEND_ARG_INFO(0, options)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(no_arginfo, 0, 0, 0)
ZEND_END_ARG_INFO()

static const zend_function_entry functions[] = {
	PHP_FE(xhprof_enable, enable_arginfo)
	PHP_FE(xhprof_disable, no_arginfo)
	PHP_FE(xhprof_sample_enable, no_arginfo)
	PHP_FE(xhprof_sample_disable, no_arginfo)
	PHP_FE_END
};

static PHP_MINIT_FUNCTION(xhprof)
{
	REGISTER_INI_ENTRIES();
	REGISTER_LONG_CONSTANT("XHPROF_FLAGS_NO_BUILTINS", FLAG_NO_BUILTINS, CONST_CS | CONST_PERSISTENT);
	REGISTER_LONG_CONSTANT("XHPROF_FLAGS_CPU", FLAG_CPU, CONST_CS | CONST_PERSISTENT);
	REGISTER_LONG_CONSTANT("XHPROF_FLAGS_MEMORY", FLAG_MEMORY, CONST_CS | CONST_PERSISTENT);
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(xhprof)
{
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(xhprof)
{
	recording_drop(&XHPROF_G(recording));
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(xhprof)
{
	php_info_print_table_start();
	php_info_print_table_header(2, "xhprof support", "enabled");
	php_info_print_table_row(2, "Version", VERSION);
	php_info_print_table_row(2, "Provided by", "Strobe " PHP_STROBE_VERSION);
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

static PHP_GINIT_FUNCTION(strobe_xhprof)
{
	memset(strobe_xhprof_globals, 0, sizeof(*strobe_xhprof_globals));
}

zend_module_entry strobe_xhprof_module = {
	STANDARD_MODULE_HEADER,
	"xhprof",
	functions,
	PHP_MINIT(xhprof),
	PHP_MSHUTDOWN(xhprof),
	NULL,
	PHP_RSHUTDOWN(xhprof),
	PHP_MINFO(xhprof),
	VERSION,
	PHP_MODULE_GLOBALS(strobe_xhprof),
	PHP_GINIT(strobe_xhprof),
	NULL,
	NULL,
	STANDARD_MODULE_PROPERTIES_EX
};
