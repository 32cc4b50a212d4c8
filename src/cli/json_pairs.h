/* json_pairs.h: reads JSON as a flat list: {"store":{"bytes":7}} is the pair "store.bytes" = "7".
 *
 * Enough for answers of our own daemon. Elements of arrays are called by their index. */
#ifndef CLI_JSON_PAIRS_H
#define CLI_JSON_PAIRS_H

#include "buf.h"

struct json_pair {
	char *path, *value;	/* strings without quotes; numbers, true, false and null as they stand */
};

struct json_pairs {
	struct json_pair *items;
	size_t count, capacity;
};

/* Returns false if the text is no JSON, or nested deeper than 32 levels. Release `ret` in any case. */
bool json_pairs_read(const char *text, size_t n, struct json_pairs *ret);
void json_pairs_done(struct json_pairs *p);

const char *json_pairs_get(const struct json_pairs *p, const char *path);	/* NULL if it is not there */

#endif
