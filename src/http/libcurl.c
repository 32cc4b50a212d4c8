/* libcurl.c: opens the library with dlopen, once. */
#include "libcurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

static struct libcurl library;
static struct err problem;		/* the reason why it could not be loaded */

/* Tries the GnuTLS build first, since libmicrohttpd has loaded GnuTLS already. Fedora, Alpine and others have only
 * the second name; functions and constants are the same. */
static void *open_library(void)
{
	static const char *const names[] = { "libcurl-gnutls.so.4", "libcurl.so.4" };
	void *handle = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !handle; i++)
		handle = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	return handle;
}

static bool find_functions(void *handle)
{
	struct { void *to; const char *name; } functions[] = {
		{ &library.global_init, "curl_global_init" },
		{ &library.easy_init, "curl_easy_init" },
		{ &library.easy_cleanup, "curl_easy_cleanup" },
		{ &library.easy_reset, "curl_easy_reset" },
		{ &library.easy_setopt, "curl_easy_setopt" },
		{ &library.easy_perform, "curl_easy_perform" },
		{ &library.easy_getinfo, "curl_easy_getinfo" },
		{ &library.easy_strerror, "curl_easy_strerror" },
		{ &library.slist_append, "curl_slist_append" },
		{ &library.slist_free_all, "curl_slist_free_all" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return false;
		*(void **)functions[i].to = function;
	}
	return true;
}

static void load(void)
{
	void *handle = open_library();

	if (!handle)
		err_set(&problem, -ENOSYS, "HTTP needs libcurl, which is missing; install the package libcurl3-gnutls or libcurl4");
	else if (!find_functions(handle) || library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		err_set(&problem, -ENOSYS, "the installed libcurl cannot be used; install version 7.85 or later");
}

int libcurl_get(const struct libcurl **ret, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (problem.code)
		return err_set(err, problem.code, "%s", problem.text);
	*ret = &library;
	return 0;
}
