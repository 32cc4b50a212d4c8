/* pprof_columns.c: converts sample types to columns. */
#include "mem.h"
#include "pprof_private.h"

static const struct {
	const char *name, *unit;
	int64_t scale;
} units[] = {
	{ "nanoseconds", "nanoseconds", 1 },
	{ "microseconds", "nanoseconds", 1000 },
	{ "milliseconds", "nanoseconds", 1000000 },
	{ "seconds", "nanoseconds", 1000000000 },
	{ "bytes", "bytes", 1 },
	{ "kilobytes", "bytes", 1024 },
	{ "megabytes", "bytes", 1048576 },
};

int64_t pprof_unit_ns(struct str unit)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (pprof_is_text(unit, units[i].name) && !strcmp(units[i].unit, "nanoseconds"))
			return units[i].scale;
	return 0;
}

/* Copies a name or unit, truncated to the size of a column's. */
static void copy_word(struct str s, const char *none, char out[64])
{
	size_t n = strnlen(s.p, s.n < 63 ? s.n : 63);

	memcpy(out, s.p, n);
	out[n] = 0;
	if (!n)
		memcpy(out, none, strlen(none) + 1);
}

int64_t pprof_column(struct str type, struct str type_unit, char name[64], char unit[64])
{
	int64_t scale = 1;

	copy_word(type, "samples", name);
	copy_word(type_unit, "count", unit);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].name)) {
			memcpy(unit, units[i].unit, strlen(units[i].unit) + 1);
			scale = units[i].scale;
			break;
		}
	if (!strcmp(unit, "nanoseconds") && (!strcmp(name, "cpu") || !strcmp(name, "wall") || !strcmp(name, "off_cpu")))
		memcpy(name + strlen(name), "_ns", 4);
	return scale;
}

static int add_column(struct pprof_reader *r, uint32_t type)
{
	char name[64], unit[64];

	r->scales[type] = pprof_column(pprof_text(r, r->types[type].type), pprof_text(r, r->types[type].unit), name, unit);
	r->columns[type] = profile_column(r->profile, name, unit);
	return r->columns[type] == UINT32_MAX ? pprof_bad(r, "there is no room for its columns") : 0;
}

/* Drops types that repeat the values of another one in a different unit; they must not be added up. */
static int drop_repeated(struct pprof_reader *r)
{
	for (uint32_t i = 1; i < r->type_count; i++)
		for (uint32_t k = 0; k < i; k++) {
			if (r->columns[k] != r->columns[i])
				continue;
			if (r->take)
				return err_set(r->err, -EINVAL, "its sample types %u and %u are both the column '%s'; send each type once",
					       k + 1, i + 1, r->profile->columns[r->columns[k]].name);
			r->columns[i] = UINT32_MAX;
			break;
		}
	return 0;
}

/* pprof's default comes first: the named type, or else the last one. But calls stay before time. */
int pprof_add_columns(struct pprof_reader *r)
{
	uint32_t first = r->type_count ? r->type_count - 1 : 0;
	int code = 0;

	for (uint32_t i = 0; i < r->type_count && r->default_type; i++)
		if (r->types[i].type == r->default_type)
			first = i;
	if (r->type_count && !pprof_is_text(pprof_text(r, r->types[0].type), "calls"))
		code = add_column(r, first);
	for (uint32_t i = 0; i < r->type_count && !code; i++)
		code = add_column(r, i);
	return code ? code : drop_repeated(r);
}
