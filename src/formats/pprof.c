/* pprof.c: profile.proto, as written by Go's runtime, pprof, Pyroscope and Parca; pprof.h has the layout.
 *
 * A file is valid if, checked in this order:
 *	1. It consists of fields of a message; unknown ones are skipped.
 *	2. The first string is ""; an index beyond the last one means "", too.
 *	3. Ids of locations and of functions are unique and not 0.
 *	4. Each sample has one value per sample_type, and its locations exist; so do the functions of locations.
 *
 * Columns are the sample types; if several map to one column only the first is read, since pprof finds types by name;
 * pushes are refused. Times are converted to nanoseconds, sizes to bytes, and the times "cpu" and "wall" become the
 * columns cpu_ns and wall_ns. The default type comes first. Several lines of a location are inlined functions; a
 * location without lines is named by its address, in the file of its mapping. A function begins at its start_line,
 * and the line of a location is the executed one. If all lines in a file are the starts of their functions, it has no
 * executed lines. Labels are the comments "key=value", and the labels that all samples share.
 *
 * Caps: 1 GB, PROFILE_COLUMNS types, PPROF_LINES_MAX lines of a location, DEPTH_MAX frames of a stack, NODES_MAX stacks.
 */
#include "format.h"
#include "line_places.h"
#include "mem.h"
#include "pprof_private.h"
#include "strobe_wire.h"

#include <assert.h>
#include <string.h>

#define SIZE_LIMIT	((size_t)1 << 30)
#define DEPTH_MAX	65536u
#define NODES_MAX	(16u << 20)

/* --- Strings, types and facts --- */

static int read_value_type(struct pprof_reader *r, struct protobuf m, uint64_t *type, uint64_t *unit)
{
	struct protobuf_field f;

	while (protobuf_next(&m, &f)) {
		if (f.number == PPROF_TYPE)
			*type = f.value;
		else if (f.number == PPROF_UNIT)
			*unit = f.value;
	}
	return pprof_check_end(r, &m);
}

static int read_type(struct pprof_reader *r, struct protobuf m)
{
	if (r->type_count == PROFILE_COLUMNS)
		return err_set(r->err, -E2BIG, "it exceeds the limit of %u sample types", PROFILE_COLUMNS);
	r->types[r->type_count].type = r->types[r->type_count].unit = 0;
	r->type_count++;
	return read_value_type(r, m, &r->types[r->type_count - 1].type, &r->types[r->type_count - 1].unit);
}

static int read_basics(struct pprof_reader *r)
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
	return code ? code : pprof_check_end(r, &m);
}

/* --- Samples --- */

static int add_location(struct pprof_reader *r, uint64_t id, size_t *depth)
{
	uint32_t at = map_get(&r->location_ids, id);
	const struct pprof_location *l;

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

static void read_label(struct pprof_reader *r, struct protobuf m, struct labels *labels)
{
	struct protobuf_field f;
	struct str key = { "", 0 }, value = { "", 0 };

	while (protobuf_next(&m, &f)) {
		if (f.number == PPROF_LABEL_KEY)
			key = pprof_text(r, f.value);
		else if (f.number == PPROF_LABEL_STR)
			value = pprof_text(r, f.value);
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

static int64_t period_of(struct pprof_reader *r)
{
	int64_t ns = pprof_unit_ns(pprof_text(r, r->period_unit));

	return ns && r->period <= INT64_MAX ? scaled((int64_t)r->period, ns) : 0;
}

/* Columns have another order than types. */
static int take_sample(struct pprof_reader *r, const int64_t *values, size_t depth)
{
	int64_t by_column[PROFILE_COLUMNS] = { 0 };
	struct pprof_sample s = {
		.frames = r->profile,
		.stack = r->stack,
		.depth = depth,
		.has_lines = r->has_lines,
		.values = by_column,
		.labels = r->sample_labels,
		.label_count = r->sample_label_count,
		.period_type = pprof_text(r, r->period_type),
		.period_ns = period_of(r),
		.time_ns = r->time,
		.duration_ns = r->duration,
	};

	for (uint32_t i = 0; i < r->type_count; i++)
		by_column[r->columns[i]] = scaled(values[i], r->scales[i]);
	if (r->bad_index)
		return pprof_bad(r, "it refers to a string that does not exist");
	return r->take(r->take_data, &s, r->err);
}

static int add_sample(struct pprof_reader *r, const int64_t *values, uint32_t count, size_t depth)
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

static int read_numbers(struct pprof_reader *r, struct protobuf_field *f, int64_t *values, uint32_t *count, size_t *depth)
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
			code = pprof_bad(r, "a sample has more values than there are sample types");
	}
	if (!code && !protobuf_packed_ended(f))
		code = pprof_bad(r, "the numbers of a sample are damaged");
	return code;
}

static int read_sample(struct pprof_reader *r, struct protobuf m)
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
		return code ? code : pprof_check_end(r, &m);
	if (r->samples == 1)
		labels_copy(&r->labels, &labels);
	else
		labels_keep_common(&r->labels, &labels);
	return add_sample(r, values, count, depth);
}

/* Reads "key=value", the form in which labels of all samples are written. */
static void read_comment(struct pprof_reader *r, struct str s)
{
	const char *equals = s.n ? memchr(s.p, '=', s.n) : NULL;
	size_t n = equals ? (size_t)(equals - s.p) : 0;

	if (n && n <= STROBE_WIRE_LABEL_KEY && strobe_wire_is_label_key((const uint8_t *)s.p, n) &&
	    s.n - n - 1 <= STROBE_WIRE_LABEL_VALUE && r->profile->labels.count < STROBE_WIRE_LABELS)
		labels_set(&r->profile->labels, s.p, n, equals + 1, s.n - n - 1);
}

static int read_field(struct pprof_reader *r, struct protobuf_field *f)
{
	uint64_t index;

	if (f->number == PPROF_SAMPLE)
		return read_sample(r, f->bytes);
	if (f->number == PPROF_COMMENT)
		while (protobuf_packed(f, &index))
			read_comment(r, pprof_text(r, index));
	return 0;
}

static int read_each(struct pprof_reader *r, uint32_t only)
{
	struct protobuf m = r->all;
	struct protobuf_field f;
	int code = 0;

	while (!code && protobuf_next(&m, &f))
		if (f.number == PPROF_LOCATION && only == PPROF_LOCATION)
			code = pprof_read_location(r, f.bytes);
		else if (only == PPROF_SAMPLE)
			code = read_field(r, &f);
	return code;
}

/* --- Top level --- */

static void set_facts(struct pprof_reader *r)
{
	struct profile *p = r->profile;
	struct str type = pprof_text(r, r->period_type);

	for (size_t i = 0; i < r->labels.count; i++)
		labels_set(&p->labels, r->labels.items[i].key, strlen(r->labels.items[i].key), r->labels.items[i].value,
			   strlen(r->labels.items[i].value));
	p->start_ns = r->time > 0 ? r->time : 0;
	if (p->start_ns && (r->duration < 0 || __builtin_add_overflow(p->start_ns, r->duration, &p->end_ns)))
		p->end_ns = p->start_ns;
	p->period_ns = period_of(r);
	if (p->period_ns && !labels_get(&p->labels, "clock") && (pprof_is_text(type, "cpu") || pprof_is_text(type, "cpu_ns")))
		labels_set(&p->labels, "clock", 5, "cpu", 3);
	if (p->period_ns && !labels_get(&p->labels, "clock") && (pprof_is_text(type, "wall") || pprof_is_text(type, "wall_ns")))
		labels_set(&p->labels, "clock", 5, "wall", 4);
}

static int read_all(struct pprof_reader *r)
{
	int code = read_basics(r);

	if (code)
		return code;
	if (r->string_count && r->strings[0].n)
		return pprof_bad(r, "the first string is not empty, so that it is no profile.proto");
	r->string_ids = xmalloc((r->string_count + 1) * sizeof(*r->string_ids));
	memset(r->string_ids, 0xff, (r->string_count + 1) * sizeof(*r->string_ids));
	if (!r->type_count)
		return pprof_bad(r, "it says no sample type, so that it is no profile.proto, or one without values");
	if ((code = pprof_add_columns(r)) || (code = pprof_read_named(r)) || (code = read_each(r, PPROF_LOCATION)) ||
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

static void reader_init(struct pprof_reader *r, const void *bytes, size_t n)
{
	r->all = (struct protobuf){ bytes, (const uint8_t *)bytes + n };
	r->profile = profile_new();
	map_init(&r->functions);
	map_init(&r->mappings);
	map_init(&r->location_ids);
	labels_init(&r->labels);
}

static void reader_done(struct pprof_reader *r)
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
	struct pprof_reader r = { .err = err, .depth_max = DEPTH_MAX };
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
	struct pprof_reader r = { .err = err, .depth_max = depth, .take = take, .take_data = data };
	int code;

	reader_init(&r, bytes, n);
	code = read_all(&r);
	if (code >= 0 && r.bad_index)
		code = pprof_bad(&r, "it refers to a string that does not exist");
	reader_done(&r);
	return code;
}

/* Tells whether a field has the type it should have in a Profile. */
static bool is_field(const struct protobuf_field *f)
{
	if (f->number >= PPROF_SAMPLE_TYPE && f->number <= PPROF_STRING)
		return f->type == 2;
	if (f->number == PPROF_PERIOD_TYPE)
		return f->type == 2;
	return f->number == PPROF_COMMENT ? f->type == 2 || f->type == 0 : f->number <= 15 && f->type == 0;
}

/* Every field up to the end, or to the one truncated by the end of the sniffed bytes, must belong to a Profile; and
 * at least one must be a type, or a sample with values. */
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
	.has_any_columns = true,
};
