/* labels.h: the labels of a series of samples: entry=index, host=web3, sapi=fpm-fcgi …
 *
 * Sorted by key, each key once, so that equal sets have equal text. Keys match [A-Za-z_][A-Za-z0-9_]* and values may
 * be any bytes; code that reads external labels enforces the caps of wire/strobe_wire.h. */
#ifndef PROFILE_LABELS_H
#define PROFILE_LABELS_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

struct label {
	char *key, *value;	/* NUL-terminated; a value is truncated at its first NUL */
};

struct labels {
	struct label *items;
	size_t count, capacity;
};

void labels_init(struct labels *l);
void labels_done(struct labels *l);

/* Sets, or replaces, one label; both are copied. */
void labels_set(struct labels *l, const char *key, size_t key_size, const char *value, size_t value_size);
const char *labels_get(const struct labels *l, const char *key);	/* NULL if there is none */
void labels_copy(struct labels *to, const struct labels *from);		/* `to` is replaced */
void labels_keep_common(struct labels *l, const struct labels *other);	/* drops labels that differ */

/* Tells whether a label is span_id, trace_id or profile_id: they differ in every request, so only runs keep them. */
bool label_is_of_runs(const char *key, size_t key_size);

/* Puts an unambiguous text: key=value joined by commas, with % , = and control bytes of values as %XX. */
void labels_put(const struct labels *l, struct buf *out);

/* Parses such a text; returns -EINVAL with a sentence for an invalid key or a missing "=". */
int labels_parse(const char *text, struct labels *ret, struct err *err);

#endif
