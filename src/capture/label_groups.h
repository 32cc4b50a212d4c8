/* label_groups.h: numbers for sets of labels, so that equal sets have one number. */
#ifndef CAPTURE_LABEL_GROUPS_H
#define CAPTURE_LABEL_GROUPS_H

#include "labels.h"
#include "map.h"
#include <stddef.h>

struct label_groups {
	struct labels *labels;		/* by number */
	size_t count, capacity;
	struct map by_text;
};

void label_groups_init(struct label_groups *g);
void label_groups_done(struct label_groups *g);

/* Returns the number of this set; a new set is copied. */
uint32_t label_groups_find(struct label_groups *g, const struct labels *labels);

/* Returns the number of a known set; UINT32_MAX if unknown. */
uint32_t label_groups_get(const struct label_groups *g, const struct labels *labels);

#endif
