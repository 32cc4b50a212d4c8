/* stack.c: walks the VM's frames. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "stack.h"

#include "zend_generators.h"
#include "zend_vm.h"

#if PHP_VERSION_ID < 80400
/* Until PHP 8.3 the VM looks at its interrupt flag only after an internal function has returned and its frame is gone.
 * The call that has just ended is then the opcode before the one to run next, and the INIT opcode that belongs to it
 * names the function, by way of the run-time cache that the call itself has filled. */

/* Opcodes looked at between a call and its INIT: arguments of a call rarely take more. */
#define LOOK_BACK 1024

static bool ends_call(const zend_op *op)
{
	switch (op->opcode) {
	case ZEND_DO_ICALL:
	case ZEND_DO_UCALL:
	case ZEND_DO_FCALL:
	case ZEND_DO_FCALL_BY_NAME:
#if PHP_VERSION_ID >= 80100
	case ZEND_CALLABLE_CONVERT:
#endif
		return true;
	default:
		return false;
	}
}

static bool begins_call(const zend_op *op)
{
	switch (op->opcode) {
	case ZEND_INIT_FCALL:
	case ZEND_INIT_FCALL_BY_NAME:
	case ZEND_INIT_NS_FCALL_BY_NAME:
	case ZEND_INIT_METHOD_CALL:
	case ZEND_INIT_STATIC_METHOD_CALL:
	case ZEND_INIT_DYNAMIC_CALL:
	case ZEND_INIT_USER_CALL:
	case ZEND_NEW:
		return true;
	default:
		return false;
	}
}

/* What the run-time cache says that `init` has called; NULL if it does not say. */
static const zend_function *called_by(const zend_execute_data *frame, const zend_op *init)
{
	const char *cache = (const char *)RUN_TIME_CACHE(&frame->func->op_array);
	const zend_class_entry *ce;

	if (!cache)
		return NULL;
	switch (init->opcode) {
	case ZEND_INIT_FCALL:
	case ZEND_INIT_FCALL_BY_NAME:
	case ZEND_INIT_NS_FCALL_BY_NAME:
		return *(zend_function *const *)(cache + init->result.num);
	case ZEND_INIT_METHOD_CALL:
	case ZEND_INIT_STATIC_METHOD_CALL:
		if (init->op2_type != IS_CONST)
			return NULL;
		return *(zend_function *const *)(cache + init->result.num + sizeof(void *));
	case ZEND_NEW:
		if (init->op1_type != IS_CONST)
			return NULL;
		ce = *(zend_class_entry *const *)(cache + init->op2.num);
		return ce ? ce->constructor : NULL;
	default:
		return NULL;
	}
}

/* The internal function that `frame` has called just before; NULL if there was none. */
static const zend_function *returned_leaf(const zend_execute_data *frame)
{
	const zend_op *first = frame->func->op_array.opcodes;
	const zend_op *op = frame->opline;
	const zend_function *f;
	int open = 1;

	/* While an exception is thrown the opline points elsewhere. */
	if (!first || op <= first || op >= first + frame->func->op_array.last)
		return NULL;
	if (!ends_call(--op) || op->opcode == ZEND_DO_UCALL)
		return NULL;
	for (unsigned i = 0; i < LOOK_BACK && op > first; i++) {
		op--;
		if (ends_call(op))
			open++;
		else if (begins_call(op) && --open == 0)
			break;
	}
	if (open)
		return NULL;
	f = called_by(frame, op);
	return f && f->type == ZEND_INTERNAL_FUNCTION ? f : NULL;
}
#endif

static const zend_execute_data *above(const zend_execute_data *frame)
{
	return frame->prev_execute_data;
}

/* Frames without a function are skipped; a generator that delegates has a placeholder that knows the real one. */
static const zend_execute_data *real_frame(const zend_execute_data *frame)
{
	while (frame && !frame->func) {
		const zend_execute_data *real =
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

void stack_collect(struct stack *s, const zend_execute_data *leaf, size_t max_depth, bool limit_walk)
{
	const zend_execute_data *frame = real_frame(leaf);
	size_t half = max_depth / 2, ring = max_depth - half, n = 0;
	const zend_function **f = s->functions;

	s->elided_at = 0;
	s->rootless = false;
#if PHP_VERSION_ID < 80400
	if (frame && ZEND_USER_CODE(frame->func->type) && (f[0] = returned_leaf(frame)))
		n = 1;
#endif
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
