/* php_check.c: compares the fields at the offsets with values that PHP must have there.
 *
 * Each field of the table has a rule that a wrong offset violates: strings have the hash of their text, running code
 * has gone through both passes of the compiler, an executed line is within its function, calls from C code have
 * ZEND_CALL_TOP, a method has a class.
 */

#include "php_check.h"

#include "bpf/php_walk.h"
#include "io.h"

#include <ctype.h>
#include <string.h>

#define PAGE_MIN	4096u		/* smallest page of the VM's stack: fibers have smaller ones than the main program */
#define PAGE_MAX	(64u << 20)
#define LINES_MAX	(16u << 20)
#define FRAMES		64u
#define STRING_MAX	256u		/* longest string whose hash is compared */
#define STRING_LIMIT	65536u
#define METHOD_MAX	16u		/* longest name of a request's method */

/* Identical in all versions in the table. */
#define CALL_CODE	(1u << 16)	/* ZEND_CALL_CODE: a file, or eval'd code */
#define ACC_VISIBILITY	7u		/* public, protected, private */
#define ACC_PASSED	(1u << 25)	/* ZEND_ACC_DONE_PASS_TWO */
#define STRING_LASTS	(1u << 8)	/* IS_STR_PERMANENT: outlives the request, like opcache's strings */
#define PHP_USER	2u		/* zend_function.type */
#define PHP_EVAL	4u

bool php_check_bias(const struct php_image *b, pid_t pid, u64 *ret)
{
	_cleanup_(buf_done) struct buf stat = { 0 };
	char path[64];
	const char *p;

	buf_init(&stat);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (io_read_file(path, &stat, 65536, NULL) < 0 || !(p = strrchr(stat.data, ')')))
		return false;
	for (unsigned field = 2; field < 26 && p; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	if (!p)
		return false;
	*ret = strtoull(p, NULL, 10);
	if (*ret <= 1)		/* hidden from users without permission */
		return false;
	*ret -= b->binary.text;
	return true;
}

/* Between two requests, and while a request or PHP begins or ends, classes and the fields of a request point to
 * memory that is being reused. */
static bool runs_code(const struct php_image *b, u64 globals)
{
	u64 frame;

	return globals && read_user(&frame, 8, globals + b->binary.layout.current_execute_data) && frame;
}

/* --- strings and classes */

/* PHP adds chars, which are signed on x86-64 and unsigned on arm64. */
static u64 hash_of(const u8 *text, u64 n)
{
	u64 h = 5381;

	for (u64 i = 0; i < n; i++)
		h = h * 33 + (u64)(char)text[i];
	return h | 1ull << 63;
}

/* Checks for a zend_string: size, text, and the hash of the text if PHP has computed it. */
static bool is_string(const struct php_layout *l, u64 string)
{
	u8 text[STRING_MAX + 1];
	u64 hash, size;

	if (!read_user(&hash, 8, string + l->string_hash) || !read_user(&size, 8, string + l->string_size) ||
	    size > STRING_LIMIT)
		return false;
	if (size > STRING_MAX)
		return read_user(text, 1, string + l->string_text + size) && !text[0];
	return read_user(text, (u32)size + 1, string + l->string_text) && !text[size] && (!hash || hash == hash_of(text, size));
}

static bool has_class_name(const struct php_layout *l, u64 class)
{
	u64 name;

	return read_user(&name, 8, class + l->class_name) && name && is_string(l, name);
}

/* zend_ce_exception is the class named "Exception"; names of classes have a hash. PHP frees its classes when it ends,
 * and no longer runs code then. */
static enum php_check check_class(const struct php_image *b, u64 bias)
{
	static const char expected[] = "Exception";
	const struct php_layout *l = &b->binary.layout;
	u64 class, name, size, hash;
	char text[sizeof(expected)];

	if (!b->exception_class || !read_user(&class, 8, b->exception_class + bias) || !class)
		return PHP_CHECK_UNKNOWN;
	if (!read_user(&name, 8, class + l->class_name) || !read_user(&size, 8, name + l->string_size) ||
	    size != sizeof(expected) - 1 || !read_user(text, sizeof(text), name + l->string_text) ||
	    memcmp(text, expected, sizeof(expected)) || !read_user(&hash, 8, name + l->string_hash) ||
	    hash != hash_of((const u8 *)expected, size))
		return PHP_CHECK_WRONG;
	return PHP_CHECK_FITS;
}

/* --- globals */

/* Just before current_execute_data, PHP stores the page size of the VM's stack, once the stack exists. */
static enum php_check check_globals(const struct php_image *b, u64 globals)
{
	u64 words[2];

	if (!globals || !read_user(words, sizeof(words), globals + b->binary.layout.current_execute_data - 8))
		return PHP_CHECK_UNKNOWN;
	if (!words[0] && !words[1])
		return PHP_CHECK_UNKNOWN;
	if (words[0] < PAGE_MIN || words[0] > PAGE_MAX || words[0] & (words[0] - 1))
		return PHP_CHECK_WRONG;
	return PHP_CHECK_FITS;
}

/* Clients choose the method, and PHP accepts any: tokens as in RFC 9110, or none at all. */
static bool is_token(const char *text)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	while (*text && (isalnum((unsigned char)*text) || strchr(others, *text)))
		text++;
	return !*text;
}

/* A request with a method must have a script. */
static enum php_check check_request(const struct php_layout *l, u64 sapi)
{
	char method[METHOD_MAX + 1], script[2];
	u64 at_method, at_script;

	if (!sapi || !read_user(&at_method, 8, sapi + l->request_method) || !read_user(&at_script, 8, sapi + l->path_translated) ||
	    !at_method || !at_script)
		return PHP_CHECK_UNKNOWN;
	if (read_user_text(method, sizeof(method), at_method) < 1 || read_user_text(script, sizeof(script), at_script) < 2)
		return PHP_CHECK_WRONG;
	if (!*method)
		return PHP_CHECK_UNKNOWN;
	return is_token(method) ? PHP_CHECK_FITS : PHP_CHECK_WRONG;
}

/* --- the stack */

/* A frame, and the one that called it. */
struct view {
	const struct php_layout *l;
	u64 ex[PHP_FUNCTION_MAX / 8];
	u64 f[PHP_FUNCTION_MAX / 8];	/* its zend_function */
	u64 address, called;		/* addresses of the frame, and of the frame that it called; 0: none */
	u8 type, caller;		/* types of the functions; 0: an empty frame */
};

/* Fields that have been verified, and two functions without a line. */
enum {
	SEEN_NAME = 1,
	SEEN_CLASS = 2,
	SEEN_LINE = 4,
	SEEN_END = 8,
	SEEN_ALL = 15,
	SEEN_NO_LINE = 16,
	SEEN_NO_LINES = 32,
};

static bool is_user(u8 type)
{
	return type == PHP_USER || type == PHP_EVAL;
}

static u8 *bytes_of(u64 *words)
{
	return (u8 *)words;
}

static u32 flags_of_call(struct view *v)
{
	return field32(bytes_of(v->ex), v->l->type_info);
}

static const char *check_names(struct view *v, unsigned *seen)
{
	u64 name = field64(bytes_of(v->f), v->l->fn_name), class = field64(bytes_of(v->f), v->l->fn_scope);
	u32 call = flags_of_call(v);

	if (name && !is_string(v->l, name))
		return "a running function has a name that is not a string";
	if (class && !has_class_name(v->l, class))
		return "a running function has a class without a name";
	if (!is_user(v->type))
		return NULL;
	if (!name != !!(call & CALL_CODE))
		return "a running function has no name, or a file has one";
	if (name && (call & 0xff) == PHP_IS_OBJECT && !class)
		return "a running function has an object and no class";
	*seen |= (name ? SEEN_NAME : 0) | (class ? SEEN_CLASS : 0);
	return NULL;
}

static const char *check_code(struct view *v)
{
	u8 *f = bytes_of(v->f);
	u32 flags = field32(f, v->l->fn_flags), gc;
	u64 file = field64(f, v->l->fn_filename);

	if (!(flags & ACC_PASSED) || (field64(f, v->l->fn_scope) && field64(f, v->l->fn_name) && !(flags & ACC_VISIBILITY)))
		return "a running function has impossible flags";
	if (!file || !is_string(v->l, file))
		return "a running function has no file";
	if (flags & v->l->immutable && read_user(&gc, 4, file + 4) && !(gc & STRING_LASTS))
		return "a function in opcache has a file that is not";
	return NULL;
}

/* While an exception destroys a function's variables, the function's instruction has line 0. The innermost function's
 * instruction is only saved now and then. */
static const char *check_line(struct view *v, unsigned *seen)
{
	u8 *f = bytes_of(v->f);
	u32 first = field32(f, v->l->fn_line_start), last = field32(f, v->l->fn_line_end), line = 0;
	u64 opline = field64(bytes_of(v->ex), v->l->opline);

	if (first > last || last > LINES_MAX)
		return "a running function has impossible lines";
	if (!v->called)
		return NULL;
	if (!opline || !read_user(&line, 4, opline + v->l->op_line) || (line && (line < first || line > last)))
		return "the executed line is not in its function";
	if (line && !php_owns(v->l, f, opline))
		return "the executed instruction is not in its function";
	*seen |= line ? SEEN_LINE : *seen & SEEN_NO_LINE ? SEEN_NO_LINES : SEEN_NO_LINE;
	return NULL;
}

/* The outermost frame must have been called from C code, and so must a frame whose caller is a function written in C. */
static const char *check_caller(struct view *v, unsigned *seen)
{
	bool outermost = !field64(bytes_of(v->ex), v->l->prev);
	bool top = flags_of_call(v) & v->l->call_top;

	if (v->l->call_top == CALL_CODE || (!top && (outermost || v->caller == PHP_INTERNAL)))
		return "a call from C code is not marked as such";
	*seen |= outermost ? SEEN_END : 0;
	return NULL;
}

/* Waiting generators must lead to the running one. */
static const char *check_generators(struct view *v)
{
	const struct php_layout *l = v->l;
	u64 generator = field64(bytes_of(v->ex), l->type_info - 8), frame;

	if (!l->generator_parent || (flags_of_call(v) & 0xff) != PHP_IS_OBJECT || v->address - generator >= GENERATOR_BYTES)
		return NULL;
	for (unsigned i = 0; generator && i < FRAMES; i++) {
		if (!read_user(&frame, 8, generator + l->generator_execute_data))
			break;
		if (frame == v->called)
			return NULL;
		if (!read_user(&generator, 8, generator + l->generator_parent))
			break;
	}
	return "waiting generators do not lead to the running one";
}

/* Returns the type of a frame's function; 0 for an empty frame. */
static bool function_type(const struct php_layout *l, const u64 *ex, u64 *ret_function, u8 *ret)
{
	*ret_function = field64((const u8 *)ex, l->func);
	*ret = 0;
	return !*ret_function || (read_user(ret, 1, *ret_function) && (is_user(*ret) || *ret == PHP_INTERNAL));
}

static const char *check_frame(struct view *v, unsigned *seen)
{
	u64 function, caller, caller_ex[PHP_FUNCTION_MAX / 8], prev = field64(bytes_of(v->ex), v->l->prev);
	const char *wrong;

	v->caller = 0;
	if (!function_type(v->l, v->ex, &function, &v->type) ||
	    (prev && (!read_user(caller_ex, EXECUTE_DATA_BYTES, prev) || !function_type(v->l, caller_ex, &caller, &v->caller))))
		return "the running code is not a function";
	if (!v->type)
		return check_generators(v);
	if (!read_user(v->f, is_user(v->type) ? v->l->function_bytes : PHP_COMMON_BYTES, function))
		return "the running code is not a function";
	wrong = check_names(v, seen);
	if (wrong || !is_user(v->type))
		return wrong;
	if (!(wrong = check_code(v)) && !(wrong = check_line(v, seen)))
		wrong = check_caller(v, seen);
	return wrong;
}

static enum php_check check_stack(const struct php_image *b, u64 globals, const char **ret_why)
{
	struct view v = { .l = &b->binary.layout };
	unsigned seen = 0;

	*ret_why = NULL;
	if (!globals || !read_user(&v.address, 8, globals + v.l->current_execute_data))
		return PHP_CHECK_UNKNOWN;
	for (unsigned i = 0; v.address && i < FRAMES; i++) {
		if (!read_user(v.ex, EXECUTE_DATA_BYTES, v.address))
			*ret_why = "the stack is not linked to a valid frame";
		else
			*ret_why = check_frame(&v, &seen);
		if (*ret_why)
			return PHP_CHECK_WRONG;
		v.called = v.address;
		v.address = field64(bytes_of(v.ex), v.l->prev);
	}
	if (seen & SEEN_NO_LINES && !(seen & SEEN_LINE)) {
		*ret_why = "the running functions have no lines";
		return PHP_CHECK_WRONG;
	}
	return (seen & SEEN_ALL) == SEEN_ALL ? PHP_CHECK_FITS : PHP_CHECK_UNKNOWN;
}

enum php_check php_check(const struct php_image *b, u64 bias, u64 thread, char *ret_why, size_t size)
{
	u64 globals = b->binary.zts && !thread ? 0 : php_globals(&b->binary, bias, thread, b->binary.executor_globals);
	u64 sapi = !b->binary.sapi_globals || (b->binary.zts && !thread) ? 0 :
		   php_globals(&b->binary, bias, thread, b->binary.sapi_globals);
	enum php_check result = PHP_CHECK_WRONG;
	const char *why = NULL;

	if (runs_code(b, globals) && check_class(b, bias) == PHP_CHECK_WRONG)
		why = "the class entry of Exception does not have that name";
	else if (check_globals(b, globals) == PHP_CHECK_WRONG)
		why = "current_execute_data is not where it should be";
	else if ((result = check_stack(b, globals, &why)) != PHP_CHECK_WRONG && runs_code(b, globals) &&
		 check_request(&b->binary.layout, sapi) == PHP_CHECK_WRONG)
		result = PHP_CHECK_WRONG, why = "the request has no method";
	if (result == PHP_CHECK_WRONG)
		snprintf(ret_why, size, "%s", why);
	return result;
}
