/* pattern.h: regular expressions of selectors, in the syntax of RE2, matched against whole values in linear time.
 *
 * Read are literals, ., classes ([a-z], [^…], [[:alpha:]], \d \w \s and their opposites), groups, |, * + ? {2,5} (lazy
 * ones match the same here), ^ $ \A \z \b \B, escapes, \Q…\E and the flag (?i) at the beginning. Classes fold and range over ASCII; a
 * pattern with anything else of RE2 (\pL, flags of groups) is refused with a sentence. PATTERN_STATES bounds the time and
 * memory of untrusted patterns.
 */
#ifndef PYROSCOPE_PATTERN_H
#define PYROSCOPE_PATTERN_H

#include "err.h"

#include <stdbool.h>

#define PATTERN_STATES	10000u
#define PATTERN_DEPTH	100u		/* groups in groups */

struct pattern;

/* -EINVAL with a sentence. */
int pattern_new(const char *text, struct pattern **ret, struct err *err);

/* The same for a pattern that may match anywhere in the value. */
int pattern_new_search(const char *text, bool ignore_case, struct pattern **ret, struct err *err);

struct pattern *pattern_free(struct pattern *p);		/* NULL is fine; returns NULL */

/* Whether it matches all of the value, not a part. */
bool pattern_matches(const struct pattern *p, const char *value);

#endif
