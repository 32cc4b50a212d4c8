/* tick_note.c: writes notes at ticks and reads them at safe points. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tick_note.h"

#include "guarded_read.h"

#include "zend_closures.h"

/* How often a note is begun anew because the program went on while it was written. */
#define ATTEMPTS	3

/* How far below the safe point a noted call is looked for: what was called since the tick has not called much. */
#define LOOK_BELOW	16

#define LONGEST_NAME	256

enum { FREE, WRITTEN, BUSY };

/* --- in the ticking thread */

static zend_execute_data *running(zend_execute_data *const *leaf)
{
	return __atomic_load_n(leaf, __ATOMIC_ACQUIRE);
}

/* The code of a function: what tells a closure from another one whose memory it has taken. NULL if it cannot be read. */
static const void *read_code(const zend_function *f)
{
	union {
		zend_op_array user;
		zend_internal_function internal;
	} copy;
	const size_t size = offsetof(zend_op_array, opcodes) + sizeof(copy.user.opcodes);

	if (!f || !guarded_read(&copy, f, MAX(size, offsetof(zend_internal_function, handler) + sizeof(void *))))
		return NULL;
	return ZEND_USER_CODE(copy.user.type) ? (const void *)copy.user.opcodes : (const void *)copy.internal.handler;
}

static const void *code_of(const zend_function *f)
{
	return ZEND_USER_CODE(f->type) ? (const void *)f->op_array.opcodes : (const void *)f->internal_function.handler;
}

static void read_calls(struct tick_note *note, const zend_execute_data *frame)
{
	zend_execute_data copy;

	note->depth = 0;
	note->code = NULL;
	while (frame && note->depth < TICK_NOTE_DEPTH) {
		bool could = guarded_read(&copy, frame, sizeof(copy));

		note->calls[note->depth++] = (struct noted_call){ frame, could ? copy.func : NULL };
		if (!could)
			return;
		frame = copy.prev_execute_data;
	}
}

static bool same_calls(const struct tick_note *a, const struct tick_note *b)
{
	return a->depth == b->depth && a->code == b->code && memcmp(a->calls, b->calls, a->depth * sizeof(*a->calls)) == 0;
}

/* Counts one more tick for the note that was written last, if it is still there. */
static bool extend(struct tick_notes *n, const struct tick_note *with)
{
	unsigned expected = WRITTEN;

	if (!atomic_compare_exchange_strong(&n->state[n->last], &expected, BUSY))
		return false;
	n->notes[n->last].last_ns = with->last_ns;
	n->notes[n->last].ticks++;
	atomic_store(&n->state[n->last], WRITTEN);
	return true;
}

static void append(struct tick_notes *n, const struct tick_note *note)
{
	unsigned next = (n->last + 1) % TICK_NOTES;

	/* In a full ring the newest note stands for what follows. */
	if (atomic_load(&n->state[next]) != FREE) {
		extend(n, note);
		return;
	}
	n->notes[next] = *note;
	n->last = next;
	atomic_store(&n->state[next], WRITTEN);
}

static bool is_internal(const zend_function *f)
{
	zend_uchar type;

	return f && guarded_read(&type, &f->type, sizeof(type)) && !ZEND_USER_CODE(type);
}

bool tick_note_write(struct tick_notes *n, zend_execute_data *const *leaf, int64_t now_ns)
{
	struct tick_note note = { .first_ns = now_ns, .last_ns = now_ns, .ticks = 1 };

	for (int i = 0; i < ATTEMPTS; i++) {
		zend_execute_data *frame = running(leaf);

		read_calls(&note, frame);
		if (note.depth)
			note.code = read_code(note.calls[0].function);
		if (running(leaf) == frame)
			break;
	}
	if (same_calls(&note, &n->notes[n->last]) && extend(n, &note))
		return note.depth && note.calls[0].function && !is_internal(note.calls[0].function);
	append(n, &note);
	return true;
}

/* --- in the PHP thread */

unsigned tick_notes_take(struct tick_notes *n, struct tick_note ret[TICK_NOTES])
{
	unsigned count = 0;

	for (unsigned slot = 0; slot < TICK_NOTES; slot++) {
		unsigned expected = WRITTEN, at = count;

		if (atomic_load_explicit(&n->state[slot], memory_order_relaxed) != WRITTEN ||
		    !atomic_compare_exchange_strong(&n->state[slot], &expected, BUSY))
			continue;
		for (; at && ret[at - 1].first_ns > n->notes[slot].first_ns; at--)
			ret[at] = ret[at - 1];
		ret[at] = n->notes[slot];
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
	if (copy.common.fn_flags & (ZEND_ACC_CLOSURE | ZEND_ACC_FAKE_CLOSURE))
		return find_closure(noted);
	return find_named(noted, &copy);
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

static bool is_call(const zend_execute_data *frame, const struct tick_note *note, unsigned i)
{
	const struct noted_call *call = &note->calls[i];

	if (frame != call->frame || (call->function && frame->func != call->function))
		return false;
	return i || !note->code || !frame->func || code_of(frame->func) == note->code;
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
		const zend_function *f = find_function(found, note->calls[i].function);

		if (!f)
			break;
		m->returned[m->returned_count++] = f;
	}
}
