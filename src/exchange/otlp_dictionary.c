/* otlp_dictionary.c: reads the tables in the order of their references: strings, attributes, mappings, functions,
 * locations, stacks. */
#include "otlp_dictionary.h"

#include "mem.h"
#include "otlp.h"

#include <assert.h>
#include <string.h>

#define UNUSABLE	UINT32_MAX		/* a function, or the first line of a location */
#define REASONS_MAX	64u			/* reasons kept; a dictionary may have millions of unusable entries */

static int damaged(struct err *err, const char *what)
{
	return err_set(err, -EINVAL, "%s of the dictionary is damaged or truncated", what);
}

static int beyond(struct err *err, const char *what, uint64_t index, size_t count)
{
	return err_set(err, -ERANGE, "%s %llu is out of range: the dictionary has %zu", what, (unsigned long long)index, count);
}

static int unusable(const struct otlp_dictionary *d, struct err *err, const char *what, uint64_t index)
{
	assert(d->unusable_count > 0);
	for (size_t i = 0; i < d->unusable_count; i++)
		if (d->unusable[i].index == index && !strcmp(d->unusable[i].table, what))
			return err_set(err, -ERANGE, "%s %llu of the dictionary cannot be used: %s", what, (unsigned long long)index,
				       d->unusable[i].why.text);
	return err_set(err, -ERANGE, "%s %llu of the dictionary cannot be used", what, (unsigned long long)index);
}

int otlp_string(const struct otlp_dictionary *d, uint64_t index, struct str *ret, struct err *err)
{
	*ret = (struct str){ "", 0 };
	if (!index)
		return 0;
	if (index >= d->string_count)
		return beyond(err, "string", index, d->string_count);
	*ret = d->strings[index];
	return 0;
}

/* --- Attributes --- */

static struct str text_of(struct protobuf b)
{
	return (struct str){ b.p ? (const char *)b.p : "", (size_t)(b.end - b.p) };
}

/* Returns the element of an array of length one. */
static int array_value(const struct otlp_dictionary *d, struct protobuf m, char number[24], struct str *ret, struct err *err)
{
	struct protobuf_field f, only = { 0 };
	unsigned count = 0;

	while (protobuf_next(&m, &f))
		if (f.number == 1 && f.type == 2) {
			only = f;
			count++;
		}
	if (m.p != m.end)
		return damaged(err, "an array");
	if (count != 1)
		return 0;
	/* Arrays in arrays do not become labels, so nesting ends here. */
	m = only.bytes;
	if (protobuf_next(&m, &f) && f.number == OTLP_ANY_ARRAY)
		return 0;
	return otlp_any_value(d, only.bytes, number, ret, err);
}

int otlp_any_value(const struct otlp_dictionary *d, struct protobuf m, char number[24], struct str *ret, struct err *err)
{
	struct protobuf_field f;
	int r = 0;

	*ret = (struct str){ NULL, 0 };
	while (r >= 0 && protobuf_next(&m, &f)) {
		if (f.number == OTLP_ANY_STRING && f.type == 2)
			*ret = text_of(f.bytes);
		else if (f.number == OTLP_ANY_STRING_INDEX && f.type == 0)
			r = otlp_string(d, f.value, ret, err);
		else if (f.number == OTLP_ANY_INT && f.type == 0)
			*ret = (struct str){ number, (size_t)snprintf(number, 24, "%lld", (long long)f.value) };
		else if (f.number == OTLP_ANY_ARRAY && f.type == 2)
			r = array_value(d, f.bytes, number, ret, err);
	}
	return r < 0 ? r : m.p == m.end ? 0 : damaged(err, "a value");
}

static int read_attribute(struct otlp_dictionary *d, struct protobuf m, struct err *err)
{
	struct otlp_attribute *a;
	struct protobuf_field f;
	int r = 0;

	GROW(&d->attributes, &d->attribute_capacity, d->attribute_count + 1);
	a = &d->attributes[d->attribute_count++];
	*a = (struct otlp_attribute){ .key = { "", 0 }, .unusable = true };
	while (r >= 0 && protobuf_next(&m, &f)) {
		if (f.number == OTLP_KEY && f.type == 0)
			r = otlp_string(d, f.value, &a->key, err);
		else if (f.number == OTLP_VALUE && f.type == 2)
			r = otlp_any_value(d, f.bytes, a->number, &a->value, err);
	}
	a->unusable = r < 0;
	return r < 0 ? r : m.p == m.end ? 0 : damaged(err, "an attribute");
}

/* Numbers are formatted into the attribute itself, whose address changes while the table grows. */
static struct str value_of(const struct otlp_attribute *a)
{
	return a->number[0] && a->value.p ? (struct str){ a->number, strlen(a->number) } : a->value;
}

int otlp_attribute(const struct otlp_dictionary *d, uint64_t index, const struct otlp_attribute **ret, struct err *err)
{
	*ret = NULL;
	if (!index)
		return 0;
	if (index >= d->attribute_count)
		return beyond(err, "attribute", index, d->attribute_count);
	*ret = &d->attributes[index];
	return (*ret)->unusable ? unusable(d, err, "attribute", index) : 0;
}

static int check_attributes(const struct otlp_dictionary *d, struct protobuf_field f, struct err *err)
{
	const struct otlp_attribute *a;
	uint64_t index;
	int r;

	while (protobuf_packed(&f, &index))
		if ((r = otlp_attribute(d, index, &a, err)) < 0)
			return r;
	return protobuf_packed_ended(&f) ? 0 : damaged(err, "a list of attributes");
}

/* --- Functions and locations --- */

static int read_mapping(struct otlp_dictionary *d, struct protobuf m, struct err *err)
{
	struct str file = { "", 0 };
	struct protobuf_field f;
	int r = 0;

	GROW(&d->mappings, &d->mapping_capacity, d->mapping_count + 1);
	d->mappings[d->mapping_count++] = (struct str){ NULL, 0 };
	while (r >= 0 && protobuf_next(&m, &f))
		if (f.number == OTLP_MAPPING_FILE && f.type == 0)
			r = otlp_string(d, f.value, &file, err);
	if (r >= 0)
		d->mappings[d->mapping_count - 1] = file;
	return r < 0 ? r : m.p == m.end ? 0 : damaged(err, "a mapping");
}

static int read_function(struct otlp_dictionary *d, struct protobuf m, struct err *err)
{
	struct str name = { "", 0 }, system_name = { "", 0 }, file = { "", 0 };
	struct protobuf_field f;
	uint64_t line = 0;
	int r = 0;

	GROW(&d->functions, &d->function_capacity, d->function_count + 1);
	d->functions[d->function_count++] = UNUSABLE;
	while (r >= 0 && protobuf_next(&m, &f)) {
		if (f.number == OTLP_FUNCTION_NAME)
			r = otlp_string(d, f.value, &name, err);
		else if (f.number == OTLP_FUNCTION_SYSTEM_NAME)
			r = otlp_string(d, f.value, &system_name, err);
		else if (f.number == OTLP_FUNCTION_FILE)
			r = otlp_string(d, f.value, &file, err);
		else if (f.number == OTLP_FUNCTION_START)
			line = f.value;
	}
	if (r < 0 || m.p != m.end)
		return r < 0 ? r : damaged(err, "a function");
	d->functions[d->function_count - 1] = profile_frame(d->frames, name.n ? name : system_name, file,
							    line <= UINT32_MAX ? (uint32_t)line : 0);
	return 0;
}

static void add_line(struct otlp_dictionary *d, uint32_t frame, uint64_t line)
{
	GROW(&d->lines, &d->line_capacity, d->line_count + 1);
	d->lines[d->line_count++] = (struct line_place){ frame, line <= UINT32_MAX ? (uint32_t)line : 0 };
}

static int read_line(struct otlp_dictionary *d, struct protobuf m, struct err *err)
{
	uint64_t function = 0, line = 0;
	struct protobuf_field f;

	while (protobuf_next(&m, &f)) {
		if (f.number == OTLP_LINE_FUNCTION)
			function = f.value;
		else if (f.number == OTLP_LINE_LINE)
			line = f.value;
	}
	if (m.p != m.end)
		return damaged(err, "a line");
	if (function >= d->function_count && function)
		return beyond(err, "function", function, d->function_count);
	if (function && d->functions[function] == UNUSABLE)
		return unusable(d, err, "function", function);
	add_line(d, function ? d->functions[function] :
		 profile_frame(d->frames, profile_given_name((struct str){ "", 0 }), (struct str){ "", 0 }, 0), line);
	return 0;
}

/* Names code without symbols "libc.so.6+0x2718", after the file mapped at the address. */
static void add_address(struct otlp_dictionary *d, uint64_t address, struct str file)
{
	const char *slash = file.n ? memrchr(file.p, '/', file.n) : NULL;
	size_t begin = slash ? (size_t)(slash - file.p) + 1 : 0, n = file.n - begin;
	char name[192];
	int size = snprintf(name, sizeof(name), "%.*s%s0x%llx", (int)(n < 128 ? n : 128), n ? file.p + begin : "", n ? "+" : "",
			    (unsigned long long)address);

	add_line(d, profile_frame(d->frames, (struct str){ name, (size_t)size }, file, 0), 0);
}

static int read_location(struct otlp_dictionary *d, struct protobuf m, struct err *err)
{
	struct otlp_location l = { .first = (uint32_t)d->line_count };
	uint64_t address = 0, mapping = 0;
	struct protobuf_field f;
	int r = 0;

	GROW(&d->locations, &d->location_capacity, d->location_count + 1);
	d->locations[d->location_count++] = (struct otlp_location){ .first = UNUSABLE };
	while (r >= 0 && protobuf_next(&m, &f)) {
		if (f.number == OTLP_LOCATION_MAPPING)
			mapping = f.value;
		else if (f.number == OTLP_LOCATION_ADDRESS)
			address = f.value;
		else if (f.number == OTLP_LOCATION_LINES && f.type == 2)
			r = read_line(d, f.bytes, err);
		else if (f.number == OTLP_LOCATION_ATTRIBUTES)
			r = check_attributes(d, f, err);
	}
	if (r < 0 || m.p != m.end)
		return r < 0 ? r : damaged(err, "a location");
	if (mapping && mapping >= d->mapping_count)
		return beyond(err, "mapping", mapping, d->mapping_count);
	if (mapping && !d->mappings[mapping].p)
		return unusable(d, err, "mapping", mapping);
	if (d->line_count == l.first)
		add_address(d, address, mapping ? d->mappings[mapping] : (struct str){ "", 0 });
	l.count = (uint32_t)(d->line_count - l.first);
	d->locations[d->location_count - 1] = l;
	return 0;
}

static int read_stack(struct otlp_dictionary *d, struct protobuf m, struct err *err)
{
	struct otlp_stack stack = { .bytes = m };
	struct protobuf_field f;
	uint64_t index, depth = 0;

	GROW(&d->stacks, &d->stack_capacity, d->stack_count + 1);
	d->stacks[d->stack_count++] = (struct otlp_stack){ .unusable = true };
	while (protobuf_next(&m, &f)) {
		if (f.number != OTLP_STACK_LOCATIONS)
			continue;
		while (protobuf_packed(&f, &index)) {
			if (index >= d->location_count)
				return beyond(err, "location", index, d->location_count);
			if (d->locations[index].first == UNUSABLE)
				return unusable(d, err, "location", index);
			depth += d->locations[index].count;
		}
		if (!protobuf_packed_ended(&f))
			return damaged(err, "a stack");
	}
	if (m.p != m.end)
		return damaged(err, "a stack");
	stack.depth = depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
	d->stacks[d->stack_count - 1] = stack;
	return 0;
}

int otlp_stack(const struct otlp_dictionary *d, uint64_t index, const struct otlp_stack **ret, struct err *err)
{
	*ret = NULL;
	if (!index)
		return 0;
	if (index >= d->stack_count)
		return beyond(err, "stack", index, d->stack_count);
	*ret = &d->stacks[index];
	return (*ret)->unusable ? unusable(d, err, "stack", index) : 0;
}

/* --- Top level --- */

static int read_string(struct otlp_dictionary *d, struct protobuf m, struct err *err)
{
	(void)err;
	GROW(&d->strings, &d->string_capacity, d->string_count + 1);
	d->strings[d->string_count++] = text_of(m);
	return 0;
}

struct table {
	uint32_t number;
	const char *entry;
	int (*read)(struct otlp_dictionary *d, struct protobuf m, struct err *err);
};

/* An entry with an index out of range stays in the table, and only samples that use it are refused, since many
 * profiles share the dictionary. */
static int read_entry(struct otlp_dictionary *d, const struct table *t, size_t number, struct protobuf m, struct err *err)
{
	int r = t->read(d, m, err);

	if (r != -ERANGE)
		return r;
	if (d->unusable_count < REASONS_MAX) {
		GROW(&d->unusable, &d->unusable_capacity, d->unusable_count + 1);
		d->unusable[d->unusable_count++] = (struct otlp_unusable){ t->entry, number, *err };
	}
	return 0;
}

int otlp_dictionary_read(struct otlp_dictionary *d, struct protobuf all, struct err *err)
{
	static const struct table tables[] = {
		{ OTLP_STRINGS, "string", read_string },
		{ OTLP_ATTRIBUTES, "attribute", read_attribute },
		{ OTLP_MAPPINGS, "mapping", read_mapping },
		{ OTLP_FUNCTIONS, "function", read_function },
		{ OTLP_LOCATIONS, "location", read_location },
		{ OTLP_STACKS, "stack", read_stack },
	};

	*d = (struct otlp_dictionary){ .frames = profile_new() };
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct protobuf m = all;
		struct protobuf_field f;
		size_t number = 0;
		int r = 0;

		while (r >= 0 && protobuf_next(&m, &f))
			if (f.number == tables[i].number && f.type == 2)
				r = read_entry(d, &tables[i], number++, f.bytes, err);
		if (r < 0 || m.p != m.end)
			return r < 0 ? r : err_set(err, -EINVAL, "the dictionary is damaged or truncated");
	}
	for (size_t i = 0; i < d->attribute_count; i++)
		d->attributes[i].value = value_of(&d->attributes[i]);
	return 0;
}

void otlp_dictionary_done(struct otlp_dictionary *d)
{
	profile_free(d->frames);
	free(d->strings);
	free(d->attributes);
	free(d->mappings);
	free(d->functions);
	free(d->locations);
	free(d->lines);
	free(d->stacks);
	free(d->unusable);
}
