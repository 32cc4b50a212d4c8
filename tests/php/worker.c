/* worker.c: a SAPI that calls PHP as FrankenPHP does in worker mode, for tests/php/run.
 *
 * usage: worker THREADS SCRIPT REQUESTS [INI-LINE…]
 *
 * Each of THREADS threads (one, unless PHP is thread-safe) runs SCRIPT as one request of PHP's. In it the function
 * frankenphp_handle_request(callable) ends the boot, takes the next line of the file REQUESTS, "METHOD URI WAIT-MS [SECRET]", waits
 * that long, activates SAPI for it, calls the callable, and deactivates SAPI. It returns false when no line is left, then with SAPI
 * activated once more, but without a request. SECRET is the header X-Strobe-Trace. PHP's output goes to standard
 * output.
 */

#include "php.h"
#include "php_main.h"
#include "php_output.h"
#include "php_variables.h"
#include "SAPI.h"
#ifdef ZTS
#include "TSRM.h"
#endif

#include "zend_exceptions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif

#define REQUESTS 1024

struct request {
	char method[16], uri[256], secret[64];
	int wait_ms;
};

static struct request requests[REQUESTS];
static int request_count, next_request;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *script;

static __thread const struct request *current;
static __thread bool booting;

/* --- requests */

static void read_requests(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[512];

	while (f && request_count < REQUESTS && fgets(line, sizeof(line), f)) {
		struct request *r = &requests[request_count];

		if (sscanf(line, "%15s %255s %d %63s", r->method, r->uri, &r->wait_ms, r->secret) >= 3)
			request_count++;
	}
	if (f)
		fclose(f);
}

static const struct request *wait_for_request(void)
{
	const struct request *r = NULL;

	pthread_mutex_lock(&lock);
	if (next_request < request_count)
		r = &requests[next_request++];
	pthread_mutex_unlock(&lock);
	if (r)
		usleep((useconds_t)r->wait_ms * 1000);
	return r;
}

static void set_request_info(const struct request *r)
{
	const char *query = r ? strchr(r->uri, '?') : NULL;

	SG(server_context) = (void *)1;
	SG(sapi_headers).http_response_code = 200;
	SG(request_info).request_method = r ? r->method : NULL;
	SG(request_info).request_uri = r ? (char *)r->uri : NULL;
	SG(request_info).query_string = query ? (char *)query + 1 : r ? "" : NULL;
	SG(request_info).path_translated = r ? (char *)script : NULL;
}

static void forget_request_info(void)
{
	SG(request_info).request_method = NULL;
	SG(request_info).request_uri = NULL;
	SG(request_info).query_string = NULL;
	SG(request_info).path_translated = NULL;
	SG(request_info).cookie_data = NULL;
}

/* --- the effects of a worker's request on PHP */

static void import_again(const char *name)
{
	zend_auto_global *g = zend_hash_str_find_ptr(CG(auto_globals), name, strlen(name));

	if (g)
		g->armed = g->auto_global_callback(g->name);
}

static void worker_request_start(void)
{
	set_request_info(current);
	zend_try {
		php_output_activate();
		PG(header_is_being_sent) = 0;
		PG(connection_status) = PHP_CONNECTION_NORMAL;
		sapi_activate();
		import_again("_GET");
		import_again("_SERVER");
	} zend_end_try();
	SG(sapi_started) = 1;
}

static void worker_request_end(void)
{
	zend_try {
		php_output_end_all();
	} zend_end_try();
	zend_try {
		php_output_deactivate();
	} zend_end_try();
	forget_request_info();
	zend_try {
		sapi_deactivate();
	} zend_end_try();
}

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_handle_request, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, callback, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

static PHP_FUNCTION(frankenphp_handle_request)
{
	zend_fcall_info_cache cache;
	zend_fcall_info call;
	zval value;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_FUNC(call, cache)
	ZEND_PARSE_PARAMETERS_END();

	if (booting)
		worker_request_end();
	booting = false;
	current = wait_for_request();
	worker_request_start();
	if (!current)
		RETURN_FALSE;
	ZVAL_UNDEF(&value);
	call.retval = &value;
	zend_call_function(&call, &cache);
	zval_ptr_dtor(&value);
	if (EG(exception)) {
		if (zend_is_unwind_exit(EG(exception)) || zend_is_graceful_exit(EG(exception)))
			zend_bailout();
		zend_exception_error(EG(exception), E_ERROR);
	}
	worker_request_end();
	RETURN_TRUE;
}

/* --- SAPI */

static const zend_function_entry functions[] = {
	PHP_FE(frankenphp_handle_request, arginfo_handle_request)
	PHP_FE_END
};

static zend_module_entry module = {
	STANDARD_MODULE_HEADER, "frankenphp", functions, NULL, NULL, NULL, NULL, NULL, "0", STANDARD_MODULE_PROPERTIES
};

static int startup(sapi_module_struct *sapi)
{
#if PHP_VERSION_ID >= 80200
	return php_module_startup(sapi, &module);
#else
	return php_module_startup(sapi, &module, 1);
#endif
}

static int deactivate(void)
{
	return SUCCESS;
}

static size_t write_out(const char *p, size_t n)
{
	return write(STDOUT_FILENO, p, n) < 0 ? 0 : n;
}

static void flush(void *context)
{
}

/* The environment of the process, not the request. */
static char *get_environment(const char *name, size_t n)
{
	return getenv(name);
}

static int send_headers(sapi_headers_struct *headers)
{
	return SAPI_HEADER_SENT_SUCCESSFULLY;
}

static size_t read_post(char *p, size_t n)
{
	return 0;
}

static char *read_cookies(void)
{
	return NULL;
}

static void register_variables(zval *array)
{
	if (current && *current->secret)
		php_register_variable("HTTP_X_STROBE_TRACE", (char *)current->secret, array);
	if (current)
		php_register_variable("REQUEST_URI", (char *)current->uri, array);
}

static void log_message(const char *message, int type)
{
	fprintf(stderr, "%s\n", message);
}

static sapi_module_struct sapi = {
	"frankenphp", "a SAPI like FrankenPHP's",
	startup, php_module_shutdown_wrapper,
	NULL, deactivate,
	write_out, flush, NULL, get_environment,
	php_error,
	NULL, send_headers, NULL,
	read_post, read_cookies, register_variables, log_message, NULL, NULL,
	STANDARD_SAPI_MODULE_PROPERTIES
};

static void run_script(void)
{
	static const struct request boot = { "GET", "/worker.php", "", 0 };
	zend_file_handle file;

	booting = true;
	current = &boot;
	zend_first_try {
		set_request_info(&boot);
		if (php_request_startup() == SUCCESS) {
			zend_stream_init_filename(&file, script);
			file.primary_script = 1;
			php_execute_script(&file);
			zend_destroy_file_handle(&file);
		}
	} zend_end_try();
	forget_request_info();
	zend_try {
		php_request_shutdown(NULL);
	} zend_end_try();
}

#ifdef ZTS
static void *work(void *argument)
{
	ts_resource(0);
	ZEND_TSRMLS_CACHE_UPDATE();
	run_script();
	ts_free_thread();
	return NULL;
}
#endif

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[1]) : 0;
	static char ini[65536];

	if (threads < 1 || threads > 64) {
		fprintf(stderr, "usage: worker THREADS SCRIPT REQUESTS [INI-LINE...]\n");
		return 2;
	}
	script = argv[2];
	read_requests(argv[3]);
	for (int i = 4; i < argc; i++)
		snprintf(ini + strlen(ini), sizeof(ini) - strlen(ini), "%s\n", argv[i]);
	sapi.php_ini_ignore = 1;
	setenv("USE_ZEND_ALLOC_HUGE_PAGES", "0", 0);
#ifdef ZTS
	php_tsrm_startup();
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	zend_signal_startup();
	sapi_startup(&sapi);
	sapi.ini_entries = ini;
	if (sapi.startup(&sapi) == FAILURE)
		return 1;
#ifdef ZTS
	{
		pthread_t all[64];

		for (int i = 0; i < threads; i++)
			pthread_create(&all[i], NULL, work, NULL);
		for (int i = 0; i < threads; i++)
			pthread_join(all[i], NULL);
	}
#else
	run_script();
#endif
	sapi.shutdown(&sapi);
	sapi.ini_entries = NULL;
	sapi_shutdown();
#ifdef ZTS
	tsrm_shutdown();
#endif
	return 0;
}
