/* punycode.c: each number in the text is the distance from the last character to the next, in code point and position. */
#include "punycode.h"

#include "text.h"

#include <string.h>

/* As in RFC 3492, section 6.1. */
static uint32_t adapt(uint32_t delta, bool first, uint32_t count)
{
	uint32_t k = 0;

	delta = delta / (first ? 700 : 2);
	delta += delta / count;
	for (; delta > 455; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

static int punycode_digit(char c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	return c >= '0' && c <= '9' ? c - '0' + 26 : -1;
}

/* Reads one number of variable length; returns false if it is malformed. */
static bool take_delta(struct str *s, uint32_t bias, uint32_t *ret)
{
	uint64_t weight = 1, n = 0;

	for (uint32_t k = 36;; k += 36) {
		uint32_t least = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
		int digit = s->n ? punycode_digit(*s->p) : -1;

		if (digit < 0)
			return false;
		s->p++;
		s->n--;
		n += (uint64_t)digit * weight;
		if (n > INT32_MAX)
			return false;
		if ((uint32_t)digit < least)
			break;
		weight *= 36 - least;
		if (weight > INT32_MAX)
			return false;
	}
	*ret = (uint32_t)n;
	return true;
}

bool punycode_decode(struct str plain, struct str s, uint32_t codes[PUNYCODE_MAX], uint32_t *ret_count)
{
	uint32_t count = 0, code = 128, bias = 72, at = 0, delta;

	if (plain.n > PUNYCODE_MAX)
		return false;
	for (; count < plain.n; count++)
		codes[count] = (unsigned char)plain.p[count];
	for (bool first = true; s.n; first = false) {
		if (count == PUNYCODE_MAX || !take_delta(&s, bias, &delta))
			return false;
		at += delta;
		bias = adapt(delta, first, ++count);
		code += at / count;
		at %= count;
		if (!text_is_code_point(code))
			return false;
		memmove(codes + at + 1, codes + at, (count - 1 - at) * sizeof(*codes));
		codes[at++] = code;
	}
	*ret_count = count;
	return true;
}
