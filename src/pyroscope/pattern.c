/* pattern.c: parses an expression into a tree and simulates its NFA, following all states at once (Thompson 1968). */
#include "pattern.h"

#include "arena.h"
#include "mem.h"
#include "text.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#define NONE	UINT32_MAX
#define FOREVER	UINT32_MAX
#define REPEATS	1000u			/* same limit as RE2 */

struct set {
	uint32_t bits[8];		/* a set of bytes */
};

struct node {
	enum { SET, EMPTY, SEQUENCE, EITHER, REPEAT, BEGIN, END, EDGE, NO_EDGE } kind;
	struct node *a, *b;
	uint32_t min, max;
	struct set set;
};

struct state {
	enum { TAKE, SPLIT, AT_BEGIN, AT_END, AT_EDGE, AT_NO_EDGE, ACCEPT } kind;
	uint32_t next, other;
	struct set set;
};

struct pattern {
	struct state *states;
	size_t count, capacity;
	size_t parts;			/* parts built so far, including those without a state that takes a byte */
	uint32_t start;
};

struct parser {
	const char *text, *p;
	struct arena nodes;
	bool fold;
	unsigned depth;
	struct err *err;
};

/* --- Sets of bytes --- */

static void set_add(struct set *s, unsigned byte)
{
	s->bits[byte >> 5] |= 1u << (byte & 31);
}

static bool set_has(const struct set *s, unsigned byte)
{
	return s->bits[byte >> 5] >> (byte & 31) & 1;
}

static void set_add_range(struct set *s, unsigned from, unsigned to, bool fold)
{
	for (unsigned c = from; c <= to; c++) {
		set_add(s, c);
		if (fold && c < 0x80 && isalpha((int)c))
			set_add(s, c ^ 0x20);
	}
}

/* Complements the set within ASCII. */
static void set_invert(struct set *s)
{
	for (unsigned i = 0; i < 4; i++)
		s->bits[i] = ~s->bits[i];
}

static void set_add_all(struct set *s, const struct set *more)
{
	for (unsigned i = 0; i < 8; i++)
		s->bits[i] |= more->bits[i];
}

/* --- The tree --- */

static struct node *node_new(struct parser *p, int kind, struct node *a, struct node *b)
{
	struct node *n = arena_alloc(&p->nodes, sizeof(*n));

	n->kind = kind;
	n->a = a;
	n->b = b;
	return n;
}

static struct node *refuse(struct parser *p, const char *problem)
{
	err_set(p->err, -EINVAL, "the regular expression '%.200s' has %s at character %zu", p->text, problem,
		(size_t)(p->p - p->text) + 1);
	return NULL;
}

static struct node *set_node(struct parser *p, const struct set *s)
{
	struct node *n = node_new(p, SET, NULL, NULL);

	n->set = *s;
	return n;
}

static struct node *repeat_node(struct parser *p, struct node *a, uint32_t min, uint32_t max)
{
	struct node *n = node_new(p, REPEAT, a, NULL);

	n->min = min;
	n->max = max;
	return n;
}

/* A code point whose first byte is in the set, followed by its continuation bytes. */
static struct node *code_point_node(struct parser *p, struct set *s)
{
	struct set rest = { 0 };

	set_add_range(s, 0xc0, 0xff, false);
	set_add_range(&rest, 0x80, 0xbf, false);
	return node_new(p, SEQUENCE, set_node(p, s), repeat_node(p, set_node(p, &rest), 0, FOREVER));
}

/* A literal character, of one byte or more. */
static struct node *literal(struct parser *p, const char *text, size_t n)
{
	struct node *all = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned byte = (unsigned char)text[i];
		struct set s = { 0 };
		struct node *one;

		set_add_range(&s, byte, byte, p->fold);
		one = set_node(p, &s);
		all = all ? node_new(p, SEQUENCE, all, one) : one;
	}
	return all;
}

static size_t character_size(const char *text)
{
	uint32_t c;
	unsigned n = text_decode(text, text + strlen(text), &c);

	return n ? n : 1;
}

/* \d \w \s and their opposites; false for other letters. */
static bool add_class(char letter, struct set *ret)
{
	struct set s = { 0 };

	switch (tolower(letter)) {
	case 'd':
		set_add_range(&s, '0', '9', false);
		break;
	case 'w':
		set_add_range(&s, '0', '9', false);
		set_add_range(&s, 'a', 'z', true);
		set_add(&s, '_');
		break;
	case 's':
		for (const char *c = " \t\n\f\r"; *c; c++)
			set_add(&s, (unsigned char)*c);
		break;
	default:
		return false;
	}
	if (isupper(letter))
		set_invert(&s);
	set_add_all(ret, &s);
	return true;
}

/* Returns the byte that an escape stands for, with p after the backslash and moved behind the escape; -1 if it is not
 * an escape of a byte. */
static int escaped_byte(struct parser *p)
{
	static const char letters[] = "tnrfva", bytes[] = "\t\n\r\f\v\a";
	char c = *p->p;
	const char *at = c ? strchr(letters, c) : NULL;
	int high, low;

	if (c == 'x') {
		high = p->p[1] ? text_hex_digit(p->p[1]) : -1;
		low = high >= 0 ? text_hex_digit(p->p[2]) : -1;
		if (low < 0 || high > 7)
			return -1;
		p->p += 3;
		return high * 16 + low;
	}
	if (!at && (!ispunct((unsigned char)c) || !c))
		return -1;
	p->p++;
	return at ? bytes[at - letters] : c;
}

/* --- Classes --- */

static bool add_posix(struct parser *p, struct set *ret)
{
	static const struct { const char *name; int (*is)(int); } classes[] = {
		{ "[:alpha:]", isalpha }, { "[:digit:]", isdigit }, { "[:alnum:]", isalnum }, { "[:upper:]", isupper },
		{ "[:lower:]", islower }, { "[:space:]", isspace }, { "[:punct:]", ispunct }, { "[:xdigit:]", isxdigit },
	};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		size_t n = strlen(classes[i].name);

		if (strncmp(p->p, classes[i].name, n))
			continue;
		for (int c = 0; c < 0x80; c++)
			if (classes[i].is(c))
				set_add_range(ret, (unsigned)c, (unsigned)c, p->fold);
		p->p += n;
		return true;
	}
	return false;
}

static int class_byte(struct parser *p)
{
	int c = (unsigned char)*p->p;

	if (c == '\\') {
		p->p++;
		return escaped_byte(p);
	}
	if (!c || c >= 0x80)
		return -1;
	p->p++;
	return c;
}

/* One item of a class: a class itself, a byte, or a range of them. */
static bool add_item(struct parser *p, struct set *s)
{
	int from, to;

	if (*p->p == '[' && p->p[1] == ':')
		return add_posix(p, s);
	if (*p->p == '\\' && p->p[1] && add_class(p->p[1], s)) {
		p->p += 2;
		return true;
	}
	from = to = class_byte(p);
	if (from >= 0 && *p->p == '-' && p->p[1] && p->p[1] != ']') {
		p->p++;
		to = class_byte(p);
	}
	if (from < 0 || to < from)
		return false;
	set_add_range(s, (unsigned)from, (unsigned)to, p->fold);
	return true;
}

static struct node *parse_class(struct parser *p)
{
	bool negated = *p->p == '^', first = true;
	struct set s = { 0 };

	p->p += negated;
	for (; *p->p != ']' || first; first = false)
		if (!*p->p || !add_item(p, &s))
			return refuse(p, "a class that is not supported (ranges and characters of ASCII are)");
	p->p++;
	if (!negated)
		return set_node(p, &s);
	set_invert(&s);
	return code_point_node(p, &s);
}

/* --- Expressions --- */

static struct node *parse_either(struct parser *p);

static struct node *parse_group(struct parser *p)
{
	const char *open = p->p - 1;
	struct node *n;

	if (*p->p == '?') {
		const char *name = p->p + 1 + (p->p[1] == 'P');

		if (p->p[1] == ':')
			p->p += 2;
		else if (*name == '<' && strchr(name, '>'))
			p->p = strchr(name, '>') + 1;
		else
			return refuse(p, "a group with flags");
	}
	if (++p->depth > PATTERN_DEPTH)
		return refuse(p, "groups nested too deeply");
	n = parse_either(p);
	p->depth--;
	if (n && *p->p++ != ')') {
		p->p = open;
		return refuse(p, "an unmatched (");
	}
	return n;
}

static struct node *parse_quoted(struct parser *p)
{
	const char *end = strstr(p->p, "\\E");
	size_t n = end ? (size_t)(end - p->p) : strlen(p->p);
	struct node *all = n ? literal(p, p->p, n) : node_new(p, EMPTY, NULL, NULL);

	p->p += n + (end ? 2 : 0);
	return all;
}

static struct node *parse_escape(struct parser *p)
{
	struct set s = { 0 };
	char c = *p->p;
	int byte;

	if (c == 'b' || c == 'B') {
		p->p++;
		return node_new(p, c == 'b' ? EDGE : NO_EDGE, NULL, NULL);
	}
	if (c == 'A' || c == 'z' || c == 'Q') {
		p->p++;
		return c == 'Q' ? parse_quoted(p) : node_new(p, c == 'A' ? BEGIN : END, NULL, NULL);
	}
	if (c && add_class(c, &s)) {
		p->p++;
		return isupper(c) ? code_point_node(p, &s) : set_node(p, &s);
	}
	byte = escaped_byte(p);
	if (byte < 0)
		return refuse(p, "an escape that is not supported");
	return literal(p, &(char){ (char)byte }, 1);
}

/* Parses "{2,5}"; a brace that does not begin a count is a literal. */
static bool parse_count(const char *text, uint32_t *ret_min, uint32_t *ret_max, size_t *ret_size)
{
	char *end;

	if (*text != '{' || !isdigit((unsigned char)text[1]))
		return false;
	*ret_min = *ret_max = (uint32_t)strtoul(text + 1, &end, 10);
	if (*end == ',' && end[1] == '}') {
		*ret_max = FOREVER;
		end++;
	} else if (*end == ',' && isdigit((unsigned char)end[1])) {
		*ret_max = (uint32_t)strtoul(end + 1, &end, 10);
	}
	*ret_size = (size_t)(end + 1 - text);
	return *end == '}';
}

static struct node *parse_atom(struct parser *p)
{
	struct set all = { 0 };
	uint32_t min, max;
	size_t n;

	switch (*p->p) {
	case '(':
		p->p++;
		return parse_group(p);
	case '[':
		p->p++;
		return parse_class(p);
	case '\\':
		p->p++;
		return parse_escape(p);
	case '.':
		p->p++;
		set_add_range(&all, 0, 0x7f, false);
		return code_point_node(p, &all);
	case '^':
	case '$':
		return node_new(p, *p->p++ == '^' ? BEGIN : END, NULL, NULL);
	case '*':
	case '+':
	case '?':
		return refuse(p, "nothing to repeat");
	}
	if (parse_count(p->p, &min, &max, &n))
		return refuse(p, "nothing to repeat");
	n = character_size(p->p);
	p->p += n;
	return literal(p, p->p - n, n);
}

static bool parse_repeat(struct parser *p, uint32_t *ret_min, uint32_t *ret_max)
{
	size_t n = 1;

	*ret_min = *p->p == '+';
	*ret_max = *p->p == '?' ? 1 : FOREVER;
	if ((!*p->p || !strchr("*+?", *p->p)) && !parse_count(p->p, ret_min, ret_max, &n))
		return false;
	p->p += n;
	p->p += *p->p == '?';
	return true;
}

static struct node *parse_sequence(struct parser *p)
{
	struct node *all = NULL;

	while (*p->p && *p->p != '|' && *p->p != ')') {
		struct node *one = parse_atom(p);
		uint32_t min, max;

		if (one && parse_repeat(p, &min, &max)) {
			if (min > REPEATS || (max != FOREVER && (max > REPEATS || max < min)))
				return refuse(p, "a count above 1,000, or in the wrong order");
			one = repeat_node(p, one, min, max);
		}
		if (!one)
			return NULL;
		all = all ? node_new(p, SEQUENCE, all, one) : one;
	}
	return all ? all : node_new(p, EMPTY, NULL, NULL);
}

static struct node *parse_either(struct parser *p)
{
	struct node *all = parse_sequence(p);

	while (all && *p->p == '|') {
		struct node *one;

		p->p++;
		one = parse_sequence(p);
		all = one ? node_new(p, EITHER, all, one) : NULL;
	}
	return all;
}

/* --- The machine --- */

/* Returns NONE if there are too many states; all callers pass that up. */
static uint32_t state_new(struct pattern *m, int kind, uint32_t next, uint32_t other)
{
	if (m->count == PATTERN_STATES)
		return NONE;
	GROW(&m->states, &m->capacity, m->count + 1);
	m->states[m->count] = (struct state){ .kind = kind, .next = next, .other = other };
	return (uint32_t)m->count++;
}

static uint32_t build(struct pattern *m, const struct node *n, uint32_t next);

static uint32_t build_repeat(struct pattern *m, const struct node *n, uint32_t next)
{
	uint32_t at = next;

	if (n->max == FOREVER) {
		uint32_t inside;

		at = state_new(m, SPLIT, NONE, next);
		inside = at == NONE ? NONE : build(m, n->a, at);
		if (inside == NONE)
			return NONE;
		m->states[at].next = inside;
	}
	for (uint32_t i = n->min; n->max != FOREVER && i < n->max && at != NONE; i++) {
		at = build(m, n->a, at);
		at = at == NONE ? NONE : state_new(m, SPLIT, at, next);
	}
	for (uint32_t i = 0; i < n->min && at != NONE; i++)
		at = build(m, n->a, at);
	return at;
}

/* Returns the first state of the part, given the state `next` that follows it. Sequences lean to the left and may be
 * as long as the pattern, hence the loop. */
static uint32_t build(struct pattern *m, const struct node *n, uint32_t next)
{
	uint32_t at, other;

	for (; n->kind == SEQUENCE && next != NONE; n = n->a)
		next = build(m, n->b, next);
	if (next == NONE || ++m->parts > 10 * PATTERN_STATES)
		return NONE;
	switch (n->kind) {
	case SET:
		at = state_new(m, TAKE, next, NONE);
		if (at != NONE)
			m->states[at].set = n->set;
		return at;
	case EITHER:
		at = build(m, n->a, next);
		other = at == NONE ? NONE : build(m, n->b, next);
		return other == NONE ? NONE : state_new(m, SPLIT, at, other);
	case REPEAT:
		return build_repeat(m, n, next);
	case BEGIN:
	case END:
	case EDGE:
	case NO_EDGE:
		return state_new(m, AT_BEGIN + (int)(n->kind - BEGIN), next, NONE);
	default:
		return next;
	}
}

static struct node *anything(struct parser *p)
{
	struct set all;

	memset(&all, 0xff, sizeof(all));
	return repeat_node(p, set_node(p, &all), 0, FOREVER);
}

static int parse(struct parser *p, bool anywhere, struct pattern *m)
{
	struct node *all;

	if (!strncmp(p->p, "(?i)", 4)) {
		p->fold = true;
		p->p += 4;
	} else if (!strncmp(p->p, "(?s)", 4)) {
		p->p += 4;
	}
	all = parse_either(p);
	if (all && *p->p)
		all = refuse(p, "an unmatched )");
	if (!all)
		return -EINVAL;
	if (anywhere)
		all = node_new(p, SEQUENCE, node_new(p, SEQUENCE, anything(p), all), anything(p));
	m->start = build(m, all, state_new(m, ACCEPT, NONE, NONE));
	if (m->start == NONE)
		return err_set(p->err, -EINVAL, "the regular expression '%.200s' is too large: repeat less", p->text);
	return 0;
}

static int make(const char *text, bool fold, bool anywhere, struct pattern **ret, struct err *err)
{
	struct parser p = { .text = text, .p = text, .fold = fold, .err = err };
	struct pattern *m = xcalloc(1, sizeof(*m));
	int r;

	if (strlen(text) > PATTERN_STATES) {
		free(m);
		return err_set(err, -EINVAL, "a regular expression has %zu bytes; give at most %u", strlen(text), PATTERN_STATES);
	}
	arena_init(&p.nodes);
	r = parse(&p, anywhere, m);
	arena_done(&p.nodes);
	if (r < 0)
		pattern_free(m);
	else
		*ret = m;
	return r;
}

int pattern_new(const char *text, struct pattern **ret, struct err *err)
{
	return make(text, false, false, ret, err);
}

int pattern_new_search(const char *text, bool ignore_case, struct pattern **ret, struct err *err)
{
	return make(text, ignore_case, true, ret, err);
}

struct pattern *pattern_free(struct pattern *p)
{
	if (p)
		free(p->states);
	free(p);
	return NULL;
}

/* --- Matching --- */

struct run {
	const struct pattern *m;
	uint32_t *now, *next, *waiting;		/* active states that take a byte; states still to be followed */
	uint32_t *seen;				/* by state: the last step in which it was added */
	size_t now_count, next_count;
	uint32_t step;
	bool accepts;				/* at the end of the value */
};

static bool is_of_word(unsigned byte)
{
	return byte < 0x80 && (isalnum((int)byte) || byte == '_');
}

/* Whether an assertion holds between two bytes; beyond either end of the value the byte is 0. */
static bool passes(int kind, unsigned before, unsigned after)
{
	switch (kind) {
	case SPLIT:
		return true;
	case AT_BEGIN:
		return !before;
	case AT_END:
		return !after;
	case AT_EDGE:
	case AT_NO_EDGE:
		return (is_of_word(before) != is_of_word(after)) == (kind == AT_EDGE);
	default:
		return false;
	}
}

static void follow(struct run *r, uint32_t from, unsigned before, unsigned after)
{
	size_t waiting = 0;

	r->waiting[waiting++] = from;
	while (waiting) {
		uint32_t at = r->waiting[--waiting];
		const struct state *s = &r->m->states[at];

		if (r->seen[at] == r->step)
			continue;
		r->seen[at] = r->step;
		if (s->kind == TAKE)
			r->next[r->next_count++] = at;
		else if (s->kind == ACCEPT)
			r->accepts |= !after;
		else if (s->kind == SPLIT)
			r->waiting[waiting++] = s->other;
		if (passes(s->kind, before, after))
			r->waiting[waiting++] = s->next;
	}
}

static void advance(struct run *r, unsigned byte, unsigned after)
{
	uint32_t *swap = r->now;

	r->now = r->next;
	r->now_count = r->next_count;
	r->next = swap;
	r->next_count = 0;
	r->step++;
	for (size_t i = 0; i < r->now_count; i++)
		if (set_has(&r->m->states[r->now[i]].set, byte))
			follow(r, r->m->states[r->now[i]].next, byte, after);
}

bool pattern_matches(const struct pattern *m, const char *value)
{
	_cleanup_(freep) uint32_t *memory = xcalloc(5 * m->count + 2, sizeof(*memory));
	struct run r = { .m = m, .now = memory, .next = memory + m->count, .seen = memory + 2 * m->count,
			 .waiting = memory + 3 * m->count, .step = 1 };

	/* A state is put on the waiting list by at most two others, and each of these is followed once. */
	follow(&r, m->start, 0, (unsigned char)*value);
	for (const char *p = value; *p && r.next_count; p++)
		advance(&r, (unsigned char)*p, (unsigned char)p[1]);
	return r.accepts;
}
