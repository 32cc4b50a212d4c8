/* test_php_images.c: runs the walker over memory of real PHP processes, recorded by record_image while the scripts in
 * images/ slept. */

#include "bpf/php_names.h"
#include "bpf/php_walk.h"
#include "io.h"
#include "mem.h"
#include "php_check.h"
#include "shifted_offsets.h"
#include "stack_registry.h"
#include "test.h"

#include <string.h>
#include <unistd.h>

#define IMAGE_MAX	((size_t)1 << 20)

struct piece {
	u64 address;
	u32 size;
	u8 *bytes;
};

static struct piece *pieces;
static size_t piece_count, piece_capacity;

bool read_user(void *to, u32 size, u64 address)
{
	for (size_t i = 0; i < piece_count; i++) {
		const struct piece *p = &pieces[i];

		if (address >= p->address && address - p->address <= p->size && size <= p->size - (address - p->address)) {
			memcpy(to, p->bytes + (address - p->address), size);
			return true;
		}
	}
	return false;
}

long read_user_text(char *to, u32 size, u64 address)
{
	for (u32 i = 0; i < size; i++) {
		if (!read_user(to + i, 1, address + i))
			return -1;
		if (!to[i])
			return i + 1;
	}
	return -1;
}

static unsigned digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

static void take_piece(const char *line)
{
	char *hex;
	struct piece p = { .address = strtoull(line, &hex, 16) };

	p.size = (u32)strlen(++hex) / 2;
	p.bytes = xmalloc(p.size);
	for (u32 i = 0; i < p.size; i++)
		p.bytes[i] = (u8)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	GROW(&pieces, &piece_capacity, piece_count + 1);
	pieces[piece_count++] = p;
}

static void forget_pieces(void)
{
	while (piece_count)
		free(pieces[--piece_count].bytes);
}

/* Formats each frame as "name:line", leaf first. */
static void put_stack(const struct php_layout *l, u64 frame, struct buf *out)
{
	static struct php_walk w;
	static struct function_event e;

	php_walk_start(&w, frame);
	while (php_walk_step(&w, l))
		;
	for (u32 i = 0; i < w.count; i++) {
		php_describe(l, w.functions[i], (u8 *)w.function, &e);
		stack_registry_put_name(&e, out);
		buf_printf(out, "%s:%u%s\n", w.frames[i].flags & FRAME_DELEGATE ? " (delegate)" : "", w.frames[i].line,
			   e.unreadable ? " unreadable" : "");
	}
	CHECK_INT(w.unreadable_frames, 0);
	CHECK_INT(w.unreadable_functions, 0);
}

/* Facts about the recorded PHP, which an image has in addition to the memory. */
struct recorded {
	struct php_image php;
	u64 frame;
};

static struct recorded load_image(const char *version, const char *script)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct recorded r = { 0 };
	struct php_offsets offsets;
	unsigned long long frame, globals, exception;
	struct err err = { 0 };
	char path[512], *rest;

	forget_pieces();
	snprintf(path, sizeof(path), "%s/%s%s", getenv("IMAGES"), version, script);
	buf_init(&text);
	CHECK_INT(io_read_file(path, &text, IMAGE_MAX, &err), 0);
	CHECK_INT(sscanf(text.data, "php %u %u %llx %llx %llx", &r.php.major, &r.php.minor, &frame, &globals, &exception), 5);
	strtok_r(text.data, "\n", &rest);
	for (char *line; (line = strtok_r(NULL, "\n", &rest)); )
		take_piece(line);
	php_offsets_init(&offsets);
	r.frame = frame;
	r.php.binary.layout = php_offsets_by_version(&offsets, r.php.major, r.php.minor)->layout;
	r.php.binary.executor_globals = globals;
	r.php.exception_class = exception;
	return r;
}

static void check_image(const char *version, const char *script, const char *expected)
{
	_cleanup_(buf_done) struct buf found = { 0 };
	struct recorded r = load_image(version, script);

	buf_init(&found);
	put_stack(&r.php.binary.layout, r.frame, &found);
	CHECK_STR(found.data, expected);
}

/* Lines as printed by PHP's own debug_print_backtrace() in each version: the call of array_map spans three lines.
 * Recorded from standard input, so that the images contain no path. */
#define STACK(call)					\
	"sleep:0\n"					\
	"App\\Cart::wait:25\n"				\
	"App\\Cart::inner:18\n"				\
	"App\\Cart::lines (delegate):14\n"		\
	"App\\Cart::{closure:Standard input code(7)}:8\n"	\
	"array_map:0\n"					\
	"App\\Cart::total:" call "\n"			\
	"App\\checkout:30\n"				\
	"Standard input code:33\n"

static const struct {
	const char *version, *stack;
	bool fibers;
} versions[] = {
	{ "php-7.4", STACK("10"), false },
	{ "php-8.1", STACK("10"), true },
	{ "php-8.2", STACK("7"), true },
	{ "php-8.3", STACK("7"), true },
	{ "php-8.4", STACK("7"), true },
	{ "php-8.5", STACK("7"), true },
};

static const char generators[] =
	"sleep:0\n"
	"nap:20\n"
	"middle:9\n"
	"outer (delegate):14\n"
	"Standard input code:23\n";

static const char fiber[] =
	"sleep:0\n"
	"nap:6\n"
	"Job::run:12\n"
	"Fiber::resume:0\n"
	"Job::steps:19\n"
	"{closure:Standard input code(23)}:24\n"
	"Fiber::start:0\n"
	"Standard input code:27\n";

TEST(frames_of_each_kind_are_found_in_recorded_images_of_each_version)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		check_image(versions[i].version, "", versions[i].stack);
}

TEST(a_generator_resumes_after_the_one_that_it_delegated_to)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		check_image(versions[i].version, "-generators", generators);
}

TEST(a_fiber_is_above_the_function_that_resumed_it)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (versions[i].fibers)
			check_image(versions[i].version, "-fiber", fiber);
}

/* PHP 8.2 and later have no empty frames there, and call autoloaders without a separate function. */
static const char autoload_7_4[] =
	"sleep:0\n"
	"nap:6\n"
	"Magic::__get:11\n"
	"Deep::nothing:23\n"
	"{closure:Standard input code(27)}:28\n"
	"spl_autoload_call:0\n"
	"Deep::make:19\n"
	"Standard input code:30\n";

static const char autoload_8_2[] =
	"sleep:0\n"
	"nap:6\n"
	"Magic::__get:11\n"
	"Deep::nothing:23\n"
	"{closure:Standard input code(27)}:28\n"
	"Deep::make:19\n"
	"Standard input code:30\n";

TEST(an_empty_frame_with_an_object_need_not_be_a_generator)
{
	check_image("php-7.4", "-autoload", autoload_7_4);
	check_image("php-8.2", "-autoload", autoload_8_2);
}

/* --- php_check */

static const char *const scripts[] = { "", "-generators", "-fiber", "-autoload" };

TEST(the_table_matches_recorded_images_of_each_version)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		struct recorded r = load_image(versions[i].version, "");
		char why[128] = "";

		CHECK_INT(php_check(&r.php, 0, 0, why, sizeof(why)), PHP_CHECK_FITS);
		CHECK_STR(why, "");
	}
}

TEST(the_correct_table_passes_the_check_for_running_code)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(scripts); k++) {
			char why[128] = "", path[512];
			struct recorded r;

			snprintf(path, sizeof(path), "%s/%s%s", getenv("IMAGES"), versions[i].version, scripts[k]);
			if (access(path, R_OK) < 0)
				continue;
			r = load_image(versions[i].version, scripts[k]);
			CHECK(php_check(&r.php, 0, 0, why, sizeof(why)) != PHP_CHECK_WRONG);
			CHECK_STR(why, "");
		}
	}
}

TEST(a_table_with_one_wrong_field_is_rejected_with_a_reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		struct recorded r = load_image(versions[i].version, "");
		struct php_layout right = r.php.binary.layout;

		for (size_t k = 0; k < ARRAY_SIZE(shifted_fields); k++) {
			const struct shifted_field *f = &shifted_fields[k];
			char why[128] = "";
			enum php_check result;

			r.php.binary.layout = shifted_layout(&right, f);
			result = php_check(&r.php, 0, 0, why, sizeof(why));
			if (result != PHP_CHECK_WRONG || !*why)
				printf("# %s: %s by %d: %d '%s'\n", versions[i].version, f->name, f->by, result, why);
			CHECK_INT(result, PHP_CHECK_WRONG);
			CHECK(*why);
		}
	}
}

static u8 *memory_at(u64 address)
{
	for (size_t i = 0; i < piece_count; i++)
		if (address >= pieces[i].address && address - pieces[i].address < pieces[i].size)
			return pieces[i].bytes + (address - pieces[i].address);
	return NULL;
}

/* Adds the fields of a request with this method. */
static void add_request(struct recorded *r, const char *method)
{
	const struct php_layout *l = &r->php.binary.layout;
	const u64 at = 0x1000, at_method = at + 512, at_script = at + 768;
	struct piece p = { at, 1024, xcalloc(1, 1024) };

	memcpy(p.bytes + l->request_method, &at_method, 8);
	memcpy(p.bytes + l->path_translated, &at_script, 8);
	strcpy((char *)p.bytes + 512, method);
	strcpy((char *)p.bytes + 768, "/srv/index.php");
	GROW(&pieces, &piece_capacity, piece_count + 1);
	pieces[piece_count++] = p;
	r->php.binary.sapi_globals = at;
}

TEST(the_request_is_checked_only_while_its_code_runs)
{
	struct recorded r = load_image("php-8.2", "");
	char why[128] = "";

	add_request(&r, "\3garbage");
	CHECK_INT(php_check(&r.php, 0, 0, why, sizeof(why)), PHP_CHECK_WRONG);
	CHECK_STR(why, "the request has no method");
	memset(memory_at(r.php.binary.executor_globals + r.php.binary.layout.current_execute_data), 0, 8);
	CHECK_INT(php_check(&r.php, 0, 0, why, sizeof(why)), PHP_CHECK_UNKNOWN);
}

/* As in a process that frees its classes when it ends. */
TEST(classes_are_checked_only_while_code_runs)
{
	struct recorded r = load_image("php-8.2", "");
	const struct php_layout *l = &r.php.binary.layout;
	char why[128] = "";
	u64 class = 0, name = 0;

	CHECK(r.php.exception_class && read_user(&class, 8, r.php.exception_class) && read_user(&name, 8, class + l->class_name));
	memset(memory_at(name + l->string_text), 0x11, 4);
	CHECK_INT(php_check(&r.php, 0, 0, why, sizeof(why)), PHP_CHECK_WRONG);
	CHECK_STR(why, "the class entry of Exception does not have that name");
	memset(memory_at(r.php.binary.executor_globals + l->current_execute_data), 0, 8);
	CHECK_INT(php_check(&r.php, 0, 0, why, sizeof(why)), PHP_CHECK_UNKNOWN);
}

TEST_MAIN()
