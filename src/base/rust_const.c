/* rust_const.c: demangles constants among the arguments of a name: numbers, text, tuples and structs. */
#include "rust_reader.h"

#include "text.h"

#include <string.h>

static struct str take_hex(struct rust_reader *r)
{
	struct str s = { r->p, 0 };

	while (!r->failed && rust_peek(r) != '_')
		if (text_hex_digit(rust_take(r)) < 0 || (r->p[-1] >= 'A' && r->p[-1] <= 'F'))
			rust_fail(r);
	s.n = (size_t)(r->p - s.p);
	rust_eat(r, '_');
	return s;
}

/* Returns false above 64 bits. */
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

static void put_integer(struct rust_reader *r, bool is_signed)
{
	bool minus = is_signed && rust_eat(r, 'n');
	struct str s = take_hex(r);
	uint64_t n;

	rust_put(r, minus ? "-" : "");
	if (parse_hex(s, &n)) {
		rust_put_number(r, n);
	} else if (!r->silent) {
		buf_puts(&r->out, "0x");
		buf_put(&r->out, s.p, s.n);
	}
}

static void put_bool(struct rust_reader *r)
{
	uint64_t n;

	if (!parse_hex(take_hex(r), &n) || n > 1)
		rust_fail(r);
	else
		rust_put(r, n ? "true" : "false");
}

/* Puts a character within `quote`s, or escaped. */
static void put_character(struct rust_reader *r, uint64_t c, char quote)
{
	if (!text_is_code_point(c))
		rust_fail(r);
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

static void put_char(struct rust_reader *r)
{
	uint64_t c;

	if (!parse_hex(take_hex(r), &c)) {
		rust_fail(r);
		return;
	}
	rust_put(r, "'");
	put_character(r, c, '\'');
	rust_put(r, "'");
}

/* Decodes UTF-8 bytes with two digits each. */
static void put_string(struct rust_reader *r)
{
	struct str s = take_hex(r);
	struct buf bytes;

	if (s.n % 2)
		rust_fail(r);
	if (r->failed || r->silent)
		return;
	buf_init(&bytes);
	for (size_t i = 0; i < s.n; i += 2)
		buf_putc(&bytes, (char)(text_hex_digit(s.p[i]) << 4 | text_hex_digit(s.p[i + 1])));
	rust_put(r, "\"");
	for (size_t at = 0; at < bytes.size && !r->failed;) {
		uint32_t c;
		unsigned n = text_decode(bytes.data + at, bytes.data + bytes.size, &c);

		if (!n)
			rust_fail(r);
		else
			put_character(r, c, '"');
		at += n;
	}
	rust_put(r, "\"");
	buf_done(&bytes);
}

static void put_field(struct rust_reader *r)
{
	rust_take_optional_62(r, 's');
	rust_put_identifier(r, rust_take_identifier(r));
	rust_put(r, ": ");
	rust_put_const(r, true);
}

static void put_value(struct rust_reader *r)
{
	rust_put_const(r, true);
}

/* Puts a struct, or a variant of an enum. */
static void put_fields(struct rust_reader *r)
{
	rust_put_path(r, true);
	switch (rust_take(r)) {
	case 'U':
		break;
	case 'T':
		rust_put(r, "(");
		rust_put_list(r, put_value);
		rust_put(r, ")");
		break;
	case 'S':
		rust_put(r, " { ");
		rust_put_list(r, put_field);
		rust_put(r, " }");
		break;
	default:
		rust_fail(r);
	}
}

/* Outside expressions, these are in braces. */
static void put_composed(struct rust_reader *r, char tag, bool in_value)
{
	bool text = tag == 'R' && rust_eat(r, 'e');

	rust_put(r, in_value || text ? "" : "{");
	switch (tag) {
	case 'e':
		rust_put(r, "*");
		put_string(r);
		break;
	case 'R':
	case 'Q':
		if (text) {
			put_string(r);
			break;
		}
		rust_put(r, tag == 'R' ? "&" : "&mut ");
		rust_put_const(r, true);
		break;
	case 'A':
		rust_put(r, "[");
		rust_put_list(r, put_value);
		rust_put(r, "]");
		break;
	case 'T':
		rust_put(r, "(");
		rust_put(r, rust_put_list(r, put_value) == 1 ? ",)" : ")");
		break;
	case 'V':
		put_fields(r);
		break;
	default:
		rust_fail(r);
	}
	rust_put(r, in_value || text ? "" : "}");
}

void rust_put_const(struct rust_reader *r, bool in_value)
{
	const char *from;
	char tag;

	if (!rust_enter(r))
		return;
	tag = rust_take(r);
	if (tag && strchr("hmtyoj", tag)) {
		put_integer(r, false);
	} else if (tag && strchr("aslxni", tag)) {
		put_integer(r, true);
	} else if (tag == 'b') {
		put_bool(r);
	} else if (tag == 'c') {
		put_char(r);
	} else if (tag == 'p') {
		rust_put(r, "_");
	} else if (tag == 'B') {
		from = rust_go_back(r);
		if (from) {
			rust_put_const(r, in_value);
			rust_return_to(r, from);
		}
	} else {
		put_composed(r, tag, in_value);
	}
	r->depth--;
}
