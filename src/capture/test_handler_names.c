/* test_handler_names.c: tests the native names of PHP's internal functions and methods. */

#include "handler_names.h"

#include "bpf/php_key.h"
#include "process.h"
#include "test.h"

#include <unistd.h>

static const char *name_of(const char *scope, const char *name, u32 flags)
{
	struct function_event e = { .kind = 1, .name_size = (u32)strlen(name), .class_size = (u32)strlen(scope), .words[0] = (u64)flags << 32 };
	static struct buf b;

	if (b.data)
		buf_done(&b);
	buf_init(&b);
	snprintf(e.name, sizeof(e.name), "%s", name);
	snprintf(e.scope, sizeof(e.scope), "%s", scope);
	handler_name_put(&e, &b);
	return b.data;
}

TEST(handlers_of_functions_and_methods_are_named_like_the_macros_of_php)
{
	CHECK_STR(name_of("", "strlen", 0), "zif_strlen");
	CHECK_STR(name_of("ArrayObject", "__construct", 0), "zim_ArrayObject___construct");
	CHECK_STR(name_of("Random\\Engine\\Mt19937", "generate", 0), "zim_Random_Engine_Mt19937_generate");
}

TEST(handlers_shared_by_many_functions_have_no_name)
{
	CHECK_STR(name_of("", "adler32", 1u << 18), "");	/* FFI's */
	CHECK_STR(name_of("Suit", "cases", 0), "");
	CHECK_STR(name_of("", "{closure}", 0), "");
	CHECK_STR(name_of("", "", 0), "");
}

TEST(a_truncated_name_is_not_used)
{
	struct function_event e = { .kind = 1, .name_size = NAME_SIZE + 10, .name = "long" };
	struct buf b;

	buf_init(&b);
	handler_name_put(&e, &b);
	CHECK_STR(b.data, "");
	buf_done(&b);
}

TEST(functions_of_exited_processes_are_dropped)
{
	static const struct unwind_maps none = { .pages = -1, .rules = -1, .layouts = -1, .processes = -1 };
	struct handler_names *h = handler_names_new(NULL, &none);
	struct function_event e = { .kind = PHP_INTERNAL, .tgid = (u32)getpid(), .start_ticks = process_start_ticks(getpid()) };

	handler_names_note(h, &e);
	CHECK(!handler_names_drop_ended(h));
	e.start_ticks--;		/* an earlier process with this number */
	handler_names_note(h, &e);
	CHECK(handler_names_drop_ended(h));
	CHECK(!handler_names_drop_ended(h));
	handler_names_free(h);
}

TEST_MAIN()
