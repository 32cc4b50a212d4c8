/* tick_note.c: writes notes at ticks, and passes them on at safe points. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tick_note.h"

#include "guarded_read.h"
#include "jit.h"
#include "strobe_assert.h"
#include "ticker.h"

#include "zend_alloc_sizes.h"

/* Attempts to write a note; each restarts because the program advanced in between. */
#define ATTEMPTS	8

enum { FREE, WRITTEN, BUSY };

/* --- in the ticking thread */

static zend_execute_data *running(zend_execute_data *const *leaf)
{
	return __atomic_load_n(leaf, __ATOMIC_ACQUIRE);
}

/* Whether that memory may be loaded directly. */
static zend_always_inline bool is_mapped(uintptr_t mapped, const void *p, size_t size)
{
	uintptr_t offset = (uintptr_t)p - mapped;

	return mapped && offset <= ZEND_MM_CHUNK_SIZE - size && offset % sizeof(void *) == 0;
}

/* The size of the part of a function that identifies it. */
#define HEAD (offsetof(zend_op_array, filename) + sizeof(zend_string *))

#define READ(head, type, field) (*(const type *)((head) + offsetof(zend_op_array, field)))

/* Reads the fields that distinguish a function from a later one in the same memory, from its head or a copy. */
static void identify(struct noted_call *call, const char *head)
{
	call->name = READ(head, zend_string *, function_name);
	call->scope = READ(head, zend_class_entry *, scope);
	if (!ZEND_USER_CODE(READ(head, zend_uchar, type))) {
		call->code = *(const void *const *)(head + offsetof(zend_internal_function, handler));
		call->op = NULL;
		/* PHP's own frame at the bottom of a fiber's stack does not belong to a function. */
		if (!call->name)
			call->function = NULL;
		return;
	}
	/* PHP releases the name of a trampoline while it runs. The function called by it is noted. */
	if (READ(head, uint32_t, fn_flags) & ZEND_ACC_CALL_VIA_TRAMPOLINE) {
		call->function = NULL;
		return;
	}
	call->code = READ(head, void *, opcodes);
	if (!call->name)
		call->file = READ(head, zend_string *, filename);
}

/* The fields of a frame that are read. */
struct head {
	const zend_function *function;
	const zend_execute_data *caller;
	const zend_op *op;
};

static bool read_frame(const zend_execute_data *frame, struct head *ret)
{
	zend_execute_data copy;

	if (!guarded_read(&copy, frame, sizeof(copy)))
		return false;
	*ret = (struct head){ copy.func, copy.prev_execute_data, copy.opline };
	return true;
}

/* Loads function and caller of a mapped frame together. */
static struct head load_frame(const zend_execute_data *frame)
{
	struct head h;

	h.function = __atomic_load_n(&frame->func, __ATOMIC_ACQUIRE);
	h.caller = __atomic_load_n(&frame->prev_execute_data, __ATOMIC_ACQUIRE);
	h.op = __atomic_load_n(&frame->opline, __ATOMIC_ACQUIRE);
	return h;
}

/* Returns the frame of the innermost call. The next load is from that frame, in which another call may begin at any
 * moment, so the address translation is warmed up first. */
static const zend_execute_data *find_innermost(const struct tick_notes *n, struct tick_note *note, zend_execute_data *const *leaf)
{
	const void *before = n->notes[n->last].calls[0].frame;

	note->read_ns = ticker_now(0);		/* first, because it takes time during which the calls would advance */
	/* Warms up the TLB, not the cache line, which the program is using. */
	if (is_mapped(n->mapped, before, sizeof(zend_execute_data)))
		__atomic_load_n((const char *)((uintptr_t)before & ~(uintptr_t)(ZEND_MM_PAGE_SIZE - 1)), __ATOMIC_ACQUIRE);
	return running(leaf);
}

static void note_call(const struct tick_notes *n, struct tick_note *note, const zend_execute_data *frame, const struct head *h)
{
	struct noted_call *call = &note->calls[note->depth++];

	STROBE_ASSERT(note->depth <= TICK_NOTE_DEPTH);
	*call = (struct noted_call){ .frame = frame, .function = h->function, .placeholder = !h->function };
	if (atomic_load_explicit(&n->lines, memory_order_relaxed))
		call->op = h->op;
	if (is_mapped(n->mapped, h->function, HEAD))
		identify(call, (const char *)h->function);
}

/* Whether the two innermost calls are still the noted ones: another call may have a frame at the same address. */
static bool is_still(const struct tick_notes *n, const struct tick_note *note)
{
	struct head h = { 0 };

	for (unsigned i = 0; i < note->depth && i < 2; i++) {
		const zend_execute_data *frame = note->calls[i].frame;

		if (i && frame != h.caller)
			return false;
		if (!is_mapped(n->mapped, frame, sizeof(*frame)))
			return false;
		h = load_frame(frame);
		if (h.function != note->calls[i].function)
			return false;
	}
	return true;
}

/* Returns whether the calls existed at one instant, or nearly. Loads take a few nanoseconds; restarting whenever the
 * program has advanced would favor functions that run long, so the note is marked as unsure instead. System calls
 * take long enough for a loop to come around, so with them the note is always unsure. */
static bool read_calls(const struct tick_notes *n, struct tick_note *note, zend_execute_data *const *leaf)
{
	const zend_execute_data *first = find_innermost(n, note, leaf), *frame = first;
	struct head h = { 0 };
	bool slow = false;

	for (note->depth = 0; frame && note->depth < TICK_NOTE_DEPTH; frame = h.caller) {
		if (is_mapped(n->mapped, frame, sizeof(*frame))) {
			h = load_frame(frame);
		} else if (!read_frame(frame, &h)) {
			note_call(n, note, frame, &(struct head){ 0 });
			return false;
		} else {
			slow = true;
		}
		note_call(n, note, frame, &h);
		if (slow && running(leaf) != first)
			return false;
	}
	note->sure = !slow && running(leaf) == first && is_still(n, note);
	return true;
}

/* Identifies the other functions with one system call. */
static void identify_others(struct tick_note *note)
{
	char heads[TICK_NOTE_DEPTH][HEAD] __attribute__((aligned(sizeof(void *))));
	struct iovec from[TICK_NOTE_DEPTH];
	struct noted_call *calls[TICK_NOTE_DEPTH];
	unsigned count = 0;

	for (unsigned i = 0; i < note->depth; i++)
		if (note->calls[i].function && !note->calls[i].code) {
			from[count] = (struct iovec){ (void *)note->calls[i].function, HEAD };
			calls[count++] = &note->calls[i];
		}
	if (count)
		count = guarded_read_pieces(heads, from, count, HEAD);
	for (unsigned i = 0; i < count; i++)
		identify(calls[i], heads[i]);
}

/* Drops calls that changed while they were read, and everything inside them, which may be from another moment. */
static void drop_unsure(struct tick_note *note)
{
	unsigned sure = note->depth;
	zend_execute_data copy;

	while (sure && guarded_read(&copy, note->calls[sure - 1].frame, sizeof(copy)) &&
	       copy.func == note->calls[sure - 1].function &&
	       (sure == note->depth || copy.prev_execute_data == note->calls[sure].frame))
		sure--;
	STROBE_ASSERT(sure <= note->depth);
	note->depth -= sure;
	note->sure = true;
	memmove(note->calls, note->calls + sure, note->depth * sizeof(*note->calls));
}

static uint32_t hash_of(const struct tick_note *note)
{
	uint64_t h = note->depth;

	for (unsigned i = 0; i < note->depth; i++) {
		h = (h ^ (uintptr_t)note->calls[i].frame) * 0x9e3779b97f4a7c15ull;
		h = (h ^ h >> 29 ^ (uintptr_t)note->calls[i].function) * 0xff51afd7ed558ccdull;
		h = (h ^ (uintptr_t)note->calls[i].op) * 0xc4ceb9fe1a85ec53ull;
		h ^= (uintptr_t)note->calls[i].code;
	}
	return (uint32_t)(h >> 32);
}

static bool same_calls(const struct tick_note *a, const struct tick_note *b)
{
	return a->hash == b->hash && a->depth == b->depth &&
	       memcmp(a->calls, b->calls, a->depth * sizeof(*a->calls)) == 0;
}

/* Adds one more tick to an existing note, if it has not been taken. */
static bool extend(struct tick_notes *n, unsigned slot, const struct tick_note *with)
{
	unsigned expected = WRITTEN;

	if (!atomic_compare_exchange_strong(&n->state[slot], &expected, BUSY))
		return false;
	STROBE_ASSERT(slot < TICK_NOTES);
	n->notes[slot].last_ns = with->last_ns;
	n->notes[slot].read_ns = with->read_ns;
	n->notes[slot].ns += with->ns;
	n->notes[slot].sure |= with->sure;
	n->last = slot;
	atomic_store(&n->state[slot], WRITTEN);
	return true;
}

/* Only the ticking thread writes notes, so it may read them at any time. If there is no room, the newest note covers
 * more ticks. */
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

	return f && GUARDED_READ_MEMBER(&type, zend_function, f, type) && !ZEND_USER_CODE(type);
}

/* PHP's own code never waits. */
static bool may_wait(const struct tick_note *note)
{
	return !note->depth || !note->calls[0].function || is_internal(note->calls[0].function);
}

bool tick_note_write(struct tick_notes *n, zend_execute_data *const *leaf, int64_t now_ns, bool works)
{
	int64_t since = atomic_load(&n->since_ns);
	struct tick_note note = { .last_ns = now_ns, .ns = MAX(now_ns - MAX(since, n->tick_ns), 1) };
	bool again, whole = false;

	for (int i = 0; i < ATTEMPTS && !whole; i++)
		whole = read_calls(n, &note, leaf);
	if (!whole)
		drop_unsure(&note);
	identify_others(&note);
	/* Compiled code stores its position only for calls. */
	if (note.depth && jit_may_run())
		note.calls[0].op = NULL;
	if (!works && may_wait(&note))
		return true;
	n->tick_ns = now_ns;
	note.hash = hash_of(&note);
	again = same_calls(&note, &n->notes[n->last]);
	add(n, &note);
	return again && may_wait(&note);
}

/* --- in the PHP thread */

/* The first chunk of a PHP heap begins at the heap's address, and usually contains PHP's stack as well. */
void tick_notes_init(struct tick_notes *n)
{
	const zend_mm_heap *heap = zend_mm_get_heap(), *first;
	uintptr_t chunk = (uintptr_t)heap & ~(uintptr_t)(ZEND_MM_CHUNK_SIZE - 1);

	n->mapped = guarded_read(&first, (const void *)chunk, sizeof(first)) && first == heap ? chunk : 0;
}

unsigned tick_notes_take(struct tick_notes *n, struct tick_note ret[TICK_NOTES], int64_t now_ns)
{
	int64_t before_ns = atomic_exchange(&n->since_ns, now_ns);
	unsigned count = 0;

	for (unsigned slot = 0; slot < TICK_NOTES; slot++) {
		unsigned expected = WRITTEN;

		if (atomic_load_explicit(&n->state[slot], memory_order_relaxed) != WRITTEN ||
		    !atomic_compare_exchange_strong(&n->state[slot], &expected, BUSY))
			continue;
		if (n->notes[slot].read_ns < before_ns) {
			atomic_store(&n->state[slot], FREE);
			continue;
		}
		ret[count] = n->notes[slot];
		/* The newest one must be last. */
		if (count && ret[count - 1].last_ns > ret[count].last_ns) {
			struct tick_note newer = ret[count - 1];

			ret[count - 1] = ret[count];
			ret[count] = newer;
		}
		count++;
		atomic_store(&n->state[slot], FREE);
	}
	STROBE_ASSERT(count <= TICK_NOTES && (count < 2 || ret[count - 2].last_ns <= ret[count - 1].last_ns));
	return count;
}
