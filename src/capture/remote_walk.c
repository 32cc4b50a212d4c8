/* remote_walk.c: fetches the memory that a walk needs, level by level. */

#include "remote_walk.h"

#include "remote_memory.h"

/* Frames are adjacent in pages of the VM's stack, which PHP's allocator takes from chunks of 2 MB. */
#define STACK_BYTES	8192u
#define CHUNK_BYTES	(2ull << 20)

struct level {
	struct remote_range items[4 * PHP_DEPTH];
	size_t count;
};

static void need(struct level *level, u64 address, u32 size)
{
	if (address && level->count < sizeof(level->items) / sizeof(level->items[0]))
		level->items[level->count++] = (struct remote_range){ address, size };
}

static void fetch(struct level *level)
{
	remote_memory_fetch(level->items, level->count);
	level->count = 0;
}

/* Fetches a frame together with those before it in memory, its callers. */
static const u8 *fetch_frame(u64 frame)
{
	u64 end = frame + EXECUTE_DATA_BYTES, start = end > STACK_BYTES ? end - STACK_BYTES : 0, chunk = frame & ~(CHUNK_BYTES - 1);
	const void *there = remote_memory_find(frame, EXECUTE_DATA_BYTES);
	struct remote_range range;

	if (there)
		return there;
	if (start < chunk) {
		start = chunk;
		if (end < start + LARGE_BYTES)	/* in the same page */
			end = start + LARGE_BYTES;
	}
	range = (struct remote_range){ start, (u32)(end - start) };
	remote_memory_fetch(&range, 1);
	there = remote_memory_find(frame, EXECUTE_DATA_BYTES);
	if (there)
		return there;
	range = (struct remote_range){ frame, EXECUTE_DATA_BYTES };
	remote_memory_fetch(&range, 1);
	return remote_memory_find(frame, EXECUTE_DATA_BYTES);
}

struct reached {
	u64 function, opline;
};

static size_t fetch_functions(const struct php_layout *l, u64 frame, struct reached *reached, struct level *level)
{
	const u8 *ex;
	size_t n = 0;

	for (u32 i = 0; frame && i < PHP_STEPS && n < PHP_DEPTH && (ex = fetch_frame(frame)); i++) {
		reached[n] = (struct reached){ field64(ex, l->func), field64(ex, l->opline) };
		need(level, reached[n].function, l->function_bytes);
		n += reached[n].function != 0;
		if (field64(ex, l->prev) == frame)
			break;
		frame = field64(ex, l->prev);
	}
	fetch(level);
	return n;
}

static void need_string(const struct php_layout *l, struct level *level, u64 string)
{
	need(level, string ? string + l->string_hash : 0, 16);
}

/* In the order in which function_key reads them. */
static void fetch_names(const struct php_layout *l, const struct reached *reached, size_t n, struct level *level)
{
	for (size_t i = 0; i < n; i++) {
		const u8 *f = remote_memory_find(reached[i].function, l->function_bytes);
		u64 name, scope;
		bool internal;

		if (!f)
			continue;
		name = field64(f, l->fn_name);
		scope = field64(f, l->fn_scope);
		internal = f[0] == PHP_INTERNAL;
		if (!internal)
			need(level, reached[i].opline + l->op_line, 4);
		need_string(l, level, name);
		if (!internal && field32(f, l->fn_flags) & l->immutable) {
			if (!name)
				need_string(l, level, field64(f, l->fn_filename));
			continue;
		}
		need(level, scope ? scope + l->class_name : 0, 8);
		if (!internal)
			need_string(l, level, field64(f, l->fn_filename));
	}
	fetch(level);
}

static void fetch_classes(const struct php_layout *l, const struct reached *reached, size_t n, struct level *level)
{
	for (size_t i = 0; i < n; i++) {
		const u8 *f = remote_memory_find(reached[i].function, l->function_bytes);
		u64 scope = f ? field64(f, l->fn_scope) : 0;
		const u64 *name = scope ? remote_memory_find(scope + l->class_name, 8) : NULL;

		if (name)
			need_string(l, level, *name);
	}
	fetch(level);
}

bool remote_walk(const struct remote_php *php, struct php_walk *w)
{
	const struct binary *b = php->binary;
	struct reached reached[PHP_DEPTH];
	static struct level level;
	u64 globals, frame = 0;
	size_t n;

	w->count = 0;
	remote_memory_select(php->pid);
	globals = php_globals(b, php->bias, php->thread, b->executor_globals);
	if (!globals || !read_user(&frame, sizeof(frame), globals + b->layout.current_execute_data))
		return false;
	n = fetch_functions(&b->layout, frame, reached, &level);
	fetch_names(&b->layout, reached, n, &level);
	fetch_classes(&b->layout, reached, n, &level);
	php_walk_start(w, frame);
	for (u32 i = 0; php_walk_step(w, &b->layout); i++) {
		if (i == PHP_STEPS) {
			php_walk_truncate(w);
			break;
		}
	}
	if (w->count)
		w->id |= 1;
	return true;
}

u64 remote_walk_fingerprint(const struct php_walk *w)
{
	u64 h = mix(w->id, w->count);

	for (u32 i = 0; i < w->count; i++)
		h = mix(h, w->functions[i]);
	return h;
}
