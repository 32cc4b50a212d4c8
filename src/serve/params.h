/* params.h: the query string of a URL, parsed and validated.
 *
 * Keys are what labels may be called ([A-Za-z_][A-Za-z0-9_]*), also with "label." in front of it, "keep-i" and "remove-i"; values are any bytes
 * but NUL, percent-decoded, with + as a space. Both are held to the caps of labels in wire/strobe_wire.h. */
#ifndef SERVE_PARAMS_H
#define SERVE_PARAMS_H

#include "arena.h"
#include "err.h"

#define PARAMS_MAX	64u
#define PARAMS_QUERY_MAX 8192u		/* bytes of the whole query string */

struct param {
	const char *key, *value;
};

struct params {
	struct param items[PARAMS_MAX];
	size_t count;
	struct arena bytes;
};

/* Returns 0, or -EINVAL with a sentence. `query` is what follows the "?", or NULL. Call params_done in any case. */
int params_parse(struct params *p, const char *query, struct err *err);
void params_done(struct params *p);

const char *params_get(const struct params *p, const char *key);	/* the first one's value; NULL if there is
									 * none */

#endif
