/* rust_name.c: a letter selects the kind of part, and each kind has a function. */
#include "rust_name.h"

#include "rust_reader.h"
#include "text.h"

#include <string.h>

#define NAME_MAX_BYTES	4096u
#define TIMES_MAX	64u	/* limit of bytes printed, and of parts read, per byte of the name */

/* --- Lifetimes and arguments --- */

/* 0 is a lifetime without a name, 1 the one bound last. */
static void put_lifetime(struct rust_reader *r, uint64_t n)
{
	char name[3] = "'a";

	if (n > r->lifetimes) {
		rust_fail(r);
		return;
	}
	n = r->lifetimes - n;
	if (n == r->lifetimes) {
		rust_put(r, "'_");
	} else if (n < 26) {
		name[1] = (char)('a' + n);
		rust_put(r, name);
	} else {
		rust_put(r, "'_");
		rust_put_number(r, n);
	}
}

/* Returns the number of lifetimes bound. */
static uint64_t put_binder(struct rust_reader *r)
{
	uint64_t n = rust_take_optional_62(r, 'G');

	if (n > (uint64_t)(r->end - r->start))		/* each would take some bytes where it is used */
		rust_fail(r);
	if (r->failed || !n)
		return 0;
	r->steps += (unsigned)n;
	rust_put(r, "for<");
	for (uint64_t i = 0; i < n; i++) {
		rust_put(r, i ? ", " : "");
		r->lifetimes++;
		put_lifetime(r, 1);
	}
	rust_put(r, "> ");
	return n;
}

static void put_argument(struct rust_reader *r)
{
	if (rust_eat(r, 'L'))
		put_lifetime(r, rust_take_62(r));
	else if (rust_eat(r, 'K'))
		rust_put_const(r, false);
	else
		rust_put_type(r);
}

/* --- Paths --- */

/* Puts a nested path; a capital letter marks parts without a name in the source. */
static void put_nested(struct rust_reader *r, bool in_value)
{
	char kind = rust_take(r), text[2] = { kind };
	struct rust_identifier id;
	uint64_t number;

	if (!((kind >= 'a' && kind <= 'z') || (kind >= 'A' && kind <= 'Z')))
		rust_fail(r);
	rust_put_path(r, in_value);
	number = rust_take_optional_62(r, 's');
	id = rust_take_identifier(r);
	if (r->failed)
		return;
	if (kind >= 'a') {
		rust_put(r, id.text.n ? "::" : "");
		rust_put_identifier(r, id);
		return;
	}
	rust_put(r, "::{");
	rust_put(r, kind == 'C' ? "closure" : kind == 'S' ? "shim" : text);
	rust_put(r, id.text.n ? ":" : "");
	rust_put_identifier(r, id);
	rust_put(r, "#");
	rust_put_number(r, number);
	rust_put(r, "}");
}

/* The path of an `impl` is not part of the name in source code. */
static void skip_impl_path(struct rust_reader *r)
{
	rust_take_optional_62(r, 's');
	r->silent++;
	rust_put_path(r, false);
	r->silent--;
}

static void put_self(struct rust_reader *r, bool with_trait)
{
	rust_put(r, "<");
	rust_put_type(r);
	if (with_trait) {
		rust_put(r, " as ");
		rust_put_path(r, false);
	}
	rust_put(r, ">");
}

/* In expressions, arguments begin with "::". `open` leaves out the last ">": returns whether it did. */
static bool put_generic(struct rust_reader *r, bool in_value, bool open)
{
	rust_put_path(r, in_value);
	rust_put(r, in_value ? "::<" : "<");
	rust_put_list(r, put_argument);
	rust_put(r, open ? "" : ">");
	return open;
}

void rust_put_path(struct rust_reader *r, bool in_value)
{
	const char *from;

	if (!rust_enter(r))
		return;
	switch (rust_take(r)) {
	case 'C':
		rust_take_optional_62(r, 's');
		rust_put_identifier(r, rust_take_identifier(r));
		break;
	case 'N':
		put_nested(r, in_value);
		break;
	case 'M':
		skip_impl_path(r);
		put_self(r, false);
		break;
	case 'X':
		skip_impl_path(r);
		put_self(r, true);
		break;
	case 'Y':
		put_self(r, true);
		break;
	case 'I':
		put_generic(r, in_value, false);
		break;
	case 'B':
		from = rust_go_back(r);
		if (from) {
			rust_put_path(r, in_value);
			rust_return_to(r, from);
		}
		break;
	default:
		rust_fail(r);
	}
	r->depth--;
}

/* --- Types --- */

static const char *basic_type(char c)
{
	static const char *const names[26] = {
		['a' - 'a'] = "i8", ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64", ['e' - 'a'] = "str",
		['f' - 'a'] = "f32", ['h' - 'a'] = "u8", ['i' - 'a'] = "isize", ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",
		['m' - 'a'] = "u32", ['n' - 'a'] = "i128", ['o' - 'a'] = "u128", ['p' - 'a'] = "_", ['s' - 'a'] = "i16",
		['t' - 'a'] = "u16", ['u' - 'a'] = "()", ['v' - 'a'] = "...", ['x' - 'a'] = "i64", ['y' - 'a'] = "u64",
		['z' - 'a'] = "!",
	};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void put_reference(struct rust_reader *r, const char *mut)
{
	uint64_t lifetime = rust_eat(r, 'L') ? rust_take_62(r) : 0;

	rust_put(r, "&");
	if (lifetime) {
		put_lifetime(r, lifetime);
		rust_put(r, " ");
	}
	rust_put(r, mut);
	rust_put_type(r);
}

static void put_abi(struct rust_reader *r)
{
	struct rust_identifier id;

	rust_put(r, "extern \"");
	if (rust_eat(r, 'C')) {
		rust_put(r, "C");
	} else {
		id = rust_take_identifier(r);
		if (id.is_punycode)
			rust_fail(r);
		for (size_t i = 0; i < id.text.n && !r->silent; i++)
			buf_putc(&r->out, id.text.p[i] == '_' ? '-' : id.text.p[i]);
	}
	rust_put(r, "\" ");
}

static void put_function(struct rust_reader *r)
{
	uint64_t bound = put_binder(r);

	if (rust_eat(r, 'U'))
		rust_put(r, "unsafe ");
	if (rust_eat(r, 'K'))
		put_abi(r);
	rust_put(r, "fn(");
	rust_put_list(r, rust_put_type);
	rust_put(r, ")");
	if (!rust_eat(r, 'u')) {
		rust_put(r, " -> ");
		rust_put_type(r);
	}
	r->lifetimes -= bound;
}

/* Puts a path whose list of arguments may get more; returns whether the list is open. */
static bool put_open_path(struct rust_reader *r)
{
	const char *from;
	bool open = false;

	if (!rust_enter(r))
		return false;
	if (rust_eat(r, 'I')) {
		open = put_generic(r, false, true);
	} else if (rust_eat(r, 'B')) {
		from = rust_go_back(r);
		if (from) {
			open = put_open_path(r);
			rust_return_to(r, from);
		}
	} else {
		rust_put_path(r, false);
	}
	r->depth--;
	return open;
}

static void put_trait(struct rust_reader *r)
{
	bool open = put_open_path(r);

	while (!r->failed && rust_eat(r, 'p')) {
		rust_put(r, open ? ", " : "<");
		open = true;
		rust_put_identifier(r, rust_take_identifier(r));
		rust_put(r, " = ");
		rust_put_type(r);
	}
	rust_put(r, open ? ">" : "");
}

static void put_object(struct rust_reader *r)
{
	uint64_t bound, lifetime;

	rust_put(r, "dyn ");
	bound = put_binder(r);
	for (size_t n = 0; !r->failed && !rust_eat(r, 'E'); n++) {
		rust_put(r, n ? " + " : "");
		put_trait(r);
	}
	r->lifetimes -= bound;
	if (!rust_eat(r, 'L')) {
		rust_fail(r);
		return;
	}
	lifetime = rust_take_62(r);
	if (lifetime) {
		rust_put(r, " + ");
		put_lifetime(r, lifetime);
	}
}

static void put_tuple(struct rust_reader *r)
{
	rust_put(r, "(");
	rust_put(r, rust_put_list(r, rust_put_type) == 1 ? ",)" : ")");
}

static void put_other_type(struct rust_reader *r, char tag)
{
	const char *from;

	switch (tag) {
	case 'R':
		put_reference(r, "");
		break;
	case 'Q':
		put_reference(r, "mut ");
		break;
	case 'P':
		rust_put(r, "*const ");
		rust_put_type(r);
		break;
	case 'O':
		rust_put(r, "*mut ");
		rust_put_type(r);
		break;
	case 'A':
	case 'S':
		rust_put(r, "[");
		rust_put_type(r);
		if (tag == 'A') {
			rust_put(r, "; ");
			rust_put_const(r, true);
		}
		rust_put(r, "]");
		break;
	case 'T':
		put_tuple(r);
		break;
	case 'F':
		put_function(r);
		break;
	case 'D':
		put_object(r);
		break;
	case 'B':
		from = rust_go_back(r);
		if (from) {
			rust_put_type(r);
			rust_return_to(r, from);
		}
		break;
	default:
		r->p--;
		rust_put_path(r, false);
	}
}

void rust_put_type(struct rust_reader *r)
{
	char tag;

	if (!rust_enter(r))
		return;
	tag = rust_take(r);
	if (basic_type(tag))
		rust_put(r, basic_type(tag));
	else if (!r->failed)
		put_other_type(r, tag);
	r->depth--;
}

/* --- Top level --- */

/* Skips the crate that instantiated a generic function, and suffixes added by a linker or LLVM (".llvm.1234"). */
static void skip_rest(struct rust_reader *r)
{
	const char *module;

	if (rust_peek(r) >= 'A' && rust_peek(r) <= 'Z') {
		r->silent++;
		rust_put_path(r, false);
		r->silent--;
	}
	if (r->failed || r->p == r->end)
		return;
	if (*r->p != '.' && *r->p != '$') {
		rust_fail(r);
		return;
	}
	module = memmem(r->p, (size_t)(r->end - r->p), ".llvm.", 6);
	buf_put(&r->out, r->p, (size_t)((module ? module : r->end) - r->p));
}

static bool is_plain(const struct rust_reader *r)
{
	for (const char *p = r->start; p < r->end; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	return true;
}

bool rust_name_put(struct buf *out, struct str name)
{
	size_t skip = text_starts(name, "__R") ? 3 : 2;		/* macOS puts an underscore before each symbol */
	struct rust_reader r = { .start = name.p + skip, .p = name.p + skip, .end = name.p + name.n };
	bool well;

	if (name.n > NAME_MAX_BYTES || (skip == 2 && !text_starts(name, "_R")) || rust_peek(&r) < 'A' || rust_peek(&r) > 'Z' || !is_plain(&r))
		return false;
	r.steps_max = (unsigned)name.n * TIMES_MAX;
	buf_init(&r.out);
	r.out.limit = r.steps_max;
	rust_put_path(&r, true);
	if (!r.failed)
		skip_rest(&r);
	well = !r.failed && !r.out.overflow;
	if (well)
		buf_put(out, r.out.data, r.out.size);
	buf_done(&r.out);
	return well;
}
