/* tick_note.c: writes notes at ticks and reads them at safe points. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tick_note.h"

#include "function_id.h"
#include "guarded_read.h"

#include "zend_alloc_sizes.h"
#include "zend_closures.h"

/* How often a note is begun anew because the program went on while it was written. */
#define ATTEMPTS	8

/* How far below the safe point a noted call is looked for: what was called since the tick has not called much. */
#define LOOK_BELOW	16

#define LONGEST_NAME	256

enum { FREE, WRITTEN, BUSY };

/* --- in the ticking thread */

static zend_execute_data *running(zend_execute_data *const *leaf)
{
	return __atomic_load_n(leaf, __ATOMIC_ACQUIRE);
}

static const void *code_of(const zend_function *f)
{
	return ZEND_USER_CODE(f->type) ? (const void *)f->op_array.opcodes : (const void *)f->internal_function.handler;
}

/* Whether that memory may be loaded from. */
static bool is_mapped(const struct tick_notes *n, const void *p, size_t size)
{
	uintptr_t offset = (uintptr_t)p - n->mapped;

	return n->mapped && offset <= ZEND_MM_CHUNK_SIZE - size && offset % sizeof(void *) == 0;
}

/* How much of a function says what its code is. */
#define CODE_END (MAX(offsetof(zend_op_array, opcodes), offsetof(zend_internal_function, handler)) + sizeof(void *))

static size_t code_offset(zend_uchar type)
{
	return ZEND_USER_CODE(type) ? offsetof(zend_op_array, opcodes) : offsetof(zend_internal_function, handler);
}

/* By loads where that is safe: a system call takes longer than many functions, and by then another call may have the frame's
 * memory, another closure that of the function. */
static bool read_call(const struct tick_notes *n, struct noted_call *call, const zend_execute_data **ret_caller)
{
	zend_execute_data copy;

	if (!is_mapped(n, call->frame, sizeof(copy))) {
		if (!guarded_read(&copy, call->frame, sizeof(copy)))
			return false;
		call->function = copy.func;
		*ret_caller = copy.prev_execute_data;
		return true;
	}
	call->function = __atomic_load_n(&call->frame->func, __ATOMIC_RELAXED);
	*ret_caller = __atomic_load_n(&call->frame->prev_execute_data, __ATOMIC_RELAXED);
	if (is_mapped(n, call->function, CODE_END))
		call->code = __atomic_load_n((const void **)((const char *)call->function +
			code_offset(__atomic_load_n(&call->function->type, __ATOMIC_RELAXED))), __ATOMIC_RELAXED);
	return true;
}

/* Returns whether the calls are those of one instant. By loads they are, but for some nanoseconds; to begin anew when the
 * program has gone on meanwhile would prefer functions that run long. */
static bool read_calls(const struct tick_notes *n, struct tick_note *note, zend_execute_data *const *leaf)
{
	const zend_execute_data *first = running(leaf), *frame = first;
	bool slow = false;

	note->depth = 0;
	while (frame && note->depth < TICK_NOTE_DEPTH) {
		struct noted_call *call = &note->calls[note->depth++];

		*call = (struct noted_call){ .frame = frame };
		slow |= !is_mapped(n, frame, sizeof(*frame));
		if (!read_call(n, call, &frame) || (slow && running(leaf) != first))
			return !slow;
	}
	return true;
}

/* The code of the other functions, by one system call. */
static void read_codes(struct tick_note *note)
{
	union {
		char bytes[CODE_END];
		zend_uchar type;
	} copies[TICK_NOTE_DEPTH];
	struct iovec from[TICK_NOTE_DEPTH];
	struct noted_call *calls[TICK_NOTE_DEPTH];
	unsigned count = 0;

	for (unsigned i = 0; i < note->depth; i++)
		if (note->calls[i].function && !note->calls[i].code) {
			from[count] = (struct iovec){ (void *)note->calls[i].function, sizeof(*copies) };
			calls[count++] = &note->calls[i];
		}
	if (count)
		count = guarded_read_pieces(copies, from, count, sizeof(*copies));
	for (unsigned i = 0; i < count; i++)
		memcpy(&calls[i]->code, copies[i].bytes + code_offset(copies[i].type), sizeof(void *));
}

/* Of calls that were read while the program went on, only those are kept that are still what they were, from the outermost
 * one on: the inner ones may be of different moments. */
static void drop_unsure(struct tick_note *note)
{
	unsigned sure = note->depth;
	zend_execute_data copy;

	while (sure && guarded_read(&copy, note->calls[sure - 1].frame, sizeof(copy)) &&
	       copy.func == note->calls[sure - 1].function &&
	       (sure == note->depth || copy.prev_execute_data == note->calls[sure].frame))
		sure--;
	note->depth -= sure;
	memmove(note->calls, note->calls + sure, note->depth * sizeof(*note->calls));
}

static uint32_t hash_of(const struct tick_note *note)
{
	uint64_t h = note->depth;

	for (unsigned i = 0; i < note->depth; i++) {
		h = (h ^ (uintptr_t)note->calls[i].frame) * 0x9e3779b97f4a7c15ull;
		h = (h ^ h >> 29 ^ (uintptr_t)note->calls[i].function) * 0xff51afd7ed558ccdull;
		h ^= (uintptr_t)note->calls[i].code;
	}
	return (uint32_t)(h >> 32);
}

static bool same_calls(const struct tick_note *a, const struct tick_note *b)
{
	return a->hash == b->hash && a->depth == b->depth &&
	       memcmp(a->calls, b->calls, a->depth * sizeof(*a->calls)) == 0;
}

/* Counts one more tick for a note that has been written, if it is still there. */
static bool extend(struct tick_notes *n, unsigned slot, const struct tick_note *with)
{
	unsigned expected = WRITTEN;

	if (!atomic_compare_exchange_strong(&n->state[slot], &expected, BUSY))
		return false;
	n->notes[slot].last_ns = with->last_ns;
	n->notes[slot].ns += with->ns;
	n->last = slot;
	atomic_store(&n->state[slot], WRITTEN);
	return true;
}

/* Only the ticking thread writes notes, so it may read them at any time. When there is no room, the newest stands for more. */
static void add(struct tick_notes *n, const struct tick_note *note)
{
	unsigned place = TICK_NOTES;

	for (unsigned slot = 0; slot < TICK_NOTES; slot++) {
		bool taken = atomic_load(&n->state[slot]) == FREE;

		if (taken && place == TICK_NOTES)
			place = slot;
		if (!taken && same_calls(&n->notes[slot], note) && extend(n, slot, note))
			return;
	}
	if (place == TICK_NOTES) {
		extend(n, n->last, note);
		return;
	}
	n->notes[place] = *note;
	n->last = place;
	atomic_store(&n->state[place], WRITTEN);
}

static bool is_internal(const zend_function *f)
{
	zend_uchar type;

	return f && guarded_read(&type, &f->type, sizeof(type)) && !ZEND_USER_CODE(type);
}

bool tick_note_write(struct tick_notes *n, zend_execute_data *const *leaf, int64_t now_ns)
{
	int64_t since = atomic_load(&n->since_ns);
	struct tick_note note = { .last_ns = now_ns, .ns = MAX(now_ns - MAX(since, n->tick_ns), 1) };
	bool again, whole = false;

	for (int i = 0; i < ATTEMPTS && !whole; i++)
		whole = read_calls(n, &note, leaf);
	if (!whole)
		drop_unsure(&note);
	read_codes(&note);
	n->tick_ns = now_ns;
	note.hash = hash_of(&note);
	again = same_calls(&note, &n->notes[n->last]);
	add(n, &note);
	return again && (!note.depth || !note.calls[0].function || is_internal(note.calls[0].function));
}

/* --- in the PHP thread */

/* A heap of PHP's own lies in its first chunk, which begins with the heap's address. PHP's stack mostly lies in it, too. */
void tick_notes_init(struct tick_notes *n)
{
	const zend_mm_heap *heap = zend_mm_get_heap(), *first;
	uintptr_t chunk = (uintptr_t)heap & ~(uintptr_t)(ZEND_MM_CHUNK_SIZE - 1);

	n->mapped = guarded_read(&first, (const void *)chunk, sizeof(first)) && first == heap ? chunk : 0;
}

unsigned tick_notes_take(struct tick_notes *n, struct tick_note ret[TICK_NOTES], int64_t now_ns)
{
	unsigned count = 0;

	atomic_store(&n->since_ns, now_ns);
	for (unsigned slot = 0; slot < TICK_NOTES; slot++) {
		unsigned expected = WRITTEN;

		if (atomic_load_explicit(&n->state[slot], memory_order_relaxed) != WRITTEN ||
		    !atomic_compare_exchange_strong(&n->state[slot], &expected, BUSY))
			continue;
		ret[count] = n->notes[slot];
		/* The newest one goes last. */
		if (count && ret[count - 1].last_ns > ret[count].last_ns) {
			struct tick_note newer = ret[count - 1];

			ret[count - 1] = ret[count];
			ret[count] = newer;
		}
		count++;
		atomic_store(&n->state[slot], FREE);
	}
	return count;
}

void found_functions_clear(struct found_functions *found)
{
	if (found->any)
		memset(found, 0, sizeof(*found));
}

struct name {
	char text[LONGEST_NAME];
	size_t length;
};

static bool read_name(const zend_string *s, struct name *ret)
{
	zend_string head;

	if (!s || !guarded_read(&head, s, offsetof(zend_string, val)) || !head.len || head.len > sizeof(ret->text))
		return false;
	ret->length = head.len;
	return guarded_read(ret->text, ZSTR_VAL(s), head.len);
}

static zend_function *look_up(HashTable *table, const struct name *name)
{
	return zend_hash_str_find_ptr_lc(table, name->text, name->length);
}

/* Copies of one function are as good as each other: classes have their own of the methods they inherit. */
static bool is_same(const zend_function *in_table, const zend_function *noted, const zend_function *copy)
{
	return in_table && (in_table == noted || (in_table->type == copy->type && code_of(in_table) == code_of(copy)));
}

static const zend_function *find_named(const zend_function *noted, const zend_function *copy)
{
	const zend_class_entry *scope = copy->common.scope;
	zend_string *class_name;
	zend_class_entry *ce;
	zend_function *f;
	struct name name;

	if (!read_name(copy->common.function_name, &name))
		return NULL;
	if (!scope) {
		f = look_up(EG(function_table), &name);
		return is_same(f, noted, copy) ? f : NULL;
	}
	{
		struct name class;

		if (!guarded_read(&class_name, &scope->name, sizeof(class_name)) || !read_name(class_name, &class))
			return NULL;
		ce = zend_hash_str_find_ptr_lc(EG(class_table), class.text, class.length);
	}
	if (!ce || ce != scope)
		return NULL;
	f = look_up(&ce->function_table, &name);
	return is_same(f, noted, copy) ? f : NULL;
}

/* A closure's function lies in its object, which PHP's list of objects knows while it lives. */
static const zend_function *find_closure(const zend_function *noted)
{
	zend_object *o = (zend_object *)((char *)noted - sizeof(zend_object)), copy;

	if (!guarded_read(&copy, o, sizeof(copy)) || copy.ce != zend_ce_closure || !copy.handle ||
	    copy.handle >= EG(objects_store).top || EG(objects_store).object_buckets[copy.handle] != o)
		return NULL;
	return zend_get_closure_method_def(o) == noted ? noted : NULL;
}

static const zend_function *find_in_tables(const zend_function *noted)
{
	zend_function copy = { 0 };

	if (!noted || !guarded_read(&copy, noted, sizeof(zend_internal_function)))
		return NULL;
	if (ZEND_USER_CODE(copy.type) && !guarded_read(&copy, noted, sizeof(copy)))
		return NULL;
	if ((copy.common.fn_flags & (ZEND_ACC_CLOSURE | ZEND_ACC_FAKE_CLOSURE)) && find_closure(noted))
		return noted;
	return function_is_closure(&copy) ? NULL : find_named(noted, &copy);
}

/* The function that lives at a noted address, if PHP's tables say so: it is only then that the address may be followed. */
static const zend_function *find_function(struct found_functions *found, const zend_function *noted)
{
	unsigned slot = (unsigned)((uintptr_t)noted >> 4) % FOUND_FUNCTIONS;
	const zend_function *f;

	if (found->at[slot].noted == noted)
		return found->at[slot].function;
	f = find_in_tables(noted);
	if (f && !(f->common.fn_flags & (ZEND_ACC_CLOSURE | ZEND_ACC_FAKE_CLOSURE))) {
		found->at[slot].noted = noted;
		found->at[slot].function = f;
		found->any = true;
	}
	return f;
}

/* The closure with that code among those that are written in a function. */
static const zend_function *find_definition(const zend_function *in, const void *code)
{
	for (uint32_t i = 0; ZEND_USER_CODE(in->type) && i < in->op_array.num_dynamic_func_defs; i++)
		if (in->op_array.dynamic_func_defs[i]->opcodes == code)
			return (const zend_function *)in->op_array.dynamic_func_defs[i];
	return NULL;
}

/* A closure that is gone, as most are soon after they were called: by its code, which stays with the function that it is
 * written in; and that is mostly one of its callers. */
static const zend_function *find_freed_closure(const struct moment *m, const void *code)
{
	const zend_execute_data *frame = m->frame;
	const zend_function *f = NULL;

	for (unsigned i = m->returned_count; i-- > 0 && !f;)
		f = find_definition(m->returned[i], code);
	for (int n = 0; !f && frame && n < LOOK_BELOW; n++, frame = frame->prev_execute_data)
		if (frame->func)
			f = find_definition(frame->func, code);
	return f;
}

/* What was called at a tick and has returned since. NULL if that cannot be told. */
static const zend_function *find_returned(struct found_functions *found, const struct moment *m, const struct noted_call *call)
{
	const zend_function *f = find_function(found, call->function);

	if (!call->code || (f && code_of(f) == call->code))
		return f;
	return find_freed_closure(m, call->code);
}

static bool is_call(const zend_execute_data *frame, const struct tick_note *note, unsigned i)
{
	const struct noted_call *call = &note->calls[i];

	if (frame != call->frame || (call->function && frame->func != call->function))
		return false;
	return !call->code || !frame->func || code_of(frame->func) == call->code;
}

static zend_execute_data *find_frame(zend_execute_data *current, const struct tick_note *note, unsigned i)
{
	for (int n = 0; current && n < LOOK_BELOW; n++, current = current->prev_execute_data)
		if (is_call(current, note, i))
			return current;
	return NULL;
}

void moment_find(struct moment *m, const struct tick_note *note, zend_execute_data *current, struct found_functions *found)
{
	zend_execute_data *frame = NULL;
	unsigned i;

	m->frame = current;
	m->returned_count = 0;
	for (i = 0; i < note->depth && !frame; i++)
		frame = find_frame(current, note, i);
	if (!frame)
		return;
	m->frame = frame;
	for (i--; i-- > 0;) {
		const zend_function *f;

		if (!note->calls[i].function)
			continue;
		f = find_returned(found, m, &note->calls[i]);
		if (!f)
			break;
		m->returned[m->returned_count++] = f;
	}
}
