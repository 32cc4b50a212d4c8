/* excimer.c: the module that answers to the name excimer. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "excimer.h"
#include "excimer_event.h"
#include "standin.h"

#include "ext/standard/info.h"
#include "php_ini.h"

PHP_INI_BEGIN()
	PHP_INI_ENTRY("excimer.default_max_depth", "1000", PHP_INI_ALL, NULL)
PHP_INI_END()

zend_class_entry *excimer_class(const char *name, const zend_function_entry *methods,
	zend_object *(*create)(zend_class_entry *), zend_object_handlers *handlers, int offset,
	void (*free_object)(zend_object *))
{
	zend_class_entry entry, *class;

	INIT_CLASS_ENTRY_EX(entry, name, strlen(name), methods);
	class = zend_register_internal_class(&entry);
	class->create_object = create;
	memcpy(handlers, zend_get_std_object_handlers(), sizeof(*handlers));
	handlers->offset = offset;
	handlers->free_obj = free_object;
	/* A running timer cannot be cloned, and the original's clones crash on first use. */
	handlers->clone_obj = NULL;
	return class;
}

static ZEND_FUNCTION(excimer_set_timeout)
{
	zval *callback;
	double seconds;

	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_ZVAL(callback)
		Z_PARAM_DOUBLE(seconds)
	ZEND_PARSE_PARAMETERS_END();
	excimer_timer_create(return_value, callback, seconds);
}

static PHP_MINIT_FUNCTION(excimer)
{
	REGISTER_INI_ENTRIES();
	REGISTER_LONG_CONSTANT("EXCIMER_REAL", EXCIMER_REAL, CONST_PERSISTENT);
	REGISTER_LONG_CONSTANT("EXCIMER_CPU", EXCIMER_CPU, CONST_PERSISTENT);
	excimer_register_profiler();
	excimer_register_log();
	excimer_register_timer();
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(excimer)
{
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(excimer)
{
	php_info_print_table_start();
	php_info_print_table_header(2, "excimer support", "enabled");
	php_info_print_table_row(2, "excimer version", EXCIMER_VERSION);
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

ZEND_BEGIN_ARG_INFO(takes_callback_and_interval, 0)
	ZEND_ARG_INFO(0, callback)
	ZEND_ARG_INFO(0, interval)
ZEND_END_ARG_INFO()

static const zend_function_entry functions[] = {
	ZEND_FE(excimer_set_timeout, takes_callback_and_interval)
	ZEND_FE_END
};

/* Empty, but reflection shows whether there is a list. */
static const zend_module_dep dependencies[] = {
	ZEND_MOD_END
};

zend_module_entry strobe_excimer_module = {
	STANDARD_MODULE_HEADER_EX,
	NULL,
	dependencies,
	"excimer",
	functions,
	PHP_MINIT(excimer),
	PHP_MSHUTDOWN(excimer),
	NULL,
	NULL,
	PHP_MINFO(excimer),
	EXCIMER_VERSION,
	STANDARD_MODULE_PROPERTIES
};
