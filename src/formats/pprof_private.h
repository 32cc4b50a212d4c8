/* pprof_private.h: the state of the reader of profile.proto, shared by its parts. */
#ifndef FORMATS_PPROF_PRIVATE_H
#define FORMATS_PPROF_PRIVATE_H

#include "map.h"
#include "pprof.h"
#include "protobuf.h"

#include <string.h>

#define PPROF_LINES_MAX	1024u		/* limit per location */

struct pprof_location {
	uint32_t first, count;		/* range in `lines` */
};

struct pprof_reader {
	struct profile *profile;	/* a separate profile */
	struct protobuf all;
	struct str *strings;
	uint32_t *string_ids;		/* strings of the profile; UINT32_MAX until first used */
	size_t string_count, string_capacity;
	struct {
		uint64_t type, unit;
	} types[PROFILE_COLUMNS]; /* indices of strings */
	uint32_t type_count, columns[PROFILE_COLUMNS];
	int64_t scales[PROFILE_COLUMNS];
	struct map functions;		/* id -> frame */
	struct map mappings;		/* id -> string */
	struct map location_ids;
	struct pprof_location *locations;
	struct line_place *lines;		/* innermost first */
	size_t location_count, location_capacity, line_count, line_capacity;
	bool has_lines;			/* executed lines are known */
	struct line_place *stack;		/* leaf first */
	size_t stack_capacity;
	uint64_t samples, default_type, period, period_type, period_unit;
	int64_t time, duration;
	struct labels labels;		/* labels common to all samples */

	/* for pprof_each: samples are passed to `take` instead of being added */
	int (*take)(void *data, const struct pprof_sample *s, struct err *err);
	void *take_data;
	size_t depth_max;
	bool bad_index;			/* an index was beyond the last string */
	struct pprof_label *sample_labels;
	size_t sample_label_count, sample_label_capacity;
	struct err *err;
};

static inline int pprof_bad(struct pprof_reader *r, const char *what)
{
	return err_set(r->err, -EINVAL, "%s", what);
}

/* Checks that the message ended where its last field did. */
static inline int pprof_check_end(struct pprof_reader *r, const struct protobuf *m)
{
	if (m->p == m->end)
		return 0;
	return err_set(r->err, -EINVAL, "there is no profile.proto field at byte %zu: it is damaged or truncated",
		       (size_t)(m->p - r->all.p));
}

static inline struct str pprof_text(struct pprof_reader *r, uint64_t index)
{
	r->bad_index |= index && index >= r->string_count;
	return index < r->string_count ? r->strings[index] : (struct str){ "", 0 };
}

static inline bool pprof_is_text(struct str s, const char *word)
{
	return s.n == strlen(word) && !memcmp(s.p, word, s.n);
}

/* Returns the nanoseconds of a unit of time; 0 for others. */
int64_t pprof_unit_ns(struct str unit);

/* Makes a column of each sample type. */
int pprof_add_columns(struct pprof_reader *r);

/* Reads functions and mappings, which locations refer to. */
int pprof_read_named(struct pprof_reader *r);
int pprof_read_location(struct pprof_reader *r, struct protobuf m);

#endif
