/* php_walk.h: converts executor_globals to the frames of a PHP stack.
 *
 * A walk goes from the running frame to the outermost one, one php_walk_step per frame. It runs on the CPU of the
 * thread it walks, or over memory that does not change, so nothing moves during the walk.
 *
 * Compiled for BPF and as plain C, where tests run it over recorded memory.
 */
#ifndef CAPTURE_BPF_PHP_WALK_H
#define CAPTURE_BPF_PHP_WALK_H

#include "php_key.h"

#define PHP_STEPS		512u	/* per walk; more than PHP_DEPTH, since some frames are empty */
#define EXECUTE_DATA_BYTES	56u
#define PHP_IS_OBJECT		8u	/* the type of a value */
#define GENERATOR_BYTES		1024u	/* zend_generator is smaller */

/* Initialized by php_walk_start. It is large: in BPF it is in a map. */
struct php_walk {
	u64 frame;			/* next zend_execute_data to be visited; 0: the end */
	u64 delegate;			/* zend_generator to be visited before that; 0: none */
	u64 called;			/* the previous frame: the one that `frame` called or resumed; 0: none */
	u64 leaf_frame, leaf_opline;	/* in the registers of the running interpreter; 0: unknown */
	u64 id;				/* id of the stack so far */
	u32 count;			/* frames found */
	u32 unreadable_frames, unreadable_functions;
	u32 truncated;
	u32 next_flags;			/* flags of the next frame */
	u32 fibers;			/* number of fibers on the stack */
	struct key_cache cache;
	u64 function[PHP_FUNCTION_MAX / 8];
	u64 execute_data[PHP_FUNCTION_MAX / 8];
	u64 functions[PHP_DEPTH];	/* address of each frame's zend_function; 0: unknown */
	struct php_frame frames[PHP_DEPTH];
};

/* Returns the thread's executor_globals; 0 if they do not exist yet or cannot be read. `thread` is the thread pointer. */
static __always_inline u64 php_globals(const struct binary *b, u64 bias, u64 thread, u64 symbol)
{
	u64 cache = 0, offset = 0;

	if (!b->zts)
		return symbol + bias;
	if (!read_user(&offset, 8, symbol + bias) || !read_user(&cache, 8, thread + b->tls_offset) || !cache)
		return 0;
	return cache + offset;
}

static __always_inline void php_walk_start(struct php_walk *w, u64 frame)
{
	w->frame = frame;
	w->delegate = w->called = w->leaf_frame = w->leaf_opline = 0;
	w->id = 0;
	w->count = w->unreadable_frames = w->unreadable_functions = w->truncated = w->next_flags = w->fibers = 0;
	w->cache.file = w->cache.file_key = w->cache.scope = w->cache.scope_key = 0;
}

static __always_inline void php_walk_push(struct php_walk *w, u64 where, u64 function, u32 line, u32 flags)
{
	u32 at = w->count;

	flags |= w->next_flags;
	w->next_flags = 0;
	if (at >= PHP_DEPTH)
		return;
	at &= PHP_DEPTH - 1;
	w->functions[at] = where;
	w->frames[at].function = function;
	w->frames[at].line = line;
	w->frames[at].flags = flags;
	w->id = mix(mix(w->id, function), (u64)flags << 32 | line);
	w->count = at + 1;
}

/* Ends the walk: the stack is deeper than the limit, or a cycle. */
static __always_inline void php_walk_truncate(struct php_walk *w)
{
	w->truncated = 1;
	php_walk_push(w, 0, FUNCTION_TRUNCATED, 0, 0);
}

/* While an exception unwinds a function, and destructors of its variables run, the current instruction is a special
 * one in executor_globals, without a line. The instruction that threw is stored just before it. */
static __always_inline u32 php_line_thrown(const struct php_layout *l, u64 opline)
{
	u64 thrown = 0;
	u32 line = 0;

	if (read_user(&thrown, 8, opline - 8) && thrown)
		read_user(&line, 4, thrown + l->op_line);
	return line;
}

/* Tells whether the instruction belongs to the function. While a call begins or ends, registers may have the caller's
 * instruction with the frame of the callee, or vice versa; and a new frame has leftovers of an old one. */
static __always_inline bool php_owns(const struct php_layout *l, const u8 *function, u64 opline)
{
	return !l->fn_opcodes || opline - field64(function, l->fn_opcodes) < (u64)field32(function, l->fn_last) * PHP_OP_BYTES;
}

/* Returns the executed line, by the instruction; or that of the definition if the instruction is not in this function. */
static __always_inline u32 php_line(const struct php_layout *l, const u8 *function, u64 opline)
{
	u32 first = field32(function, l->fn_line_start), last = field32(function, l->fn_line_end), line = 0;

	if (!opline || !read_user(&line, 4, opline + l->op_line))
		return first;
	if (!line)
		line = php_line_thrown(l, opline);
	else if (!php_owns(l, function, opline))
		return first;
	return line < first || line > last ? first : line;
}

/* A generator that runs by `yield from` is above an empty frame of the outermost generator, whose chain of parents
 * leads to the running one. The generators in between have frames, too, root first. Takes one of them; returns 0
 * after the last. PHP 7.4 leaves a finished generator in the chain, as the parent of the one that continues. */
static __always_inline u64 php_walk_delegate(struct php_walk *w, const struct php_layout *l)
{
	u64 generator = w->delegate, frame = 0;

	w->delegate = 0;
	if (!read_user(&frame, 8, generator + l->generator_execute_data) ||
	    !read_user(&w->delegate, 8, generator + l->generator_parent)) {
		w->unreadable_frames++;
		return 0;
	}
	if (frame == w->called)
		w->delegate = 0;
	return w->delegate ? frame : 0;
}

/* The empty frame belongs to the generator. PHP 7.4 has other empty frames: copies of a method's frame with the
 * method's object, where C code calls autoloaders and magic methods. */
static __always_inline void php_walk_enter_delegate(struct php_walk *w, const struct php_layout *l, const u8 *ex, u64 frame)
{
	u64 object = field64(ex, l->type_info - 8);

	if (l->generator_parent && (field32(ex, l->type_info) & 0xff) == PHP_IS_OBJECT && frame - object < GENERATOR_BYTES)
		w->delegate = object;
}

/* Handles one frame. Returns whether there may be another one. */
static __always_inline bool php_walk_step(struct php_walk *w, const struct php_layout *l)
{
	u8 *ex = (u8 *)w->execute_data, *f = (u8 *)w->function;
	bool delegate = w->delegate != 0;
	u64 func, opline, frame = delegate ? php_walk_delegate(w, l) : w->frame;
	u32 flags;

	if (!frame)
		return delegate;
	if (w->count >= PHP_DEPTH - 1) {
		php_walk_truncate(w);
		return false;
	}
	if (!read_user(ex, EXECUTE_DATA_BYTES, frame)) {
		w->unreadable_frames++;
		php_walk_push(w, 0, FUNCTION_UNKNOWN, 0, 0);
		return delegate;
	}
	func = field64(ex, l->func);
	if (!delegate)
		w->frame = field64(ex, l->prev);
	if (!func) {
		if (!delegate)
			php_walk_enter_delegate(w, l, ex, frame);
		return true;
	}
	if (!delegate)
		w->called = frame;
	flags = delegate ? FRAME_DELEGATE : field32(ex, l->type_info) & l->call_top ? FRAME_TOP : 0;
	if (!read_user(f, l->function_bytes & (PHP_FUNCTION_MAX - 1), func)) {
		/* An internal function is smaller, and memory may end after it. */
		if (!read_user(f, PHP_COMMON_BYTES, func) || f[0] != PHP_INTERNAL) {
			w->unreadable_functions++;
			php_walk_push(w, 0, FUNCTION_UNKNOWN, 0, flags);
			return true;
		}
	}
	if (f[0] == PHP_INTERNAL) {
		/* A fiber begins with an internal function without a name. */
		if (field64(f, l->fn_name))
			php_walk_push(w, func, function_key(l, &w->cache, f), 0, flags);
		else
			w->next_flags = FRAME_RESUMES, w->fibers++;
		return true;
	}
	opline = field64(ex, l->opline);
	if (frame == w->leaf_frame && w->leaf_opline && php_owns(l, f, w->leaf_opline))
		opline = w->leaf_opline;
	php_walk_push(w, func, function_key(l, &w->cache, f), php_line(l, f, opline), flags);
	return true;
}

#endif
