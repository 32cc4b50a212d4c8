/* lines.c: converts lines of folded stacks to boxes; lines.h describes the behavior that this imitates.
 *
 * It makes two passes over the sorted lines: the first adds up counts, so that the second can drop frames that are
 * too narrow. A log of millions of frames becomes about ten thousand boxes.
 */

#include "lines.h"

#include "mem.h"
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* --- Perl's numbers --- */

#define EXACT_MAX 9007199254740992.0	/* 2^53: smaller integral doubles are treated as integers */

struct number {
	double d;
	uint64_t u;		/* if whole */
	bool whole;		/* treated as an integer by the next addition */
	bool is_double;		/* printed with 15 digits */
	bool seen;		/* a string that was used as a double before, with full precision */
};

static struct number number_of_double(double d)
{
	bool whole = d >= 0 && d < EXACT_MAX && d == floor(d);

	return (struct number){ .d = d, .u = whole ? (uint64_t)d : 0, .whole = whole, .is_double = true };
}

static struct number number_of_integer(uint64_t u)
{
	return (struct number){ .d = (double)u, .u = u, .whole = true };
}

static struct number parse_number(struct str text)
{
	char scratch[64], *copy = text.n < sizeof(scratch) ? scratch : xmalloc(text.n + 1);
	struct number n;
	uint64_t u = 0;
	size_t i = 0;

	for (; i < text.n && text.p[i] != '.'; i++)
		if (__builtin_mul_overflow(u, 10, &u) || __builtin_add_overflow(u, (uint64_t)(text.p[i] - '0'), &u))
			break;
	if (i == text.n)
		return number_of_integer(u);
	memcpy(copy, text.p, text.n);
	copy[text.n] = 0;
	n = (struct number){ .d = strtod(copy, NULL), .is_double = true };
	if (copy != scratch)
		free(copy);
	return n;
}

static bool is_lossless(struct number n)
{
	return n.d >= 0 && n.d < 9e18 && n.d == floor(n.d);
}

/* Two integral doubles are added as integers, unless one is still a string. */
static struct number add(struct number a, struct number b)
{
	uint64_t sum;

	if (a.whole && b.whole && !__builtin_add_overflow(a.u, b.u, &sum))
		return number_of_integer(sum);
	if (a.is_double && b.seen && is_lossless(a) && is_lossless(b))
		return number_of_integer((uint64_t)a.d + (uint64_t)b.d);
	return number_of_double(a.d + b.d);
}

static struct number add_times(struct number a, struct number b, uint64_t times)
{
	uint64_t product;

	if (a.whole && b.whole && !__builtin_mul_overflow(b.u, times, &product) && a.u + product >= a.u)
		return number_of_integer(a.u + product);
	for (; times > 0; times--)
		a = add(a, b);
	return a;
}

static double difference(struct number a, struct number b)
{
	if (a.whole && b.whole)
		return a.u >= b.u ? (double)(a.u - b.u) : -(double)(b.u - a.u);
	return a.d - b.d;
}

static bool is_same(struct number a, struct number b)
{
	return a.whole && b.whole ? a.u == b.u : a.d == b.d;
}

/* Returns a number after being printed and parsed again. */
static struct number reread(struct number n)
{
	char text[32];

	if (n.whole && (!n.is_double || n.d < 1e15))
		return n;
	snprintf(text, sizeof(text), "%.15g", n.d);
	return number_of_double(strtod(text, NULL));
}

/* --- Lines --- */

struct entry {
	struct str line, stack;
	struct number value;
	double delta;
	bool has_delta;
	uint64_t repeat, number;
};

/* Returns the number of bytes of white space at the end of `text`: one character that matches \s. */
static size_t space_at_end(struct str text)
{
	static const char *const wide[] = { "\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\xa8", "\xe2\x80\xa9",
					    "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80" };
	const char *end = text.p + text.n;

	if (text.n == 0)
		return 0;
	if (end[-1] == ' ' || (end[-1] >= '\t' && end[-1] <= '\r'))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
		size_t n = strlen(wide[i]);

		if (text.n >= n && !memcmp(end - n, wide[i], n))
			return n;
	}
	/* U+2000 to U+200A */
	return text.n >= 3 && !memcmp(end - 3, "\xe2\x80", 2) && (unsigned char)end[-1] >= 0x80 &&
	       (unsigned char)end[-1] <= 0x8a ? 3 : 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Removes a count, such as "12", "12." or "12.5", and one space before it, from the end. */
static bool take_count(struct str *text, struct str *ret_count)
{
	const char *end = text->p + text->n, *p = end;
	struct str rest;
	size_t space;

	while (p > text->p && is_digit(p[-1]))
		p--;
	if (p > text->p && p[-1] == '.')
		for (p--; p > text->p && is_digit(p[-1]);)
			p--;
	rest = (struct str){ text->p, (size_t)(p - text->p) };
	space = space_at_end(rest);
	if (p == end || !is_digit(*p) || !space)
		return false;
	*ret_count = (struct str){ p, (size_t)(end - p) };
	text->n = rest.n - space;
	return true;
}

/* Parses "stack N" or "stack N1 N2", the values before and after. */
static bool parse_line(struct str line, struct entry *e)
{
	struct str first, second;
	struct number before;

	e->line = line;
	if (!take_count(&line, &second))
		return false;
	e->value = parse_number(second);
	e->has_delta = take_count(&line, &first);
	if (e->has_delta) {
		before = parse_number(first);
		e->delta = difference(e->value, before);
		/* Subtracting a string like this from "1.0" is done in doubles, and the result is integral from then
		 * on. */
		if (e->value.is_double && before.is_double)
			e->value = number_of_double(e->value.d);
		e->value.seen = e->value.is_double ||
				(!before.whole && is_lossless(e->value) && (uint64_t)e->value.d == e->value.u);
	}
	e->stack = line;
	return true;
}

/* Returns frames from left to right; trailing empty ones are ignored. */
static bool next_frame(struct str *rest, struct str *ret_frame)
{
	const char *stop;

	if (rest->n == 0)
		return false;
	stop = memchr(rest->p, ';', rest->n);
	*ret_frame = (struct str){ rest->p, stop ? (size_t)(stop - rest->p) : rest->n };
	*rest = stop ? (struct str){ stop + 1, rest->n - ret_frame->n - 1 } : (struct str){ rest->p, 0 };
	return true;
}

static struct str without_empty_end(struct str stack)
{
	while (stack.n && stack.p[stack.n - 1] == ';')
		stack.n--;
	return stack;
}

/* Returns the line with its frames reversed and its counts kept, to be sorted and parsed like any other. */
static struct str reversed_line(struct line_layout *l, struct str line)
{
	struct str stack = line, first = { "", 0 }, second = { "", 0 }, trimmed;
	char *text, *at;

	if (!take_count(&stack, &second))
		return line;
	take_count(&stack, &first);
	trimmed = without_empty_end(stack);
	text = at = arena_alloc(&l->memory, trimmed.n + first.n + second.n + 3);
	for (const char *end = trimmed.p + trimmed.n; trimmed.n;) {
		const char *semicolon = memrchr(trimmed.p, ';', (size_t)(end - trimmed.p));
		const char *from = semicolon ? semicolon + 1 : trimmed.p;

		at = mempcpy(at, from, (size_t)(end - from));
		if (!semicolon)
			break;
		*at++ = ';';
		end = semicolon;
	}
	if (first.n) {
		*at++ = ' ';
		at = mempcpy(at, first.p, first.n);
	}
	*at++ = ' ';
	at = mempcpy(at, second.p, second.n);
	return (struct str){ text, (size_t)(at - text) };
}

/* Truncates the stack after the last part that is not empty. */
static struct str without_empty_parts(struct str stack, const char between[4])
{
	const char *at = stack.p, *end = stack.p + stack.n, *last = stack.p;

	for (;;) {
		const char *stop = memmem(at, (size_t)(end - at), between, 4);

		if ((stop ? stop : end) > at)
			last = stop ? stop : end;
		if (!stop)
			return (struct str){ stack.p, (size_t)(last - stack.p) };
		at = stop + 4;
	}
}

/* Chains of wakers: inserts a separator after the first part, and marks each frame of the others. */
static struct str chained_stack(struct line_layout *l, struct str stack)
{
	static const char between[] = ";--;";
	struct buf b;
	struct str s;
	char *copy;

	stack = without_empty_parts(stack, between);
	buf_init(&b);
	for (unsigned part = 0;; part++) {
		const char *stop = memmem(stack.p, stack.n, between, 4);
		size_t n = stop ? (size_t)(stop - stack.p) : stack.n;

		for (size_t i = 0; i < n; i++) {
			if (part && stack.p[i] == ';')
				buf_puts(&b, "_[w]");
			buf_putc(&b, stack.p[i]);
		}
		if (part)
			buf_puts(&b, "_[w]");
		if (part == 0 || stop)
			buf_puts(&b, between);
		if (!stop)
			break;
		stack = (struct str){ stop + 4, stack.n - n - 4 };
	}
	copy = arena_copy(&l->memory, b.data, b.size);
	s = (struct str){ copy, b.size };
	buf_done(&b);
	return s;
}

static int by_line(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	size_t n = x->line.n < y->line.n ? x->line.n : y->line.n;
	int order = n ? memcmp(x->line.p, y->line.p, n) : 0;

	return order ? order : x->line.n < y->line.n ? -1 : x->line.n > y->line.n;
}

static void ignore(struct line_layout *l, const struct flamegraph_line *line)
{
	l->ignored += line->repeat;
	if (!l->first_ignored || line->number < l->first_ignored->number)
		l->first_ignored = line;
}

static struct entry *read_entries(struct line_layout *l, const struct flamegraph_line *lines, size_t count,
				  const struct flamegraph_options *o, size_t *ret_count)
{
	struct entry *entries = xcalloc(count ? count : 1, sizeof(*entries));
	bool chain = !strcmp(o->colors, "chain");
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		struct entry *e = &entries[n];
		struct str line = o->reverse ? reversed_line(l, lines[i].text) : lines[i].text;

		if (!parse_line(line, e)) {
			ignore(l, &lines[i]);
			continue;
		}
		e->repeat = lines[i].repeat;
		e->number = lines[i].number;
		l->stacks += e->repeat;
		if (chain)
			e->stack = chained_stack(l, e->stack);
		n++;
	}
	if (!o->flamechart)
		qsort(entries, n, sizeof(*entries), by_line);
	*ret_count = n;
	return entries;
}

/* --- Merging neighbors --- */

struct open_frame {
	struct str name;
	struct number start;
	uint32_t order;
	double delta;
	bool has_delta;
	double hidden;			/* value of callees too narrow to be drawn */
};

struct flow {
	struct line_layout *l;
	struct number time;
	double min_width;
	struct open_frame *open;	/* index 0 is the root */
	size_t depth, open_capacity, box_capacity;
	uint32_t order;

	/* Frames that end at the same count: if several have the same name and depth, the last one is used. */
	struct number at;
	size_t tail, indexed;		/* the boxes that end there, and how many of them are in `slots` */
	uint32_t *slots;		/* index of a box + 1; boxes before `tail` are ignored */
	size_t slot_count;
};

static bool same_name(struct str a, struct str b)
{
	return a.n == b.n && (a.p == b.p || !memcmp(a.p, b.p, a.n));
}

static size_t slot_of(const struct flow *f, struct str name, uint32_t depth)
{
	size_t i = (size_t)XXH3_64bits_withSeed(name.p, name.n, depth) & (f->slot_count - 1);

	for (; f->slots[i] > f->tail; i = (i + 1) & (f->slot_count - 1)) {
		const struct line_box *box = &f->l->boxes[f->slots[i] - 1];

		if (box->depth == depth && same_name(box->name, name))
			break;
	}
	return i;
}

static void index_tail(struct flow *f)
{
	size_t size = f->l->count - f->tail;

	if (f->slot_count < 2 * size + 2) {
		free(f->slots);
		for (f->slot_count = 64; f->slot_count < 4 * size + 4;)
			f->slot_count *= 2;
		f->slots = xcalloc(f->slot_count, sizeof(*f->slots));
		f->indexed = f->tail;
	}
	for (; f->indexed < f->l->count; f->indexed++) {
		const struct line_box *box = &f->l->boxes[f->indexed];

		f->slots[slot_of(f, box->name, box->depth)] = (uint32_t)f->indexed + 1;
	}
}

/* A frame without width may have the same end, and so the same key, as an earlier one, and replaces it. */
static bool replaces(struct flow *f, const struct open_frame *frame, uint32_t depth, double width)
{
	struct line_box *box;
	uint32_t number;

	index_tail(f);
	number = f->slots[slot_of(f, frame->name, depth)];
	if (number <= f->tail)
		return false;
	box = &f->l->boxes[number - 1];
	box->start = frame->start.d;
	box->order = frame->order;
	box->width = width;
	box->gone = width < f->min_width;
	if (frame->has_delta) {
		box->delta = frame->delta;
		box->has_delta = true;
	}
	return true;
}

static void close_frame(struct flow *f, uint32_t depth)
{
	struct line_layout *l = f->l;
	const struct open_frame *frame = &f->open[depth];
	struct number end = reread(f->time);
	double width = difference(end, frame->start);

	if (!is_same(f->at, end)) {
		f->at = end;
		f->tail = f->indexed = l->count;
	}
	/* Such a frame begins where the other ends, so it has no width except for the rounding of its end. */
	if (width <= end.d * 1e-14 && l->count > f->tail && replaces(f, frame, depth, width))
		return;
	if (width < f->min_width) {
		l->narrow++;
		if (depth && width > 0)
			f->open[depth - 1].hidden += width;
		return;
	}
	l->narrow_value += frame->hidden;
	GROW(&l->boxes, &f->box_capacity, l->count + 1);
	l->boxes[l->count++] = (struct line_box){
		.name = frame->name, .depth = depth, .order = frame->order, .start = frame->start.d, .end = end.d,
		.width = width, .delta = frame->delta, .has_delta = frame->has_delta,
	};
	if (depth > l->depth)
		l->depth = depth;
}

static void open_frame(struct flow *f, struct str name)
{
	GROW(&f->open, &f->open_capacity, f->depth + 1);
	f->open[f->depth++] = (struct open_frame){ .name = name, .start = f->time, .order = f->order++ };
}

static void close_above(struct flow *f, size_t depth)
{
	while (f->depth > depth)
		close_frame(f, (uint32_t)--f->depth);
}

static int flow_line(struct flow *f, const struct entry *e, struct err *err)
{
	struct str rest = without_empty_end(e->stack), at = rest, name;
	size_t same = f->depth ? 1 : 0, opened;

	for (; same && same < f->depth && next_frame(&at, &name) && same_name(name, f->open[same].name); same++)
		rest = at;
	close_above(f, same);
	opened = f->depth;
	if (!same)
		open_frame(f, (struct str){ "", 0 });
	while (next_frame(&rest, &name)) {
		if (f->depth > LINE_DEPTH_MAX)
			return err_set(err, -E2BIG, "line %llu is a stack of more than %u frames",
				       (unsigned long long)e->number, LINE_DEPTH_MAX);
		open_frame(f, name);
	}
	for (size_t i = opened; e->has_delta && i < f->depth; i++) {
		f->open[i].has_delta = true;
		f->open[i].delta = i + 1 == f->depth ? e->delta : 0;
	}
	f->time = add_times(f->time, e->value, e->repeat);
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct line_box *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

/* Drops replaced boxes, and sorts the rest by start instead of end. */
static void finish(struct line_layout *l)
{
	size_t n = 0;

	l->depth = 0;
	for (size_t i = 0; i < l->count; i++) {
		if (l->boxes[i].gone)
			continue;
		if (l->boxes[i].depth > l->depth)
			l->depth = l->boxes[i].depth;
		l->boxes[n++] = l->boxes[i];
	}
	l->count = n;
	if (n)
		qsort(l->boxes, n, sizeof(*l->boxes), by_order);
}

static int flow_all(struct line_layout *l, const struct entry *entries, size_t n, double min_width, struct err *err)
{
	struct flow f = { .l = l, .time = number_of_integer(0), .min_width = min_width, .at.d = -1 };
	int e = 0;

	for (size_t i = 0; i < n && e == 0; i++)
		e = flow_line(&f, &entries[i], err);
	close_above(&f, 0);
	finish(l);
	free(f.slots);
	free(f.open);
	return e;
}

/* Uses the same order of operations as flamegraph.pl: a frame of exactly that width must be treated the same. */
static double narrowest(double total, const struct flamegraph_options *o)
{
	if (o->min_width_percent)
		return total * o->min_width / 100;
	return o->min_width / ((o->width - 2 * PICTURE_MARGIN) / total);
}

int line_layout_init(struct line_layout *l, const struct flamegraph_line *lines, size_t count,
		     const struct flamegraph_options *o, struct err *err)
{
	struct number total = number_of_integer(0);
	struct entry *entries;
	size_t n;
	int e = 0;

	*l = (struct line_layout){ .max_delta = 1 };
	arena_init(&l->memory);
	entries = read_entries(l, lines, count, o, &n);
	for (size_t i = 0; i < n && e == 0; i++) {
		total = add_times(total, entries[i].value, entries[i].repeat);
		if (entries[i].has_delta && fabs(entries[i].delta) > l->max_delta)
			l->max_delta = fabs(entries[i].delta);
		if (!isfinite(total.d) || !isfinite(l->max_delta))
			e = err_set(err, -ERANGE, "line %llu has a count that is out of range",
				    (unsigned long long)entries[i].number);
	}
	l->total = o->total > total.d ? o->total : total.d;
	if (total.d == 0)
		l->total = 0;
	if (e == 0 && total.d > 0)
		e = flow_all(l, entries, n, narrowest(l->total, o), err);
	free(entries);
	return e;
}

void line_layout_done(struct line_layout *l)
{
	free(l->boxes);
	arena_done(&l->memory);
	*l = (struct line_layout){ 0 };
}
