/* redis_tls_options.h: parses the TLS parameters of a Redis URL.
 *
 *	rediss://HOST/…			speaks TLS, and verifies the certificate of the server
 *	ca-file=FILE			trusts these authorities (PEM) instead of the system's
 *	cert-file=FILE, key-file=FILE	our certificate and its key (PEM); the key may stand in cert-file, too
 *	server-name=NAME		the name in the certificate of the server, if that is not the host of the URL
 *	verify=no			takes any certificate
 *
 * The files are read at each connection, so certificates can be renewed in place. */
#ifndef REDIS_REDIS_TLS_OPTIONS_H
#define REDIS_REDIS_TLS_OPTIONS_H

#include "err.h"
#include <stdbool.h>

struct redis_url;

struct redis_tls_options {
	bool is_wanted;				/* all else means nothing without it */
	bool is_unverified;
	char *ca_file;				/* NULL: of the system */
	char *cert_file, *key_file;		/* both or none */
	char *server_name;			/* NULL: the host */
};

/* Whether a parameter is one of these, for URLs with TLS and without. */
bool redis_tls_is_parameter(const char *name);

/* -EINVAL with a sentence if the parameters of a URL with TLS make no sense. */
int redis_tls_options_check(const struct redis_url *u, struct err *err);

/* Copies. `u` was checked. */
void redis_tls_options_init(struct redis_tls_options *o, const struct redis_url *u);
void redis_tls_options_done(struct redis_tls_options *o);

#endif
