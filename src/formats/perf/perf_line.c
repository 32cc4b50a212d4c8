/* perf_line.c: parses the lines of perf script from their reliable parts: numbers after the comm, brackets at the end. */
#include "perf_line.h"
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char *skip_spaces(const char *p, const char *end)
{
	while (p < end && perf_is_space(*p))
		p++;
	return p;
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

static struct str between(const char *p, const char *end)
{
	return (struct str){ p, (size_t)(end - p) };
}

/* Parses "PID" or "PID/TID" and a space at `p`; NULL if there is no such text. */
static const char *parse_ids(const char *p, const char *end, struct perf_event *e)
{
	const char *slash = skip_digits(p, end), *second = slash;

	if (slash == p)
		return NULL;
	while (second < end && *second == '/')
		second++;
	e->pid = between(p, slash);
	e->tid = between(second, skip_digits(second, end));
	p = e->tid.p + e->tid.n;
	return p < end && perf_is_space(*p) ? p : NULL;
}

/* Returns the word that ends at `end`, which must not be preceded by a space. */
static struct str last_word(const char *p, const char *end)
{
	const char *start = end;

	while (start > p && !perf_is_space(start[-1]))
		start--;
	return between(start, end);
}

static const char *skip_spaces_back(const char *p, const char *end)
{
	while (end > p && perf_is_space(end[-1]))
		end--;
	return end;
}

static uint64_t number(struct str digits)
{
	uint64_t n = 0;

	for (size_t i = 0; i < digits.n; i++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(digits.p[i] - '0'), &n))
			return UINT64_MAX;
	return n;
}

/* Parses "TIME: PERIOD EVENT:" at the end of the line. */
static void parse_name(struct str line, struct perf_event *e)
{
	const char *end = skip_spaces_back(line.p, line.p + line.n);
	struct str name = last_word(line.p, end), before, digits;

	e->name = (struct str){ "", 0 };
	e->period = 0;
	if (name.n < 2 || end[-1] != ':' || name.p == line.p)
		return;
	name.n--;
	end = skip_spaces_back(line.p, name.p);
	before = last_word(line.p, end);
	for (digits = between(end, end); digits.p > before.p && is_digit(digits.p[-1]); digits.n++)
		digits.p--;
	/* The text before the period, or before the event if there is none, must end with a colon. */
	if (digits.n && digits.p == before.p)
		before = between(line.p, skip_spaces_back(line.p, before.p));
	else
		before = between(before.p, digits.p);
	if (!before.n || before.p[before.n - 1] != ':')
		return;
	e->name = name;
	e->period = number(digits);
}

/* Returns the first word of digits and dots that is followed by a colon. */
static struct str find_time(struct str rest)
{
	const char *p = rest.p, *end = rest.p + rest.n;

	while (p < end) {
		const char *start = p = skip_spaces(p, end);

		while (p < end && (is_digit(*p) || *p == '.'))
			p++;
		if (p > start && p < end && *p == ':')
			return between(start, p);
		while (p < end && !perf_is_space(*p))
			p++;
	}
	return (struct str){ "", 0 };
}

bool perf_event_parse(struct str line, struct perf_event *ret)
{
	const char *p = line.p, *end = line.p + line.n, *rest;

	if (!line.n || perf_is_space(*p))
		return false;
	for (p++; p < end; p++) {
		const char *spaces = p;

		if (!perf_is_space(*p))
			continue;
		/* Each run of spaces is checked only once: all of its bytes give the same result. */
		p = skip_spaces(p, end);
		rest = parse_ids(p, end, ret);
		if (!rest)
			continue;
		ret->comm = between(line.p, spaces);
		ret->rest = between(rest, end);
		ret->time = find_time(ret->rest);
		parse_name(line, ret);
		return true;
	}
	return false;
}

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]) && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return s.n > 0;
}

bool perf_flat_parse(struct str line, struct perf_event *ret, struct perf_frame *ret_frame)
{
	const char *end = line.p + line.n, *p = skip_spaces(line.p, end), *digits;

	if (!perf_event_parse(between(p, end), ret) || !ret->time.n)
		return false;
	p = skip_spaces(ret->time.p + ret->time.n + 1, end);
	digits = skip_digits(p, end);
	ret->period = 0;
	if (digits > p && digits < end && perf_is_space(*digits)) {
		ret->period = number(between(p, digits));
		p = skip_spaces(digits, end);
	}
	ret->name.p = p;
	while (p < end && !perf_is_space(*p))
		p++;
	if (p - ret->name.p < 2 || p[-1] != ':')
		return false;
	ret->name.n = (size_t)(p - ret->name.p) - 1;
	return perf_frame_parse(between(p, end), ret_frame) && is_hex(ret_frame->address);
}

/* Parses "ADDRESS SYMBOL" before the bracket. If there is only one word, it is the symbol. */
static bool parse_symbol(const char *p, const char *end, struct perf_frame *f)
{
	const char *word, *symbol;

	p = skip_spaces(p, end);
	for (word = p; word < end && is_word(*word); word++)
		;
	symbol = skip_spaces(word, end);
	if (symbol == end)
		symbol--;
	if (symbol <= p || word == p)
		return false;
	f->address = between(p, word < symbol ? word : symbol);
	f->symbol = between(symbol, end);
	return true;
}

/* A file that was deleted while it ran is "(/usr/bin/php (deleted))". */
static const char *without_deleted(struct str line, const char *close)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(deleted);

	return (size_t)(close - line.p) >= n && !memcmp(close - n, deleted, n) ? close - n : close;
}

bool perf_frame_parse(struct str line, struct perf_frame *ret)
{
	const char *close = memrchr(line.p, ')', line.n), *open = skip_spaces(line.p, line.p + line.n);

	/* Without an address, brackets do not make it a frame. */
	if (!close || !is_word(*open))
		return false;
	close = without_deleted(line, close);
	for (open = close; (open = memrchr(line.p, '(', (size_t)(open - line.p)));)
		if (open > line.p && open[-1] == ' ' && parse_symbol(line.p, open - 1, ret)) {
			ret->module = between(open + 1, close);
			return true;
		}
	return false;
}

/* An empty line or the next event ends a chain. */
static bool ends_chain(const char *p, const char *stop)
{
	struct perf_event e;

	if (perf_line_is_empty(p, stop))
		return true;
	return *p != ' ' && *p != '\t' && *p != '#' && perf_event_parse((struct str){ p, (size_t)(stop - p) }, &e);
}

/* Continues after the first `*size` bytes, which are `*lines` lines of the chain; the first `*seen` bytes after them
 * have no newline. Returns true if the chain ends there, or with `last`, at the end of `b`. */
static bool find_end(struct str b, bool last, size_t *size, size_t *seen, uint64_t *lines)
{
	const char *p = b.p + *size, *end = b.p + b.n, *from = b.p + *seen, *newline;
	bool found = last;

	*seen = b.n;
	for (; p < end; p = newline ? newline + 1 : end, from = p, ++*lines) {
		newline = memchr(from, '\n', (size_t)(end - from));
		if (!newline && !last)
			break;
		if (ends_chain(p, newline ? newline : end)) {
			found = true;
			break;
		}
	}
	*size = (size_t)(p - b.p);
	return found;
}

bool perf_chain_take(struct input *in, struct str *ret)
{
	bool last = false;
	uint64_t lines = 0;
	size_t size = 0, seen = 0;

	while (!find_end(input_buffered(in), last, &size, &seen, &lines)) {
		if (size > PERF_CHAIN_BYTES)
			return false;
		last = !input_more(in);
	}
	*ret = (struct str){ input_buffered(in).p, size };
	if (size && ret->p[size - 1] == '\n')
		ret->n--;
	input_skip(in, size, lines);
	return true;
}
