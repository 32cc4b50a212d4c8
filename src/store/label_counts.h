/* label_counts.h: samples per label and value, for the answers to store_labels. */
#ifndef STORE_LABEL_COUNTS_H
#define STORE_LABEL_COUNTS_H

#include "intern.h"
#include "store.h"

struct label_counts {
	struct store_labels *labels;
	size_t label_capacity;
	struct intern texts;		/* key=value */
	struct { uint32_t label, value; } *values;	/* by number of the text: position in `labels` */
	size_t value_capacity;
};

void label_counts_init(struct label_counts *n, struct store_labels *ret);
void label_counts_done(struct label_counts *n);

/* Adds a series that has samples, or at least rows. */
void label_counts_add(struct label_counts *n, const struct labels *labels, uint64_t samples);

/* Sorts what was counted. */
void label_counts_end(struct label_counts *n);

/* For qsort(3) of struct store_label_value: most samples first, then by name. */
int label_values_compare(const void *a, const void *b);

#endif
