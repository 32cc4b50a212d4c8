/* test_remote_walk.c: tests the walk over a process' memory, here our own, and the number of system calls. */

#include "php_offsets.h"
#include "remote_memory.h"
#include "remote_walk.h"
#include "test.h"

#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK_BYTES	(2u << 20)

static u8 memory[2 * CHUNK_BYTES];
static size_t used = 4096;

/* Allocates from the start of a chunk like those of PHP's allocator. */
static u8 *take(size_t size)
{
	u8 *chunk = memory + (CHUNK_BYTES - (u64)memory % CHUNK_BYTES) % CHUNK_BYTES, *p = chunk + used;

	used += (size + 15) & ~(size_t)15;
	assert(used <= CHUNK_BYTES);
	memset(p, 0, size);
	return p;
}

static void put(u8 *at, u64 value, size_t size)
{
	memcpy(at, &value, size);
}

static u8 *string(const struct php_layout *l, const char *text)
{
	u8 *s = take(64 + strlen(text));

	put(s + l->string_hash, 0x1234567 + strlen(text) * (u8)text[0], 8);
	put(s + l->string_size, strlen(text), 8);
	memcpy(s + l->string_text, text, strlen(text) + 1);
	return s;
}

static u8 *function(const struct php_layout *l, unsigned n)
{
	u8 *f = take(PHP_FUNCTION_MAX), *class = take(64);
	char name[32];

	snprintf(name, sizeof(name), "Class%u", n);
	put(class + l->class_name, (u64)string(l, name), 8);
	snprintf(name, sizeof(name), "method%u", n);
	put(f, 2, 1);
	put(f + l->fn_scope, (u64)class, 8);
	put(f + l->fn_name, (u64)string(l, name), 8);
	put(f + l->fn_filename, (u64)string(l, "/srv/a.php"), 8);
	put(f + l->fn_line_start, n * 10 + 1, 4);
	put(f + l->fn_line_end, n * 10 + 9, 4);
	return f;
}

/* Makes a stack of `depth` adjacent frames, like PHP's. Returns the running one. */
static u64 stack_at(size_t place, const struct php_layout *l, unsigned depth)
{
	u8 *frames, *prev = NULL;

	used = place;
	frames = take((size_t)depth * 160);
	for (unsigned i = 0; i < depth; i++) {
		u8 *ex = frames + (size_t)i * 160, *op = take(PHP_OP_BYTES), *f = function(l, i);

		put(op + l->op_line, i * 10 + 5, 4);
		put(ex + l->opline, (u64)op, 8);
		put(ex + l->func, (u64)f, 8);
		put(f + l->fn_opcodes, (u64)op, 8);
		put(f + l->fn_last, 1, 4);
		put(ex + l->prev, (u64)prev, 8);
		prev = ex;
	}
	return (u64)prev;
}

static u64 stack(const struct php_layout *l, unsigned depth)
{
	return stack_at(4096, l, depth);
}

static u8 globals[4096];

static struct binary binary_of(unsigned minor)
{
	static struct php_offsets offsets;

	php_offsets_init(&offsets);
	return (struct binary){ .kind = BINARY_PHP, .executor_globals = (u64)globals,
				.layout = php_offsets_by_version(&offsets, 8, minor)->layout };
}

static struct php_walk w;

static bool walk(const struct binary *b, u64 frame)
{
	struct remote_php php = { getpid(), b, 0, 0 };

	put(globals + b->layout.current_execute_data, frame, 8);
	return remote_walk(&php, &w);
}

TEST(a_deep_stack_needs_no_more_system_calls_than_a_short_one)
{
	struct binary b = binary_of(2);
	u64 before, calls[2];

	for (unsigned i = 0; i < 2; i++) {
		u64 frame = stack(&b.layout, i ? 40 : 4);

		before = remote_memory_calls();
		CHECK(walk(&b, frame));
		calls[i] = remote_memory_calls() - before;
		CHECK_INT(w.count, i ? 40 : 4);
		for (unsigned k = 0; k < w.count; k++)
			CHECK_INT(w.frames[k].line, (w.count - 1 - k) * 10 + 5);
	}
	CHECK_INT(calls[0], 5);		/* globals, frames, functions, names, classes */
	CHECK_INT(calls[1], calls[0]);
}

TEST(a_stack_at_the_start_of_a_chunk_needs_no_more_system_calls)
{
	struct binary b = binary_of(2);
	u64 frame = stack_at(0, &b.layout, 4), before = remote_memory_calls();

	CHECK(walk(&b, frame));
	CHECK_INT(w.count, 4);
	CHECK_INT(remote_memory_calls() - before, 5);
}

TEST(the_stack_id_matches_that_of_a_walk_without_read_ahead)
{
	struct binary b = binary_of(4);
	u64 frame = stack(&b.layout, 12), id;

	CHECK(walk(&b, frame));
	id = w.id;
	php_walk_start(&w, frame);
	remote_memory_forget();
	while (php_walk_step(&w, &b.layout))
		;
	CHECK(id == (w.id | 1));
}

TEST(frames_at_the_edge_of_mapped_memory_are_read)
{
	struct binary b = binary_of(2);
	long page = sysconf(_SC_PAGESIZE);
	u8 *two = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	used = 4096;
	munmap(two, (size_t)page);	/* nothing before the frame can be read */
	put(two + page + b.layout.func, (u64)function(&b.layout, 1), 8);
	CHECK(walk(&b, (u64)(two + page)));
	CHECK_INT(w.count, 1);
	CHECK_INT(w.unreadable_frames, 0);
	munmap(two + page, (size_t)page);
}

TEST(unreadable_ranges_are_omitted_and_the_others_read)
{
	u64 words[3] = { 11, 12, 13 };
	struct remote_range ranges[] = { { (u64)&words[0], 8 }, { 8, 8 }, { (u64)&words[1], 8 }, { 16, 8 }, { (u64)&words[2], 8 } };
	u64 before = remote_memory_calls();

	remote_memory_select(getpid());
	remote_memory_fetch(ranges, 5);
	CHECK_INT(remote_memory_calls() - before, 4);	/* both together, each of them, and the rest */
	for (unsigned i = 0; i < 3; i++) {
		const u64 *there = remote_memory_find((u64)&words[i], 8);

		CHECK(there && *there == 11 + i);
	}
	CHECK(!remote_memory_find(8, 8));
	remote_memory_forget();
	CHECK(!remote_memory_find((u64)&words[0], 8));
}

TEST(an_unreadable_gap_does_not_hide_other_ranges)
{
	long page = sysconf(_SC_PAGESIZE);
	u8 *three = mmap(NULL, 3 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct remote_range ranges[4] = {
		{ (u64)(three + page - 8), 8 },
		{ (u64)(three + page), 8 },		/* nothing is mapped before it */
		{ (u64)(three + 2 * page), 8 },
		{ (u64)(three + 2 * page + 100), 4 },
	};

	for (unsigned i = 0; i < 4; i++)
		put((u8 *)ranges[i].address, i + 1, ranges[i].size);
	munmap(three + page, (size_t)page);
	remote_memory_select(getpid());
	remote_memory_fetch(ranges, 4);
	for (unsigned i = 0; i < 4; i++) {
		const u8 *there = remote_memory_find(ranges[i].address, ranges[i].size);

		CHECK(i == 1 ? !there : there && *there == i + 1);
	}
	munmap(three, (size_t)page);
	munmap(three + 2 * page, (size_t)page);
}

TEST(unreadable_globals_yield_no_stack)
{
	struct binary b = binary_of(2);
	struct remote_php php = { getpid(), &b, 0, 0 };

	b.executor_globals = 4096;
	CHECK(!remote_walk(&php, &w));
	CHECK_INT(w.count, 0);
}

TEST_MAIN()
