/* message.c: encodes samples.
 *
 * The trie has the nodes of all trees in one array, in order of first occurrence. They are sorted by tree, and each
 * tree becomes a message.
 *
 * A message needs every string once and every frame once, before the nodes. So the trie is walked first to number
 * them, comparing by content: two functions at different addresses may have the same name. Then the sections are
 * written, into a buffer of 128 KB or, if that is too small, into a memfd of the required size.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "message.h"
#include "platform.h"
#include "function_name.h"
#include "strobe_assert.h"

#include <sys/mman.h>

#define STRINGS		(TRIE_NODES * 2)
#define STRING_SLOTS	(STRINGS * 2)
#define FRAME_SLOTS	(TRIE_NODES * 2)

/* A socket's buffer has 208 KB, and the daemon may read it only ten times a second. So beyond the first 128 KB of a
 * flush, all but small messages go by memfd; each also takes some overhead in the buffer. */
#define SMALL		1024u
#define OVERHEAD	1024u

/* A string of the message: the name of a function, or a path (then `path` is set). */
struct text {
	const struct function_id *function;
	const zend_string *path;
	uint32_t slot;
};

struct frame {
	uint32_t name, file, line;	/* references in the message */
	uint32_t slot;
};

/* Working memory for encoding, in one zeroed mapping. `slots` contain index + 1 and are zeroed again afterwards. */
struct message_scratch {
	struct text texts[STRINGS];
	struct frame frames[TRIE_NODES];
	uint32_t text_slots[STRING_SLOTS];
	uint32_t frame_slots[FRAME_SLOTS];
	uint32_t node_frames[TRIE_NODES];
	uint32_t sorted[TRIE_NODES];		/* nodes by tree, each tree in the order of the trie */
	uint32_t places[TRIE_NODES];		/* by node: its number in its message */
	uint8_t trees[TRIE_NODES];		/* by node: its root */
	uint32_t text_count, frame_count, first_text;
	bool lines;				/* nodes have lines */
	struct request_labels labels;
	char name[STROBE_WIRE_STRING];
	uint8_t buffer[STROBE_WIRE_INLINE];
};

struct message_scratch *message_map(void)
{
	void *p = mmap(NULL, sizeof(struct message_scratch), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

struct message_scratch *message_unmap(struct message_scratch *m)
{
	if (m)
		munmap(m, sizeof(*m));
	return NULL;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdull;
	return h ^ (h >> 33);
}

static bool is_path(const struct function_id *f)
{
	return !f->name && f->file;
}

static uint64_t text_hash(const struct text *t)
{
	const struct function_id *f = t->function;
	uint64_t h = 1;

	if (t->path)
		return mix(2, zend_string_hash_val((zend_string *)t->path));
	if (f->closure)
		h = mix(mix(mix(3, zend_string_hash_val(f->file)), f->line), f->order);
	else if (f->name)
		h = mix(h, zend_string_hash_val(f->name));
	if (f->scope)
		h = mix(h, zend_inline_hash_func(ZSTR_VAL(f->scope->name), text_class_length(f->scope)));
	return h;
}

static bool strings_equal(const zend_string *a, const zend_string *b)
{
	return a == b || (a && b && zend_string_equal_content(a, b));
}

static bool scopes_equal(const zend_class_entry *a, const zend_class_entry *b)
{
	size_t n;

	if (!a || !b || a == b)
		return a == b;
	n = text_class_length(a);
	return n == text_class_length(b) && memcmp(ZSTR_VAL(a->name), ZSTR_VAL(b->name), n) == 0;
}

static bool texts_equal(const struct text *a, const struct text *b)
{
	const struct function_id *f = a->function, *g = b->function;

	if (a->path || b->path)
		return a->path && b->path && strings_equal(a->path, b->path);
	if (f->closure != g->closure)
		return false;
	if (f->closure)
		return f->line == g->line && f->order == g->order && strings_equal(f->file, g->file) &&
		       scopes_equal(f->scope, g->scope);
	return strings_equal(f->name, g->name) && scopes_equal(f->scope, g->scope);
}

/* Finds or adds a string; returns a reference to it. */
static uint32_t number_text(struct message_scratch *s, struct text t)
{
	uint32_t slot = (uint32_t)text_hash(&t) % STRING_SLOTS;
	uint32_t i;

	for (; (i = s->text_slots[slot]); slot = (slot + 1) % STRING_SLOTS)
		if (texts_equal(&s->texts[i - 1], &t))
			return s->first_text + i - 1;
	STROBE_ASSERT(s->text_count < STRINGS);
	t.slot = slot;
	s->texts[s->text_count++] = t;
	s->text_slots[slot] = s->text_count;
	return s->first_text + s->text_count - 1;
}

static uint32_t number_frame(struct message_scratch *s, const struct function_id *f)
{
	struct text name = { .function = f, .path = is_path(f) ? f->file : NULL };
	struct frame frame = { .line = f->line };
	uint32_t slot, i;

	frame.name = number_text(s, name);
	if (f->file)
		frame.file = number_text(s, (struct text){ .path = f->file });
	slot = (uint32_t)mix(mix(frame.name, frame.file), frame.line) % FRAME_SLOTS;
	for (; (i = s->frame_slots[slot]); slot = (slot + 1) % FRAME_SLOTS) {
		const struct frame *g = &s->frames[i - 1];

		if (g->name == frame.name && g->file == frame.file && g->line == frame.line)
			return i - 1;
	}
	STROBE_ASSERT(s->frame_count < TRIE_NODES);
	frame.slot = slot;
	s->frames[s->frame_count++] = frame;
	s->frame_slots[slot] = s->frame_count;
	return s->frame_count - 1;
}

/* The nodes of one tree: a range in `sorted`. */
struct tree {
	uint32_t first, count;
	uint64_t samples;
};

/* Fills `trees`, which has TRIE_ROOTS elements. Parents come before children, both in the trie and in each tree. */
static void sort_nodes(struct message_scratch *s, const struct trie *t, struct tree *trees)
{
	uint32_t at = 0;

	STROBE_ASSERT(t->count <= TRIE_NODES);
	memset(trees, 0, TRIE_ROOTS * sizeof(*trees));
	for (uint32_t n = TRIE_ROOTS; n < t->count; n++) {
		uint32_t parent = t->nodes[n].parent;
		uint32_t root = parent < TRIE_ROOTS ? parent : s->trees[parent];

		STROBE_ASSERT(parent < n && root < TRIE_ROOTS);
		s->trees[n] = (uint8_t)root;
		s->places[n] = ++trees[root].count;
		trees[root].samples += t->nodes[n].samples;
	}
	for (uint32_t root = 0; root < TRIE_ROOTS; root++) {
		trees[root].first = at;
		at += trees[root].count;
	}
	for (uint32_t n = TRIE_ROOTS; n < t->count; n++)
		s->sorted[trees[s->trees[n]].first + s->places[n] - 1] = n;
}

/* `first_text` is the reference of the first name, after those of labels and the column. */
static void number_all(struct message_scratch *s, const struct trie *t, const struct tree *tree, uint32_t first_text)
{
	STROBE_ASSERT(!s->text_count && !s->frame_count);
	s->first_text = first_text;
	s->lines = false;
	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t n = s->sorted[tree->first + i];

		s->node_frames[n] = number_frame(s, &t->nodes[n].function);
		s->lines |= t->nodes[n].line > 0;
	}
}

static void clear_all(struct message_scratch *s)
{
	for (uint32_t i = 0; i < s->text_count; i++)
		s->text_slots[s->texts[i].slot] = 0;
	for (uint32_t i = 0; i < s->frame_count; i++)
		s->frame_slots[s->frames[i].slot] = 0;
	s->text_count = s->frame_count = 0;
}

static void write_text(struct strobe_wire_writer *w, struct message_scratch *s, const struct text *t)
{
	size_t n;

	if (t->path)
		n = ZSTR_LEN(t->path) < STROBE_WIRE_STRING ? ZSTR_LEN(t->path) : STROBE_WIRE_STRING;
	else
		n = text_function(t->function, s->name, sizeof(s->name));
	strobe_wire_string(w, t->path ? ZSTR_VAL(t->path) : s->name, n);
}

static size_t write_message(struct message_scratch *s, void *buffer, size_t capacity, const struct trie *t,
			    const struct tree *tree, const struct request_labels *labels,
			    const struct message_info *info, const uint64_t *unreported)
{
	struct strobe_wire_info header = {
		.kind = info->open ? STROBE_WIRE_OPEN_SAMPLES : STROBE_WIRE_SAMPLES,
		.clock = info->cpu_clock ? STROBE_CLOCK_CPU : STROBE_CLOCK_WALL,
		.pid = info->pid,
		.version = s->lines ? 2 : 1,
		.flags = s->lines ? STROBE_WIRE_LINES : 0,
		.start_ns = info->start_ns,
		.end_ns = info->end_ns,
		.period_ns = info->period_ns,
	};
	struct strobe_wire_writer w;

	strobe_wire_begin(&w, buffer, capacity, &header);
	for (unsigned i = 0; i < labels->count; i++) {
		strobe_wire_string(&w, labels->items[i].key, strlen(labels->items[i].key));
		strobe_wire_string(&w, labels->items[i].value, strlen(labels->items[i].value));
	}
	strobe_wire_string(&w, ZEND_STRL("samples"));
	strobe_wire_string(&w, ZEND_STRL("count"));
	for (uint32_t i = 0; i < s->text_count; i++)
		write_text(&w, s, &s->texts[i]);

	for (unsigned i = 0; i < labels->count; i++)
		strobe_wire_label(&w, 2 * i + 1, 2 * i + 2);
	strobe_wire_column(&w, 2 * labels->count + 1, 2 * labels->count + 2);
	for (unsigned reason = 1; reason < STROBE_DROP_REASONS; reason++)
		if (unreported[reason])
			strobe_wire_drop(&w, reason, unreported[reason]);
	for (uint32_t i = 0; i < s->frame_count; i++)
		strobe_wire_frame(&w, s->frames[i].name, s->frames[i].file, s->frames[i].line);
	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t n = s->sorted[tree->first + i], parent = t->nodes[n].parent;
		int64_t samples = t->nodes[n].samples;

		strobe_wire_node_at(&w, parent < TRIE_ROOTS ? 0 : s->places[parent], s->node_frames[n], t->nodes[n].line,
				    &samples);
	}
	return strobe_wire_end(&w);
}

/* Subtracts from `*room` the space that the message takes in the socket's buffer. */
static int send_tree(struct message_scratch *m, struct sender *sender, const char *path, const struct trie *t,
		     const struct tree *tree, const struct request_labels *labels, const struct message_info *info,
		     size_t *room)
{
	int reason = STROBE_DROP_TOO_LARGE;
	size_t size;

	number_all(m, t, tree, 2 * labels->count + 3);
	size = write_message(m, m->buffer, sizeof(m->buffer), t, tree, labels, info, sender->unreported);
	if (size <= SMALL || size <= *room) {
		reason = sender_send(sender, path, m->buffer, size);
		*room -= MIN(*room, size + OVERHEAD);
	}
	if (reason == STROBE_DROP_TOO_LARGE && size <= STROBE_WIRE_MAX) {
		void *map;
		int fd = platform_memfd(size, &map);

		reason = STROBE_DROP_NO_MEMORY;
		if (fd >= 0) {
			write_message(m, map, size, t, tree, labels, info, sender->unreported);
			reason = sender_send_memfd(sender, path, fd, map, size);
		} else if (size <= sizeof(m->buffer)) {
			reason = sender_send(sender, path, m->buffer, size);
		}
	}
	clear_all(m);
	return reason;
}

void message_send(struct message_scratch *m, struct sender *sender, const char *path, const struct trie *t,
		  const struct request_labels *base, const struct label_sets *sets, const struct message_info *info)
{
	size_t room = sizeof(m->buffer);
	struct tree trees[TRIE_ROOTS];

	STROBE_ASSERT(base->count <= REQUEST_LABELS && label_sets_count(sets) <= TRIE_ROOTS);
	sort_nodes(m, t, trees);
	for (unsigned i = 0; i < label_sets_count(sets); i++) {
		int reason;

		if (!trees[i].samples)
			continue;
		m->labels.count = base->count;
		memcpy(m->labels.items, base->items, base->count * sizeof(*base->items));
		request_labels_add(&m->labels, label_sets_get(sets, i));
		reason = send_tree(m, sender, path, t, &trees[i], &m->labels, info, &room);
		if (reason)
			sender_lost(sender, reason, trees[i].samples);
		else
			memset(sender->unreported, 0, sizeof(sender->unreported));
	}
}

void message_send_losses(struct message_scratch *m, struct sender *sender, const char *path, const struct request_labels *labels,
			 const struct message_info *info)
{
	const struct trie no_samples = { 0 };
	const struct tree empty = { 0 };
	size_t room = sizeof(m->buffer);

	if (!send_tree(m, sender, path, &no_samples, &empty, labels, info, &room))
		memset(sender->unreported, 0, sizeof(sender->unreported));
}
