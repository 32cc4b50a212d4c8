/* threads.c: several PHP threads in one process, for tests/php/run zts.
 *
 * usage: threads ROUNDS THREADS SCRIPT [INI-LINE…]
 *
 * Embeds a thread-safe PHP, loads what the ini lines say, and, ROUNDS times, starts THREADS threads that each run SCRIPT
 * as one request and end. A script knows who it is from THREAD and ROUND in $_SERVER; each thread has the label
 * thread=t<THREAD>. Prints how many requests succeeded, and how much the process has grown in the second half: memory in
 * KB, threads, descriptors.
 */

#include "php.h"
#include "php_main.h"
#include "php_variables.h"
#include "SAPI.h"
#include "TSRM.h"

#include "sapi/embed/php_embed.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ZEND_TSRMLS_CACHE_DEFINE()

static const char *script;
static _Atomic int succeeded;

struct worker {
	pthread_t thread;
	int number, round;
};

static void set_label(int number)
{
	char value[32];
	zend_string *name = zend_string_init(ZEND_STRL("strobe.labels"), 0), *text;

	snprintf(value, sizeof(value), "thread=t%d", number);
	text = zend_string_init(value, strlen(value), 0);
	/* As a web server's configuration would set it, before the request begins. */
	zend_alter_ini_entry_ex(name, text, PHP_INI_SYSTEM, PHP_INI_STAGE_ACTIVATE, 1);
	zend_string_release(text);
	zend_string_release(name);
}

static void tell(const struct worker *w)
{
	zval *server = &PG(http_globals)[TRACK_VARS_SERVER];

	zend_is_auto_global_str(ZEND_STRL("_SERVER"));
	add_assoc_long(server, "THREAD", w->number);
	add_assoc_long(server, "ROUND", w->round);
}

static void run_request(const struct worker *w)
{
	zend_file_handle file;
	volatile bool ok = false;

	zend_first_try {
		set_label(w->number);
		SG(request_info).path_translated = estrdup(script);
		if (php_request_startup() == SUCCESS) {
			tell(w);
			SG(headers_sent) = 1;
			SG(request_info).no_headers = 1;
			zend_stream_init_filename(&file, script);
			file.primary_script = 1;
			ok = php_execute_script(&file);
			zend_destroy_file_handle(&file);
			php_request_shutdown(NULL);
		}
	} zend_end_try();
	if (ok)
		atomic_fetch_add(&succeeded, 1);
}

static void *work(void *argument)
{
	ts_resource(0);
	ZEND_TSRMLS_CACHE_UPDATE();
	run_request(argument);
	ts_free_thread();
	return NULL;
}

static size_t resident_kb(void)
{
	unsigned long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[1]) : 0, threads = argc > 3 ? atoi(argv[2]) : 0, tasks = 0, fds = 0;
	struct worker *workers = calloc(threads > 0 ? (size_t)threads : 1, sizeof(*workers));
	static char ini[65536];
	size_t kb = 0;

	if (rounds < 1 || threads < 1 || !workers) {
		fprintf(stderr, "usage: threads ROUNDS THREADS SCRIPT [INI-LINE...]\n");
		return 2;
	}
	script = argv[3];
	for (int i = 4; i < argc; i++)
		snprintf(ini + strlen(ini), sizeof(ini) - strlen(ini), "%s\n", argv[i]);
	php_embed_module.php_ini_ignore = 1;
	php_embed_module.ini_entries = NULL;
	setenv("USE_ZEND_ALLOC_HUGE_PAGES", "0", 0);

	php_tsrm_startup();
	zend_signal_startup();
	sapi_startup(&php_embed_module);
	php_embed_module.ini_entries = ini;
	if (php_embed_module.startup(&php_embed_module) == FAILURE)
		return 1;

	for (int round = 0; round < rounds; round++) {
		if (round == rounds / 2) {
			kb = resident_kb();
			tasks = entries("/proc/self/task");
			fds = entries("/proc/self/fd");
		}
		for (int i = 0; i < threads; i++) {
			workers[i].number = i;
			workers[i].round = round;
			if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
				return 1;
		}
		for (int i = 0; i < threads; i++)
			pthread_join(workers[i].thread, NULL);
	}
	printf("\n%d requests, growth: %ld KB, %d threads, %d descriptors\n", atomic_load(&succeeded),
	       (long)resident_kb() - (long)kb, entries("/proc/self/task") - tasks, entries("/proc/self/fd") - fds);
	fflush(stdout);

	php_module_shutdown();
	sapi_shutdown();
	tsrm_shutdown();
	free(workers);
	return 0;
}
