/* otlp_write.c: writes one dictionary for all entries, and a resource per entry. */
#include "otlp_write.h"

#include "mem.h"
#include "otlp.h"
#include "pprof.h"
#include "protobuf.h"
#include "text.h"

#include <assert.h>
#include <string.h>

/* Entry 0 of each table means "not set". */
struct otlp_writer {
	const char *service;
	struct buf resources;			/* fields of the request */
	struct buf functions, locations, stacks;	/* fields of the dictionary */
	struct intern strings;
	struct intern function_keys, location_keys, stack_keys;	/* entries by their content, for deduplication */
};

struct otlp_writer *otlp_writer_new(const char *service)
{
	struct otlp_writer *w = xcalloc(1, sizeof(*w));

	w->service = service;
	buf_init(&w->resources);
	buf_init(&w->functions);
	buf_init(&w->locations);
	buf_init(&w->stacks);
	intern_init(&w->strings);
	intern_init(&w->function_keys);
	intern_init(&w->location_keys);
	intern_init(&w->stack_keys);
	intern_add(&w->strings, "", 0);
	protobuf_put_bytes(&w->functions, OTLP_FUNCTIONS, NULL, 0);
	protobuf_put_bytes(&w->locations, OTLP_LOCATIONS, NULL, 0);
	protobuf_put_bytes(&w->stacks, OTLP_STACKS, NULL, 0);
	return w;
}

struct otlp_writer *otlp_writer_free(struct otlp_writer *w)
{
	if (!w)
		return NULL;
	buf_done(&w->resources);
	buf_done(&w->functions);
	buf_done(&w->locations);
	buf_done(&w->stacks);
	intern_done(&w->strings);
	intern_done(&w->function_keys);
	intern_done(&w->location_keys);
	intern_done(&w->stack_keys);
	free(w);
	return NULL;
}

/* --- The dictionary --- */

/* Adds a string, made valid UTF-8 as Protocol Buffers require. */
static uint32_t string(struct otlp_writer *w, struct str s)
{
	_cleanup_(buf_done) struct buf safe = { 0 };

	buf_init(&safe);
	text_put_utf8(&safe, s);
	return intern_add(&w->strings, safe.data, safe.size);
}

static uint32_t c_string(struct otlp_writer *w, const char *s)
{
	return string(w, (struct str){ s, strlen(s) });
}

/* Returns the index of the entry with this content, and whether it is new. */
static uint32_t entry_of(struct intern *keys, const void *key, size_t n, bool *ret_new)
{
	size_t before = keys->count;
	uint32_t number = intern_add(keys, key, n);

	*ret_new = keys->count > before;
	return number + 1;
}

static uint32_t function_of(struct otlp_writer *w, const struct profile *p, uint32_t frame)
{
	const uint32_t key[] = { string(w, profile_name(p, frame)), string(w, profile_file(p, frame)), p->frames[frame].line };
	struct buf b;
	bool is_new;
	uint32_t number = entry_of(&w->function_keys, key, sizeof(key), &is_new);

	if (!is_new)
		return number;
	buf_init(&b);
	protobuf_put_number(&b, OTLP_FUNCTION_NAME, key[0]);
	protobuf_put_number(&b, OTLP_FUNCTION_FILE, key[1]);
	protobuf_put_number(&b, OTLP_FUNCTION_START, key[2]);
	protobuf_put_bytes(&w->functions, OTLP_FUNCTIONS, b.data, b.size);
	buf_done(&b);
	return number;
}

static bool is_php(struct str file)
{
	return file.n > 4 && !memcmp(file.p + file.n - 4, ".php", 4);
}

static uint32_t location_of(struct otlp_writer *w, const struct profile *p, uint32_t frame, uint32_t line)
{
	const uint32_t key[] = { function_of(w, p, frame), line };
	struct buf b, inner;
	bool is_new;
	uint32_t number = entry_of(&w->location_keys, key, sizeof(key), &is_new);

	if (!is_new)
		return number;
	buf_init(&b);
	buf_init(&inner);
	protobuf_put_number(&inner, OTLP_LINE_FUNCTION, key[0]);
	protobuf_put_number(&inner, OTLP_LINE_LINE, line);
	protobuf_put_bytes(&b, OTLP_LOCATION_LINES, inner.data, inner.size);
	if (is_php(profile_file(p, frame)))
		protobuf_put_number(&b, OTLP_LOCATION_ATTRIBUTES, 1);	/* the only one of the table */
	protobuf_put_bytes(&w->locations, OTLP_LOCATIONS, b.data, b.size);
	buf_done(&b);
	buf_done(&inner);
	return number;
}

static uint32_t stack_of(struct otlp_writer *w, const struct profile *p, uint32_t node)
{
	_cleanup_(buf_done) struct buf path = { 0 }, b = { 0 };
	uint32_t number;
	bool is_new;

	buf_init(&path);
	buf_init(&b);
	for (; node != PROFILE_ROOT; node = p->parents[node])
		buf_put_varint(&path, location_of(w, p, p->node_frames[node], profile_line(p, node)));
	number = entry_of(&w->stack_keys, path.data, path.size, &is_new);
	if (is_new) {
		protobuf_put_bytes(&b, OTLP_STACK_LOCATIONS, path.data, path.size);
		protobuf_put_bytes(&w->stacks, OTLP_STACKS, b.data, b.size);
	}
	return number;
}

/* --- Profiles --- */

static void put_type(struct otlp_writer *w, struct buf *profile, uint32_t field, const char *type, const char *unit)
{
	struct buf b;

	buf_init(&b);
	protobuf_put_number(&b, OTLP_TYPE, c_string(w, type));
	protobuf_put_number(&b, OTLP_UNIT, c_string(w, unit));
	protobuf_put_bytes(profile, field, b.data, b.size);
	buf_done(&b);
}

static void put_fixed64(struct buf *b, uint32_t number, uint64_t v)
{
	uint8_t bytes[8];

	strobe_wire_put_le(bytes, v, 8);
	buf_put_varint(b, (uint64_t)number << 3 | 1);
	buf_put(b, bytes, sizeof(bytes));
}

/* Returns whether any sample was written. */
static bool put_samples(struct otlp_writer *w, const struct profile *p, uint32_t column, struct buf *profile)
{
	struct buf sample, value;
	bool any = false;

	buf_init(&sample);
	buf_init(&value);
	for (uint32_t n = 1; n < p->node_count; n++) {
		int64_t v = p->columns[column].self[n];

		if (!v)
			continue;
		buf_reset(&sample);
		buf_reset(&value);
		buf_put_varint(&value, (uint64_t)v);
		protobuf_put_number(&sample, OTLP_SAMPLE_STACK, stack_of(w, p, n));
		protobuf_put_bytes(&sample, OTLP_SAMPLE_VALUES, value.data, value.size);
		protobuf_put_bytes(profile, OTLP_SAMPLES, sample.data, sample.size);
		any = true;
	}
	buf_done(&sample);
	buf_done(&value);
	return any;
}

static void put_profile(struct otlp_writer *w, const struct batch_entry *e, uint32_t column, struct buf *scope)
{
	const struct profile_column *c = &e->profile->columns[column];
	struct buf b;

	buf_init(&b);
	if (put_samples(w, e->profile, column, &b)) {
		put_type(w, &b, OTLP_SAMPLE_TYPE, pprof_type(c->name), c->unit);
		put_fixed64(&b, OTLP_TIME, (uint64_t)e->bucket_ns);
		/* Ends within the bucket, not where the next one begins. */
		protobuf_put_number(&b, OTLP_DURATION, BATCH_BUCKET_NS - 1);
		if (e->clock != STROBE_CLOCK_NONE && e->period_ns > 0) {
			put_type(w, &b, OTLP_PERIOD_TYPE, e->clock == STROBE_CLOCK_CPU ? "cpu" : "wall", "nanoseconds");
			protobuf_put_number(&b, OTLP_PERIOD, (uint64_t)e->period_ns);
		}
		protobuf_put_bytes(scope, OTLP_PROFILES, b.data, b.size);
	}
	buf_done(&b);
}

/* --- Resources --- */

static void put_attribute(struct buf *resource, const char *key, const char *value)
{
	_cleanup_(buf_done) struct buf pair = { 0 }, any = { 0 }, safe = { 0 };

	buf_init(&pair);
	buf_init(&any);
	buf_init(&safe);
	text_put_utf8(&safe, (struct str){ value, strlen(value) });
	protobuf_put_bytes(&any, OTLP_ANY_STRING, safe.data, safe.size);
	protobuf_put_bytes(&pair, OTLP_KEY, key, strlen(key));
	protobuf_put_bytes(&pair, OTLP_VALUE, any.data, any.size);
	protobuf_put_bytes(resource, OTLP_RESOURCE_ATTRIBUTES, pair.data, pair.size);
}

/* Maps label names to attributes of the semantic conventions; all others stay as they are. */
static const char *attribute_of(const char *label)
{
	static const char *const names[][2] = {
		{ "service_name", "service.name" }, { "service_namespace", "service.namespace" }, { "service_version", "service.version" },
		{ "host", "host.name" }, { "container_id", "container.id" }, { "k8s_pod_name", "k8s.pod.name" },
		{ "k8s_namespace_name", "k8s.namespace.name" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(label, names[i][0]))
			return names[i][1];
	return label;
}

static void put_resource(struct otlp_writer *w, const struct labels *l, struct buf *out)
{
	struct buf b;

	buf_init(&b);
	if (!labels_get(l, "service_name"))
		put_attribute(&b, "service.name", w->service);
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->items[i].key, "tenant"))
			put_attribute(&b, attribute_of(l->items[i].key), l->items[i].value);
	protobuf_put_bytes(out, OTLP_RESOURCE, b.data, b.size);
	buf_done(&b);
}

void otlp_writer_add(struct otlp_writer *w, const struct batch_entry *e)
{
	static const char scope_name[] = "\x0a\x06strobe";	/* InstrumentationScope { name 1 } */
	struct buf scope, resource;

	buf_init(&scope);
	buf_init(&resource);
	put_resource(w, e->labels, &resource);
	protobuf_put_bytes(&scope, OTLP_SCOPE, scope_name, sizeof(scope_name) - 1);
	for (uint32_t i = 0; i < e->profile->column_count; i++)
		put_profile(w, e, i, &scope);
	protobuf_put_bytes(&resource, OTLP_SCOPE_PROFILES, scope.data, scope.size);
	protobuf_put_bytes(&w->resources, OTLP_RESOURCE_PROFILES, resource.data, resource.size);
	buf_done(&scope);
	buf_done(&resource);
}

size_t otlp_writer_size(const struct otlp_writer *w)
{
	return w->resources.size + w->functions.size + w->locations.size + w->stacks.size;
}

/* "profile.frame.type" = "php" is attribute 1. */
static void put_attributes(struct otlp_writer *w, struct buf *dictionary)
{
	_cleanup_(buf_done) struct buf any = { 0 }, b = { 0 };

	buf_init(&any);
	buf_init(&b);
	protobuf_put_bytes(&any, OTLP_ANY_STRING, "php", 3);
	protobuf_put_number(&b, OTLP_KEY, c_string(w, "profile.frame.type"));
	protobuf_put_bytes(&b, OTLP_VALUE, any.data, any.size);
	protobuf_put_bytes(dictionary, OTLP_ATTRIBUTES, NULL, 0);
	protobuf_put_bytes(dictionary, OTLP_ATTRIBUTES, b.data, b.size);
}

void otlp_writer_end(struct otlp_writer *w, struct buf *out)
{
	_cleanup_(buf_done) struct buf dictionary = { 0 };

	buf_init(&dictionary);
	protobuf_put_bytes(&dictionary, OTLP_MAPPINGS, NULL, 0);
	protobuf_put_bytes(&dictionary, OTLP_LINKS, NULL, 0);
	buf_put(&dictionary, w->functions.data, w->functions.size);
	buf_put(&dictionary, w->locations.data, w->locations.size);
	buf_put(&dictionary, w->stacks.data, w->stacks.size);
	put_attributes(w, &dictionary);
	for (size_t i = 0; i < w->strings.count; i++) {
		struct str s = intern_get(&w->strings, (uint32_t)i);

		protobuf_put_bytes(&dictionary, OTLP_STRINGS, s.p, s.n);
	}
	buf_put(out, w->resources.data, w->resources.size);
	protobuf_put_bytes(out, OTLP_DICTIONARY, dictionary.data, dictionary.size);
}
