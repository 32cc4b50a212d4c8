/* stack.c: walks the VM's frames. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "stack.h"

#include "zend_generators.h"

static const zend_execute_data *above(const zend_execute_data *frame)
{
	return frame->prev_execute_data;
}

/* PHP calls __call() by way of a function that has the name of the missing one, which does not exist. */
static bool is_trampoline(const zend_function *f)
{
	return f->common.fn_flags & ZEND_ACC_CALL_VIA_TRAMPOLINE;
}

/* Frames without a function are skipped; a generator that delegates has a placeholder that knows the real one. */
static const zend_execute_data *real_frame(const zend_execute_data *frame)
{
	while (frame && (!frame->func || is_trampoline(frame->func))) {
		const zend_execute_data *real = frame->func ? frame :
			zend_generator_check_placeholder_frame((zend_execute_data *)frame);

		if (real != frame && real && real->func)
			return real;
		frame = above(frame);
	}
	return frame;
}

static void swap_range(const zend_function **p, size_t from, size_t to)
{
	for (; from + 1 < to; from++, to--) {
		const zend_function *f = p[from];

		p[from] = p[to - 1];
		p[to - 1] = f;
	}
}

/* Rotates the ring so that it begins at `first`: by turning both parts and then the whole, in place. */
static void unroll(const zend_function **ring, size_t size, size_t first)
{
	swap_range(ring, 0, first);
	swap_range(ring, first, size);
	swap_range(ring, 0, size);
}

/* Puts the functions that have returned since the moment in front, the innermost first. Returns how many. */
static size_t put_returned(const zend_function **f, const struct moment *m, size_t room)
{
	size_t count = MIN(m->returned_count, room);

	for (size_t i = 0; i < count; i++)
		f[i] = m->returned[count - 1 - i];
	return count;
}

void stack_collect(struct stack *s, const struct moment *m, size_t max_depth, bool limit_walk)
{
	const zend_execute_data *frame = real_frame(m->frame);
	size_t half = max_depth / 2, ring = max_depth - half, n;
	const zend_function **f = s->functions;

	s->elided_at = 0;
	s->rootless = false;
	n = put_returned(f, m, half);
	/* The first half is kept as it comes; what follows goes round in a ring that in the end holds the root. One
	 * place between them is for the NULL. */
	for (; frame && n < half; frame = real_frame(above(frame)))
		f[n++] = frame->func;
	for (; frame && n < max_depth; frame = real_frame(above(frame)))
		f[1 + n++] = frame->func;
	if (!frame) {
		if (n > half)
			memmove(f + half, f + half + 1, (n - half) * sizeof(*f));
		s->depth = n;
		return;
	}

	s->elided_at = half;
	f[half] = NULL;
	for (; frame; frame = real_frame(above(frame)), n++) {
		if (limit_walk && n >= STACK_WALK_MAX) {
			s->rootless = true;
			s->depth = half + 1;
			return;
		}
		f[half + 1 + (n - half) % ring] = frame->func;
	}
	unroll(f + half + 1, ring, (n - half) % ring);
	s->depth = max_depth + 1;
}
