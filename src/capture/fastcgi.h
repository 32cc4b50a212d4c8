/* fastcgi.h: variables that the web server has sent with a request, such as REQUEST_URI, which php-fpm keeps until its end.
 *
 * SAPI's own request_uri is the script's name under php-fpm, so the address that a person knows is only here.
 */
#ifndef CAPTURE_FASTCGI_H
#define CAPTURE_FASTCGI_H

#include "bpf/event.h"
#include <stdbool.h>
#include <stddef.h>

/* Reads a variable of the request that begins at `request` (SAPI's server_context) in the process that is selected
 * (remote_memory.h). A longer value is cut. False if there is none, or no request is there. */
bool fastcgi_variable(u64 request, const char *name, char *ret, size_t size);

#endif
