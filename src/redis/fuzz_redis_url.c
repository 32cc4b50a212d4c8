/* fuzz_redis_url.c: parses any text as the address of a Redis: an accepted URL must have a host and a port, and its
 * shown form must name the same place. */
#include "mem.h"
#include "redis_url.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct redis_url u, shown;
	struct err err;

	if (redis_url_parse(text, &u, &err) == 0) {
		if (!u.host[0] || u.port < 1 || u.port > 65535 || u.parameter_count > URL_PARAMETERS)
			abort();
		/* The form without the password may be longer by three bytes. */
		if (strlen(u.shown) <= URL_MAX) {
			if (redis_url_parse(u.shown, &shown, &err) < 0 || strcmp(shown.host, u.host) ||
			    shown.port != u.port ||
			    shown.database != u.database || shown.parameter_count != u.parameter_count)
				abort();
			redis_url_done(&shown);
		}
	} else if (!err.text[0]) {
		abort();
	}
	redis_url_done(&u);
	free(text);
	return 0;
}
