/* stacks.c: collects frames one by one, and stacks that end with their count. */
#include "stacks.h"
#include "hash.h"
#include "mem.h"
#include "text.h"
#include <assert.h>
#include <limits.h>

int stacks_init(struct stacks *s, struct profile *p, struct err *err)
{
	const struct labels none = { 0 };

	*s = (struct stacks){ .profile = p };
	map_init(&s->known);
	intern_init(&s->names);
	profile_describe(p, 0, false, &none);
	s->column = profile_column(p, "samples", "count");
	if (s->column == UINT32_MAX)
		return err_set(err, -E2BIG, "there is no room for a column 'samples' beside the existing %u",
			       PROFILE_COLUMNS);
	return 0;
}

int stacks_done(struct stacks *s, const char *nothing, struct err *err)
{
	map_done(&s->known);
	intern_done(&s->names);
	free(s->frames);
	free(s->stack);
	if (s->column == UINT32_MAX)
		return -E2BIG;
	if (s->added == 0 && s->skipped == 0)
		return err_set(err, -ENODATA, "%s", nothing);
	if (s->added == 0)
		return -EINVAL;
	return s->skipped < INT_MAX ? (int)s->skipped : INT_MAX;
}

void stacks_frame(struct stacks *s, struct str name)
{
	size_t known = s->names.count;
	uint32_t id;

	if (s->depth == STACKS_DEPTH_MAX)
		return;
	id = intern_add(&s->names, name.p, name.n);
	if (s->names.count > known) {
		GROW(&s->frames, &s->frame_capacity, s->names.count);
		s->frames[id] = profile_frame(s->profile, name, (struct str){ "", 0 }, 0);
	}
	stacks_push(s, s->frames[id]);
}

void stacks_push(struct stacks *s, uint32_t frame)
{
	if (s->depth == STACKS_DEPTH_MAX)
		return;
	GROW(&s->stack, &s->stack_capacity, s->depth + 1);
	s->stack[s->depth++] = frame;
}

uint32_t stacks_add(struct stacks *s, int64_t value)
{
	uint32_t node = PROFILE_ROOT;

	/* A sample without frames still counts. */
	if (s->depth == 0)
		stacks_frame(s, profile_given_name((struct str){ "", 0 }));
	for (size_t i = s->depth; i-- > 0;)
		node = profile_child(s->profile, node, s->stack[i]);
	profile_add(s->profile, node, s->column, value);
	s->added++;
	stacks_drop(s);
	return node;
}

void stacks_drop(struct stacks *s)
{
	s->depth = 0;
}

void line_skip(uint64_t *skipped, uint64_t number, struct str line, const char *what, struct err *err)
{
	size_t shown = text_cut(line, 60);

	if ((*skipped)++)
		return;
	if (!line.p)
		err_set(err, -EINVAL, "line %llu %s", (unsigned long long)number, what);
	else
		err_set(err, -EINVAL, "line %llu %s: '%.*s%s'", (unsigned long long)number, what, (int)shown, line.p,
			shown < line.n ? "…" : "");
}

void stacks_skip(struct stacks *s, uint64_t number, struct str line, const char *what, struct err *err)
{
	line_skip(&s->skipped, number, line, what, err);
}

void stacks_end(struct stacks *s)
{
	if (s->depth)
		stacks_add(s, 1);
}

int stacks_read_lines(struct profile *p, struct input *in,
		      void (*take)(struct stacks *, uint64_t number, struct str line, struct err *),
		      const char *nothing, struct err *err)
{
	struct stacks s;
	struct str line;

	if (stacks_init(&s, p, err) >= 0) {
		while (input_line(in, &line))
			take(&s, in->line, line_without_return(line), err);
		stacks_end(&s);
	}
	return stacks_done(&s, nothing, err);
}

/* --- Stacks that end with their count --- */

struct counted {
	struct stacks stacks;
	struct str (*frame)(struct str line);
	char *text;			/* lines of the current stack that may no longer be in the input's buffer */
	size_t size, capacity;
	struct str held;		/* the lines after them, which are in the input's buffer, without the last
					 * newline */
	uint64_t start;			/* number of the first line; 0: there is none */
	bool too_long;
};

static struct str trimmed(struct str line)
{
	return line_trim_start(line_without_return(line));
}

/* Parses the lines; returns the node. */
static uint32_t add_text(struct counted *c, struct str text, int64_t count)
{
	struct str line;

	while (line_next(&text, &line)) {
		struct str name;

		line = trimmed(line);
		if (line.n == 0)
			continue;
		name = c->frame(line);
		stacks_frame(&c->stacks, name.n ? name : (struct str){ "-", 1 });
	}
	return stacks_add(&c->stacks, count);
}

/* Copies the lines that the input is about to discard. */
static void keep_held(struct counted *c)
{
	if (c->held.n == 0)
		return;
	GROW(&c->text, &c->capacity, c->size + c->held.n + 1);
	memcpy(c->text + c->size, c->held.p, c->held.n);
	c->size += c->held.n;
	c->text[c->size++] = '\n';
	c->held = (struct str){ NULL, 0 };
}

static void begin_stack(struct counted *c)
{
	c->size = 0;
	c->held = (struct str){ NULL, 0 };
	c->start = 0;
	c->too_long = false;
}

static void end_stack(struct counted *c, int64_t count, struct err *err)
{
	struct str text;
	uint32_t *node;

	if (c->too_long) {
		stacks_skip(&c->stacks, c->start, (struct str){ NULL, 0 }, "begins a stack of more than 16 MB", err);
		begin_stack(c);
		return;
	}
	if (c->size)
		keep_held(c);
	text = c->size ? (struct str){ c->text, c->size - 1 } : c->held;
	node = map_slot(&c->stacks.known, XXH3_64bits(text.p, text.n));
	if (*node == MAP_NONE) {
		*node = add_text(c, text, count);
	} else {
		profile_add(c->stacks.profile, *node, c->stacks.column, count);
		c->stacks.added++;
	}
	begin_stack(c);
}

/* `line` must be unchanged from the input. */
static void add_line(struct counted *c, uint64_t number, struct str line)
{
	if (!c->start)
		c->start = number;
	if (!c->held.n)
		c->held.p = line.p;
	c->held.n = (size_t)(line.p + line.n - c->held.p);
	if (c->size + c->held.n >= STACKS_TEXT_MAX) {
		c->too_long = true;
		c->size = 0;
	}
	if (c->too_long)
		c->held.n = 0;
}

static void read_line(struct counted *c, uint64_t number, struct str line, struct err *err)
{
	struct str text;
	int64_t count;
	int kind;

	/* The usual case: a frame. */
	if (line.n && line.p[line.n - 1] > '9') {
		add_line(c, number, line);
		return;
	}
	text = trimmed(line);
	if (text.n == 0)
		return;
	kind = line_count(text, &count);
	if (kind > 0) {
		end_stack(c, count, err);
	} else if (kind < 0) {
		stacks_skip(&c->stacks, number, text, "has a count above 9223372036854775807", err);
		begin_stack(c);
	} else {
		add_line(c, number, line);
	}
}

/* The current lines are valid only as long as the next one is. */
static bool next_line(struct counted *c, struct input *in, struct str *ret)
{
	if (input_line_at_hand(in, ret))
		return true;
	keep_held(c);
	return input_line_slowly(in, ret);
}

int stacks_read_counted(struct profile *p, struct input *in, uint64_t header, struct str (*frame)(struct str line),
			struct err *err)
{
	struct counted c = { .frame = frame };
	struct str line;

	if (stacks_init(&c.stacks, p, err) >= 0) {
		while (next_line(&c, in, &line))
			if (in->line > header)
				read_line(&c, in->line, line, err);
		if (c.start)
			stacks_skip(&c.stacks, c.start, (struct str){ NULL, 0 },
				    "begins a stack that has no count after it", err);
	}
	free(c.text);
	return stacks_done(&c.stacks, "there is no stack in it", err);
}

/* --- Lines --- */

bool line_next(struct str *rest, struct str *ret)
{
	const char *newline = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	size_t n = newline ? (size_t)(newline - rest->p) : rest->n;

	if (rest->n == 0)
		return false;
	*ret = (struct str){ rest->p, n };
	n += newline != NULL;
	rest->p += n;
	rest->n -= n;
	return true;
}

bool line_take_number(struct str *line, int64_t *ret)
{
	int64_t n = 0;
	size_t i = 0;

	for (; i < line->n && line_is_digit(line->p[i]); i++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, line->p[i] - '0', &n))
			return false;
	if (i == 0)
		return false;
	line->p += i;
	line->n -= i;
	*ret = n;
	return true;
}

bool line_take_decimal(struct str *line, int decimals, int64_t *ret)
{
	bool negative = line->n && *line->p == '-', up = false;
	struct str rest = { line->p + negative, line->n - negative };
	int64_t n;

	if (!line_take_number(&rest, &n))
		return false;
	if (rest.n && *rest.p == '.') {
		rest.p++;
		rest.n--;
	}
	for (; decimals > 0; decimals--) {
		int64_t digit = 0;

		if (rest.n && line_is_digit(*rest.p)) {
			digit = *rest.p++ - '0';
			rest.n--;
		}
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit, &n))
			return false;
	}
	if (rest.n && line_is_digit(*rest.p))
		up = *rest.p >= '5' && n < INT64_MAX;
	while (rest.n && line_is_digit(*rest.p)) {
		rest.p++;
		rest.n--;
	}
	*line = rest;
	*ret = negative ? -(n + up) : n + up;
	return true;
}

int line_count(struct str line, int64_t *ret)
{
	/* Frames nearly always end with something else. */
	if (line.n == 0 || !line_is_digit(line.p[line.n - 1]))
		return 0;
	line = line_trim_start(line);
	for (size_t i = 0; i < line.n; i++)
		if (!line_is_digit(line.p[i]))
			return 0;
	return line_take_number(&line, ret) ? 1 : -1;
}
