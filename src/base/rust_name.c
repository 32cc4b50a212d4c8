/* rust_name.c: a letter says what comes, and there is a function for each kind of part. */
#include "rust_name.h"

#include "punycode.h"
#include "text.h"

#include <string.h>

#define NAME_MAX_BYTES	4096u
#define TIMES_MAX	64u	/* limit of bytes printed, and of parts read, per byte of the name */
#define DEPTH_MAX	128u	/* parts in parts; each takes some hundred bytes of stack */

struct reader {
	const char *start, *p, *end;	/* behind "_R" */
	struct buf out;
	unsigned silent;		/* above 0: what is read is not printed */
	unsigned depth, steps, steps_max;
	uint64_t lifetimes;		/* that are bound where we are */
	bool failed;
};

static void put_path(struct reader *r, bool in_value);
static void put_type(struct reader *r);
static void put_const(struct reader *r, bool in_value);

/* --- Bytes --- */

static void fail(struct reader *r)
{
	r->failed = true;
	r->p = r->end;
}

static char peek(const struct reader *r)
{
	return r->p < r->end ? *r->p : '\0';
}

static bool eat(struct reader *r, char c)
{
	if (peek(r) != c || r->p == r->end)
		return false;
	r->p++;
	return true;
}

static char take(struct reader *r)
{
	if (r->p < r->end)
		return *r->p++;
	fail(r);
	return '\0';
}

static void put(struct reader *r, const char *text)
{
	if (!r->silent)
		buf_puts(&r->out, text);
}

static void put_number(struct reader *r, uint64_t n)
{
	if (!r->silent)
		buf_put_u64(&r->out, n);
}

/* --- Numbers --- */

static uint64_t take_decimal(struct reader *r)
{
	uint64_t n = 0;

	if (peek(r) < '0' || peek(r) > '9')
		fail(r);
	if (eat(r, '0'))
		return 0;
	while (peek(r) >= '0' && peek(r) <= '9' && !r->failed) {
		n = n * 10 + (uint64_t)(take(r) - '0');
		if (n > (uint64_t)(r->end - r->start))		/* each counts bytes */
			fail(r);
	}
	return n;
}

static int digit_62(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
}

/* "_" is 0, "0_" 1. */
static uint64_t take_62(struct reader *r)
{
	uint64_t n = 0;

	if (eat(r, '_'))
		return 0;
	while (!r->failed && !eat(r, '_')) {
		int digit = digit_62(take(r));

		if (digit < 0 || n > (UINT64_MAX - 62) / 62)
			fail(r);
		else
			n = n * 62 + (uint64_t)digit;
	}
	return n + 1;
}

/* 0 if there is none. */
static uint64_t take_optional_62(struct reader *r, char tag)
{
	uint64_t n = eat(r, tag) ? take_62(r) : UINT64_MAX;

	return n + 1;
}

/* --- Identifiers --- */

struct identifier {
	struct str text;
	bool is_punycode;
};

static void put_identifier(struct reader *r, struct identifier id)
{
	const char *line = id.is_punycode ? memrchr(id.text.p, '_', id.text.n) : NULL;
	size_t plain = line ? (size_t)(line - id.text.p) : 0, skip = line ? plain + 1 : 0;
	uint32_t codes[PUNYCODE_MAX], count;

	if (r->silent)
		return;
	if (!id.is_punycode) {
		buf_put(&r->out, id.text.p, id.text.n);
		return;
	}
	if (!punycode_decode((struct str){ id.text.p, plain }, (struct str){ id.text.p + skip, id.text.n - skip }, codes,
			     &count)) {
		fail(r);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		text_put_code_point(&r->out, codes[i]);
}

static struct identifier take_identifier(struct reader *r)
{
	struct identifier id = { .is_punycode = eat(r, 'u') };
	size_t n = (size_t)take_decimal(r);

	eat(r, '_');
	if (n > (size_t)(r->end - r->p)) {
		fail(r);
		n = 0;
	}
	id.text = (struct str){ r->p, n };
	r->p += n;
	return id;
}

/* --- Parts --- */

/* Each part that may contain others goes through here. */
static bool enter(struct reader *r)
{
	if (r->depth == DEPTH_MAX || r->steps >= r->steps_max || r->out.overflow)
		fail(r);
	if (r->failed)
		return false;
	r->depth++;
	r->steps++;
	return true;
}

/* Goes on at an earlier place, and returns where it was; NULL if there is nothing to read there. */
static const char *go_back(struct reader *r)
{
	size_t at = (size_t)(r->p - 1 - r->start);
	uint64_t to = take_62(r);
	const char *from = r->p;

	if (!r->failed && to >= at)
		fail(r);
	if (r->failed || r->silent)
		return NULL;
	r->p = r->start + to;
	return from;
}

static void return_to(struct reader *r, const char *from)
{
	if (!r->failed)
		r->p = from;
}

/* 0 is a lifetime without a name, 1 the one that was bound last. */
static void put_lifetime(struct reader *r, uint64_t n)
{
	char name[3] = "'a";

	if (n > r->lifetimes) {
		fail(r);
		return;
	}
	n = r->lifetimes - n;
	if (n == r->lifetimes) {
		put(r, "'_");
	} else if (n < 26) {
		name[1] = (char)('a' + n);
		put(r, name);
	} else {
		put(r, "'_");
		put_number(r, n);
	}
}

/* Returns how many lifetimes are bound by it. */
static uint64_t put_binder(struct reader *r)
{
	uint64_t n = take_optional_62(r, 'G');

	if (n > (uint64_t)(r->end - r->start))		/* each would take some bytes where it is used */
		fail(r);
	if (r->failed || !n)
		return 0;
	r->steps += (unsigned)n;
	put(r, "for<");
	for (uint64_t i = 0; i < n; i++) {
		put(r, i ? ", " : "");
		r->lifetimes++;
		put_lifetime(r, 1);
	}
	put(r, "> ");
	return n;
}

static void put_argument(struct reader *r)
{
	if (eat(r, 'L'))
		put_lifetime(r, take_62(r));
	else if (eat(r, 'K'))
		put_const(r, false);
	else
		put_type(r);
}

/* Up to "E", divided by commas; returns how many there were. */
static size_t put_list(struct reader *r, void (*one)(struct reader *))
{
	size_t n = 0;

	for (; !r->failed && !eat(r, 'E'); n++) {
		put(r, n ? ", " : "");
		one(r);
	}
	return n;
}

/* --- Paths --- */

/* Something within something; a capital letter tells what has no name that people gave it. */
static void put_nested(struct reader *r, bool in_value)
{
	char kind = take(r), text[2] = { kind };
	struct identifier id;
	uint64_t number;

	if (!((kind >= 'a' && kind <= 'z') || (kind >= 'A' && kind <= 'Z')))
		fail(r);
	put_path(r, in_value);
	number = take_optional_62(r, 's');
	id = take_identifier(r);
	if (r->failed)
		return;
	if (kind >= 'a') {
		put(r, id.text.n ? "::" : "");
		put_identifier(r, id);
		return;
	}
	put(r, "::{");
	put(r, kind == 'C' ? "closure" : kind == 'S' ? "shim" : text);
	put(r, id.text.n ? ":" : "");
	put_identifier(r, id);
	put(r, "#");
	put_number(r, number);
	put(r, "}");
}

/* The place of an `impl` is not part of the name that people write. */
static void skip_impl_path(struct reader *r)
{
	take_optional_62(r, 's');
	r->silent++;
	put_path(r, false);
	r->silent--;
}

static void put_self(struct reader *r, bool with_trait)
{
	put(r, "<");
	put_type(r);
	if (with_trait) {
		put(r, " as ");
		put_path(r, false);
	}
	put(r, ">");
}

/* In expressions arguments begin with "::". `open` leaves out the last ">": returns whether it did. */
static bool put_generic(struct reader *r, bool in_value, bool open)
{
	put_path(r, in_value);
	put(r, in_value ? "::<" : "<");
	put_list(r, put_argument);
	put(r, open ? "" : ">");
	return open;
}

static void put_path(struct reader *r, bool in_value)
{
	const char *from;

	if (!enter(r))
		return;
	switch (take(r)) {
	case 'C':
		take_optional_62(r, 's');
		put_identifier(r, take_identifier(r));
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
		from = go_back(r);
		if (from) {
			put_path(r, in_value);
			return_to(r, from);
		}
		break;
	default:
		fail(r);
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

static void put_reference(struct reader *r, const char *mut)
{
	uint64_t lifetime = eat(r, 'L') ? take_62(r) : 0;

	put(r, "&");
	if (lifetime) {
		put_lifetime(r, lifetime);
		put(r, " ");
	}
	put(r, mut);
	put_type(r);
}

static void put_abi(struct reader *r)
{
	struct identifier id;

	put(r, "extern \"");
	if (eat(r, 'C')) {
		put(r, "C");
	} else {
		id = take_identifier(r);
		if (id.is_punycode)
			fail(r);
		for (size_t i = 0; i < id.text.n && !r->silent; i++)
			buf_putc(&r->out, id.text.p[i] == '_' ? '-' : id.text.p[i]);
	}
	put(r, "\" ");
}

static void put_function(struct reader *r)
{
	uint64_t bound = put_binder(r);

	if (eat(r, 'U'))
		put(r, "unsafe ");
	if (eat(r, 'K'))
		put_abi(r);
	put(r, "fn(");
	put_list(r, put_type);
	put(r, ")");
	if (!eat(r, 'u')) {
		put(r, " -> ");
		put_type(r);
	}
	r->lifetimes -= bound;
}

/* A path whose list of arguments may still get more; returns whether it is open. */
static bool put_open_path(struct reader *r)
{
	const char *from;
	bool open = false;

	if (!enter(r))
		return false;
	if (eat(r, 'I')) {
		open = put_generic(r, false, true);
	} else if (eat(r, 'B')) {
		from = go_back(r);
		if (from) {
			open = put_open_path(r);
			return_to(r, from);
		}
	} else {
		put_path(r, false);
	}
	r->depth--;
	return open;
}

static void put_trait(struct reader *r)
{
	bool open = put_open_path(r);

	while (!r->failed && eat(r, 'p')) {
		put(r, open ? ", " : "<");
		open = true;
		put_identifier(r, take_identifier(r));
		put(r, " = ");
		put_type(r);
	}
	put(r, open ? ">" : "");
}

static void put_object(struct reader *r)
{
	uint64_t bound, lifetime;

	put(r, "dyn ");
	bound = put_binder(r);
	for (size_t n = 0; !r->failed && !eat(r, 'E'); n++) {
		put(r, n ? " + " : "");
		put_trait(r);
	}
	r->lifetimes -= bound;
	if (!eat(r, 'L')) {
		fail(r);
		return;
	}
	lifetime = take_62(r);
	if (lifetime) {
		put(r, " + ");
		put_lifetime(r, lifetime);
	}
}

static void put_tuple(struct reader *r)
{
	put(r, "(");
	put(r, put_list(r, put_type) == 1 ? ",)" : ")");
}

static void put_other_type(struct reader *r, char tag)
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
		put(r, "*const ");
		put_type(r);
		break;
	case 'O':
		put(r, "*mut ");
		put_type(r);
		break;
	case 'A':
	case 'S':
		put(r, "[");
		put_type(r);
		if (tag == 'A') {
			put(r, "; ");
			put_const(r, true);
		}
		put(r, "]");
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
		from = go_back(r);
		if (from) {
			put_type(r);
			return_to(r, from);
		}
		break;
	default:
		r->p--;
		put_path(r, false);
	}
}

static void put_type(struct reader *r)
{
	char tag;

	if (!enter(r))
		return;
	tag = take(r);
	if (basic_type(tag))
		put(r, basic_type(tag));
	else if (!r->failed)
		put_other_type(r, tag);
	r->depth--;
}

/* --- Constants --- */

static struct str take_hex(struct reader *r)
{
	struct str s = { r->p, 0 };

	while (!r->failed && peek(r) != '_')
		if (text_hex_digit(take(r)) < 0 || (r->p[-1] >= 'A' && r->p[-1] <= 'F'))
			fail(r);
	s.n = (size_t)(r->p - s.p);
	eat(r, '_');
	return s;
}

/* False above 64 bits. */
static bool parse_hex(struct str s, uint64_t *ret)
{
	*ret = 0;
	while (s.n && *s.p == '0') {
		s.p++;
		s.n--;
	}
	for (size_t i = 0; i < s.n && s.n <= 16; i++)
		*ret = *ret << 4 | (unsigned)text_hex_digit(s.p[i]);
	return s.n <= 16;
}

static void put_integer(struct reader *r, bool is_signed)
{
	bool minus = is_signed && eat(r, 'n');
	struct str s = take_hex(r);
	uint64_t n;

	put(r, minus ? "-" : "");
	if (parse_hex(s, &n)) {
		put_number(r, n);
	} else if (!r->silent) {
		buf_puts(&r->out, "0x");
		buf_put(&r->out, s.p, s.n);
	}
}

static void put_bool(struct reader *r)
{
	uint64_t n;

	if (!parse_hex(take_hex(r), &n) || n > 1)
		fail(r);
	else
		put(r, n ? "true" : "false");
}

/* One that stands between `quote`s. */
static void put_character(struct reader *r, uint64_t c, char quote)
{
	if (!text_is_code_point(c))
		fail(r);
	if (r->failed || r->silent)
		return;
	if (c == '\n')
		buf_puts(&r->out, "\\n");
	else if (c == '\t')
		buf_puts(&r->out, "\\t");
	else if (c == '\r')
		buf_puts(&r->out, "\\r");
	else if (c == 0)
		buf_puts(&r->out, "\\0");
	else if (c < ' ' || (c >= 0x7f && c < 0xa0))
		buf_printf(&r->out, "\\u{%llx}", (unsigned long long)c);
	else if (c == (unsigned char)quote || c == '\\')
		buf_printf(&r->out, "\\%c", (char)c);
	else
		text_put_code_point(&r->out, (uint32_t)c);
}

static void put_char(struct reader *r)
{
	uint64_t c;

	if (!parse_hex(take_hex(r), &c)) {
		fail(r);
		return;
	}
	put(r, "'");
	put_character(r, c, '\'');
	put(r, "'");
}

/* Bytes of UTF-8, two digits each. */
static void put_string(struct reader *r)
{
	struct str s = take_hex(r);
	struct buf bytes;

	if (s.n % 2)
		fail(r);
	if (r->failed || r->silent)
		return;
	buf_init(&bytes);
	for (size_t i = 0; i < s.n; i += 2)
		buf_putc(&bytes, (char)(text_hex_digit(s.p[i]) << 4 | text_hex_digit(s.p[i + 1])));
	put(r, "\"");
	for (size_t at = 0; at < bytes.size && !r->failed;) {
		uint32_t c;
		unsigned n = text_decode(bytes.data + at, bytes.data + bytes.size, &c);

		if (!n)
			fail(r);
		else
			put_character(r, c, '"');
		at += n;
	}
	put(r, "\"");
	buf_done(&bytes);
}

static void put_field(struct reader *r)
{
	take_optional_62(r, 's');
	put_identifier(r, take_identifier(r));
	put(r, ": ");
	put_const(r, true);
}

static void put_value(struct reader *r)
{
	put_const(r, true);
}

/* A struct, or one of an enum's cases. */
static void put_fields(struct reader *r)
{
	put_path(r, true);
	switch (take(r)) {
	case 'U':
		break;
	case 'T':
		put(r, "(");
		put_list(r, put_value);
		put(r, ")");
		break;
	case 'S':
		put(r, " { ");
		put_list(r, put_field);
		put(r, " }");
		break;
	default:
		fail(r);
	}
}

/* Outside of expressions these stand in braces. */
static void put_composed(struct reader *r, char tag, bool in_value)
{
	bool text = tag == 'R' && eat(r, 'e');

	put(r, in_value || text ? "" : "{");
	switch (tag) {
	case 'e':
		put(r, "*");
		put_string(r);
		break;
	case 'R':
	case 'Q':
		if (text) {
			put_string(r);
			break;
		}
		put(r, tag == 'R' ? "&" : "&mut ");
		put_const(r, true);
		break;
	case 'A':
		put(r, "[");
		put_list(r, put_value);
		put(r, "]");
		break;
	case 'T':
		put(r, "(");
		put(r, put_list(r, put_value) == 1 ? ",)" : ")");
		break;
	case 'V':
		put_fields(r);
		break;
	default:
		fail(r);
	}
	put(r, in_value || text ? "" : "}");
}

static void put_const(struct reader *r, bool in_value)
{
	const char *from;
	char tag;

	if (!enter(r))
		return;
	tag = take(r);
	if (tag && strchr("hmtyoj", tag)) {
		put_integer(r, false);
	} else if (tag && strchr("aslxni", tag)) {
		put_integer(r, true);
	} else if (tag == 'b') {
		put_bool(r);
	} else if (tag == 'c') {
		put_char(r);
	} else if (tag == 'p') {
		put(r, "_");
	} else if (tag == 'B') {
		from = go_back(r);
		if (from) {
			put_const(r, in_value);
			return_to(r, from);
		}
	} else {
		put_composed(r, tag, in_value);
	}
	r->depth--;
}

/* --- The whole --- */

/* The crate that had a generic function made, and what a linker or LLVM has added (".llvm.1234"). */
static void skip_rest(struct reader *r)
{
	const char *module;

	if (peek(r) >= 'A' && peek(r) <= 'Z') {
		r->silent++;
		put_path(r, false);
		r->silent--;
	}
	if (r->failed || r->p == r->end)
		return;
	if (*r->p != '.' && *r->p != '$') {
		fail(r);
		return;
	}
	module = memmem(r->p, (size_t)(r->end - r->p), ".llvm.", 6);
	buf_put(&r->out, r->p, (size_t)((module ? module : r->end) - r->p));
}

static bool is_plain(const struct reader *r)
{
	for (const char *p = r->start; p < r->end; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	return true;
}

bool rust_name_put(struct buf *out, struct str name)
{
	size_t skip = text_starts(name, "__R") ? 3 : 2;		/* macOS puts a line in front of each symbol */
	struct reader r = { .start = name.p + skip, .p = name.p + skip, .end = name.p + name.n };
	bool well;

	if (name.n > NAME_MAX_BYTES || (skip == 2 && !text_starts(name, "_R")) || peek(&r) < 'A' || peek(&r) > 'Z' || !is_plain(&r))
		return false;
	r.steps_max = (unsigned)name.n * TIMES_MAX;
	buf_init(&r.out);
	r.out.limit = r.steps_max;
	put_path(&r, true);
	if (!r.failed)
		skip_rest(&r);
	well = !r.failed && !r.out.overflow;
	if (well)
		buf_put(out, r.out.data, r.out.size);
	buf_done(&r.out);
	return well;
}
