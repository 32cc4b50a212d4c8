/* test_layers.c: tests that PHP frames replace those of the interpreter. */

#include "layers.h"
#include "test.h"

#include <string.h>

/* Both stacks root first, as words. PHP: "f!" was called by C code, "f/" is written in C, "f+" waits in `yield from`,
 * "f~" resumes the fiber that follows. Native: "x" is the interpreter, "j" compiled PHP, "f@" calls the interpreter
 * once. */
struct words {
	char text[512];
	const char *list[PHP_DEPTH];
	u32 count;
};

static void split(struct words *w, const char *text)
{
	w->count = 0;
	strcpy(w->text, text);
	for (char *save = NULL, *p = strtok_r(w->text, " ", &save); p; p = strtok_r(NULL, " ", &save))
		w->list[w->count++] = p;
}

static struct php_frame php_frame(const char *word)
{
	return (struct php_frame){
		.function = strcmp(word, "[truncated]") ? 100 : FUNCTION_TRUNCATED,
		.line = !strchr(word, '/'),
		.flags = (strchr(word, '!') ? FRAME_TOP : 0) | (strchr(word, '+') ? FRAME_DELEGATE : 0) |
			 (strchr(word, '~') ? FRAME_RESUMES : 0),
	};
}

static enum module_mark mark(const char *word)
{
	return !strcmp(word, "x") ? MARK_INTERPRETER : !strcmp(word, "j") ? MARK_COMPILED : strchr(word, '@') ? MARK_CALLER : MARK_NONE;
}

static const char *merge(const char *php, const char *native, enum native_end end)
{
	static char text[2048];
	struct words p, n;
	struct php_frame frames[PHP_DEPTH];
	enum module_mark marks[NATIVE_DEPTH];
	struct layer_frame out[LAYERS_MAX];
	struct layers l = { frames, 0, marks, 0, end };
	size_t count;

	split(&p, php);
	split(&n, native);
	l.php_count = p.count;
	l.native_count = n.count;
	for (u32 i = 0; i < p.count; i++)
		frames[p.count - 1 - i] = php_frame(p.list[i]);
	for (u32 i = 0; i < n.count; i++)
		marks[n.count - 1 - i] = mark(n.list[i]);
	count = layers_merge(&l, out);
	text[0] = 0;
	for (size_t i = 0; i < count; i++) {
		const char *word = out[i].layer == LAYER_GAP ? "?" : out[i].layer == LAYER_OF_PHP ?
				   p.list[p.count - 1 - out[i].index] : n.list[n.count - 1 - out[i].index];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.*s", i ? " " : "", (int)strcspn(word, "!/+~@"), word);
	}
	return text;
}

#define WHOLE(php, native)	merge(php, native, NATIVE_OUTERMOST)

TEST(nested_php_calls_share_one_interpreter_frame)
{
	CHECK_STR(WHOLE("main! a b", "_start execute@ x"), "_start execute main a b");
	CHECK_STR(WHOLE("main! a strlen/", "_start execute@ x zif_strlen memcpy"), "_start execute main a strlen zif_strlen memcpy");
}

TEST(callbacks_follow_the_c_functions_that_call_them)
{
	CHECK_STR(WHOLE("main! usort/ cb! inner", "_start execute@ x zif_usort sort call@ x"),
		  "_start execute main usort zif_usort sort call cb inner");
	CHECK_STR(WHOLE("main! usort/ cb! preg/ cb2! f", "_start execute@ x zif_usort call@ x zif_preg call@ x memcpy"),
		  "_start execute main usort zif_usort call cb preg zif_preg call cb2 f memcpy");
}

TEST(a_callback_written_in_c_has_no_interpreter_frame)
{
	CHECK_STR(WHOLE("main! map/ strlen!/", "execute@ x zif_map call@ zif_strlen"), "execute main map zif_map call strlen zif_strlen");
	CHECK_STR(WHOLE("main! map/ map!/ cb!", "execute@ x zif_map call@ zif_map call@ x"),
		  "execute main map zif_map call map zif_map call cb");
}

/* Before its call, zend_call_function may look up a class, and the autoloader is called the same way. */
TEST(a_caller_that_has_not_called_yet_has_no_native_frame)
{
	CHECK_STR(WHOLE("main! map/ load! f", "execute@ x zif_map call@ is_callable lookup call@ x"),
		  "execute main map zif_map call is_callable lookup call load f");
}

TEST(an_interpreter_frame_being_entered_or_left_affects_no_other_frames)
{
	/* Its native frame still exists, but its PHP function has already ended. */
	CHECK_STR(WHOLE("main! usort/", "execute@ x zif_usort call@ x"), "execute main usort zif_usort call x");
	/* The PHP function has begun, but its interpreter has not. */
	CHECK_STR(WHOLE("main! usort/ cb!", "execute@ x zif_usort call@"), "execute main usort zif_usort call cb");
	CHECK_STR(WHOLE("", "_start execute@ x"), "_start execute x");
	CHECK_STR(WHOLE("", "_start startup"), "_start startup");
}

TEST(jit_code_is_kept_only_as_the_leaf)
{
	CHECK_STR(WHOLE("main! a", "execute@ j"), "execute main a j");
	CHECK_STR(WHOLE("main! a strlen/", "execute@ j zif_strlen"), "execute main a strlen zif_strlen");
	CHECK_STR(WHOLE("main! usort/ cb!", "execute@ j zif_usort call@ j"), "execute main usort zif_usort call cb j");
}

TEST(suspended_generators_precede_the_running_one)
{
	CHECK_STR(WHOLE("main! outer+ middle+ inner! f", "execute@ x resume@ x"), "execute main resume outer middle inner f");
	CHECK_STR(WHOLE("main! outer+ inner! usort/ cb!", "execute@ x resume@ x zif call@ x"),
		  "execute main resume outer inner usort zif call cb");
}

TEST(frames_that_resumed_a_fiber_are_its_callers)
{
	CHECK_STR(merge("main! a Fiber::start/~ body! f", "make_fcontext trampoline call@ x", NATIVE_NO_RULE),
		  "main a Fiber::start make_fcontext trampoline call body f");
	CHECK_STR(merge("main! resume/~ b1! resume/~ b2! usort/ cb!", "trampoline call@ x zif call@ x", NATIVE_NO_RULE),
		  "main resume b1 resume trampoline call b2 usort zif call cb");
}

TEST(a_native_stack_without_its_callers_is_matched_from_the_leaf)
{
	CHECK_STR(merge("main! usort/ cb! preg/ cb2!", "zif_preg call@ x f", NATIVE_UNREADABLE),
		  "main usort cb preg ? zif_preg call cb2 f");
	CHECK_STR(merge("main! preg/", "jit", NATIVE_NO_TABLE), "main preg ? jit");
	CHECK_STR(merge("main! map/ strlen!/", "call@ zif_strlen", NATIVE_TOO_DEEP), "main map ? call strlen zif_strlen");
	CHECK_STR(merge("main! a", "", NATIVE_NO_RANGE), "main a");
}

TEST(a_php_stack_without_its_callers_is_matched_from_the_leaf)
{
	CHECK_STR(WHOLE("[truncated] b usort/ cb!", "_start execute@ x zif call@ x zif_usort call@ x"),
		  "_start execute x zif call [truncated] b usort zif_usort call cb");
}

TEST(stacks_of_the_maximum_depth_fit)
{
	struct php_frame frames[PHP_DEPTH];
	enum module_mark marks[NATIVE_DEPTH];
	struct layer_frame out[LAYERS_MAX];
	struct layers l = { frames, PHP_DEPTH, marks, NATIVE_DEPTH, NATIVE_TOO_DEEP };

	for (u32 i = 0; i < PHP_DEPTH; i++)
		frames[i] = (struct php_frame){ .function = 100, .line = 1, .flags = FRAME_TOP };
	for (u32 i = 0; i < NATIVE_DEPTH; i++)
		marks[i] = i & 1 ? MARK_CALLER : MARK_COMPILED;
	CHECK(layers_merge(&l, out) <= LAYERS_MAX);
	for (u32 i = 0; i < NATIVE_DEPTH; i++)
		marks[i] = MARK_CALLER;
	for (u32 i = 0; i < PHP_DEPTH; i++)
		frames[i].line = 0;
	CHECK_INT(layers_merge(&l, out), LAYERS_MAX);
}

TEST_MAIN()
