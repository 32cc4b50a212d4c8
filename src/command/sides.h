/* sides.h: the two profiles of a comparison, for commands that are given both, or the address of their comparison. */
#ifndef COMMAND_SIDES_H
#define COMMAND_SIDES_H

#include "inputs.h"
#include "page_file.h"

#define SIDES_METRICS	(PROFILE_COLUMNS / 2)	/* metrics of a page */

struct sides {
	struct inputs a, b;
	const struct profile *before, *after;	/* one profile twice if it is a difference already */
	uint32_t column_before, column_after;
	const struct profile *whole_before, *whole_after;	/* without the address's filters of stacks, for the scale; NULL: it has none */
	char name_before[200], name_after[200];	/* for sentences */
	char *urls[2];			/* both sides of one address */
	struct sides *unfiltered;	/* owns whole_before and whole_after */
	bool is_difference, is_scaled;	/* is_scaled: it was, and is again, by total */
};

/* Reads both files. `keep_names`: for conversions, which write names as they are. Returns 0, or an exit code after printing
 * the reason, as the next
 * three do; sides_done in any case. */
int sides_load(struct sides *s, const struct command_spec *spec, const struct format_options *o, char **files, bool keep_names);

/* Reads both sides of the comparison that has this address. */
int sides_load_address(struct sides *s, const struct command_spec *spec, const struct format_options *o, const char *url, bool keep_names);

/* Takes the profile of `a`, read from `file`, as both sides if it has two counts. Values before that were scaled are what was measured,
 * scaled again. Returns false, and changes nothing, if it has no two counts. */
bool sides_take_difference(struct sides *s, const char *file);

/* Chooses the columns: `wanted`, or if it is NULL the one that both addresses name, or the usual one. UINT32_MAX if a side without values
 * has none. */
int sides_columns(struct sides *s, const struct command_spec *spec, const char *wanted);

/* Prints doubts about the comparison to standard error. Without `force` some of them are fatal. */
int sides_check(const struct sides *s, const struct command_spec *spec, enum diff_scale scale, bool force, bool quiet);

/* Whether both are samples, which are compared by their shares by default. */
bool sides_are_sampled(const struct sides *s);

/* By enum diff_scale: "none", "total", ...; terminated by NULL. */
extern const char *const sides_scale_names[];

/* The name of the chosen metric: that of the column, or of a difference what its unit tells. */
const char *sides_metric(const struct sides *s);

/* A page switches between the metrics of both sides. `first` is the difference of the chosen columns, and shown first; `ret` has room for
 * SIDES_METRICS, of which all but the first are made here, for diff_done. Returns how many. */
size_t sides_metrics(const struct sides *s, const struct diff *first, const struct diff_options *o, struct diff *ret, struct page_metric *metrics);

void sides_done(struct sides *s);

#endif
