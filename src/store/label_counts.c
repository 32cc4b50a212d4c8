/* label_counts.c: finds the place of each label, and sorts. */
#include "label_counts.h"
#include "mem.h"
#include "saturate.h"
#include <assert.h>
#include <string.h>

void label_counts_init(struct label_counts *n, struct store_labels *ret)
{
	*n = (struct label_counts){ .labels = ret };
	intern_init(&n->texts);
}

void label_counts_done(struct label_counts *n)
{
	intern_done(&n->texts);
	free(n->values);
}

static struct store_label *find_label(struct label_counts *n, const char *key, uint32_t *ret_index)
{
	struct store_labels *l = n->labels;

	for (size_t i = 0; i < l->count; i++) {
		if (!strcmp(l->items[i].key, key)) {
			*ret_index = (uint32_t)i;
			return &l->items[i];
		}
	}
	GROW(&l->items, &n->label_capacity, l->count + 1);
	l->items[l->count] = (struct store_label){ .key = xstrdup(key) };
	*ret_index = (uint32_t)l->count;
	return &l->items[l->count++];
}

/* Saturates like profiles, so that no count of samples exceeds theirs. */
static void add_samples(uint64_t *sum, uint64_t samples)
{
	saturating_count(sum, samples);
	if (*sum > INT64_MAX)
		*sum = INT64_MAX;
}

static void count_label(struct label_counts *n, const struct label *label, uint64_t samples)
{
	_cleanup_(freep) char *text = xasprintf("%s=%s", label->key, label->value);
	uint32_t known = (uint32_t)n->texts.count, number = intern_add(&n->texts, text, strlen(text)), at;
	struct store_label *l;

	assert(number <= known);
	if (number == known) {
		l = find_label(n, label->key, &at);
		/* Doubles the capacity when the count is a power of two; the answer has no field for a capacity. */
		if ((l->value_count & (l->value_count - 1)) == 0)
			l->values = xrealloc(l->values, (l->value_count ? 2 * l->value_count : 1) * sizeof(*l->values));
		l->values[l->value_count].value = xstrdup(label->value);
		l->values[l->value_count].samples = 0;
		GROW(&n->values, &n->value_capacity, number + 1);
		n->values[number].label = at;
		n->values[number].value = (uint32_t)l->value_count++;
	}
	assert(n->values[number].label < n->labels->count &&
	       n->values[number].value < n->labels->items[n->values[number].label].value_count);
	add_samples(&n->labels->items[n->values[number].label].values[n->values[number].value].samples, samples);
}

void label_counts_add(struct label_counts *n, const struct labels *labels, uint64_t samples)
{
	for (size_t i = 0; i < labels->count; i++)
		count_label(n, &labels->items[i], samples);
}

static int compare_labels(const void *a, const void *b)
{
	return strcmp(((const struct store_label *)a)->key, ((const struct store_label *)b)->key);
}

int label_values_compare(const void *a, const void *b)
{
	const struct store_label_value *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->value, y->value);
}

void label_counts_end(struct label_counts *n)
{
	struct store_labels *l = n->labels;

	for (size_t i = 0; i < l->count; i++)
		qsort(l->items[i].values, l->items[i].value_count, sizeof(*l->items[i].values), label_values_compare);
	if (l->count)
		qsort(l->items, l->count, sizeof(*l->items), compare_labels);
}
