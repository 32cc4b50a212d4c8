/* request_url.h: the URL of the running request without secrets. */
#ifndef STROBE_REQUEST_URL_H
#define STROBE_REQUEST_URL_H

#include <stddef.h>

/* Writes path and query of the request, cut to `size` bytes with a NUL. The parameter that triggers a trace is taken
 * out, and every other that holds the secret in any encoding; if its path does, there is no URL. Returns the length, 0
 * if there is none. */
size_t request_url(char *out, size_t size);

#endif
