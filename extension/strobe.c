/* strobe.c: the module entry. Loaded without settings it does nothing. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_strobe.h"
#include "api_thread.h"
#include "strobe_api.h"
#include "request_labels.h"
#include "sampler.h"
#include "closure_home.h"
#include "file_closures.h"
#include "cpu_clock.h"
#include "delivery.h"
#include "settings.h"
#include "settings_report.h"
#include "standin.h"
#include "status.h"
#include "timers.h"
#include "tracer.h"

#include "ext/standard/info.h"

ZEND_DECLARE_MODULE_GLOBALS(strobe)

#if defined(ZTS) && defined(COMPILE_DL_STROBE)
ZEND_TSRMLS_CACHE_DEFINE()
#endif

static PHP_GINIT_FUNCTION(strobe)
{
#if defined(ZTS) && defined(COMPILE_DL_STROBE)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	memset(strobe_globals, 0, sizeof(*strobe_globals));
}

static PHP_GSHUTDOWN_FUNCTION(strobe)
{
	timers_thread_end(strobe_globals->alarms);	/* first: its thread reads memory that is freed next */
	api_thread_free(strobe_globals->api);
	tracer_thread_end();
	closure_home_thread_end();
	file_closures_thread_end();
	sampler_thread_end(strobe_globals->sampler);
	settings_report_thread_end(strobe_globals->problems);
}

static PHP_MINIT_FUNCTION(strobe)
{
	settings_register(module_number);
	delivery_startup();
	status_startup();
	sampler_startup();
	tracer_startup(type);
	api_startup(module_number);
	standin_startup(type);
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(strobe)
{
	tracer_shutdown();
	file_closures_shutdown();
	sampler_shutdown();
	delivery_shutdown();
	settings_unregister(module_number);
	return SUCCESS;
}

static PHP_RINIT_FUNCTION(strobe)
{
#if defined(ZTS) && defined(COMPILE_DL_STROBE)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	STROBE_G(in_request) = true;
	STROBE_G(warned_of_delivery) = false;
	settings_report_request_start();
	delivery_request_start();
	timers_request_start();
	closure_home_request_start();
	file_closures_request_start();
	tracer_request_start();
	request_labels_request_start();
	sampler_request_start();
	api_request_start();
	return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(strobe)
{
	sampler_request_ending();
	api_request_end();
	sampler_request_end();
	tracer_request_end();
	timers_request_end();
	settings_report_request_end();
	return SUCCESS;
}

static const char *observer_text(void)
{
	if (tracer_available())
		return "registered";
	return strcmp(INI_STR("strobe.instrument"), "auto") == 0 ?
		       "not registered: strobe.instrument is auto, and no other setting needs it" :
		       "not registered: strobe.instrument is off";
}

static PHP_MINFO_FUNCTION(strobe)
{
	struct sampler_stats stats;

	sampler_stats(&stats);
	php_info_print_table_start();
	php_info_print_table_row(2, "Strobe", PHP_STROBE_VERSION);
	status_info();
	api_info_request();
	php_info_print_table_row(2, "Samples are taken", delivery_text());
	standin_info();
	php_info_print_table_row(2, "Call observer", observer_text());
	php_info_print_table_row(2, "Clock of traces", clock_name());
	php_info_print_table_row(2, "CPU time of traces", cpu_clock_name());
	php_info_print_table_end();

	php_info_print_table_start();
	php_info_print_table_header(2, "Since this process began", "Count");
	api_info_row("Requests sampled", stats.requests);
	api_info_row("Samples taken", stats.samples);
	api_info_row("Stacks walked", stats.interrupts);
	api_info_row("Nanoseconds spent on them", stats.overhead_ns);
	api_info_row("Nanoseconds per stack, median", sampler_time_share(&stats, 0.5));
	api_info_row("Nanoseconds per stack, 99th percentile", sampler_time_share(&stats, 0.99));
	api_info_row("Messages sent", stats.messages);
	for (unsigned reason = 1; reason < SENDER_DROP_REASONS; reason++) {
		char name[64];

		snprintf(name, sizeof(name), "Samples lost: %s", strobe_drop_name(reason));
		api_info_row(name, stats.lost[reason]);
	}
	api_info_row("Requests not sampled: no thread", stats.no_thread);
	api_info_row("Requests not sampled: prevented by the JIT", stats.prevented);
	api_info_row("Requests not sampled: no memory", stats.no_memory);
	api_info_counts();
	php_info_print_table_end();

	DISPLAY_INI_ENTRIES();
}

zend_module_entry strobe_module_entry = {
	STANDARD_MODULE_HEADER,
	"strobe",
	strobe_functions,
	PHP_MINIT(strobe),
	PHP_MSHUTDOWN(strobe),
	PHP_RINIT(strobe),
	PHP_RSHUTDOWN(strobe),
	PHP_MINFO(strobe),
	PHP_STROBE_VERSION,
	PHP_MODULE_GLOBALS(strobe),
	PHP_GINIT(strobe),
	PHP_GSHUTDOWN(strobe),
	NULL,
	STANDARD_MODULE_PROPERTIES_EX
};

#ifdef COMPILE_DL_STROBE
ZEND_GET_MODULE(strobe)
#endif
