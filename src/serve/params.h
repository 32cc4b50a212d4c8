/* params.h: the query string of a URL, parsed and validated.
 *
 * Keys are valid label names ([A-Za-z_][A-Za-z0-9_]*), optionally after "label.", and "keep-i" and "remove-i"; values
 * are any bytes except NUL, percent-decoded, with + as a space. Both have the size limits of labels in
 * wire/strobe_wire.h. */
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

/* Returns 0, or -EINVAL with a sentence. `query` is the part after the "?", or NULL. Call params_done in any case. */
int params_parse(struct params *p, const char *query, struct err *err);
void params_done(struct params *p);

const char *params_get(const struct params *p, const char *key);	/* the first value of that key; NULL: none */

#endif
