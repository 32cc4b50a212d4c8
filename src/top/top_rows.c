/* top_rows.c: rows of a profile's frames, and of the labels of profiles. */

#include "top_rows.h"

#include "map.h"
#include "mem.h"
#include "report.h"
#include "saturate.h"
#include "text.h"

#include <string.h>
#include <xxhash.h>

static const struct {
	const char *name, *label;
	enum report_by by;
} bys[TOP_BYS] = {
	[TOP_BY_FUNCTION] = { "function", NULL, REPORT_BY_FUNCTION },
	[TOP_BY_CLASS] = { "class", NULL, REPORT_BY_CLASS },
	[TOP_BY_FILE] = { "file", NULL, REPORT_BY_FILE },
	[TOP_BY_NAMESPACE] = { "namespace", NULL, REPORT_BY_NAMESPACE },
	[TOP_BY_PACKAGE] = { "package", NULL, REPORT_BY_PACKAGE },
	[TOP_BY_ENTRY] = { "entry", "entry", 0 },
	[TOP_BY_POOL] = { "pool", "pool", 0 },
	[TOP_BY_CONTAINER] = { "container", "container", 0 },
	[TOP_BY_PID] = { "pid", "pid", 0 },
};
static const char *const sorts[TOP_SORTS] = { "self", "total", "off", "off-total", "name" };

const char *top_by_name(enum top_by by)
{
	return bys[by].name;
}

const char *top_by_label(enum top_by by)
{
	return bys[by].label;
}

bool top_by_parse(const char *name, enum top_by *ret)
{
	for (enum top_by by = 0; by < TOP_BYS; by++)
		if (!strcmp(name, bys[by].name)) {
			*ret = by;
			return true;
		}
	return false;
}

const char *top_sort_name(enum top_sort sort)
{
	return sorts[sort];
}

bool top_sort_parse(const char *name, enum top_sort *ret)
{
	for (enum top_sort sort = 0; sort < TOP_SORTS; sort++)
		if (!strcmp(name, sorts[sort])) {
			*ret = sort;
			return true;
		}
	return false;
}

void top_rows_init(struct top_rows *r)
{
	*r = (struct top_rows){ 0 };
	arena_init(&r->names);
}

void top_rows_done(struct top_rows *r)
{
	free(r->rows);
	arena_done(&r->names);
}

static struct str keep(struct top_rows *r, struct str s)
{
	return (struct str){ arena_copy(&r->names, s.p, s.n), s.n };
}

/* --- frames */

static struct flat_row *flat(const struct profile *p, const char *column, int64_t *ret_sum, size_t *ret_count)
{
	uint32_t c = profile_find_column(p, column);

	*ret_count = 0;
	if (c == UINT32_MAX)
		return NULL;
	*ret_sum = profile_sum(p, c);
	return report_flat(p, c, REPORT_SORT_SELF, ret_count);
}

static void take_frames(struct top_rows *r, const struct profile *p)
{
	size_t on_count, off_count, kept = 0;
	_cleanup_(freep) struct flat_row *on = flat(p, "cpu_ns", &r->on_cpu, &on_count);
	_cleanup_(freep) struct flat_row *off = flat(p, "off_cpu_ns", &r->off_cpu, &off_count);

	r->rows = xcalloc((size_t)p->frame_count + 1, sizeof(*r->rows));
	for (size_t i = 0; i < on_count; i++) {
		r->rows[on[i].frame].self = on[i].self;
		r->rows[on[i].frame].total = on[i].total;
	}
	for (size_t i = 0; i < off_count; i++) {
		r->rows[off[i].frame].off_self = off[i].self;
		r->rows[off[i].frame].off_total = off[i].total;
	}
	for (uint32_t f = 0; f < p->frame_count; f++) {
		struct top_row row = r->rows[f];

		if (!row.total && !row.off_total)
			continue;
		row.name = keep(r, profile_name(p, f));
		row.file = keep(r, profile_file(p, f));
		row.line = p->frames[f].line;
		r->rows[kept++] = row;
	}
	r->count = kept;
}

static void fill_frames(struct top_rows *r, const struct live *l, enum live_period period, const struct live_scope *scope,
			enum report_by by)
{
	struct profile *p = live_profile(l, period, scope);

	if (by != REPORT_BY_FUNCTION) {
		struct profile *grouped = report_group(p, by);

		profile_free(p);
		p = grouped;
	}
	take_frames(r, p);
	profile_free(p);
}

/* --- labels */

struct labeling {
	struct top_rows *rows;
	const struct live_scope *scope;
	const char *key;
	struct map by_value;
	size_t capacity;
};

static struct top_row *row_of(struct labeling *a, const char *value)
{
	struct top_rows *r = a->rows;
	struct str name = { value, strlen(value) };
	uint32_t *place = map_slot(&a->by_value, XXH3_64bits(name.p, name.n));

	if (*place == MAP_NONE) {
		GROW(&r->rows, &a->capacity, r->count + 1);
		r->rows[r->count] = (struct top_row){ .name = keep(r, name), .file = { "", 0 } };
		*place = (uint32_t)r->count++;
	}
	return &r->rows[*place];
}

static int64_t sum(const struct profile *p, const char *column)
{
	uint32_t c = profile_find_column(p, column);

	return c == UINT32_MAX ? 0 : profile_sum(p, c);
}

static void add_labeled(void *data, const struct profile *p)
{
	struct labeling *a = data;
	const char *value = labels_get(&p->labels, a->key), *scope = NULL;
	struct top_row *row;

	if (a->scope && a->scope->key)
		scope = labels_get(&p->labels, a->scope->key);
	if (a->scope && a->scope->key && strcmp(scope ? scope : "", a->scope->value))
		return;
	row = row_of(a, value ? value : "");
	saturating_add(&row->total, sum(p, "cpu_ns"));
	saturating_add(&row->off_total, sum(p, "off_cpu_ns"));
	row->self = row->total;
	row->off_self = row->off_total;
	saturating_add(&a->rows->on_cpu, sum(p, "cpu_ns"));
	saturating_add(&a->rows->off_cpu, sum(p, "off_cpu_ns"));
}

static void fill_labels(struct top_rows *r, const struct live *l, enum live_period period, const struct live_scope *scope,
			const char *key)
{
	struct labeling a = { r, scope, key };

	map_init(&a.by_value);
	live_each(l, period, &a, add_labeled);
	map_done(&a.by_value);
}

/* --- */

void top_rows_fill(struct top_rows *r, const struct live *l, enum live_period period, const struct live_scope *scope,
		   enum top_by by)
{
	if (bys[by].label)
		fill_labels(r, l, period, scope, bys[by].label);
	else
		fill_frames(r, l, period, scope, bys[by].by);
}

bool top_rows_match(const regex_t *filter, struct str s)
{
	regmatch_t range = { 0, (regoff_t)s.n };

	return regexec(filter, s.p, 1, &range, REG_STARTEND) == 0;
}

void top_rows_filter(struct top_rows *r, const regex_t *filter)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (top_rows_match(filter, r->rows[i].name) || top_rows_match(filter, r->rows[i].file))
			r->rows[kept++] = r->rows[i];
	r->left_out += r->count - kept;
	r->count = kept;
}

static int compare_names(const struct top_row *a, const struct top_row *b)
{
	int r = memcmp(a->name.p, b->name.p, a->name.n < b->name.n ? a->name.n : b->name.n);

	if (r || a->name.n != b->name.n)
		return r ? r : a->name.n < b->name.n ? -1 : 1;
	r = memcmp(a->file.p, b->file.p, a->file.n < b->file.n ? a->file.n : b->file.n);
	if (r || a->file.n != b->file.n)
		return r ? r : a->file.n < b->file.n ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Ties are broken by the same kind of value of the other time first: functions on one path have equal totals, and a
 * script precedes those it calls if it also waits elsewhere. */
static const enum top_sort orders[TOP_NAME][TOP_NAME] = {
	[TOP_SELF] = { TOP_SELF, TOP_TOTAL, TOP_OFF_SELF, TOP_OFF_TOTAL },
	[TOP_TOTAL] = { TOP_TOTAL, TOP_OFF_TOTAL, TOP_SELF, TOP_OFF_SELF },
	[TOP_OFF_SELF] = { TOP_OFF_SELF, TOP_OFF_TOTAL, TOP_SELF, TOP_TOTAL },
	[TOP_OFF_TOTAL] = { TOP_OFF_TOTAL, TOP_TOTAL, TOP_OFF_SELF, TOP_SELF },
};

static int compare(const void *a, const void *b, void *data)
{
	const struct top_row *x = a, *y = b;
	const enum top_sort sort = *(const enum top_sort *)data;
	const int64_t left[] = { x->self, x->total, x->off_self, x->off_total };
	const int64_t right[] = { y->self, y->total, y->off_self, y->off_total };

	for (unsigned i = 0; i < TOP_NAME && sort != TOP_NAME; i++) {
		const enum top_sort column = orders[sort][i];

		if (left[column] != right[column])
			return left[column] > right[column] ? -1 : 1;
	}
	return compare_names(x, y);
}

void top_rows_sort(struct top_rows *r, enum top_sort sort)
{
	if (r->count)
		qsort_r(r->rows, r->count, sizeof(*r->rows), compare, &sort);
}
