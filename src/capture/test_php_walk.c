/* test_php_walk.c: runs the BPF walker as plain C over a memory image that is made here, for each version of PHP. */

#include "bpf/php_names.h"
#include "bpf/php_walk.h"
#include "php_offsets.h"
#include "test.h"

#define BASE	0x10000000ull

static u8 memory[65536];
static u64 used;

bool read_user(void *to, u32 size, u64 address)
{
	if (address < BASE || address - BASE > sizeof(memory) || size > sizeof(memory) - (address - BASE))
		return false;
	memcpy(to, memory + (address - BASE), size);
	return true;
}

long read_user_text(char *to, u32 size, u64 address)
{
	for (u32 i = 0; i < size; i++) {
		if (!read_user(to + i, 1, address + i))
			return -1;
		if (i == size - 1)
			to[i] = 0;
		if (!to[i])
			return i + 1;
	}
	return -1;
}

static u64 take(u64 size)
{
	u64 at = used;

	used += (size + 15) & ~15ull;
	memset(memory + at, 0, size);
	return BASE + at;
}

static void put(u64 address, u64 value, u32 size)
{
	memcpy(memory + (address - BASE), &value, size);
}

static u64 string(const struct php_layout *l, const char *text)
{
	u64 s = take(64 + strlen(text)), hash = 5381;

	for (const char *p = text; *p; p++)
		hash = hash * 33 + (u8)*p;
	put(s + l->string_hash, hash | 1ull << 63, 8);
	put(s + l->string_size, strlen(text), 8);
	memcpy(memory + (s + l->string_text - BASE), text, strlen(text) + 1);
	return s;
}

static u64 function(const struct php_layout *l, const char *scope, const char *name, const char *file, u32 line)
{
	u64 f = take(PHP_FUNCTION_MAX), class = 0;

	put(f, file ? 2 : PHP_INTERNAL, 1);
	if (scope) {
		class = take(64);
		put(class + l->class_name, string(l, scope), 8);
	}
	put(f + l->fn_scope, class, 8);
	put(f + l->fn_name, name ? string(l, name) : 0, 8);
	if (file) {
		put(f + l->fn_filename, string(l, file), 8);
		put(f + l->fn_line_start, line, 4);
		put(f + l->fn_line_end, line + 9, 4);
	}
	return f;
}

/* Puts a function's only instruction. */
static u64 instruction(const struct php_layout *l, u64 func, u32 line)
{
	u64 op = take(PHP_OP_BYTES);

	put(op + l->op_line, line, 4);
	if (func >= BASE && memory[func - BASE] != PHP_INTERNAL) {
		put(func + l->fn_opcodes, op, 8);
		put(func + l->fn_last, 1, 4);
	}
	return op;
}

static u64 frame(const struct php_layout *l, u64 prev, u64 func, u32 line)
{
	u64 ex = take(80), op = instruction(l, func, line);

	put(ex + l->opline, op, 8);
	put(ex + l->func, func, 8);
	put(ex + l->prev, prev, 8);
	return ex;
}

static struct php_walk w;

static void walk(const struct php_layout *l, u64 from)
{
	memset(&w, 0, sizeof(w));
	php_walk_start(&w, from);
	while (php_walk_step(&w, l))
		;
}

static struct php_offsets offsets;

TEST(each_version_has_classes_executed_lines_and_internal_functions)
{
	static struct function_event e;

	php_offsets_init(&offsets);
	for (size_t i = 0; i < offsets.count; i++) {
		const struct php_layout *l = &offsets.versions[i].layout;
		u64 leaf;

		used = 0;
		leaf = frame(l, 0, function(l, NULL, NULL, "/srv/a.php", 1), 4);
		leaf = frame(l, leaf, function(l, "App\\Cart", "total", "/srv/cart.php", 20), 23);
		leaf = frame(l, leaf, 0, 0);		/* yield from */
		leaf = frame(l, leaf, function(l, NULL, "usort", NULL, 0), 0);
		walk(l, leaf);
		CHECK_INT(w.count, 3);
		CHECK_INT(w.frames[0].line, 0);
		CHECK_INT(w.frames[1].line, 23);
		CHECK_INT(w.frames[2].line, 4);
		php_describe(l, w.functions[1], (u8 *)w.function, &e);
		CHECK_STR(e.name, "total");
		CHECK_STR(e.scope, "App\\Cart");
		CHECK_STR(e.file, "/srv/cart.php");
		CHECK_INT(e.line_start, 20);
		CHECK_INT(e.unreadable, 0);
	}
}

/* The lines of a file include those of its functions. */
TEST(the_line_is_that_of_an_instruction_of_the_function)
{
	php_offsets_init(&offsets);
	for (size_t i = 0; i < offsets.count; i++) {
		const struct php_layout *l = &offsets.versions[i].layout;
		u64 script, callee, from;
		struct { u64 opline; u32 line; } leaves[3];

		used = 0;
		script = function(l, NULL, NULL, "/srv/a.php", 1);
		callee = function(l, NULL, "total", "/srv/a.php", 2);
		from = frame(l, 0, script, 9);
		leaves[0].opline = instruction(l, callee, 3);		/* it has just returned */
		leaves[0].line = 9;
		leaves[1].opline = instruction(l, script, 8);
		leaves[1].line = 8;
		leaves[2].opline = 0;
		leaves[2].line = 1;					/* the frame's instruction is outside the function */
		for (unsigned k = 0; k < 3; k++) {
			if (k == 0)
				put(script + l->fn_opcodes, *(u64 *)(memory + (from + l->opline - BASE)), 8);
			if (k == 1)
				put(script + l->fn_opcodes, leaves[1].opline, 8);
			memset(&w, 0, sizeof(w));
			php_walk_start(&w, from);
			w.leaf_frame = from;
			w.leaf_opline = leaves[k].opline;
			while (php_walk_step(&w, l))
				;
			CHECK_INT(w.frames[0].line, leaves[k].line);
		}
	}
}

TEST(a_function_without_a_name_begins_a_fiber)
{
	const struct php_layout *l;
	u64 leaf;

	php_offsets_init(&offsets);
	l = &php_offsets_by_version(&offsets, 8, 2)->layout;
	used = 0;
	leaf = frame(l, 0, function(l, NULL, NULL, "/srv/a.php", 1), 4);
	leaf = frame(l, leaf, function(l, "Fiber", "start", NULL, 0), 0);
	leaf = frame(l, leaf, function(l, NULL, NULL, NULL, 0), 0);
	leaf = frame(l, leaf, function(l, NULL, "body", "/srv/a.php", 9), 9);
	walk(l, leaf);
	CHECK_INT(w.count, 3);
	CHECK_INT(w.fibers, 1);
	CHECK_INT(w.frames[0].flags, 0);
	CHECK_INT(w.frames[1].flags, FRAME_RESUMES);
	CHECK_INT(w.frames[2].flags, 0);
}

TEST(a_function_of_another_file_at_the_same_address_is_distinguished)
{
	const struct php_layout *l;
	u64 leaf, first = 0;

	php_offsets_init(&offsets);
	l = &php_offsets_by_version(&offsets, 8, 2)->layout;
	for (unsigned i = 0; i < 2; i++) {
		used = 0;
		leaf = frame(l, 0, function(l, NULL, "run", i ? "/srv/b.php" : "/srv/a.php", 3), 3);
		walk(l, leaf);
		if (!i)
			first = w.frames[0].function;
	}
	CHECK(w.frames[0].function != first);
}

/* Returns the key of a file's code; the file's name has no hash. */
static u64 key_in(const struct php_layout *l, const char *file)
{
	u64 f;

	used = 0;
	f = function(l, NULL, NULL, file, 1);
	memset(memory + (*(u64 *)(memory + (f - BASE) + l->fn_filename) - BASE + l->string_hash), 0, 8);
	walk(l, frame(l, 0, f, 1));
	return w.frames[0].function;
}

TEST(code_evaluated_on_different_lines_forms_different_functions)
{
	static char long_name[512];
	const struct php_layout *l;

	php_offsets_init(&offsets);
	l = &php_offsets_by_version(&offsets, 8, 2)->layout;
	memset(long_name, 'x', sizeof(long_name) - 1);
	CHECK(key_in(l, "/srv/a.php(3) : eval()'d code") == key_in(l, "/srv/a.php(3) : eval()'d code"));
	CHECK(key_in(l, "/srv/a.php(3) : eval()'d code") != key_in(l, "/srv/a.php(5) : eval()'d code"));
	CHECK(key_in(l, "/srv/a.php(3) : eval()'d code(1) : eval()'d code") != key_in(l, "/srv/a.php(5) : eval()'d code(1) : eval()'d code"));
	CHECK(key_in(l, "") != key_in(l, "a"));
	CHECK(key_in(l, "") != FUNCTION_UNKNOWN);
	CHECK(key_in(l, long_name) != key_in(l, long_name + 1));
}

TEST(functions_being_unwound_by_an_exception_have_the_line_that_threw)
{
	const struct php_layout *l;
	u64 globals, thrown, ex;

	php_offsets_init(&offsets);
	l = &php_offsets_by_version(&offsets, 8, 2)->layout;
	used = 0;
	thrown = take(32);
	globals = take(64);			/* opline_before_exception, exception_op */
	put(thrown + l->op_line, 13, 4);
	put(globals, thrown, 8);
	ex = frame(l, 0, function(l, NULL, "f", "/srv/a.php", 10), 0);
	put(ex + l->opline, globals + 8, 8);
	walk(l, ex);
	CHECK_INT(w.frames[0].line, 13);
	put(thrown + l->op_line, 500, 4);	/* opline of a function called by a destructor */
	walk(l, ex);
	CHECK_INT(w.frames[0].line, 10);
}

TEST(a_line_outside_the_function_is_never_reported)
{
	const struct php_layout *l;

	php_offsets_init(&offsets);
	l = &php_offsets_by_version(&offsets, 8, 4)->layout;
	used = 0;
	walk(l, frame(l, 0, function(l, NULL, "f", "/srv/a.php", 10), 500));
	CHECK_INT(w.frames[0].line, 10);
}

TEST(unreadable_functions_become_a_frame_and_are_counted)
{
	const struct php_layout *l;

	php_offsets_init(&offsets);
	l = &php_offsets_by_version(&offsets, 8, 2)->layout;
	used = 0;
	walk(l, frame(l, 0x50, 0x77, 0));
	CHECK_INT(w.count, 2);
	CHECK_INT(w.frames[0].function, FUNCTION_UNKNOWN);
	CHECK_INT(w.unreadable_functions, 1);
	CHECK_INT(w.unreadable_frames, 1);
}

TEST(a_cyclic_stack_is_truncated)
{
	const struct php_layout *l;
	u64 ex;

	php_offsets_init(&offsets);
	l = &php_offsets_by_version(&offsets, 8, 2)->layout;
	used = 0;
	ex = frame(l, 0, function(l, NULL, "f", "/srv/a.php", 1), 1);
	put(ex + l->prev, ex, 8);
	walk(l, ex);
	CHECK_INT(w.count, PHP_DEPTH);
	CHECK_INT(w.frames[PHP_DEPTH - 1].function, FUNCTION_TRUNCATED);
	CHECK_INT(w.truncated, 1);
}

TEST_MAIN()
