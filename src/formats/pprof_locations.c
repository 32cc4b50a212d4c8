/* pprof_locations.c: reads functions and mappings by their ids, and the frames of each location. */
#include "mem.h"
#include "pprof_private.h"

/* Looks up each file once, since many functions share one. */
static uint32_t string_of(struct pprof_reader *r, uint64_t index)
{
	struct str s = pprof_text(r, index);

	if (index >= r->string_count)
		return intern_add(&r->profile->strings, "", 0);
	if (r->string_ids[index] == UINT32_MAX)
		r->string_ids[index] = intern_add(&r->profile->strings, s.p, s.n);
	return r->string_ids[index];
}

static int read_function(struct pprof_reader *r, struct protobuf m)
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
		return pprof_check_end(r, &m);
	slot = map_slot(&r->functions, id);
	if (!id || *slot != MAP_NONE)
		return err_set(r->err, -EINVAL, "the function id %llu is a duplicate or 0", (unsigned long long)id);
	shown = profile_given_name(pprof_text(r, pprof_text(r, name).n ? name : system_name));
	*slot = profile_frame_of(r->profile, intern_add(&r->profile->strings, shown.p, shown.n), string_of(r, file), line < UINT32_MAX ? (uint32_t)line : 0);
	return 0;
}

static int read_mapping(struct pprof_reader *r, struct protobuf m)
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
	return pprof_check_end(r, &m);
}

int pprof_read_named(struct pprof_reader *r)
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

static int read_line(struct pprof_reader *r, struct protobuf m, struct pprof_location *l)
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
		return pprof_check_end(r, &m);
	frame = map_get(&r->functions, function);
	if (frame == MAP_NONE)
		return err_set(r->err, -EINVAL, "a location refers to function %llu, which does not exist",
			       (unsigned long long)function);
	if (l->count == PPROF_LINES_MAX)
		return err_set(r->err, -E2BIG, "a location exceeds the limit of %u lines", PPROF_LINES_MAX);
	GROW(&r->lines, &r->line_capacity, r->line_count + 1);
	r->lines[r->line_count++] = (struct line_place){ frame, (uint32_t)line };
	r->has_lines |= line != r->profile->frames[frame].line;
	l->count++;
	return 0;
}

/* A location without a function is named by its address. */
static void name_by_address(struct pprof_reader *r, struct pprof_location *l, uint64_t address, uint64_t mapping)
{
	uint32_t file = map_get(&r->mappings, mapping);
	char name[32];

	snprintf(name, sizeof(name), "0x%llx", (unsigned long long)address);
	GROW(&r->lines, &r->line_capacity, r->line_count + 1);
	r->lines[r->line_count++] = (struct line_place){
		profile_frame_of(r->profile, intern_add(&r->profile->strings, name, strlen(name)),
				 string_of(r, file == MAP_NONE ? 0 : file), 0),
		0
	};
	l->count = 1;
}

int pprof_read_location(struct pprof_reader *r, struct protobuf m)
{
	struct pprof_location l = { .first = (uint32_t)r->line_count };
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
		return code ? code : pprof_check_end(r, &m);
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
