/* request_url.h: the URL of the running request without secrets. */
#ifndef STROBE_REQUEST_URL_H
#define STROBE_REQUEST_URL_H

#include <stddef.h>

/* Writes path and query of the request, truncated to `size` bytes including a NUL. Removes the parameter that
 * triggers a trace, and every other one that contains the secret in any encoding; if the path contains it, there is
 * no URL. Returns the length, 0 if there is none. */
size_t request_url(char *out, size_t size);

#endif
