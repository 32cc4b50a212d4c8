/* profile_type.c: a table of the well-known columns, and a rule for all others. */
#include "profile_type.h"

#include <string.h>

/* Wall time with a period of CPU time is what Pyroscope itself stores for sampled wall time. */
static const struct builtin_type {
	const char *column, *clock;	/* NULL: any */
	struct profile_type type;	/* without a unit: the column's unit is used */
} types[] = {
	{ "wall_ns", NULL, { "wall", "wall", "nanoseconds", "cpu", "nanoseconds" } },
	{ "cpu_ns", NULL, { "process_cpu", "cpu", "nanoseconds", "cpu", "nanoseconds" } },
	{ "samples", "wall", { "wall", "samples", "count", "cpu", "nanoseconds" } },
	{ "samples", "cpu", { "process_cpu", "samples", "count", "cpu", "nanoseconds" } },
	{ "alloc_objects", NULL, { "memory", "alloc_objects", "count" } },
	{ "alloc_space", NULL, { "memory", "alloc_space", "bytes" } },
	{ "inuse_objects", NULL, { "memory", "inuse_objects", "count" } },
	{ "inuse_space", NULL, { "memory", "inuse_space", "bytes" } },
	{ "memory_bytes", NULL, { "memory", "memory", "bytes" } },
	{ "peak_memory_bytes", NULL, { "memory", "peak_memory", "bytes" } },
};

#define RUN "run"

/* Replaces colons, which would end the part. */
static void set_part(char to[64], const char *from, const char *ending)
{
	size_t n = strlen(from), e = strlen(ending);

	if (n > e && !strcmp(from + n - e, ending))
		n -= e;
	snprintf(to, 64, "%.*s", (int)n, from);
	for (char *c = to; *c; c++)
		if (*c == ':')
			*c = '_';
}

void profile_type_of(const char *column, const char *unit, const char *clock, struct profile_type *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].column, column) || (types[i].clock && (!clock || strcmp(types[i].clock, clock))))
			continue;
		*ret = types[i].type;
		return;
	}
	*ret = (struct profile_type){ 0 };
	set_part(ret->name, column, !strcmp(unit, "nanoseconds") ? "_ns" : !strcmp(unit, "bytes") ? "_bytes" : "");
	memcpy(ret->sample, ret->name, sizeof(ret->sample));
	set_part(ret->unit, unit, "");
}

void profile_type_of_run(const char *column, const char *unit, struct profile_type *ret)
{
	*ret = (struct profile_type){ .name = RUN };
	set_part(ret->sample, column, !strcmp(unit, "nanoseconds") ? "_ns" : !strcmp(unit, "bytes") ? "_bytes" : "");
	set_part(ret->unit, unit, "");
}

bool profile_type_is_run(const struct profile_type *t)
{
	return !strcmp(t->name, RUN);
}

int profile_type_parse(const char *id, struct profile_type *ret, struct err *err)
{
	char *parts[] = { ret->name, ret->sample, ret->unit, ret->period, ret->period_unit };
	const char *p = id;

	*ret = (struct profile_type){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t n = strcspn(p, ":");

		if (n >= 64 || (i + 1 < ARRAY_SIZE(parts) && p[n] != ':'))
			return err_set(err, -EINVAL, "'%.200s' is not a profile type; give five parts, as in "
				       "process_cpu:cpu:nanoseconds:cpu:nanoseconds", id);
		memcpy(parts[i], p, n);
		p += n + (i + 1 < ARRAY_SIZE(parts));
	}
	if (*p && strcmp(p, ":delta"))
		return err_set(err, -EINVAL, "'%.200s' is not a profile type: only ':delta' may follow "
					     "its five parts", id);
	return 0;
}

void profile_type_id(const struct profile_type *t, char ret[PROFILE_TYPE_ID])
{
	snprintf(ret, PROFILE_TYPE_ID, "%s:%s:%s:%s:%s", t->name, t->sample, t->unit, t->period, t->period_unit);
}

bool profile_type_is(const struct profile_type *a, const struct profile_type *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->sample, b->sample) && !strcmp(a->unit, b->unit) &&
	       !strcmp(a->period, b->period) && !strcmp(a->period_unit, b->period_unit);
}

const char *profile_type_label(const struct profile_type *t, const char *label, char id[PROFILE_TYPE_ID])
{
	if (!strcmp(label, "__profile_type__")) {
		profile_type_id(t, id);
		return id;
	}
	return !strcmp(label, "__name__") ? t->name : !strcmp(label, "__type__") ? t->sample :
	       !strcmp(label, "__unit__") ? t->unit : !strcmp(label, "__period_type__") ? t->period :
	       !strcmp(label, "__period_unit__") ? t->period_unit : NULL;
}
