/* pattern.h: regular expressions of selectors, in the syntax of RE2, matched against whole values in linear time.
 *
 * Supported are literals, ., classes ([a-z], [^…], [[:alpha:]], \d \w \s and their opposites), groups, |, * + ? {2,5}
 * (lazy ones match the same here), ^ $ \A \z \b \B, escapes, \Q…\E and the flag (?i) at the beginning. Case folding
 * and ranges of classes cover ASCII only; patterns with other features of RE2 (\pL, flags of groups) are refused with
 * a sentence. PATTERN_STATES bounds the time and memory of untrusted patterns.
 */
#ifndef PYROSCOPE_PATTERN_H
#define PYROSCOPE_PATTERN_H

#include "err.h"

#include <stdbool.h>

#define PATTERN_STATES	10000u
#define PATTERN_DEPTH	100u		/* nesting of groups */

struct pattern;

/* -EINVAL with a sentence. */
int pattern_new(const char *text, struct pattern **ret, struct err *err);

/* Creates a pattern that may match anywhere in the value. */
int pattern_new_search(const char *text, bool ignore_case, struct pattern **ret, struct err *err);

struct pattern *pattern_free(struct pattern *p);		/* NULL is fine; returns NULL */

/* Whether the pattern matches the whole value, not just a part. */
bool pattern_matches(const struct pattern *p, const char *value);

#endif
