/* stack.c: walks the VM's frames. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "stack.h"

#include "fiber_ends.h"
#include "function_id.h"
#include "jit.h"
#include "strobe_assert.h"

#include "zend_generators.h"

static zend_always_inline const zend_execute_data *above(const zend_execute_data *frame)
{
	const zend_execute_data *caller = frame->prev_execute_data;

	return EXPECTED(caller) ? caller : fiber_destroyed_by(frame);
}

static zend_never_inline const zend_execute_data *next_real_frame(const zend_execute_data *frame)
{
	while (frame && (!frame->func || function_is_missing(frame->func))) {
		const zend_execute_data *real = frame->func ? frame :
			zend_generator_check_placeholder_frame((zend_execute_data *)frame);

		if (real != frame && real && real->func)
			return real;
		frame = above(frame);
	}
	return frame;
}

/* Frames without a function are skipped; a delegating generator is represented by a placeholder, from which the real
 * frame can be found. */
static zend_always_inline const zend_execute_data *real_frame(const zend_execute_data *frame)
{
	return EXPECTED(!frame || (frame->func && !function_is_missing(frame->func))) ? frame : next_real_frame(frame);
}

static void swap_range(struct stack_frame *p, size_t from, size_t to)
{
	for (; from + 1 < to; from++, to--) {
		struct stack_frame f = p[from];

		p[from] = p[to - 1];
		p[to - 1] = f;
	}
}

/* Rotates the ring in place so that it begins at `first`, by reversing both parts and then the whole. */
static void unroll(struct stack_frame *ring, size_t size, size_t first)
{
	STROBE_ASSERT(first < size);
	swap_range(ring, 0, first);
	swap_range(ring, first, size);
	swap_range(ring, 0, size);
}

/* Puts the functions that have returned since the moment in front, innermost first. Returns their number. */
static size_t put_returned(struct stack_frame *f, const struct tick_snapshot *m, size_t room)
{
	size_t count = MIN(m->returned_count, room);

	for (size_t i = 0; i < count; i++)
		f[i] = (struct stack_frame){ m->returned[count - 1 - i], m->returned_ops[count - 1 - i] };
	return count;
}

/* PHP does not store an opcode in the frame of an internal function: the field is stale. */
static inline struct stack_frame frame_now(const zend_execute_data *frame)
{
	return (struct stack_frame){ frame->func, ZEND_USER_CODE(frame->func->type) ? frame->opline : NULL };
}

/* The calls of a note that have not been matched yet. */
struct noted {
	const struct noted_call *next, *end;
};

/* Returns a frame with its opcode at the tick. At the safe point it may execute, or call, something else. */
static struct stack_frame frame_then(const zend_execute_data *frame, struct noted *noted)
{
	for (const struct noted_call *call = noted->next; call < noted->end; call++)
		if (call->frame == frame && call->function == frame->func) {
			noted->next = call + 1;
			return call->op ? (struct stack_frame){ frame->func, call->op } : frame_now(frame);
		}
	noted->next = noted->end;
	return frame_now(frame);
}

const zend_op *stack_op(const zend_function *f, const zend_op *op)
{
	uintptr_t offset;

	if (!f || !ZEND_USER_CODE(f->type) || !op)
		return NULL;
	/* While an exception propagates, frames point to opcodes of PHP's own. */
	if ((uintptr_t)op - (uintptr_t)EG(exception_op) < sizeof(EG(exception_op)))
		op = EG(opline_before_exception);
	offset = (uintptr_t)op - (uintptr_t)f->op_array.opcodes;
	return offset / sizeof(*op) < f->op_array.last && offset % sizeof(*op) == 0 ? op : NULL;
}

void stack_collect(struct stack *s, const struct tick_snapshot *m, size_t max_depth, bool limit_walk)
{
	const zend_execute_data *frame = real_frame(m->frame);
	size_t half = max_depth / 2, ring = max_depth - half, n;
	struct noted noted = { m->noted, m->noted_count ? m->noted + m->noted_count : m->noted };
	struct stack_frame *f = s->frames;

	STROBE_ASSERT(f && max_depth >= 2);
	s->elided_at = 0;
	s->rootless = false;
	n = put_returned(f, m, half);
	/* The first half is stored as is; what follows goes through a ring that finally has the frames at the root.
	 * One element between them is left for the NULL. */
	for (; frame && n < half && noted.next < noted.end; frame = real_frame(above(frame)))
		f[n++] = frame_then(frame, &noted);
	for (; frame && n < half; frame = real_frame(above(frame)))
		f[n++] = frame_now(frame);
	for (; frame && n < max_depth; frame = real_frame(above(frame)))
		f[1 + n++] = frame_now(frame);
	/* Compiled code stores its opcode only for calls. */
	if (!m->returned_count && jit_may_run())
		f[0].op = NULL;
	STROBE_ASSERT(n <= max_depth);
	if (!frame) {
		if (n > half)
			memmove(f + half, f + half + 1, (n - half) * sizeof(*f));
		s->depth = n;
		return;
	}

	s->elided_at = half;
	f[half] = (struct stack_frame){ 0 };
	for (; frame; frame = real_frame(above(frame)), n++) {
		if (limit_walk && n >= STACK_WALK_MAX) {
			s->rootless = true;
			s->depth = half + 1;
			return;
		}
		f[half + 1 + (n - half) % ring] = frame_now(frame);
	}
	unroll(f + half + 1, ring, (n - half) % ring);
	s->depth = max_depth + 1;
}
