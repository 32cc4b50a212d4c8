/* sides.h: the two profiles of a comparison, for commands that take either both or the URL of a comparison. */
#ifndef COMMAND_SIDES_H
#define COMMAND_SIDES_H

#include "inputs.h"
#include "page_file.h"

#define SIDES_METRICS	(PROFILE_COLUMNS / 2)	/* metrics of a page */

struct sides {
	struct inputs a, b;
	const struct profile *before, *after;	/* both are the same profile if it is already a difference */
	uint32_t column_before, column_after;
	const struct profile *whole_before, *whole_after;	/* without the address's filters of stacks, for the scale; NULL: it has none */
	char name_before[200], name_after[200];	/* for messages */
	char *urls[2];			/* both sides of one address */
	struct sides *unfiltered;	/* owns whole_before and whole_after */
	bool is_difference, is_scaled;	/* is_scaled: it was scaled by total, and is scaled again */
};

/* Reads both files. `keep_names`: for conversions, which write names as they are. This and the next three functions
 * return 0, or an exit code after printing the reason; call sides_done in any case. */
int sides_load(struct sides *s, const struct command_spec *spec, const struct format_options *o, char **files, bool keep_names);

/* Reads both sides of the comparison with this URL. */
int sides_load_address(struct sides *s, const struct command_spec *spec, const struct format_options *o, const char *url, bool keep_names);

/* Uses the profile of `a`, read from `file`, as both sides if it is a difference with two counts. Scaled values
 * before are replaced by the measured ones, scaled again. Otherwise returns false and changes nothing. */
bool sides_take_difference(struct sides *s, const char *file);

/* Chooses the columns: `wanted`, or if it is NULL the one that both URLs name, or the default. UINT32_MAX if a side
 * has no values and thus no column. */
int sides_columns(struct sides *s, const struct command_spec *spec, const char *wanted);

/* Prints doubts about the comparison to standard error. Some of them are fatal without `force`. */
int sides_check(const struct sides *s, const struct command_spec *spec, enum diff_scale scale, bool force, bool quiet);

/* Whether both are sampled; those are compared by shares by default. */
bool sides_are_sampled(const struct sides *s);

/* By enum diff_scale: "none", "total", ...; terminated by NULL. */
extern const char *const sides_scale_names[];

/* Returns the name of the selected metric: that of the column, or for a difference one derived from its unit. */
const char *sides_metric(const struct sides *s);

/* A page switches between the metrics of both sides. `first` is the difference of the selected columns, shown first;
 * `ret` has room for SIDES_METRICS, of which all except the first are created here and freed with diff_done. Returns
 * their number. */
size_t sides_metrics(const struct sides *s, const struct diff *first, const struct diff_options *o, struct diff *ret, struct page_metric *metrics);

void sides_done(struct sides *s);

#endif
