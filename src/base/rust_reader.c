/* rust_reader.c: reads bytes, numbers and identifiers of a mangled name, and limits the nesting of its parts. */
#include "rust_reader.h"

#include "punycode.h"
#include "text.h"

#include <string.h>

#define DEPTH_MAX	128u	/* nesting; each level takes about a hundred bytes of stack */

/* --- Bytes --- */

void rust_fail(struct rust_reader *r)
{
	r->failed = true;
	r->p = r->end;
}

char rust_peek(const struct rust_reader *r)
{
	return r->p < r->end ? *r->p : '\0';
}

bool rust_eat(struct rust_reader *r, char c)
{
	if (rust_peek(r) != c || r->p == r->end)
		return false;
	r->p++;
	return true;
}

char rust_take(struct rust_reader *r)
{
	if (r->p < r->end)
		return *r->p++;
	rust_fail(r);
	return '\0';
}

void rust_put(struct rust_reader *r, const char *text)
{
	if (!r->silent)
		buf_puts(&r->out, text);
}

void rust_put_number(struct rust_reader *r, uint64_t n)
{
	if (!r->silent)
		buf_put_u64(&r->out, n);
}

/* --- Numbers --- */

uint64_t rust_take_decimal(struct rust_reader *r)
{
	uint64_t n = 0;

	if (rust_peek(r) < '0' || rust_peek(r) > '9')
		rust_fail(r);
	if (rust_eat(r, '0'))
		return 0;
	while (rust_peek(r) >= '0' && rust_peek(r) <= '9' && !r->failed) {
		n = n * 10 + (uint64_t)(rust_take(r) - '0');
		if (n > (uint64_t)(r->end - r->start))		/* it counts bytes */
			rust_fail(r);
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

uint64_t rust_take_62(struct rust_reader *r)
{
	uint64_t n = 0;

	if (rust_eat(r, '_'))
		return 0;
	while (!r->failed && !rust_eat(r, '_')) {
		int digit = digit_62(rust_take(r));

		if (digit < 0 || n > (UINT64_MAX - 62) / 62)
			rust_fail(r);
		else
			n = n * 62 + (uint64_t)digit;
	}
	return n + 1;
}

uint64_t rust_take_optional_62(struct rust_reader *r, char tag)
{
	uint64_t n = rust_eat(r, tag) ? rust_take_62(r) : UINT64_MAX;

	return n + 1;
}

/* --- Identifiers --- */

void rust_put_identifier(struct rust_reader *r, struct rust_identifier id)
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
		rust_fail(r);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		text_put_code_point(&r->out, codes[i]);
}

struct rust_identifier rust_take_identifier(struct rust_reader *r)
{
	struct rust_identifier id = { .is_punycode = rust_eat(r, 'u') };
	size_t n = (size_t)rust_take_decimal(r);

	rust_eat(r, '_');
	if (n > (size_t)(r->end - r->p)) {
		rust_fail(r);
		n = 0;
	}
	id.text = (struct str){ r->p, n };
	r->p += n;
	return id;
}

/* --- Parts --- */

bool rust_enter(struct rust_reader *r)
{
	if (r->depth == DEPTH_MAX || r->steps >= r->steps_max || r->out.overflow)
		rust_fail(r);
	if (r->failed)
		return false;
	r->depth++;
	r->steps++;
	return true;
}

const char *rust_go_back(struct rust_reader *r)
{
	size_t at = (size_t)(r->p - 1 - r->start);
	uint64_t to = rust_take_62(r);
	const char *from = r->p;

	if (!r->failed && to >= at)
		rust_fail(r);
	if (r->failed || r->silent)
		return NULL;
	r->p = r->start + to;
	return from;
}

void rust_return_to(struct rust_reader *r, const char *from)
{
	if (!r->failed)
		r->p = from;
}

size_t rust_put_list(struct rust_reader *r, void (*one)(struct rust_reader *))
{
	size_t n = 0;

	for (; !r->failed && !rust_eat(r, 'E'); n++) {
		rust_put(r, n ? ", " : "");
		one(r);
	}
	return n;
}
