/* pprof.c: profile.proto, as Go's runtime, pprof, Pyroscope and Parca have it; pprof.h has the layout.
 *
 * A file is valid if, checked in this order:
 *	1. The whole is fields of a message; unknown ones are skipped.
 *	2. The first string is ""; an index beyond the last one stands for it, too.
 *	3. No two locations and no two functions have one id, and none has 0.
 *	4. Each sample has one value per sample_type, and its locations exist; so do the functions of locations.
 *
 * Columns are the sample types; of several that are one column only the first is read, as pprof finds types by name, and pushes are
 * refused. Time is nanoseconds whatever its unit was, sizes are bytes, and "cpu" and "wall" of
 * time are the columns cpu_ns and wall_ns. The type shown by default comes first. A location with several lines is
 * inlined functions; one without any is its address, in the file of its mapping. A function begins at its start_line,
 * and the line of a location is the executed one. A file in which all lines are the starts of their functions knows
 * none. Labels are the comments "key=value", and the labels that all samples share.
 *
 * Caps: 1 GB, PROFILE_COLUMNS types, LINES_MAX lines of a location, DEPTH_MAX frames of a stack, NODES_MAX stacks.
 */
#include "pprof.h"
#include "format.h"
#include "mem.h"
#include "line_places.h"
#include "protobuf.h"
#include "strobe_wire.h"
#include <assert.h>
#include <string.h>

#define SIZE_LIMIT	((size_t)1 << 30)
#define LINES_MAX	1024u
#define DEPTH_MAX	65536u
#define NODES_MAX	(16u << 20)

struct location {
	uint32_t first, count;		/* range in `lines` */
};

struct reader {
	struct profile *profile;	/* one of its own */
	struct protobuf all;
	struct str *strings;
	uint32_t *string_ids;		/* in the profile; UINT32_MAX while no frame has asked */
	size_t string_count, string_capacity;
	struct { uint64_t type, unit; } types[PROFILE_COLUMNS];	/* strings */
	uint32_t type_count, columns[PROFILE_COLUMNS];
	int64_t scales[PROFILE_COLUMNS];
	struct map functions;		/* id to frame */
	struct map mappings;		/* id to string */
	struct map location_ids;
	struct location *locations;
	struct line_place *lines;		/* the innermost first */
	size_t location_count, location_capacity, line_count, line_capacity;
	bool has_lines;			/* executed lines are known */
	struct line_place *stack;		/* the leaf first */
	size_t stack_capacity;
	uint64_t samples, default_type, period, period_type, period_unit;
	int64_t time, duration;
	struct labels labels;		/* those that all samples have */

	/* for pprof_each: samples go there instead of into the profile */
	int (*take)(void *data, const struct pprof_sample *s, struct err *err);
	void *take_data;
	size_t depth_max;
	bool bad_index;			/* beyond the last string */
	struct pprof_label *sample_labels;
	size_t sample_label_count, sample_label_capacity;
	struct err *err;
};

static int bad(struct reader *r, const char *what)
{
	return err_set(r->err, -EINVAL, "%s", what);
}

/* Whether the message ended where its last field did. */
static int check_end(struct reader *r, const struct protobuf *m)
{
	if (m->p == m->end)
		return 0;
	return err_set(r->err, -EINVAL, "there is no profile.proto field at byte %zu: it is damaged or truncated",
		       (size_t)(m->p - r->all.p));
}

static struct str text(struct reader *r, uint64_t index)
{
	r->bad_index |= index && index >= r->string_count;
	return index < r->string_count ? r->strings[index] : (struct str){ "", 0 };
}

static bool is_text(struct str s, const char *word)
{
	return s.n == strlen(word) && !memcmp(s.p, word, s.n);
}

/* --- Strings, types and facts --- */

static int read_value_type(struct reader *r, struct protobuf m, uint64_t *type, uint64_t *unit)
{
	struct protobuf_field f;

	while (protobuf_next(&m, &f)) {
		if (f.number == PPROF_TYPE)
			*type = f.value;
		else if (f.number == PPROF_UNIT)
			*unit = f.value;
	}
	return check_end(r, &m);
}

static int read_type(struct reader *r, struct protobuf m)
{
	if (r->type_count == PROFILE_COLUMNS)
		return err_set(r->err, -E2BIG, "it exceeds the limit of %u sample types", PROFILE_COLUMNS);
	r->types[r->type_count].type = r->types[r->type_count].unit = 0;
	r->type_count++;
	return read_value_type(r, m, &r->types[r->type_count - 1].type, &r->types[r->type_count - 1].unit);
}

static int read_basics(struct reader *r)
{
	struct protobuf m = r->all;
	struct protobuf_field f;
	int code = 0;

	while (!code && protobuf_next(&m, &f)) {
		switch (f.number) {
		case PPROF_STRING:
			GROW(&r->strings, &r->string_capacity, r->string_count + 1);
			r->strings[r->string_count++] = (struct str){ (const char *)f.bytes.p,
								      (size_t)(f.bytes.end - f.bytes.p) };
			break;
		case PPROF_SAMPLE_TYPE:
			code = read_type(r, f.bytes);
			break;
		case PPROF_TIME:
			r->time = (int64_t)f.value;
			break;
		case PPROF_DURATION:
			r->duration = (int64_t)f.value;
			break;
		case PPROF_PERIOD:
			r->period = f.value;
			break;
		case PPROF_PERIOD_TYPE:
			code = read_value_type(r, f.bytes, &r->period_type, &r->period_unit);
			break;
		case PPROF_DEFAULT_TYPE:
			r->default_type = f.value;
			break;
		default:
			break;
		}
	}
	return code ? code : check_end(r, &m);
}

/* --- Columns --- */

static const struct {
	const char *name, *unit;
	int64_t scale;
} units[] = {
	{ "nanoseconds", "nanoseconds", 1 }, { "microseconds", "nanoseconds", 1000 },
	{ "milliseconds", "nanoseconds", 1000000 }, { "seconds", "nanoseconds", 1000000000 },
	{ "bytes", "bytes", 1 }, { "kilobytes", "bytes", 1024 }, { "megabytes", "bytes", 1048576 },
};

/* A name or unit that columns take; others are cut. */
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

static int add_column(struct reader *r, uint32_t type)
{
	char name[64], unit[64];

	r->scales[type] = pprof_column(text(r, r->types[type].type), text(r, r->types[type].unit), name, unit);
	r->columns[type] = profile_column(r->profile, name, unit);
	return r->columns[type] == UINT32_MAX ? bad(r, "there is no room for its columns") : 0;
}

/* Values of one sample are not to be added up: some say the same again, in another unit. */
static int drop_repeated(struct reader *r)
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

/* The column that pprof shows by default comes first: the named type, or else the last one. But calls stay before time. */
static int add_columns(struct reader *r)
{
	uint32_t first = r->type_count ? r->type_count - 1 : 0;
	int code = 0;

	for (uint32_t i = 0; i < r->type_count && r->default_type; i++)
		if (r->types[i].type == r->default_type)
			first = i;
	if (r->type_count && !is_text(text(r, r->types[0].type), "calls"))
		code = add_column(r, first);
	for (uint32_t i = 0; i < r->type_count && !code; i++)
		code = add_column(r, i);
	return code ? code : drop_repeated(r);
}

/* --- Functions and locations --- */

/* Many functions have one file: it is looked up once. */
static uint32_t string_of(struct reader *r, uint64_t index)
{
	struct str s = text(r, index);

	if (index >= r->string_count)
		return intern_add(&r->profile->strings, "", 0);
	if (r->string_ids[index] == UINT32_MAX)
		r->string_ids[index] = intern_add(&r->profile->strings, s.p, s.n);
	return r->string_ids[index];
}

static int read_function(struct reader *r, struct protobuf m)
{
	uint64_t id = 0, name = 0, system_name = 0, file = 0, line = 0;
	struct protobuf_field f;
	struct str shown;
	uint32_t *slot;

	while (protobuf_next(&m, &f)) {
		if (f.number == PPROF_FUNCTION_ID)
			id = f.value;
		else if (f.number == PPROF_FUNCTION_NAME)
			name = f.value;
		else if (f.number == PPROF_FUNCTION_SYSTEM_NAME)
			system_name = f.value;
		else if (f.number == PPROF_FUNCTION_FILE)
			file = f.value;
		else if (f.number == PPROF_FUNCTION_START)
			line = f.value;
	}
	if (m.p != m.end)
		return check_end(r, &m);
	slot = map_slot(&r->functions, id);
	if (!id || *slot != MAP_NONE)
		return err_set(r->err, -EINVAL, "the function id %llu is a duplicate or 0", (unsigned long long)id);
	shown = profile_given_name(text(r, text(r, name).n ? name : system_name));
	*slot = profile_frame_of(r->profile, intern_add(&r->profile->strings, shown.p, shown.n), string_of(r, file), line < UINT32_MAX ? (uint32_t)line : 0);
	return 0;
}

static int read_mapping(struct reader *r, struct protobuf m)
{
	uint64_t id = 0, file = 0;
	struct protobuf_field f;

	while (protobuf_next(&m, &f)) {
		if (f.number == PPROF_MAPPING_ID)
			id = f.value;
		else if (f.number == PPROF_MAPPING_FILE)
			file = f.value;
	}
	if (m.p == m.end && file < r->string_count)
		map_set(&r->mappings, id, (uint32_t)file);
	return check_end(r, &m);
}

static int read_named(struct reader *r)
{
	struct protobuf m = r->all;
	struct protobuf_field f;
	int code = 0;

	while (!code && protobuf_next(&m, &f)) {
		if (f.number == PPROF_FUNCTION)
			code = read_function(r, f.bytes);
		else if (f.number == PPROF_MAPPING)
			code = read_mapping(r, f.bytes);
	}
	return code;
}

static int read_line(struct reader *r, struct protobuf m, struct location *l)
{
	uint64_t function = 0, line = 0;
	struct protobuf_field f;
	uint32_t frame;

	while (protobuf_next(&m, &f))
		if (f.number == PPROF_LINE_FUNCTION)
			function = f.value;
		else if (f.number == PPROF_LINE_LINE)
			line = f.value < UINT32_MAX ? f.value : 0;
	if (m.p != m.end)
		return check_end(r, &m);
	frame = map_get(&r->functions, function);
	if (frame == MAP_NONE)
		return err_set(r->err, -EINVAL, "a location refers to function %llu, which does not exist",
			       (unsigned long long)function);
	if (l->count == LINES_MAX)
		return err_set(r->err, -E2BIG, "a location exceeds the limit of %u lines", LINES_MAX);
	GROW(&r->lines, &r->line_capacity, r->line_count + 1);
	r->lines[r->line_count++] = (struct line_place){ frame, (uint32_t)line };
	r->has_lines |= line != r->profile->frames[frame].line;
	l->count++;
	return 0;
}

/* Without a function there is the address. */
static void name_by_address(struct reader *r, struct location *l, uint64_t address, uint64_t mapping)
{
	uint32_t file = map_get(&r->mappings, mapping);
	char name[32];

	snprintf(name, sizeof(name), "0x%llx", (unsigned long long)address);
	GROW(&r->lines, &r->line_capacity, r->line_count + 1);
	r->lines[r->line_count++] = (struct line_place){
		profile_frame_of(r->profile, intern_add(&r->profile->strings, name, strlen(name)),
				 string_of(r, file == MAP_NONE ? 0 : file), 0), 0
	};
	l->count = 1;
}

static int read_location(struct reader *r, struct protobuf m)
{
	struct location l = { .first = (uint32_t)r->line_count };
	uint64_t id = 0, address = 0, mapping = 0;
	struct protobuf_field f;
	uint32_t *slot;
	int code = 0;

	while (!code && protobuf_next(&m, &f)) {
		if (f.number == PPROF_LOCATION_ID)
			id = f.value;
		else if (f.number == PPROF_LOCATION_ADDRESS)
			address = f.value;
		else if (f.number == PPROF_LOCATION_MAPPING)
			mapping = f.value;
		else if (f.number == PPROF_LOCATION_LINE)
			code = read_line(r, f.bytes, &l);
	}
	if (code || m.p != m.end)
		return code ? code : check_end(r, &m);
	if (!l.count)
		name_by_address(r, &l, address, mapping);
	slot = map_slot(&r->location_ids, id);
	if (!id || *slot != MAP_NONE)
		return err_set(r->err, -EINVAL, "the location id %llu is a duplicate or 0", (unsigned long long)id);
	*slot = (uint32_t)r->location_count;
	GROW(&r->locations, &r->location_capacity, r->location_count + 1);
	r->locations[r->location_count++] = l;
	return 0;
}

/* --- Samples --- */

static int add_location(struct reader *r, uint64_t id, size_t *depth)
{
	uint32_t at = map_get(&r->location_ids, id);
	const struct location *l;

	if (at == MAP_NONE)
		return err_set(r->err, -EINVAL, "sample %llu refers to location %llu, which does not exist",
			       (unsigned long long)r->samples, (unsigned long long)id);
	l = &r->locations[at];
	if (*depth + l->count > r->depth_max)
		return err_set(r->err, -E2BIG, "sample %llu exceeds the limit of %zu frames",
			       (unsigned long long)r->samples, r->depth_max);
	GROW(&r->stack, &r->stack_capacity, *depth + l->count);
	memcpy(r->stack + *depth, r->lines + l->first, l->count * sizeof(*r->stack));
	*depth += l->count;
	return 0;
}

static void read_label(struct reader *r, struct protobuf m, struct labels *labels)
{
	struct protobuf_field f;
	struct str key = { "", 0 }, value = { "", 0 };

	while (protobuf_next(&m, &f)) {
		if (f.number == PPROF_LABEL_KEY)
			key = text(r, f.value);
		else if (f.number == PPROF_LABEL_STR)
			value = text(r, f.value);
	}
	if (r->take && value.n) {
		GROW(&r->sample_labels, &r->sample_label_capacity, r->sample_label_count + 1);
		r->sample_labels[r->sample_label_count++] = (struct pprof_label){ key, value };
	}
	if (value.n && value.n <= STROBE_WIRE_LABEL_VALUE && key.n <= STROBE_WIRE_LABEL_KEY &&
	    strobe_wire_is_label_key((const uint8_t *)key.p, key.n) && labels->count < STROBE_WIRE_LABELS)
		labels_set(labels, key.p, key.n, value.p, value.n);
}

static int64_t scaled(int64_t value, int64_t by)
{
	int64_t product;

	if (!__builtin_mul_overflow(value, by, &product))
		return product;
	return value < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t period_of(struct reader *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(units) && r->period <= INT64_MAX; i++)
		if (is_text(text(r, r->period_unit), units[i].name) && !strcmp(units[i].unit, "nanoseconds"))
			return scaled((int64_t)r->period, units[i].scale);
	return 0;
}

/* Columns stand in another order than types. */
static int take_sample(struct reader *r, const int64_t *values, size_t depth)
{
	int64_t by_column[PROFILE_COLUMNS] = { 0 };
	struct pprof_sample s = {
		.frames = r->profile, .stack = r->stack, .depth = depth, .has_lines = r->has_lines, .values = by_column,
		.labels = r->sample_labels, .label_count = r->sample_label_count,
		.period_type = text(r, r->period_type), .period_ns = period_of(r),
		.time_ns = r->time, .duration_ns = r->duration,
	};

	for (uint32_t i = 0; i < r->type_count; i++)
		by_column[r->columns[i]] = scaled(values[i], r->scales[i]);
	if (r->bad_index)
		return bad(r, "it refers to a string that does not exist");
	return r->take(r->take_data, &s, r->err);
}

static int add_sample(struct reader *r, const int64_t *values, uint32_t count, size_t depth)
{
	uint32_t node = PROFILE_ROOT;

	if (count != r->type_count)
		return err_set(r->err, -EINVAL, "sample %llu has %u values for %u sample types",
			       (unsigned long long)r->samples, count, r->type_count);
	if (r->take)
		return take_sample(r, values, depth);
	if ((uint64_t)r->profile->node_count + depth > NODES_MAX)
		return err_set(r->err, -E2BIG, "it exceeds the limit of %u different stacks", NODES_MAX);
	while (depth--)
		node = profile_child_at(r->profile, node, r->stack[depth].frame, r->has_lines ? r->stack[depth].line : 0);
	for (uint32_t i = 0; i < count; i++)
		if (r->columns[i] != UINT32_MAX)
			profile_add(r->profile, node, r->columns[i], scaled(values[i], r->scales[i]));
	return 0;
}

static int read_numbers(struct reader *r, struct protobuf_field *f, int64_t *values, uint32_t *count, size_t *depth)
{
	bool locations = f->number == PPROF_SAMPLE_LOCATION;
	uint64_t number;
	int code = 0;

	while (!code && protobuf_packed(f, &number)) {
		if (locations)
			code = add_location(r, number, depth);
		else if (*count < PROFILE_COLUMNS)
			values[(*count)++] = (int64_t)number;
		else
			code = bad(r, "a sample has more values than there are sample types");
	}
	if (!code && !protobuf_packed_ended(f))
		code = bad(r, "the numbers of a sample are damaged");
	return code;
}

static int read_sample(struct reader *r, struct protobuf m)
{
	_cleanup_(labels_done) struct labels labels = { 0 };
	int64_t values[PROFILE_COLUMNS];
	struct protobuf_field f;
	uint32_t count = 0;
	size_t depth = 0;
	int code = 0;

	labels_init(&labels);
	r->samples++;
	r->sample_label_count = 0;
	while (!code && protobuf_next(&m, &f)) {
		if (f.number == PPROF_SAMPLE_LOCATION || f.number == PPROF_SAMPLE_VALUE)
			code = read_numbers(r, &f, values, &count, &depth);
		else if (f.number == PPROF_SAMPLE_LABEL && (r->samples == 1 || r->labels.count || r->take))
			read_label(r, f.bytes, &labels);
	}
	if (code || m.p != m.end)
		return code ? code : check_end(r, &m);
	if (r->samples == 1)
		labels_copy(&r->labels, &labels);
	else
		labels_keep_common(&r->labels, &labels);
	return add_sample(r, values, count, depth);
}

/* "key=value" is how labels of all samples are written. */
static void read_comment(struct reader *r, struct str s)
{
	const char *equals = s.n ? memchr(s.p, '=', s.n) : NULL;
	size_t n = equals ? (size_t)(equals - s.p) : 0;

	if (n && n <= STROBE_WIRE_LABEL_KEY && strobe_wire_is_label_key((const uint8_t *)s.p, n) &&
	    s.n - n - 1 <= STROBE_WIRE_LABEL_VALUE && r->profile->labels.count < STROBE_WIRE_LABELS)
		labels_set(&r->profile->labels, s.p, n, equals + 1, s.n - n - 1);
}

static int read_field(struct reader *r, struct protobuf_field *f)
{
	uint64_t index;

	if (f->number == PPROF_SAMPLE)
		return read_sample(r, f->bytes);
	if (f->number == PPROF_COMMENT)
		while (protobuf_packed(f, &index))
			read_comment(r, text(r, index));
	return 0;
}

static int read_each(struct reader *r, uint32_t only)
{
	struct protobuf m = r->all;
	struct protobuf_field f;
	int code = 0;

	while (!code && protobuf_next(&m, &f))
		if (f.number == PPROF_LOCATION && only == PPROF_LOCATION)
			code = read_location(r, f.bytes);
		else if (only == PPROF_SAMPLE)
			code = read_field(r, &f);
	return code;
}

/* --- The whole --- */

static void set_facts(struct reader *r)
{
	struct profile *p = r->profile;
	struct str type = text(r, r->period_type);

	for (size_t i = 0; i < r->labels.count; i++)
		labels_set(&p->labels, r->labels.items[i].key, strlen(r->labels.items[i].key), r->labels.items[i].value,
			   strlen(r->labels.items[i].value));
	p->start_ns = r->time > 0 ? r->time : 0;
	if (p->start_ns && (r->duration < 0 || __builtin_add_overflow(p->start_ns, r->duration, &p->end_ns)))
		p->end_ns = p->start_ns;
	p->period_ns = period_of(r);
	if (p->period_ns && !labels_get(&p->labels, "clock") && (is_text(type, "cpu") || is_text(type, "cpu_ns")))
		labels_set(&p->labels, "clock", 5, "cpu", 3);
	if (p->period_ns && !labels_get(&p->labels, "clock") && (is_text(type, "wall") || is_text(type, "wall_ns")))
		labels_set(&p->labels, "clock", 5, "wall", 4);
}

static int read_all(struct reader *r)
{
	int code = read_basics(r);

	if (code)
		return code;
	if (r->string_count && r->strings[0].n)
		return bad(r, "the first string is not empty, so that it is no profile.proto");
	r->string_ids = xmalloc((r->string_count + 1) * sizeof(*r->string_ids));
	memset(r->string_ids, 0xff, (r->string_count + 1) * sizeof(*r->string_ids));
	if (!r->type_count)
		return bad(r, "it says no sample type, so that it is no profile.proto, or one without values");
	if ((code = add_columns(r)) || (code = read_named(r)) || (code = read_each(r, PPROF_LOCATION)) ||
	    (code = read_each(r, PPROF_SAMPLE)))
		return code;
	set_facts(r);
	return 0;
}

static int merge(struct profile *p, const struct profile *from, struct err *err)
{
	if (!profile_columns_fit(p, from))
		return err_set(err, -E2BIG, "it would make more than %u value columns in all", PROFILE_COLUMNS);
	profile_merge(p, from);
	return 0;
}

static void reader_init(struct reader *r, const void *bytes, size_t n)
{
	r->all = (struct protobuf){ bytes, (const uint8_t *)bytes + n };
	r->profile = profile_new();
	map_init(&r->functions);
	map_init(&r->mappings);
	map_init(&r->location_ids);
	labels_init(&r->labels);
}

static void reader_done(struct reader *r)
{
	labels_done(&r->labels);
	map_done(&r->functions);
	map_done(&r->mappings);
	map_done(&r->location_ids);
	free(r->strings);
	free(r->string_ids);
	free(r->locations);
	free(r->lines);
	free(r->stack);
	free(r->sample_labels);
	profile_free(r->profile);
}

static int pprof_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	struct reader r = { .err = err, .depth_max = DEPTH_MAX };
	struct str all;
	int code = format_whole(in, SIZE_LIMIT, &all, err);

	(void)o;
	if (code < 0)
		return code;
	reader_init(&r, all.p, all.n);
	profile_keep_lines(r.profile, p->keeps_lines);
	code = read_all(&r);
	if (!code)
		code = merge(p, r.profile, err);
	reader_done(&r);
	return code;
}

int pprof_each(const void *bytes, size_t n, size_t depth, int (*take)(void *data, const struct pprof_sample *s, struct err *err),
	       void *data, struct err *err)
{
	struct reader r = { .err = err, .depth_max = depth, .take = take, .take_data = data };
	int code;

	reader_init(&r, bytes, n);
	code = read_all(&r);
	if (code >= 0 && r.bad_index)
		code = bad(&r, "it refers to a string that does not exist");
	reader_done(&r);
	return code;
}

/* The types of the fields of a Profile: what has another one is none. */
static bool is_field(const struct protobuf_field *f)
{
	if (f->number >= PPROF_SAMPLE_TYPE && f->number <= PPROF_STRING)
		return f->type == 2;
	if (f->number == PPROF_PERIOD_TYPE)
		return f->type == 2;
	return f->number == PPROF_COMMENT ? f->type == 2 || f->type == 0 : f->number <= 15 && f->type == 0;
}

/* Every field up to the end, or to the one that is cut off by the end of what is seen here, is one of a Profile; and
 * one of them says a type, or is a sample with values. */
static int pprof_sniff(const char *bytes, size_t n)
{
	struct protobuf m = { (const uint8_t *)bytes, (const uint8_t *)bytes + n };
	struct protobuf_field f, inner;
	bool sure = false;

	while (protobuf_next(&m, &f)) {
		struct protobuf of = f.bytes;

		if (!is_field(&f))
			return 0;
		while ((f.number == PPROF_SAMPLE_TYPE || f.number == PPROF_SAMPLE) && protobuf_next(&of, &inner)) {
			if (inner.number > 3)
				return 0;
			sure |= f.number == PPROF_SAMPLE_TYPE || inner.number == PPROF_SAMPLE_VALUE;
		}
		if ((f.number == PPROF_SAMPLE_TYPE || f.number == PPROF_SAMPLE) && of.p != of.end)
			return 0;
	}
	if (m.p != m.end && (n < FORMAT_SNIFF_MAX || m.p == (const uint8_t *)bytes))
		return 0;
	return sure ? 90 : 0;
}

const struct format format_pprof = {
	"pprof",
	"pb pprof",
	pprof_sniff,
	pprof_read,
	pprof_write,
	.about = "gzipped profile.proto, for pprof, Pyroscope and Parca",
	.is_binary = true,
	.is_compressed = true,
	.has_lines = true,
};
