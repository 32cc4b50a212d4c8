/* profile_type.h: Pyroscope's profile types: a value column and the period that it was sampled by.
 *
 *	process_cpu:cpu:nanoseconds:cpu:nanoseconds
 *	name:sample type:sample unit:period type:period unit
 *
 * Grafana has built-in lists of the types that it can draw, so columns of samples use the names on these lists.
 */
#ifndef PYROSCOPE_PROFILE_TYPE_H
#define PYROSCOPE_PROFILE_TYPE_H

#include "err.h"

#include <stdbool.h>

struct profile_type {
	char name[64], sample[64], unit[64], period[64], period_unit[64];
};

#define PROFILE_TYPE_ID		(5 * 64u)

/* Returns the type of a column of samples or of a run; `clock` is "wall", "cpu", or NULL if neither applies. */
void profile_type_of(const char *column, const char *unit, const char *clock, struct profile_type *ret);

/* Returns the type of a column of whole runs, "run:wall:nanoseconds::": samples and runs of the same requests must
 * not add up. */
void profile_type_of_run(const char *column, const char *unit, struct profile_type *ret);
bool profile_type_is_run(const struct profile_type *t);

/* -EINVAL with a sentence. A sixth part ":delta" is ignored. */
int profile_type_parse(const char *id, struct profile_type *ret, struct err *err);
void profile_type_id(const struct profile_type *t, char ret[PROFILE_TYPE_ID]);
bool profile_type_is(const struct profile_type *a, const struct profile_type *b);

/* Returns one part by the name of its label: "__profile_type__", "__name__" …; NULL for other labels. `id` is a
 * buffer for the first of them. */
const char *profile_type_label(const struct profile_type *t, const char *label, char id[PROFILE_TYPE_ID]);

#endif
