/* folded_line.c: parses a line from its end, because names may contain spaces and digits. */
#include "folded_line.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parses "12", "-12", "12.", "12.5". */
static enum folded_line_kind parse_count(const char *p, const char *end, struct folded_count *ret)
{
	bool negative = p < end && *p == '-', overflow = false;
	double fraction = 0, scale = 1;
	uint64_t magnitude = 0;

	p += negative;
	if (p == end || !is_digit(*p))
		return FOLDED_NO_COUNT;
	for (; p < end && is_digit(*p); p++)
		overflow |= __builtin_mul_overflow(magnitude, 10, &magnitude) ||
			    __builtin_add_overflow(magnitude, (uint64_t)(*p - '0'), &magnitude);
	if (p < end && *p == '.')
		for (p++; p < end && is_digit(*p); p++)
			fraction += (*p - '0') * (scale /= 10);
	if (p != end)
		return FOLDED_NO_COUNT;
	if (overflow || magnitude > (uint64_t)INT64_MAX + negative)
		return FOLDED_LARGE_COUNT;
	ret->whole = (int64_t)(negative ? 0 - magnitude : magnitude);
	ret->fraction = negative ? -fraction : fraction;
	return FOLDED_STACK;
}

/* Removes the number from the end of a line; *end is then where it began. */
static enum folded_line_kind take_count(const char *line, const char **end, struct folded_count *ret)
{
	const char *count = *end;
	enum folded_line_kind kind;

	while (count > line && !is_space(count[-1]))
		count--;
	kind = parse_count(count, *end, ret);
	*end = count;
	return kind;
}

enum folded_line_kind folded_line_parse(const char *line, size_t n, bool two, struct folded_line *ret)
{
	const char *end = line + n;
	enum folded_line_kind kind;

	if (end > line && end[-1] == '\r')
		end--;
	while (end > line && is_space(end[-1]))
		end--;
	if (end == line)
		return FOLDED_BLANK;
	kind = take_count(line, &end, &ret->count);
	if (kind == FOLDED_STACK && two) {
		while (end > line && is_space(end[-1]))
			end--;
		kind = take_count(line, &end, &ret->before);
		if (kind == FOLDED_NO_COUNT)
			return FOLDED_ONE_COUNT;
	}
	if (kind != FOLDED_STACK)
		return kind;
	while (end > line && (is_space(end[-1]) || end[-1] == ';'))
		end--;
	if (end == line)
		return FOLDED_NO_COUNT;
	ret->stack = (struct str){ line, (size_t)(end - line) };
	return FOLDED_STACK;
}
