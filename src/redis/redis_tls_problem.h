/* redis_tls_problem.h: explains why TLS to a Redis failed, in a sentence with the remedy. */
#ifndef REDIS_REDIS_TLS_PROBLEM_H
#define REDIS_REDIS_TLS_PROBLEM_H

#include "redis_tls_options.h"
#include <gnutls/gnutls.h>
#include <stddef.h>

/* Explains an error of the handshake; `name` is the name that the certificate should have had. "its certificate has
 * expired; …" */
void redis_tls_problem_of_handshake(gnutls_session_t session, int code, const struct redis_tls_options *o, const char *name,
				    char *text, size_t size);

/* Explains a later error. */
void redis_tls_problem_describe(gnutls_session_t session, int code, const struct redis_tls_options *o, char *text, size_t size);

#endif
