/* speedscope.c: writes the file format of speedscope, https://www.speedscope.app/file-format-schema.json. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tree_export.h"
#include "php_strobe.h"
#include "tree_walk.h"

#include "zend_smart_str.h"

struct speedscope {
	HashTable *samples, *weights;
	int64_t sum;
};

/* Returns the length of the UTF-8 sequence at p, or 0 if it is invalid. */
static size_t utf8_sequence(const unsigned char *p, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t size = p[0] < 0x80 ? 1 : (p[0] & 0xe0) == 0xc0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : (p[0] & 0xf8) == 0xf0 ?
		4 : 0;
	uint32_t c;

	if (size < 2 || size > n)
		return size == 1;
	c = p[0] & (0x7f >> size);
	for (size_t i = 1; i < size; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c >= least[size] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? size : 0;
}

/* PHP's names are bytes; JSON requires Unicode. Invalid bytes become U+FFFD. */
static zend_string *to_utf8(zend_string *s)
{
	const unsigned char *p = (const unsigned char *)ZSTR_VAL(s);
	smart_str out = { 0 };
	size_t n = ZSTR_LEN(s), i = 0;

	while (i < n && utf8_sequence(p + i, n - i))
		i += utf8_sequence(p + i, n - i);
	if (i == n)
		return zend_string_copy(s);
	for (i = 0; i < n;) {
		size_t size = utf8_sequence(p + i, n - i);

		if (size)
			smart_str_appendl(&out, (const char *)p + i, size);
		else
			smart_str_appends(&out, "\xef\xbf\xbd");
		i += size ? size : 1;
	}
	return smart_str_extract(&out);
}

static void add_frame(HashTable *frames, zend_string *name, const struct call_function *f)
{
	zval frame;

	array_init(&frame);
	add_assoc_str(&frame, "name", to_utf8(name));
	if (f && f->file)
		add_assoc_str(&frame, "file", to_utf8(f->file));
	if (f && f->line)
		add_assoc_long(&frame, "line", f->line);
	zend_hash_next_index_insert(frames, &frame);
}

static void add_stack(void *data, const uint32_t *functions, size_t depth, const int64_t *values)
{
	struct speedscope *s = data;
	zval stack, v;

	if (values[0] <= 0)	/* weights must not be negative in this format */
		return;
	array_init_size(&stack, (uint32_t)depth);
	zend_hash_real_init_packed(Z_ARRVAL(stack));
	for (size_t i = 0; i < depth; i++) {
		ZVAL_LONG(&v, functions[i]);
		zend_hash_next_index_insert_new(Z_ARRVAL(stack), &v);
	}
	zend_hash_next_index_insert(s->samples, &stack);
	ZVAL_LONG(&v, values[0]);
	zend_hash_next_index_insert(s->weights, &v);
	s->sum += values[0];
}

static const char *speedscope_unit(int metric)
{
	const char *unit = metric_unit(metric);

	return strcmp(unit, "count") ? unit : "none";
}

/* Creates the keys of the only profile, in the order of the format's schema. */
static void make_profile(zval *out, const struct call_tree *t, int metric)
{
	const struct stack_visitor v = { &metric, 1, add_stack };
	struct speedscope s = { 0 };
	zval samples, weights;

	array_init(&samples);
	array_init(&weights);
	s.samples = Z_ARRVAL(samples);
	s.weights = Z_ARRVAL(weights);
	stacks_walk(t, &v, &s);
	array_init(out);
	add_assoc_string(out, "type", "sampled");
	add_assoc_string(out, "name", metric_name(metric));
	add_assoc_string(out, "unit", speedscope_unit(metric));
	add_assoc_long(out, "startValue", 0);
	add_assoc_long(out, "endValue", s.sum);
	add_assoc_zval(out, "samples", &samples);
	add_assoc_zval(out, "weights", &weights);
}

static void add_event(HashTable *events, const char *type, uint32_t frame, uint64_t at)
{
	zval event;

	array_init_size(&event, 3);
	add_assoc_string(&event, "type", type);
	add_assoc_long(&event, "frame", frame);
	add_assoc_long(&event, "at", (zend_long)at);
	zend_hash_next_index_insert(events, &event);
}

/* Adds the chart's open and close events in order. Returns the time of the last one. */
static uint64_t add_events(HashTable *events, const struct call_tree *t)
{
	uint32_t *open = t->call_count ? safe_emalloc(t->call_count, sizeof(*open), 0) : NULL, depth = 0;
	uint64_t last = 0;

	for (uint32_t i = 0; i <= t->call_count; i++) {
		const struct call_record *call = i < t->call_count ? &t->calls[i] : NULL;

		while (depth && !(call && call->node && t->calls[open[depth - 1]].node == t->nodes[call->node].parent)) {
			const struct call_record *ended = &t->calls[open[--depth]];

			last = ended->start_ns + ended->duration_ns;
			add_event(events, "C", t->nodes[ended->node].function, last);
		}
		if (call) {
			add_event(events, "O", t->nodes[call->node].function, call->start_ns);
			open[depth++] = i;
		}
	}
	if (open)
		efree(open);
	return last;
}

static void make_chart(zval *out, const struct call_tree *t, int metric)
{
	uint64_t end;
	zval events;

	array_init(&events);
	end = add_events(Z_ARRVAL(events), t);
	array_init(out);
	add_assoc_string(out, "type", "evented");
	add_assoc_string(out, "name", metric_name(metric));
	add_assoc_string(out, "unit", "nanoseconds");
	add_assoc_long(out, "startValue", 0);
	add_assoc_long(out, "endValue", (zend_long)end);
	add_assoc_zval(out, "events", &events);
}

/* Only wall time is shown as a chart. */
static bool shows_chart(const struct call_tree *t, int metric)
{
	return t->charted && strcmp(metric_name(metric), tree_column_name(TREE_WALL_NS)) == 0;
}

void export_speedscope(const struct call_tree *t, int metric, zval *out)
{
	zend_string **names = names_new(t);
	zval shared, frames, profiles, profile;

	array_init(&frames);
	for (uint32_t i = 0; i < t->function_count; i++)
		add_frame(Z_ARRVAL(frames), names[i], &t->functions[i]);
	add_frame(Z_ARRVAL(frames), names[t->function_count], NULL);
	names_free(names, t);

	array_init(&shared);
	add_assoc_zval(&shared, "frames", &frames);
	if (shows_chart(t, metric))
		make_chart(&profile, t, metric);
	else
		make_profile(&profile, t, metric);
	array_init(&profiles);
	zend_hash_next_index_insert(Z_ARRVAL(profiles), &profile);

	array_init(out);
	add_assoc_string(out, "$schema", "https://www.speedscope.app/file-format-schema.json");
	add_assoc_zval(out, "shared", &shared);
	add_assoc_zval(out, "profiles", &profiles);
	add_assoc_string(out, "exporter", "strobe@" PHP_STROBE_VERSION);
	add_assoc_long(out, "activeProfileIndex", 0);
}
