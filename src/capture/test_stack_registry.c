/* test_stack_registry.c: tests that ids and counts become stacks. */

#include "stack_registry.h"
#include "test.h"

#include <string.h>

static void function(struct stack_registry *b, u64 id, const char *scope, const char *name, const char *file, u32 line)
{
	struct function_event e = { .type = EVENT_FUNCTION, .id = id, .line_start = line };

	snprintf(e.name, sizeof(e.name), "%s", name);
	snprintf(e.scope, sizeof(e.scope), "%s", scope);
	snprintf(e.file, sizeof(e.file), "%s", file);
	stack_registry_note(b, &e, sizeof(e));
}

static void stack(struct stack_registry *b, u64 id, u64 leaf, u64 root)
{
	struct php_stack_event e = { .type = EVENT_PHP_STACK, .count = 2, .id = id };

	e.frames[0].function = leaf;
	e.frames[1].function = root;
	stack_registry_note(b, &e, offsetof(struct php_stack_event, frames) + 2 * sizeof(e.frames[0]));
}

static void perl_stack(struct stack_registry *b, u64 id, u64 leaf)
{
	struct php_stack_event e = { .type = EVENT_PERL_STACK, .count = 1, .id = id };

	e.frames[0].function = leaf;
	stack_registry_note(b, &e, offsetof(struct php_stack_event, frames) + sizeof(e.frames[0]));
}

static void native_stack(struct stack_registry *b, u64 id, u64 leaf)
{
	struct native_stack_event e = { .type = EVENT_NATIVE_STACK, .count = 1, .end = NATIVE_OUTERMOST, .id = id, .frames = { leaf } };

	stack_registry_note(b, &e, offsetof(struct native_stack_event, frames) + sizeof(e.frames[0]));
}

static const char *path_of(const struct profile *p, uint32_t node)
{
	static char text[512];

	text[0] = 0;
	for (; node; node = p->parents[node]) {
		char rest[512];

		strcpy(rest, text);
		snprintf(text, sizeof(text), "%.200s%s%.300s", profile_name(p, p->node_frames[node]).p, *rest ? ";" : "", rest);
	}
	return text;
}

TEST(a_count_that_arrives_before_its_names_gets_them)
{
	struct stack_registry *b = stack_registry_new();
	struct stack_registry_layers layers = { .php = true, .on_cpu = true };
	struct count_key key = { .php = 101, .kind = SAMPLE_ON_CPU };
	struct count c = { 2, 2000 };
	struct profile *p;
	u64 left_out;

	stack_registry_count(b, &key, &c);
	stack_registry_count(b, &key, &c);
	stack(b, 101, 1001, 1002);
	function(b, 1001, "App\\Cart", "{closure}", "/srv/a.php", 7);
	function(b, 1002, "", "", "/srv/a.php", 1);
	p = stack_registry_profile(b, &layers, &left_out);
	CHECK_INT(p->node_count, 3);
	CHECK_STR(path_of(p, 2), "/srv/a.php;App\\Cart::{closure:/srv/a.php(7)}");
	CHECK_INT(profile_sum(p, profile_find_column(p, "samples")), 4);
	CHECK_INT(profile_sum(p, profile_find_column(p, "cpu_ns")), 4000);
	CHECK_INT(left_out, 0);
	profile_free(p);
	stack_registry_free(b);
}

/* main called f from two of its lines, once each. */
TEST(the_executed_line_is_kept_on_request)
{
	struct stack_registry *b = stack_registry_new();
	struct stack_registry_layers layers = { .php = true, .on_cpu = true, .lines = true };
	struct count c = { 1, 1000 };
	struct profile *p;
	u64 left_out;

	function(b, 1001, "", "f", "/srv/a.php", 7);
	function(b, 1002, "", "", "/srv/a.php", 1);
	for (u32 i = 0; i < 2; i++) {
		struct php_stack_event e = {
			.type = EVENT_PHP_STACK, .count = 2, .id = 101 + i,
			.frames = { { 1001, 9, 0 }, { 1002, 20 + i, FRAME_TOP } },
		};
		struct count_key key = { .php = e.id, .kind = SAMPLE_ON_CPU };

		stack_registry_note(b, &e, offsetof(struct php_stack_event, frames) + 2 * sizeof(e.frames[0]));
		stack_registry_count(b, &key, &c);
	}
	p = stack_registry_profile(b, &layers, &left_out);
	CHECK_INT(p->node_count, 5);
	CHECK_INT(p->frame_count, 2);
	CHECK_INT(profile_line(p, 1), 20);
	CHECK_INT(profile_line(p, 2), 9);
	CHECK_INT(profile_line(p, 3), 21);
	CHECK_INT(profile_line(p, 4), 9);
	CHECK_INT(p->frames[p->node_frames[2]].line, 7);
	profile_free(p);
	layers.lines = false;
	p = stack_registry_profile(b, &layers, &left_out);
	CHECK_INT(p->node_count, 3);
	CHECK(!p->node_lines);
	profile_free(p);
	stack_registry_free(b);
}

TEST(a_function_with_a_lost_name_is_shown_as_unknown)
{
	struct stack_registry *b = stack_registry_new();
	struct stack_registry_layers layers = { .php = true, .on_cpu = true, .off_cpu = true };
	struct count_key key = { .php = 101, .kind = SAMPLE_BLOCKED };
	struct count c = { 1, 500 };
	struct profile *p;
	u64 left_out;

	stack(b, 101, FUNCTION_TRUNCATED + 0, 1002);
	stack_registry_count(b, &key, &c);
	p = stack_registry_profile(b, &layers, &left_out);
	CHECK_STR(path_of(p, 2), "[unknown php];[truncated]");
	CHECK_INT(profile_sum(p, profile_find_column(p, "wall_ns")), 500);
	CHECK_INT(profile_sum(p, profile_find_column(p, "blocked_ns")), 500);
	CHECK_INT(profile_sum(p, profile_find_column(p, "samples")), 0);
	profile_free(p);
	stack_registry_free(b);
}

TEST(truncated_names_are_marked)
{
	struct function_event e = { .type = EVENT_FUNCTION, .kind = 2, .name_size = 300, .class_size = 4, .file_size = 10 };
	struct buf name;
	char expected[512];

	buf_init(&name);
	memset(e.name, 'n', NAME_SIZE - 1);
	strcpy(e.scope, "Cart");
	strcpy(e.file, "/srv/a.php");
	stack_registry_put_name(&e, &name);
	snprintf(expected, sizeof(expected), "Cart::%s…", e.name);
	CHECK_STR(name.data, expected);
	e.name_size = NAME_SIZE - 1;
	buf_reset(&name);
	stack_registry_put_name(&e, &name);
	expected[strlen(expected) - strlen("…")] = 0;
	CHECK_STR(name.data, expected);
	buf_done(&name);
}

TEST(an_event_shorter_than_its_declared_size_is_not_read)
{
	struct stack_registry *b = stack_registry_new();
	struct php_stack_event e = { .type = EVENT_PHP_STACK, .count = PHP_DEPTH, .id = 9 };
	struct stack_registry_layers layers = { .php = true, .on_cpu = true };
	struct count_key key = { .php = 9, .kind = SAMPLE_ON_CPU };
	struct count c = { 1, 1 };
	struct profile *p;
	u64 left_out;

	stack_registry_note(b, &e, 64);
	stack_registry_count(b, &key, &c);
	p = stack_registry_profile(b, &layers, &left_out);
	CHECK_STR(path_of(p, 1), STACK_REGISTRY_UNKNOWN);
	profile_free(p);
	stack_registry_free(b);
}

/* Checks the last frame of a stack of each kind. */
static void check_leaves(const struct stack_registry_layers *layers, const char *on_cpu, const char *blocked)
{
	struct stack_registry *b = stack_registry_new();
	struct count c = { 1, 500 };
	struct profile *p;
	u64 left_out;

	stack(b, 101, 1001, 1002);
	function(b, 1001, "", "sleep", "", 0);
	function(b, 1002, "", "", "/srv/a.php", 1);
	for (u32 kind = SAMPLE_ON_CPU; kind <= SAMPLE_BLOCKED; kind++) {
		struct count_key key = { .php = 101, .kernel = 7, .kind = kind };

		stack_registry_count(b, &key, &c);
	}
	p = stack_registry_profile(b, layers, &left_out);
	for (uint32_t node = 1; node < p->node_count; node++) {
		if (p->columns[profile_find_column(p, "cpu_ns")].self[node])
			CHECK_STR(profile_name(p, p->node_frames[node]).p, on_cpu);
		if (p->columns[profile_find_column(p, "off_cpu_ns")].self[node])
			CHECK_STR(profile_name(p, p->node_frames[node]).p, blocked);
	}
	CHECK_INT(profile_sum(p, profile_find_column(p, "wall_ns")), 1000);
	profile_free(p);
	stack_registry_free(b);
}

TEST(stacks_of_waits_can_end_in_the_waiting_user_function)
{
	struct stack_registry_layers layers = { .php = true, .kernel = true, .on_cpu = true, .off_cpu = true };

	check_leaves(&layers, "[kernel]_[k]", "[kernel]_[k]");
	layers.waits_end_in_user = true;
	check_leaves(&layers, "[kernel]_[k]", "sleep");
}

/* Without a frame of Perl's interpreter, native frames are left out of a Perl stack, but merged with a PHP stack. */
TEST(perl_stacks_taken_over_by_another_registry_stay_perl_stacks)
{
	struct stack_registry *b = stack_registry_new(), *next = stack_registry_new();
	struct stack_registry_layers layers = { .php = true, .native = true, .off_cpu = true, .modules = modules_new(NULL) };
	struct count_key key = { .php = 101, .native = 102, .kind = SAMPLE_BLOCKED };
	struct count c = { 1, 500 };
	struct profile *p;
	u64 left_out;

	perl_stack(b, 101, 1001);
	native_stack(b, 102, 0x1234);
	function(b, 1001, "main", "nap", "/srv/a.pl", 1);
	stack_registry_adopt(next, b, &key);
	stack_registry_count(next, &key, &c);
	p = stack_registry_profile(next, &layers, &left_out);
	CHECK_STR(path_of(p, p->node_count - 1), "main::nap");
	profile_free(p);
	modules_free(layers.modules);
	stack_registry_free(b);
	stack_registry_free(next);
}

TEST(perl_frames_have_the_names_perl_uses)
{
	static const struct {
		struct function_event e;
		const char *expected;
	} cases[] = {
		{ { .kind = PERL_SUB, .scope = "Shop", .name = "total", .file = "a.pl", .line_start = 3 }, "Shop::total" },
		{ { .kind = PERL_SUB, .name = "inner", .file = "a.pl", .line_start = 3 }, "inner" },
		{ { .kind = PERL_SUB, .scope = "main", .name = "__ANON__", .file = "a.pl", .line_start = 3 },
		  "main::__ANON__[a.pl:3]" },
		{ { .kind = PERL_SUB, .scope = "main", .name = "__ANON__", .file = "a.pl" }, "main::__ANON__[a.pl]" },
		{ { .kind = PERL_SUB, .scope = "main", .name = "__ANON__", .file = "(eval 12)", .line_start = 1 },
		  "main::__ANON__[(eval):1]" },
		{ { .kind = PERL_SUB, .scope = "Caf\xe9", .name = "gr\xf6\xdf" "e" }, "Café::größe" },
		{ { .kind = PERL_SUB, .scope = "Café", .name = "größe" }, "Café::größe" },
		{ { .kind = PERL_FORMAT, .scope = "main", .name = "STDOUT", .file = "a.pl" }, "main::STDOUT (format)" },
		{ { .kind = PERL_EVAL, .file = "a.pl", .line_start = 3 }, "(eval)" },
		{ { .kind = PERL_REQUIRE, .name = "Shop/Cart.pm", .file = "a.pl", .line_start = 3 }, "require Shop/Cart.pm" },
		{ { .kind = PERL_FILE, .file = "/srv/a.pl" }, "/srv/a.pl" },
		{ { .kind = PERL_SUB, .unreadable = 1 }, STACK_REGISTRY_UNKNOWN_PERL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf out;

		buf_init(&out);
		stack_registry_put_name(&cases[i].e, &out);
		CHECK_STR(out.data, cases[i].expected);
		buf_done(&out);
	}
}

TEST_MAIN()
