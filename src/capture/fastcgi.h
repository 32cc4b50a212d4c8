/* fastcgi.h: variables that the web server has sent with a request, such as REQUEST_URI, which php-fpm keeps until its end.
 *
 * Under php-fpm, SAPI's own request_uri is the name of the script, so the URL that the user knows is only found here.
 */
#ifndef CAPTURE_FASTCGI_H
#define CAPTURE_FASTCGI_H

#include "bpf/event.h"
#include <stdbool.h>
#include <stddef.h>

/* Reads a variable of the request at address `request` (SAPI's server_context) in the selected process
 * (remote_memory.h). A longer value is truncated. Returns false if the variable or the request does not exist. */
bool fastcgi_variable(u64 request, const char *name, char *ret, size_t size);

#endif
