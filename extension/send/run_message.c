/* run_message.c: encodes runs.
 *
 * A message names each string once, before the frames and nodes that use them. So all strings are numbered first, by
 * content, in the C library's memory: a run must not be lost because the program has reached its memory_limit. Then
 * the message is written into a growing buffer, and a large one is copied into a memfd, which takes a tenth of the
 * time of encoding it twice.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "run_message.h"
#include "platform.h"
#include "realtime.h"
#include "strobe_assert.h"

#include <stdlib.h>

#define COLUMNS		(TREE_COLUMNS + 1)	/* plus off-CPU time */
#define TEXT_CHUNK	(256u * 1024)
#define FIRST_CAPACITY	(128u * 1024)
#define VARINT_MAX	10u

/* A socket's buffer has 208 KB, and the daemon may read it only ten times a second. So if runs follow each other
 * closely, larger ones go by memfd, if there is a descriptor. */
#define INLINE_WISHED	(32u * 1024)

struct text {
	const char *p;
	uint32_t n;
	uint32_t hash;
};

/* Memory for texts that are composed here rather than found in a PHP string. */
struct chunk {
	struct chunk *next;
	size_t used;
	char bytes[TEXT_CHUNK];
};

struct pair {
	uint32_t key, value;
};

/* A message being encoded. References count from 1. */
struct encoder {
	const struct call_tree *tree;
	struct text *texts;
	uint32_t text_count;
	uint32_t *slots, slot_count;	/* maps hashes of content to references; 0 is free */
	struct chunk *chunks;
	uint32_t *names, *files;	/* by function: references */
	struct pair labels[STROBE_WIRE_LABELS], columns[COLUMNS];
	unsigned label_count, column_count;
	char folded_calls[24], uncharted_calls[24];
	uint32_t call_count;		/* number of calls of the chart that fit */
	const int64_t *own;		/* rows of self values, in the tree's layout; may be the tree's own */
	int64_t *computed;
	char scratch[STROBE_WIRE_STRING];
};

bool run_is_reserved(const char *key, size_t n)
{
	static const char *const keys[] = { "source", "id", "url", "name", "folded_calls", "uncharted_calls" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strlen(keys[i]) == n && memcmp(keys[i], key, n) == 0)
			return true;
	return false;
}

/* --- Strings --- */

/* The hash that PHP keeps in its strings, too. */
static uint32_t shorten(zend_ulong h)
{
	return (uint32_t)(h ^ (uint64_t)h >> 32);
}

/* Copies a temporary text. NULL without memory. */
static const char *keep(struct encoder *e, const char *p, size_t n)
{
	struct chunk *c = e->chunks;
	char *at;

	if (!c || TEXT_CHUNK - c->used < n) {
		c = malloc(sizeof(*c));
		if (!c)
			return NULL;
		c->next = e->chunks;
		c->used = 0;
		e->chunks = c;
	}
	at = memcpy(c->bytes + c->used, p, n);
	c->used += n;
	return at;
}

/* Finds or adds a string of at most STROBE_WIRE_STRING bytes; returns a reference to it, or 0 without memory. */
static uint32_t number_hashed(struct encoder *e, const char *p, size_t n, uint32_t hash, bool lasting)
{
	uint32_t i, reference;

	STROBE_ASSERT((e->slot_count & (e->slot_count - 1)) == 0 && e->text_count < e->slot_count);
	for (i = hash & (e->slot_count - 1); (reference = e->slots[i]); i = (i + 1) & (e->slot_count - 1)) {
		const struct text *t = &e->texts[reference - 1];

		if (t->hash == hash && t->n == n && (t->p == p || memcmp(t->p, p, n) == 0))
			return reference;
	}
	if (!lasting && !(p = keep(e, p, n)))
		return 0;
	e->texts[e->text_count++] = (struct text){ p, (uint32_t)n, hash };
	return e->slots[i] = e->text_count;
}

/* Does the same for a string of any length, which is truncated to the limit. */
static uint32_t number(struct encoder *e, const char *p, size_t n, bool lasting)
{
	if (n > STROBE_WIRE_STRING)
		n = STROBE_WIRE_STRING;
	return number_hashed(e, p, n, shorten(zend_inline_hash_func(p, n)), lasting);
}

static uint32_t number_zend_string(struct encoder *e, zend_string *s)
{
	if (ZSTR_LEN(s) > STROBE_WIRE_STRING)
		return number(e, ZSTR_VAL(s), ZSTR_LEN(s), true);
	return number_hashed(e, ZSTR_VAL(s), ZSTR_LEN(s), shorten(zend_string_hash_val(s)), true);
}

static bool number_function(struct encoder *e, uint32_t i)
{
	const struct call_function *f = &e->tree->functions[i];
	size_t n;

	if (f->kind == CALL_FUNCTION && !f->class_name && !f->closure) {
		e->names[i] = number_zend_string(e, f->name);
	} else if (f->kind == CALL_FILE && f->file) {
		e->names[i] = number_zend_string(e, f->file);
	} else {
		n = call_function_text(f, e->scratch, sizeof(e->scratch));
		e->names[i] = number(e, e->scratch, n, false);
	}
	e->files[i] = f->file ? number_zend_string(e, f->file) : 0;
	return e->names[i] != 0;
}

static bool is_cut_in_a_character(const char *p, size_t n)
{
	return ((unsigned char)p[n] & 0xc0) == 0x80;
}

static void add_label(struct encoder *e, const char *key, const char *value)
{
	size_t n = value ? strlen(value) : 0;

	if (!value || e->label_count == STROBE_WIRE_LABELS)
		return;
	if (n > STROBE_WIRE_LABEL_VALUE)
		for (n = STROBE_WIRE_LABEL_VALUE; n > 0 && is_cut_in_a_character(value, n); n--)
			;
	e->labels[e->label_count++] = (struct pair){ number(e, key, strlen(key), true), number(e, value, n, true) };
}

static void add_labels(struct encoder *e, const struct run_info *info, const struct request_labels *labels)
{
	add_label(e, "source", info->source);
	add_label(e, "id", info->id);
	add_label(e, "url", info->url);
	add_label(e, "name", info->name);
	/* Folded calls are reported by a label, too. */
	if (e->tree->folded_calls) {
		snprintf(e->folded_calls, sizeof(e->folded_calls), "%llu", (unsigned long long)e->tree->folded_calls);
		add_label(e, "folded_calls", e->folded_calls);
	}
	if (e->tree->uncharted_calls + (e->tree->call_count - e->call_count)) {
		snprintf(e->uncharted_calls, sizeof(e->uncharted_calls), "%llu",
			 (unsigned long long)e->tree->uncharted_calls + (e->tree->call_count - e->call_count));
		add_label(e, "uncharted_calls", e->uncharted_calls);
	}
	for (unsigned i = 0; info->attributes && i < info->attributes->count; i++)
		add_label(e, info->attributes->items[i].key, info->attributes->items[i].value);
	for (unsigned i = 0; i < labels->count; i++) {
		const char *key = labels->items[i].key;

		if (!run_is_reserved(key, strlen(key)) &&
		    !(info->attributes && request_labels_has(info->attributes, key, strlen(key))))
			add_label(e, key, labels->items[i].value);
	}
}

/* --- Values --- */

static void add_column(struct encoder *e, const char *name, const char *unit)
{
	STROBE_ASSERT(e->column_count < COLUMNS);
	e->columns[e->column_count++] = (struct pair){ number(e, name, strlen(name), true),
						       number(e, unit, strlen(unit), true) };
}

static bool has_off_cpu(const struct call_tree *t)
{
	return (t->columns & TREE_HAS(TREE_WALL_NS)) && (t->columns & TREE_HAS(TREE_CPU_NS));
}

static void add_columns(struct encoder *e)
{
	const struct call_tree *t = e->tree;

	for (int c = 0; c < TREE_COLUMNS; c++)
		if (t->columns & TREE_HAS(c))
			add_column(e, tree_column_name(c), tree_column_unit(c));
	if (has_off_cpu(t))
		add_column(e, "off_cpu_ns", "nanoseconds");
}

/* Computes self values of all nodes. Parents come before children, so one pass is enough, which matters because the
 * tree may exceed the CPU's caches. Calls are exclusive already. */
static void compute_self(const struct call_tree *t, int64_t *self)
{
	const unsigned first = (t->columns & TREE_HAS(TREE_CALLS)) != 0;
	int64_t *row = self;

	memcpy(self, t->values, (size_t)t->node_count * t->width * sizeof(*self));
	for (uint32_t i = 0; i < t->node_count; i++, row += t->width) {
		int64_t *parent = self + (size_t)t->nodes[i].parent * t->width;

		for (unsigned k = first; i && k < t->width; k++)
			parent[k] -= call_tree_row(t, i)[k];
	}
}

/* --- The message --- */

static bool allocate(struct encoder *e)
{
	const struct call_tree *t = e->tree;
	size_t texts = 2 * (size_t)t->function_count + 2 * STROBE_WIRE_LABELS + 2 * COLUMNS;

	for (e->slot_count = 256; e->slot_count < 2 * texts; e->slot_count *= 2)
		;
	e->texts = malloc(texts * sizeof(*e->texts));
	e->slots = calloc(e->slot_count, sizeof(*e->slots));
	e->names = malloc(t->function_count * sizeof(*e->names) + 1);
	e->files = malloc(t->function_count * sizeof(*e->files) + 1);
	return e->texts && e->slots && e->names && e->files;
}

static void release(struct encoder *e)
{
	while (e->chunks) {
		struct chunk *next = e->chunks->next;

		free(e->chunks);
		e->chunks = next;
	}
	free(e->texts);
	free(e->slots);
	free(e->names);
	free(e->files);
	free(e->computed);
}

static size_t varint_size(uint64_t v)
{
	size_t n = 1;

	while (v >>= 7)
		n++;
	return n;
}

/* Returns an upper limit for the size of the message without its chart. */
static size_t bound_without_chart(const struct call_tree *t)
{
	size_t bound = STROBE_WIRE_HEADER_2 + 2 * VARINT_MAX * (STROBE_WIRE_LABELS + COLUMNS + STROBE_DROP_REASONS) +
		       STROBE_WIRE_LABELS * (STROBE_WIRE_LABEL_KEY + STROBE_WIRE_LABEL_VALUE) +
		       (size_t)t->node_count * (5 + 5 + (size_t)VARINT_MAX * ((unsigned)__builtin_popcount(t->columns) + 1));

	for (uint32_t i = 0; i < t->function_count; i++) {
		const struct call_function *f = &t->functions[i];

		bound += 5 * VARINT_MAX + STROBE_WIRE_LABEL_VALUE + (f->name ? ZSTR_LEN(f->name) : 0) +
			 (f->class_name ? ZSTR_LEN(f->class_name) : 0) + (f->file ? 2 * ZSTR_LEN(f->file) : 0);
	}
	return bound;
}

/* Returns how many calls of the chart certainly fit into a message, which is nearly always all. */
static uint32_t fitting_calls(const struct call_tree *t)
{
	size_t size = t->call_count ? bound_without_chart(t) : 0;
	uint64_t last = 0;
	uint32_t i;

	for (i = 0; i < t->call_count && i < STROBE_WIRE_CALLS; i++) {
		const struct call_record *r = &t->calls[i];

		size += varint_size(r->node + 1) + varint_size(r->start_ns - last) + varint_size(r->duration_ns);
		if (size > STROBE_WIRE_MAX)
			break;
		last = r->start_ns;
	}
	return i;
}

/* Labels and columns must refer to the first strings, so these are added first. */
static bool prepare(struct encoder *e, const struct run_info *info, const struct request_labels *labels)
{
	e->call_count = fitting_calls(e->tree);
	add_labels(e, info, labels);
	add_columns(e);
	for (uint32_t i = 0; i < e->tree->function_count; i++)
		if (!number_function(e, i))
			return false;
	e->own = e->tree->values;
	if (e->tree->own_values)
		return true;
	e->own = e->computed = malloc((size_t)e->tree->node_count * e->tree->width * sizeof(*e->computed) + 1);
	if (e->computed)
		compute_self(e->tree, e->computed);
	return e->computed != NULL;
}

static enum strobe_clock clock_of(const struct call_tree *t)
{
	if (!t->period_ns)
		return STROBE_CLOCK_NONE;
	return t->cpu_clock ? STROBE_CLOCK_CPU : STROBE_CLOCK_WALL;
}

/* Reserves room for `bytes` more. Without memory the writer only keeps counting, and ends up without a message. */
static zend_always_inline void reserve(struct strobe_wire_writer *w, size_t bytes)
{
	size_t wanted = w->capacity * 2;
	void *bigger;

	if (w->size > w->capacity || EXPECTED(w->capacity - w->size >= bytes) || w->size > STROBE_WIRE_MAX)
		return;
	while (wanted - w->size < bytes)
		wanted *= 2;
	bigger = realloc(w->buffer, wanted);
	if (bigger) {
		w->buffer = bigger;
		w->capacity = wanted;
	}
}

static void write_nodes(const struct encoder *e, struct strobe_wire_writer *w)
{
	const struct call_tree *t = e->tree;
	const bool off_cpu = has_off_cpu(t);
	const int64_t *row = e->own;
	int64_t values[COLUMNS];

	for (uint32_t n = 0; n < t->node_count; n++, row += t->width) {
		memcpy(values, row, t->width * sizeof(*values));
		if (off_cpu)
			values[t->width] = row[t->at[TREE_WALL_NS]] - row[t->at[TREE_CPU_NS]];
		reserve(w, (3 + COLUMNS) * VARINT_MAX);
		/* Number 0 is the message's root, so ours becomes 1. */
		strobe_wire_node(w, n ? t->nodes[n].parent + 1 : 0, t->nodes[n].function, values);
	}
}

static void write_calls(const struct encoder *e, struct strobe_wire_writer *w)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < e->call_count; i++) {
		const struct call_record *r = &e->tree->calls[i];

		reserve(w, 3 * VARINT_MAX);
		strobe_wire_call(w, r->node + 1, r->start_ns - last, r->duration_ns);
		last = r->start_ns;
	}
}

/* Returns the size of the message, which is in `*ret_buffer` (freed by the caller) unless it exceeds
 * `*ret_capacity`. */
static size_t write_message(const struct encoder *e, const struct run_info *info, const uint64_t *unreported,
			    void **ret_buffer, size_t *ret_capacity)
{
	const struct call_tree *t = e->tree;
	struct strobe_wire_info header = {
		.kind = info->open ? STROBE_WIRE_OPEN_RUN : STROBE_WIRE_RUN,
		.version = e->call_count ? 2 : 1,
		.clock = clock_of(t),
		.pid = info->pid,
		.start_ns = t->start_ns,
		.end_ns = t->end_ns > t->start_ns ? t->end_ns : t->start_ns,
		.period_ns = t->period_ns,
	};
	void *buffer = malloc(FIRST_CAPACITY);
	struct strobe_wire_writer w;
	size_t size;

	strobe_wire_begin(&w, buffer, buffer ? FIRST_CAPACITY : 0, &header);
	for (uint32_t i = 0; i < e->text_count; i++) {
		reserve(&w, VARINT_MAX + e->texts[i].n);
		strobe_wire_string(&w, e->texts[i].p, e->texts[i].n);
	}
	reserve(&w, 2 * VARINT_MAX * (STROBE_WIRE_LABELS + COLUMNS + STROBE_DROP_REASONS));
	for (unsigned i = 0; i < e->label_count; i++)
		strobe_wire_label(&w, e->labels[i].key, e->labels[i].value);
	for (unsigned i = 0; i < e->column_count; i++)
		strobe_wire_column(&w, e->columns[i].key, e->columns[i].value);
	for (unsigned reason = 1; reason < STROBE_DROP_REASONS && !info->open; reason++)
		if (unreported[reason])
			strobe_wire_drop(&w, reason, unreported[reason]);
	for (uint32_t i = 0; i < t->function_count; i++) {
		reserve(&w, 3 * VARINT_MAX);
		strobe_wire_frame(&w, e->names[i], e->files[i], t->functions[i].line);
	}
	write_nodes(e, &w);
	write_calls(e, &w);
	size = strobe_wire_end(&w);
	*ret_buffer = w.buffer;
	*ret_capacity = w.capacity;
	return size;
}

static int send_bytes(struct sender *s, const char *path, const void *bytes, size_t size)
{
	int reason, fd = -1;

	if (size > INLINE_WISHED)
		fd = platform_memfd_of(bytes, size);
	if (fd >= 0)
		return sender_send_memfd(s, path, fd, NULL, size);
	if (size > STROBE_WIRE_INLINE)
		return STROBE_DROP_NO_MEMORY;
	reason = sender_send(s, path, bytes, size);
	if (reason != STROBE_DROP_TOO_LARGE)
		return reason;
	fd = platform_memfd_of(bytes, size);
	return fd < 0 ? STROBE_DROP_NO_MEMORY : sender_send_memfd(s, path, fd, NULL, size);
}

static int send_encoded(const struct encoder *e, struct sender *s, const char *path, const struct run_info *info)
{
	size_t size, capacity;
	void *buffer;
	int reason;

	if (e->text_count > STROBE_WIRE_STRINGS || e->tree->function_count > STROBE_WIRE_FRAMES ||
	    e->tree->node_count > STROBE_WIRE_NODES)
		return STROBE_DROP_TOO_LARGE;
	size = write_message(e, info, s->unreported, &buffer, &capacity);
	if (size > STROBE_WIRE_MAX)
		reason = STROBE_DROP_TOO_LARGE;
	else if (size > capacity)
		reason = STROBE_DROP_NO_MEMORY;
	else
		reason = send_bytes(s, path, buffer, size);
	free(buffer);
	return reason;
}

int run_message_send(struct sender *s, const char *path, const struct call_tree *t, const struct run_info *info,
		     const struct request_labels *labels)
{
	struct encoder *e = calloc(1, sizeof(*e));
	int reason = STROBE_DROP_NO_MEMORY;

	STROBE_ASSERT(t->node_count > 0 && strobe_wire_is_run_key(info->source, strlen(info->source)));
	if (e) {
		e->tree = t;
		if (allocate(e) && prepare(e, info, labels))
			reason = send_encoded(e, s, path, info);
		release(e);
		free(e);
	}
	if (info->open)
		return reason;
	if (reason)
		sender_lost(s, reason, 1);
	else
		memset(s->unreported, 0, sizeof(s->unreported));
	return reason;
}

static void put_label(struct strobe_wire_writer *w, const char *key, const char *value)
{
	strobe_wire_string(w, key, strlen(key));
	strobe_wire_string(w, value, strlen(value));
}

void run_message_announce(struct sender *s, const char *path, const struct run_info *info, bool discarded)
{
	uint8_t buffer[STROBE_WIRE_HEADER + 4 * (STROBE_WIRE_RUN_KEY + VARINT_MAX)];
	struct strobe_wire_info header = { .kind = STROBE_WIRE_OPEN_RUN, .pid = info->pid };
	struct strobe_wire_writer w;

	header.start_ns = header.end_ns = realtime_ns();
	strobe_wire_begin(&w, buffer, sizeof(buffer), &header);
	put_label(&w, "source", info->source);
	put_label(&w, "id", info->id);
	if (discarded)
		put_label(&w, "discarded", "1");
	for (uint32_t i = 1; i < w.strings; i += 2)
		strobe_wire_label(&w, i, i + 1);
	sender_send(s, path, buffer, strobe_wire_end(&w));
}
