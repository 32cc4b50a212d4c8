/* test_perl_walk.c: runs the BPF walker as plain C over the memory of real Perls (tests/data/perl), and compares it
 * with the output of caller() in them. */

#include "memory_image.h"

#include "bpf/perl_names.h"
#include "perl_offsets.h"
#include "stack_registry.h"
#include "test.h"

static const char *const images[] = { "threads", "unthreaded" };

static struct perl_place place;
static struct php_walk stack;
static struct perl_walk walk;

static void load(const char *name)
{
	struct perl_offsets offsets;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.image", TEST_DATA, name);
	if (!image_load(path)) {
		printf("cannot read %s\n", path);
		abort();
	}
	perl_offsets_init(&offsets);
	place = (struct perl_place){
		.threads = (u32)image_number("threads"),
		.curstackinfo = image_number("curstackinfo"),
		.curcop = image_number("curcop"),
		.layout = perl_offsets_find(&offsets, 5, (unsigned)image_number("minor"))->layout,
	};
}

static bool walk_all(void)
{
	if (!perl_walk_start(&stack, &walk, &place, image_number("bias"), image_number("interpreter")))
		return false;
	for (unsigned i = 0; i < PERL_STEPS && perl_walk_step(&stack, &walk, &place.layout); i++)
		;
	return true;
}

static const struct function_event *describe(u32 at)
{
	static struct function_event e;

	perl_describe(&place.layout, &stack, &walk, at, &e);
	return &e;
}

static const char *name_of(u32 at)
{
	static struct buf b;

	if (b.data)
		buf_done(&b);
	buf_init(&b);
	stack_registry_put_name(describe(at), &b);
	return b.data;
}

/* Formats a frame like chains.pl: name, tab, line, newline; a closure without its location. */
static void put_frame(u32 at, char *ret, size_t size)
{
	char name[512];

	snprintf(name, sizeof(name), "%s", name_of(at));
	if (strstr(name, "__ANON__["))
		*strchr(name, '[') = 0;
	snprintf(ret, size, "%s\t%u\n", name, stack.frames[at].line);
}

/* Returns the address of the innermost context. */
static u8 *top_context(void)
{
	u64 at = 0;
	u8 *stackinfo;

	memcpy(&at, image_byte(place.threads ? image_number("interpreter") + place.layout.curstackinfo :
			       image_number("bias") + place.curstackinfo), 8);
	stackinfo = image_byte(at);
	return image_byte(*(u64 *)(stackinfo + place.layout.si_cxstack) +
			  (u64)*(int *)(stackinfo + place.layout.si_cxsubix) * place.layout.cx_size);
}

/* Returns the body of the running code. */
static u8 *top_code(void)
{
	u64 body;

	memcpy(&body, image_byte(*(u64 *)(top_context() + place.layout.cx_cv)), 8);
	return image_byte(body);
}

TEST(frames_of_every_kind_have_the_names_given_by_caller)
{
	for (unsigned i = 0; i < 2; i++) {
		char path[512], expected[512], found[600];
		u32 at;
		FILE *f;

		load(images[i]);
		CHECK(walk_all());
		CHECK_INT(stack.unreadable_frames + stack.unreadable_functions + walk.unfinished + stack.truncated, 0);
		snprintf(path, sizeof(path), "%s/%s.frames", TEST_DATA, images[i]);
		f = fopen(path, "r");
		CHECK(f != NULL);
		for (at = stack.count; at-- > 0 && fgets(expected, sizeof(expected), f); ) {
			put_frame(at, found, sizeof(found));
			CHECK_STR(found, expected);
		}
		CHECK(fgets(expected, sizeof(expected), f) == NULL);
		CHECK_INT(stack.count, 99);
		fclose(f);
	}
}

TEST(frames_have_package_file_and_line)
{
	const struct function_event *e;

	load("threads");
	walk_all();
	CHECK_STR(name_of(1), "main::__ANON__[chains.pl:33]");
	e = describe(4);
	CHECK_STR(e->scope, "Local::Shop");
	CHECK_STR(e->name, "total");
	CHECK_STR(e->file, "chains.pl");
	CHECK_INT(e->line_start, 39);
	CHECK(stack.frames[1].function == stack.frames[2].function);
	CHECK(stack.frames[1].function != stack.frames[5].function);
}

/* The tied variable and the overloaded operator are called by C code, as are a sub passed to sort and a sort block,
 * which after its last call has nothing left to return to. */
TEST(frames_called_from_c_code_are_marked)
{
	load("threads");
	walk_all();
	for (u32 at = 0; at < stack.count; at++) {
		char found[600];
		bool top;

		put_frame(at, found, sizeof(found));
		top = !strncmp(found, "Local::Tied::FETCH", 18) || !strncmp(found, "Local::Shop::__ANON__", 21) ||
		      !strncmp(found, "main::compare", 13) || !strncmp(found, "main::from_block", 16) || !strncmp(found, "chains.pl", 9);
		CHECK_INT(stack.frames[at].flags, top ? FRAME_TOP : 0);
	}
}

TEST(a_context_being_written_is_skipped_and_counted)
{
	for (unsigned i = 0; i < 2; i++) {
		load(images[i]);
		memset(top_context() + place.layout.cx_cv, 0, 8);
		walk_all();
		CHECK_INT(stack.count, 98);
		CHECK_INT(walk.unfinished, 1);
		CHECK_STR(name_of(0), "main::__ANON__[chains.pl:33]");
		CHECK_INT(stack.frames[0].line, 33);

		/* The sub that ran there before, and has ended. */
		load(images[i]);
		memset(top_code() + place.layout.cv_depth, 0, 4);
		walk_all();
		CHECK_INT(stack.count, 98);
		CHECK_INT(walk.unfinished, 1);
	}
}

TEST(a_leaf_before_its_first_statement_does_not_get_the_line_of_its_caller)
{
	u64 curcop;

	load("threads");
	curcop = image_number("interpreter") + place.layout.curcop;
	memcpy(image_byte(curcop), top_context() + place.layout.cx_oldcop, 8);
	walk_all();
	CHECK_STR(name_of(0), "main::stay");
	CHECK_INT(stack.frames[0].line, 0);
	CHECK_INT(stack.frames[1].line, 33);
}

TEST(a_sub_of_another_file_at_the_same_address_is_distinguished)
{
	u64 before, file;

	load("threads");
	walk_all();
	before = stack.frames[0].function;
	memcpy(&file, top_code() + place.layout.cv_file, 8);
	memcpy(image_byte(file), "another", 7);
	walk_all();
	CHECK(stack.frames[0].function != before);
}

TEST(all_evaluated_strings_share_one_file_name)
{
	static struct perl_cache c;
	static char texts[2][16] = { "(eval 7)", "(eval 1234)" };
	u64 key;

	load("threads");
	image.parts[0] = (struct image_part){ 0x1000, 16, (u8 *)texts[0] };
	image.parts[1] = (struct image_part){ 0x2000, 16, (u8 *)texts[1] };
	key = perl_text_key(&c, 0x1000);
	CHECK(key != 0);
	CHECK(perl_text_key(&c, 0x2000) == key);
	image.part_count = 0;
}

TEST(unreadable_functions_become_a_frame_and_are_counted)
{
	u64 *context;

	load("threads");
	context = (u64 *)(top_context() + place.layout.cx_cv);
	*image_byte(*context) ^= 0xff;		/* the code's body is elsewhere */
	walk_all();
	CHECK_INT(stack.count, 99);
	CHECK_INT(stack.frames[0].function, FUNCTION_UNKNOWN_PERL);
	CHECK_INT(stack.unreadable_functions, 1);

	load("threads");
	memset(top_context() + place.layout.cx_oldsubix, 0x7f, 4);
	walk_all();
	CHECK_INT(stack.count, 2);
	CHECK_INT(stack.frames[1].function, FUNCTION_UNKNOWN_PERL);
	CHECK_INT(stack.unreadable_frames, 1);
}

TEST(a_cyclic_stack_is_truncated)
{
	u64 main;

	load("threads");
	walk_all();
	main = walk.stackinfo;
	memset(image_byte(main + place.layout.si_type), 0, 4);
	memcpy(image_byte(main + place.layout.si_prev), &main, 8);
	walk_all();
	CHECK_INT(stack.count, PHP_DEPTH);
	CHECK_INT(stack.frames[PHP_DEPTH - 1].function, FUNCTION_TRUNCATED);
	CHECK_INT(stack.truncated, 1);
}

TEST(a_thread_without_an_interpreter_has_no_stack)
{
	struct perl_place p = { .threads = 1, .tls_offset = -8 };

	image.part_count = 0;
	CHECK_INT(perl_interpreter(&p, 0, 0x7000), 0);
	CHECK(!walk_all());
}

/* In a library, the location of the thread's block is in the C library's table. */
TEST(the_thread_local_block_of_a_library_is_found_by_its_module_id)
{
	static u64 thread[2] = { 0, 0x3000 }, table[6] = { 0, 0, 0, 0, 0x4000 }, number = 2, block[2] = { 0, 0x5555 };
	struct perl_place p = { .threads = 1, .tls_offset = 8, .tls_module = 0x10 };

	load("threads");
	image.parts[0] = (struct image_part){ 0x1000, sizeof(thread), (u8 *)thread };
	image.parts[1] = (struct image_part){ 0x2010, 8, (u8 *)&number };
	image.parts[2] = (struct image_part){ 0x3000, sizeof(table), (u8 *)table };
	image.parts[3] = (struct image_part){ 0x4000, sizeof(block), (u8 *)block };
	CHECK_INT(perl_interpreter(&p, 0x2000, 0x1000), 0x5555);
	image.part_count = 0;
}

TEST_MAIN()
