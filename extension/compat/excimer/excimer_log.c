/* excimer_log.c: merges stacks into logs. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "excimer_log.h"

#include "zend_generators.h"

#include <stdlib.h>

#define FIRST_NODES	64u
#define FIRST_ENTRIES	16u
#define FIRST_FRAMES	64u

/* A delegating generator is represented by a placeholder, from which the real frame can be found. Returns other
 * frames unchanged. */
static zend_execute_data *real_frame(zend_execute_data *frame)
{
	if (EXPECTED(frame->func))
		return frame;
	return zend_generator_check_placeholder_frame(frame);
}

/* Compiled code does not keep the pointer up to date, so it is not dereferenced if it points outside the function. */
static inline uint32_t line_of(const zend_execute_data *frame)
{
	const zend_op_array *f = &frame->func->op_array;
	const zend_op *op = frame->opline;

	if (UNEXPECTED(op < f->opcodes || op >= f->opcodes + f->last))
		op = EG(opline_before_exception);
	if (UNEXPECTED(op < f->opcodes || op >= f->opcodes + f->last))
		return f->line_start;
	return op->lineno;
}

static bool push(struct excimer_stack *s, const zend_function *f, uint32_t line)
{
	if (UNEXPECTED(s->count == s->room)) {
		size_t room = s->room ? s->room * 2 : FIRST_FRAMES;
		struct excimer_frame *frames = realloc(s->frames, room * sizeof(*frames));

		if (!frames)
			return false;
		s->frames = frames;
		s->room = room;
	}
	s->frames[s->count++] = (struct excimer_frame){ f, line };
	return true;
}

/* Whether a stack with this many frames has reached the requested depth. Internal functions in the middle count,
 * although they are not shown. */
static inline bool is_full(zend_long max_depth, zend_long depth)
{
	return max_depth && depth > (max_depth > 0 ? max_depth : 0);
}

/* Adds functions that have returned since the moment. Those written in PHP increase `depth`. */
static bool push_returned(struct excimer_stack *s, const struct tick_snapshot *m, zend_long max_depth, zend_long *depth)
{
	for (unsigned i = m->returned_count; i-- > 0 && !s->truncated;) {
		const zend_function *f = m->returned[i];
		bool user = ZEND_USER_CODE(f->type);

		if (!user && i + 1 < m->returned_count)
			continue;
		if (user && is_full(max_depth, *depth))
			s->truncated = true;
		else if (!push(s, f, user ? f->op_array.line_start : 0))
			return false;
		*depth += user;
	}
	return true;
}

bool excimer_stack_collect(struct excimer_stack *s, const struct tick_snapshot *m, zend_long max_depth)
{
	zend_execute_data *frame = m->frame;
	zend_long depth = 0;

	s->count = 0;
	s->truncated = false;
	if (!push_returned(s, m, max_depth, &depth))
		return false;
	/* An internal leaf function must not change the depth, since it depends on the PHP version whether its frame
	 * still exists. */
	if (frame && frame->func && !ZEND_USER_CODE(frame->func->type)) {
		if (!m->returned_count && frame->func->common.function_name && !push(s, frame->func, 0))
			return false;
		frame = frame->prev_execute_data;
	}
	for (; frame && !s->truncated; frame = frame->prev_execute_data, depth++) {
		frame = real_frame(frame);
		if (is_full(max_depth, depth))
			s->truncated = true;
		else if (frame->func && ZEND_USER_CODE(frame->func->type) && !push(s, frame->func, line_of(frame)))
			return false;
	}
	return true;
}

void excimer_stack_done(struct excimer_stack *s)
{
	free(s->frames);
	memset(s, 0, sizeof(*s));
}

static struct function_id identify(const zend_function *f)
{
	struct function_id id = { .name = f->common.function_name, .scope = f->common.scope };

	if (!ZEND_USER_CODE(f->type))
		return id;
	id.file = f->op_array.filename;
	/* A file included in a method has the method's scope and no name, and its start line is meaningless. */
	if (id.name) {
		id.line = f->op_array.line_start;
		id.closure = function_is_closure(f);
	}
	return id;
}

/* Whether `node` represents `frame`, without building its identity: this is called for every frame of every sample.
 * NULL means omitted frames. */
static inline bool is_frame(const struct excimer_node *node, const struct excimer_frame *frame)
{
	const struct function_id *id = &node->function;
	const zend_function *f;

	if (UNEXPECTED(!frame))
		return !id->name && !id->file;
	f = frame->function;
	if (node->line != frame->line || id->name != f->common.function_name || id->scope != f->common.scope)
		return false;
	if (!ZEND_USER_CODE(f->type))
		return !id->file;
	return id->file == f->op_array.filename && (!id->name || id->line == f->op_array.line_start);
}

static uint32_t hash(uint32_t caller, const struct function_id *f, uint32_t line)
{
	uint64_t h = caller * 0x9e3779b97f4a7c15ull ^ line;

	h = (h ^ (uintptr_t)f->name) * 0xff51afd7ed558ccdull;
	h = (h ^ (h >> 32) ^ (uintptr_t)f->file) * 0xff51afd7ed558ccdull;
	h = (h ^ (h >> 32) ^ (uintptr_t)f->scope ^ f->line) * 0xc4ceb9fe1a85ec53ull;
	return (uint32_t)(h >> 32);
}

/* The number of slots is a power of two, because node_room is. */
static uint32_t first_slot(const struct excimer_log *log, uint32_t h)
{
	return h & (2 * log->node_room - 1);
}

static uint32_t next_slot(const struct excimer_log *log, uint32_t slot)
{
	return (slot + 1) & (2 * log->node_room - 1);
}

/* Makes room for one more node. On failure nothing has changed. */
static bool grow_nodes(struct excimer_log *log)
{
	uint32_t room = log->node_room ? log->node_room * 2 : FIRST_NODES;
	struct excimer_node *nodes;
	uint32_t *slots;

	if (room > UINT32_MAX / 4 || !(slots = calloc(2 * (size_t)room, sizeof(*slots))))
		return false;
	if (!(nodes = realloc(log->nodes, room * sizeof(*nodes)))) {
		free(slots);
		return false;
	}
	free(log->slots);
	log->nodes = nodes;
	log->slots = slots;
	log->node_room = room;
	if (!log->node_count)
		nodes[log->node_count++] = (struct excimer_node){ 0 };
	for (uint32_t n = 1; n < log->node_count; n++) {
		uint32_t slot = first_slot(log, hash(nodes[n].caller, &nodes[n].function, nodes[n].line));

		while (slots[slot])
			slot = next_slot(log, slot);
		slots[slot] = n;
	}
	return true;
}

/* Finds or adds the node of `frame` (NULL: omitted frames) below `caller`; 0 without memory. */
static uint32_t find_or_add(struct excimer_log *log, uint32_t caller, const struct excimer_frame *frame)
{
	struct function_id id = { 0 };
	uint32_t line = frame ? frame->line : 1;
	uint32_t slot, n, h;

	if (frame)
		id = identify(frame->function);
	h = hash(caller, &id, line);
	for (slot = first_slot(log, h); (n = log->slots[slot]); slot = next_slot(log, slot))
		if (log->nodes[n].caller == caller && is_frame(&log->nodes[n], frame))
			break;
	if (!n) {
		if (log->node_count == log->node_room) {
			if (!grow_nodes(log))
				return 0;
			for (slot = first_slot(log, h); log->slots[slot];)
				slot = next_slot(log, slot);
		}
		n = log->node_count++;
		log->slots[slot] = n;
		log->nodes[n] = (struct excimer_node){ .function = id, .line = line, .caller = caller };
		if (id.name)
			zend_string_addref(id.name);
		if (id.file)
			zend_string_addref(id.file);
	}
	log->nodes[caller].last_called = n;
	return n;
}

static inline uint32_t callee(struct excimer_log *log, uint32_t caller, const struct excimer_frame *frame)
{
	uint32_t n = log->nodes[caller].last_called;

	if (EXPECTED(n && is_frame(&log->nodes[n], frame)))
		return n;
	return find_or_add(log, caller, frame);
}

static bool grow_entries(struct excimer_log *log)
{
	size_t room = log->entry_room ? log->entry_room + log->entry_room / 2 : FIRST_ENTRIES;
	struct excimer_entry *entries = realloc(log->entries, room * sizeof(*entries));

	if (!entries)
		return false;
	log->entries = entries;
	log->entry_room = room;
	return true;
}

bool excimer_log_add(struct excimer_log *log, const struct excimer_stack *s, uint64_t events, uint64_t now_ns)
{
	uint32_t count = events < UINT32_MAX ? (uint32_t)events : UINT32_MAX;
	uint32_t n = 0;

	if (UNEXPECTED(!log->node_room) && !grow_nodes(log))
		return false;
	if (UNEXPECTED(log->entry_count == log->entry_room) && !grow_entries(log))
		return false;
	if (s->truncated && !(n = callee(log, 0, NULL)))
		return false;
	for (size_t i = s->count; i > 0; i--)
		if (!(n = callee(log, n, &s->frames[i - 1])))
			return false;
	log->entries[log->entry_count++] = (struct excimer_entry){ .time_ns = now_ns, .node = n, .events = count };
	log->events += count;
	return true;
}

void excimer_log_done(struct excimer_log *log)
{
	for (uint32_t n = 1; n < log->node_count; n++) {
		struct function_id *f = &log->nodes[n].function;

		if (f->name)
			zend_string_release(f->name);
		if (f->file)
			zend_string_release(f->file);
	}
	free(log->nodes);
	free(log->slots);
	free(log->entries);
	memset(log, 0, sizeof(*log));
}
