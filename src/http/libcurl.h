/* libcurl.h: the functions of libcurl, loaded on first use. For this room only. */
#ifndef HTTP_LIBCURL_H
#define HTTP_LIBCURL_H

#include "err.h"

/* Its type-checking macros would reference the functions directly. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

struct libcurl {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_easy_reset) *easy_reset;
	__typeof__(curl_easy_setopt) *easy_setopt;
	__typeof__(curl_easy_perform) *easy_perform;
	__typeof__(curl_easy_getinfo) *easy_getinfo;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
};

/* Returns the same table to all threads; it lives as long as the program. -ENOSYS with a sentence if libcurl is
 * missing. */
int libcurl_get(const struct libcurl **ret, struct err *err);

#endif
