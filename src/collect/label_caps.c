/* label_caps.c: the values of a day, label by label. */
#include "label_caps.h"

#include "intern.h"
#include "log.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

#define KEYS_MAX 256u				/* values of further labels all become "other" */

struct cap {
	char *key;
	struct intern values;
	bool logged;
};

struct label_caps {
	struct cap caps[KEYS_MAX];
	size_t count;
	unsigned max_values;
	_Atomic uint64_t *folded, *dropped;
	int64_t day;
};

struct label_caps *label_caps_new(unsigned max_values, _Atomic uint64_t *folded, _Atomic uint64_t *dropped)
{
	struct label_caps *c = xcalloc(1, sizeof(*c));

	assert(max_values > 0 && folded && dropped);
	c->max_values = max_values;
	c->folded = folded;
	c->dropped = dropped;
	return c;
}

static void forget(struct label_caps *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->caps[i].key);
		intern_done(&c->caps[i].values);
	}
	c->count = 0;
}

struct label_caps *label_caps_free(struct label_caps *c)
{
	if (c)
		forget(c);
	free(c);
	return NULL;
}

void label_caps_set_max(struct label_caps *c, unsigned max_values)
{
	c->max_values = max_values;
}

void label_caps_set_day(struct label_caps *c, int64_t day)
{
	/* A clock that is set back a little around midnight does not begin a new day. */
	if (day == c->day || day == c->day - 1)
		return;
	forget(c);
	c->day = day;
}

static struct cap *find(struct label_caps *c, const char *key)
{
	struct cap *cap;

	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->caps[i].key, key))
			return &c->caps[i];
	if (c->count == KEYS_MAX)
		return NULL;
	cap = &c->caps[c->count++];
	*cap = (struct cap){ .key = xstrdup(key) };
	intern_init(&cap->values);
	return cap;
}

static bool fits(struct label_caps *c, struct cap *cap, const char *value)
{
	size_t max = (size_t)c->max_values * (!strcmp(cap->key, "host") ? LABEL_CAPS_HOSTS : 1), n = strlen(value);

	if (cap->values.count >= max)
		return intern_find(&cap->values, value, n) != UINT32_MAX;
	intern_add(&cap->values, value, n);
	return true;
}

static void drop_labels_of_runs(struct label_caps *c, struct labels *labels)
{
	size_t kept = 0;

	for (size_t i = 0; i < labels->count; i++) {
		struct label *l = &labels->items[i];

		if (!label_is_of_runs(l->key, strlen(l->key))) {
			labels->items[kept++] = *l;
			continue;
		}
		free(l->key);
		free(l->value);
		++*c->dropped;
	}
	labels->count = kept;
}

void label_caps_apply(struct label_caps *c, struct labels *labels)
{
	drop_labels_of_runs(c, labels);
	for (size_t i = 0; i < labels->count; i++) {
		struct label *l = &labels->items[i];
		struct cap *cap;

		if (!strcmp(l->value, "other"))
			continue;
		cap = find(c, l->key);
		if (cap && fits(c, cap, l->value))
			continue;
		if (cap && !cap->logged)
			log_warning("the label '%s' has reached its limit of %zu values today; further values "
				    "count as 'other'", cap->key,
				    cap->values.count);
		if (cap)
			cap->logged = true;
		free(l->value);
		l->value = xstrdup("other");
		++*c->folded;
	}
}
