/* selector.h: selectors of series, in PromQL's syntax: {service_name="shop", host!~"test.*"}.
 *
 *	selector	name, { matcher, … }, both, or nothing, which selects all
 *	matcher		label = "text" | label != "text" | label =~ "pattern" | label !~ "pattern"
 *	label		a name, or any text in quotes
 *	text		"…" or '…' with the escapes of Go, or `…` as it stands
 *
 * A name in front is the label __name__. A label that is missing has the value "". All matchers must hold.
 */
#ifndef PYROSCOPE_SELECTOR_H
#define PYROSCOPE_SELECTOR_H

#include "arena.h"
#include "err.h"

#include <stdbool.h>

#define SELECTOR_MATCHERS	64u

struct pattern;

struct matcher {
	const char *label, *value;
	struct pattern *pattern;	/* NULL: the value is compared literally */
	bool negated;
};

struct selector {
	struct matcher items[SELECTOR_MATCHERS];
	size_t count;
	struct arena bytes;
};

void selector_init(struct selector *s);
void selector_done(struct selector *s);

/* Adds the matchers of a text. -EINVAL with a sentence. */
int selector_add(struct selector *s, const char *text, struct err *err);

bool matcher_holds(const struct matcher *m, const char *value);

/* Whether any matcher is about this label. */
bool selector_has(const struct selector *s, const char *label);

/* Whether all matchers of this label hold. */
bool selector_takes(const struct selector *s, const char *label, const char *value);

#endif
