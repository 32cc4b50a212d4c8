/* label_caps.h: a cardinality limit for labels.
 *
 * Sooner or later an id ends up in a label, and each value would become a series of its own. Only so many values
 * of a label are kept per UTC day; further ones become "other". An id of one request is never a label of a series. */
#ifndef COLLECT_LABEL_CAPS_H
#define COLLECT_LABEL_CAPS_H

#include "labels.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* A fleet has many hosts, so the label `host` may have more values. */
#define LABEL_CAPS_HOSTS 10u			/* times the limit of other labels */

struct label_caps;

/* Counts labels whose value became "other", and labels that were dropped. */
struct label_caps *label_caps_new(unsigned max_values, _Atomic uint64_t *folded, _Atomic uint64_t *dropped);
struct label_caps *label_caps_free(struct label_caps *c);	/* NULL is fine; returns NULL */

void label_caps_set_max(struct label_caps *c, unsigned max_values);	/* accepted values stay */

/* Sets the current UTC day; a new day forgets the values seen before. */
void label_caps_set_day(struct label_caps *c, int64_t day);

/* Also drops the labels that only runs keep. */
void label_caps_apply(struct label_caps *c, struct labels *labels);

#endif
