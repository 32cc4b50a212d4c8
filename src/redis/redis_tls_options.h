/* redis_tls_options.h: parses the TLS parameters of a Redis URL.
 *
 *	rediss://HOST/…			speaks TLS, and verifies the certificate of the server
 *	ca-file=FILE			trusts these authorities (PEM) instead of the system's
 *	cert-file=FILE, key-file=FILE	our certificate and its key (PEM); the key may be in cert-file, too
 *	server-name=NAME		the name in the certificate of the server, if that is not the host of the URL
 *	verify=no			accepts any certificate
 *
 * The files are read at each connection, so certificates can be renewed in place. */
#ifndef REDIS_REDIS_TLS_OPTIONS_H
#define REDIS_REDIS_TLS_OPTIONS_H

#include "err.h"
#include <stdbool.h>

struct redis_url;

struct redis_tls_options {
	bool is_wanted;				/* without it, all other options are ignored */
	bool is_unverified;
	char *ca_file;				/* NULL: the system's */
	char *cert_file, *key_file;		/* both or none */
	char *server_name;			/* NULL: the host */
};

/* Tells whether a parameter is one of these, for URLs with and without TLS. */
bool redis_tls_is_parameter(const char *name);

/* Returns -EINVAL with a sentence if the parameters of a URL with TLS are inconsistent. */
int redis_tls_options_check(const struct redis_url *u, struct err *err);

/* Copies the options from `u`, which must have been checked. */
void redis_tls_options_init(struct redis_tls_options *o, const struct redis_url *u);
void redis_tls_options_done(struct redis_tls_options *o);

#endif
