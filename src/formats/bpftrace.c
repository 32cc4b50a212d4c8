/* bpftrace.c: maps printed by bpftrace, with stacks as keys: kstack, ustack and anything else in the key.
 *
 *	@[
 *	    vfs_read+142
 *	    do_syscall_64+115
 *	]: 3
 *	@stacks[
 *	    vfs_read+142
 *	,
 *	    main+81
 *	, php]: 12
 *	@[, php]: 4                        a stack without frames
 *
 *	@[php, 
 *	    vfs_read+142
 *	]: 7
 *
 * Frames are leaf first and keep their offsets. Text in the key before the first or after the last stack becomes the
 * root, one frame as printed. The line between two stacks is a frame ", "; the first stack is called from the second.
 * An entry whose value is not a number, such as a histogram, is left out, and maps without stacks are skipped.
 *
 * With `-f json` each line is an object, {"type": "map", "data": {"@": {"\n vfs_read+142\n…,php": 3}}}, of which only
 * keys with newlines are read. Such a line may be up to LINE_MAX_BYTES long.
 */
#include "format.h"
#include "stacks.h"
#include "mem.h"
#include <jansson.h>

#define LINE_MAX_BYTES	((size_t)64 << 20)
#define ROOT_MAX	((size_t)64 << 10)	/* bytes of the start of a key */

/* Skips the name of a map and "[" at the start of an entry: "@[", "@stacks[". Returns the text after it, else NULL. */
static const char *entry_start(struct str line)
{
	size_t i = 1;

	if (line.n < 2 || line.p[0] != '@')
		return NULL;
	while (i < line.n && (line_is_digit(line.p[i]) || line.p[i] == '_' ||
			      ((line.p[i] | 0x20) >= 'a' && (line.p[i] | 0x20) <= 'z')))
		i++;
	return i < line.n && line.p[i] == '[' ? line.p + i + 1 : NULL;
}

/* Splits "…]: 12" into the text before and the number. Returns 1 if done, -1 if the value is not a number, 0 for
 * other lines. */
static int entry_end(struct str line, struct str *ret_before, int64_t *ret_value)
{
	struct str rest;

	for (size_t i = line.n; i-- > 1;) {
		if (line.p[i] != ':' || line.p[i - 1] != ']')
			continue;
		*ret_before = (struct str){ line.p, i - 1 };
		rest = (struct str){ line.p + i + 1, line.n - i - 1 };
		return rest.n && *rest.p == ' ' && (rest.p++, rest.n--, line_take_number(&rest, ret_value)) ? 1 : -1;
	}
	return 0;
}

/* Returns the rest of the key after the last stack: ", php". */
static struct str rest_of_key(struct str s)
{
	if (s.n && *s.p == ',') {
		s.p++;
		s.n--;
	}
	if (s.n && line_is_space(*s.p)) {
		s.p++;
		s.n--;
	}
	return s;
}

static void add(struct stacks *s, int64_t value, struct buf *order)
{
	const struct format_stack stack = { stacks_add(s, value), value };

	if (order)
		buf_put(order, &stack, sizeof(stack));
}

static struct str trim_end(struct str s)
{
	while (s.n && (line_is_space(s.p[s.n - 1]) || s.p[s.n - 1] == ','))
		s.n--;
	return s;
}

/* --- Text --- */

struct reader {
	struct stacks stacks;
	struct buf *order;
	struct buf root;		/* text of the key before the first stack */
	bool inside;			/* inside an entry … */
	uint64_t start;			/* … that begins in this line */
};

/* Handles a line inside an entry. */
static void inside(struct reader *r, uint64_t number, struct str line, struct err *err)
{
	struct stacks *s = &r->stacks;
	struct str before;
	int64_t value;
	int kind = entry_end(line, &before, &value);

	r->inside = kind == 0;
	if (kind == 0) {
		stacks_frame(s, line_trim_start(line));
		return;
	}
	if (kind < 0) {
		stacks_skip(s, number, line, "has no number as its value", err);
		stacks_drop(s);
		return;
	}
	before = rest_of_key(before);
	if (before.n)
		stacks_frame(s, before);
	if (r->root.size)
		stacks_frame(s, (struct str){ r->root.data, r->root.size });
	add(s, value, r->order);
}

/* Handles a line between entries. */
static void outside(struct reader *r, uint64_t number, struct str line, struct err *err)
{
	const char *key = entry_start(line);
	struct str before;
	int64_t value;

	if (!key)
		return;
	line = (struct str){ key, (size_t)(line.p + line.n - key) };
	buf_reset(&r->root);
	if (entry_end(line, &before, &value)) {
		/* An entry on one line: either without any frame, or in a map without stacks. */
		if (*line.p == ',')
			inside(r, number, line, err);
		return;
	}
	r->inside = true;
	r->start = number;
	line = trim_end(line);
	buf_put(&r->root, line.p, line.n < ROOT_MAX ? line.n : ROOT_MAX);
}

static void read_text(struct reader *r, struct input *in, struct err *err)
{
	struct str line;

	while (input_line(in, &line))
		(r->inside ? inside : outside)(r, in->line, line_without_return(line), err);
	if (r->inside) {
		stacks_skip(&r->stacks, r->start, (struct str){ NULL, 0 }, "begins an entry that does not end", err);
		stacks_drop(&r->stacks);
	}
}

/* --- JSON --- */

static void add_key(struct stacks *s, struct str key, int64_t value, struct buf *order)
{
	struct str line;

	while (line_next(&key, &line)) {
		struct str name = line_trim_start(line);

		if (name.n == 1 && *name.p == ',')
			name = (struct str){ ", ", 2 };
		else if (!key.n)
			name = rest_of_key(name);
		if (name.n)
			stacks_frame(s, name);
	}
	add(s, value, order);
}

static void json_decrefp_(json_t **j)
{
	json_decref(*j);
}

static void read_object(struct reader *r, uint64_t number, struct str line, struct err *err)
{
	json_error_t why;
	_cleanup_(json_decrefp_) json_t *all = line.n > LINE_MAX_BYTES ? NULL : json_loadb(line.p, line.n, 0, &why);
	const char *type = json_string_value(json_object_get(all, "type")), *name, *key;
	struct stacks *s = &r->stacks;
	json_t *map, *value;

	if (!json_is_object(all)) {
		stacks_skip(s, number, line, "is not a JSON object of bpftrace", err);
		return;
	}
	if (!type || strcmp(type, "map"))
		return;
	json_object_foreach(json_object_get(all, "data"), name, map)
		json_object_foreach(map, key, value)
			if (strchr(key, '\n') && json_is_integer(value))
				add_key(s, (struct str){ key, strlen(key) }, json_integer_value(value), r->order);
			else if (strchr(key, '\n'))
				stacks_skip(s, number, (struct str){ name, strlen(name) },
					    "has a map with a value that is not a number", err);
}

static void read_json(struct reader *r, struct input *in, struct err *err)
{
	struct str line;

	while (input_line(in, &line))
		if (line_trim_start(line).n)
			read_object(r, in->line, line, err);
}

/* --- Recognizing the format --- */

static bool is_json(struct str start)
{
	return line_starts(line_trim_start(start), "{");
}

static int bpftrace_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	struct reader r = { .order = o->order };
	int done;

	buf_init(&r.root);
	if (stacks_init(&r.stacks, p, err) >= 0) {
		if (is_json(input_peek(in, 4096)))
			read_json(&r, in, err);
		else
			read_text(&r, in, err);
	}
	done = stacks_done(&r.stacks, "there is no map with stacks in it, such as @[kstack] = count()", err);
	buf_done(&r.root);
	return done;
}

static int bpftrace_sniff(const char *bytes, size_t n)
{
	struct str rest = { bytes, n }, line;
	bool begun = false;

	if (is_json(rest))
		return line_next(&rest, &line) && line_has(line, "\"type\":") && line_has(line, "\"data\":") ? 80 : 0;
	while (line_next(&rest, &line)) {
		const char *key;
		struct str before;
		int64_t value;

		line = line_without_return(line);
		key = entry_start(line);
		if (begun && entry_end(line, &before, &value))
			return 92;
		if (key && key < line.p + line.n && *key == ',' && entry_end(line, &before, &value) > 0)
			return 80;
		begun |= key && !entry_end(line, &before, &value);
	}
	return begun && n == FORMAT_SNIFF_MAX ? 60 : 0;
}

const struct format format_bpftrace = {
	.name = "bpftrace",
	.suffixes = "bpftrace",
	.sniff = bpftrace_sniff,
	.read = bpftrace_read,
	.about = "stack-keyed maps of bpftrace, as text or JSON (-f json)",
};
