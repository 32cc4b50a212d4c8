/* http_problem.h: the error message for a request that libcurl could not finish. For this room only. */
#ifndef HTTP_PROBLEM_H
#define HTTP_PROBLEM_H

#include "libcurl.h"
#include <stdbool.h>
#include <stdint.h>

struct http_problem {
	CURLcode code;
	const char *detail;		/* libcurl's own words, about the connection only */
	const char *where;		/* "https://host:8443" */
	const char *ca_file;		/* NULL: the system's */
	bool is_connected;		/* TCP, and TLS if used */
	int os_errno;			/* errno of connect(2); 0: none */
	int64_t connect_ns, total_ns;	/* the deadlines */
};

int http_problem_set(const struct http_problem *p, struct err *err);

#endif
