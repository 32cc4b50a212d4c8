/* tideways.c: stands in for tideways_xhprof 5.0.4. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "recording.h"

#include "php_strobe.h"
#include "standin.h"

#include "ext/standard/info.h"
#include "php_ini.h"

#define VERSION "5.0.4"

enum {
	FLAG_CPU = 1,
	FLAG_MEMORY_MU = 2,
	FLAG_MEMORY_PMU = 4,
	FLAG_MEMORY = FLAG_MEMORY_MU | FLAG_MEMORY_PMU,
	FLAG_NO_BUILTINS = 8,
	FLAG_MEMORY_ALLOC = 16,
	FLAG_MEMORY_ALLOC_AS_MU = 32 | FLAG_MEMORY_ALLOC,
};

ZEND_BEGIN_MODULE_GLOBALS(strobe_tideways)
	struct recording recording;
	bool clock_use_rdtsc;		/* both are displayed but ignored: the tracer uses the best available clock */
	bool documented_rdtsc;
ZEND_END_MODULE_GLOBALS(strobe_tideways)

static ZEND_DECLARE_MODULE_GLOBALS(strobe_tideways)
#define TIDEWAYS_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(strobe_tideways, v)

/* Code of files and compilations counts for their callers. */
static const struct edge_names names = { 0 };

PHP_INI_BEGIN()
	STD_PHP_INI_ENTRY("tideways_xhprof.clock_use_rdtsc", "0", PHP_INI_SYSTEM, OnUpdateBool, clock_use_rdtsc,
			  zend_strobe_tideways_globals, strobe_tideways_globals)
PHP_INI_END()

/* The name used by the original's documentation. It is registered by strobe, so that reflection shows the same
 * settings as for the original. */
static const zend_ini_entry_def documented_spelling[] = {
	STD_PHP_INI_ENTRY("tideways.clock_use_rdtsc", "0", PHP_INI_SYSTEM, OnUpdateBool, documented_rdtsc,
			  zend_strobe_tideways_globals, strobe_tideways_globals)
PHP_INI_END()

static void columns_for(struct edge_format *f, zend_long flags)
{
	recording_column(f, "ct", TREE_CALLS);
	recording_column(f, "wt", TREE_WALL_NS);
	if (flags & FLAG_MEMORY_ALLOC) {
		recording_column(f, "mem.na", TREE_ALLOCATIONS);
		recording_column(f, "mem.nf", TREE_FREES);
		recording_column(f, "mem.aa", TREE_ALLOCATED_BYTES);
		if ((flags & (FLAG_MEMORY_ALLOC_AS_MU | FLAG_MEMORY_MU)) == FLAG_MEMORY_ALLOC_AS_MU)
			recording_column(f, "mu", TREE_ALLOCATED_BYTES);
	}
	if (flags & FLAG_CPU)
		recording_column(f, "cpu", TREE_CPU_NS);
	if (flags & FLAG_MEMORY_MU)
		recording_column(f, "mu", TREE_MEMORY_BYTES);
	if (flags & FLAG_MEMORY_PMU)
		recording_column(f, "pmu", TREE_PEAK_BYTES);
}

static PHP_FUNCTION(tideways_xhprof_enable)
{
	struct edge_format format = { .names = &names };
	zend_long flags = 0;

	if (zend_parse_parameters(ZEND_NUM_ARGS(), "|l", &flags) == FAILURE)
		return;
	if (TIDEWAYS_G(recording).running)
		return;
	columns_for(&format, flags);
	recording_start(&TIDEWAYS_G(recording), &format, (flags & FLAG_NO_BUILTINS) != 0, NULL, NULL);
}

static PHP_FUNCTION(tideways_xhprof_disable)
{
	if (TIDEWAYS_G(recording).running)
		recording_stop(&TIDEWAYS_G(recording), return_value);
	else
		array_init(return_value);
}

ZEND_BEGIN_ARG_INFO_EX(enable_arginfo, 0, 0, 0)
	ZEND_ARG_INFO_WITH_DEFAULT_VALUE(0, options, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(disable_arginfo, 0, 0, 0)
ZEND_END_ARG_INFO()

static const zend_function_entry functions[] = {
	PHP_FE(tideways_xhprof_enable, enable_arginfo)
	PHP_FE(tideways_xhprof_disable, disable_arginfo)
	PHP_FE_END
};

static PHP_MINIT_FUNCTION(tideways_xhprof)
{
	REGISTER_INI_ENTRIES();
	zend_register_ini_entries_ex(documented_spelling, strobe_module_entry.module_number, type);

	REGISTER_LONG_CONSTANT("TIDEWAYS_XHPROF_FLAGS_MEMORY", FLAG_MEMORY, CONST_CS | CONST_PERSISTENT);
	REGISTER_LONG_CONSTANT("TIDEWAYS_XHPROF_FLAGS_MEMORY_MU", FLAG_MEMORY_MU, CONST_CS | CONST_PERSISTENT);
	REGISTER_LONG_CONSTANT("TIDEWAYS_XHPROF_FLAGS_MEMORY_PMU", FLAG_MEMORY_PMU, CONST_CS | CONST_PERSISTENT);
	REGISTER_LONG_CONSTANT("TIDEWAYS_XHPROF_FLAGS_CPU", FLAG_CPU, CONST_CS | CONST_PERSISTENT);
	REGISTER_LONG_CONSTANT("TIDEWAYS_XHPROF_FLAGS_NO_BUILTINS", FLAG_NO_BUILTINS, CONST_CS | CONST_PERSISTENT);
	REGISTER_LONG_CONSTANT("TIDEWAYS_XHPROF_FLAGS_MEMORY_ALLOC", FLAG_MEMORY_ALLOC, CONST_CS | CONST_PERSISTENT);
	REGISTER_LONG_CONSTANT("TIDEWAYS_XHPROF_FLAGS_MEMORY_ALLOC_AS_MU", FLAG_MEMORY_ALLOC_AS_MU,
			       CONST_CS | CONST_PERSISTENT);
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(tideways_xhprof)
{
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(tideways_xhprof)
{
	recording_drop(&TIDEWAYS_G(recording));
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(tideways_xhprof)
{
	php_info_print_table_start();
	php_info_print_table_row(2, "Version", VERSION);
	php_info_print_table_row(2, "Clock Source",
				 TIDEWAYS_G(clock_use_rdtsc) || TIDEWAYS_G(documented_rdtsc) ? "tsc" : "clock_gettime");
	php_info_print_table_row(2, "Provided by", "Strobe " PHP_STROBE_VERSION);
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

static PHP_GINIT_FUNCTION(strobe_tideways)
{
	memset(strobe_tideways_globals, 0, sizeof(*strobe_tideways_globals));
}

zend_module_entry strobe_tideways_module = {
	STANDARD_MODULE_HEADER,
	"tideways_xhprof",
	functions,
	PHP_MINIT(tideways_xhprof),
	PHP_MSHUTDOWN(tideways_xhprof),
	NULL,
	PHP_RSHUTDOWN(tideways_xhprof),
	PHP_MINFO(tideways_xhprof),
	VERSION,
	PHP_MODULE_GLOBALS(strobe_tideways),
	PHP_GINIT(strobe_tideways),
	NULL,
	NULL,
	STANDARD_MODULE_PROPERTIES_EX
};
