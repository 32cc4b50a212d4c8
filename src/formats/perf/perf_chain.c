/* perf_chain.c: compares a chain with the last one from its root on, and then looks it up line by line, before
 * anything in it is parsed: a text has tens of thousands of different frames, but millions of lines. */
#include "perf_chain.h"
#include "hash.h"
#include "mem.h"
#include "perf_line.h"
#include "stacks.h"
#include <assert.h>
#include <string.h>

struct perf_chain_step {
	size_t bytes;		/* from the start of its line to the end of the chain */
	uint32_t node;
};

struct perf_chain_line {
	struct str text;
	XXH128_hash_t hash;
	size_t bytes;		/* as in a step */
	uint32_t frames;	/* result of number_of */
};

void perf_chains_init(struct perf_chains *c, struct profile *p, const struct format_options *o)
{
	*c = (struct perf_chains){ .profile = p, .options = o };
	perf_names_init(&c->names);
	buf_init(&c->last);
}

void perf_chains_done(struct perf_chains *c)
{
	perf_inline_free(c->inlined);
	perf_names_done(&c->names);
	buf_done(&c->last);
	seen_done(&c->lines);
	free(c->spans);
	free(c->frames);
	free(c->steps);
	free(c->chain);
}

/* --- Frames --- */

void perf_chains_skip(struct perf_chains *c, struct str line, uint64_t number)
{
	line_skip(&c->unreadable, number, line, "is not a line of perf script", &c->first_unreadable);
}

/* Modules are files, unless perf marks them as unknown or as something else. */
static struct str file_of(struct str module)
{
	bool none = (module.n == 9 && !memcmp(module.p, "[unknown]", 9)) ||
		    (module.n == 7 && !memcmp(module.p, "inlined", 7));

	return none ? (struct str){ "", 0 } : module;
}

/* Returns a string of the profile, looked up once for all names in it. */
static uint32_t string_of(struct perf_chains *c, struct str s)
{
	return intern_add(&c->profile->strings, s.p, s.n);
}

static void add_frame(struct perf_chains *c, struct str name, uint32_t file)
{
	GROW(&c->frames, &c->frame_capacity, c->frame_count + 1);
	c->frames[c->frame_count++] = profile_frame_of(c->profile, string_of(c, name), file, 0);
}

/* Reads the source line that follows a frame: "file.c:12", or module[address], which is dropped. In text without
 * source lines, the next frame follows. Returns where the next line begins. */
static const char *take_source_line(const char *p, const char *end, struct buf *out)
{
	const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end, *last;
	size_t start = out->size;
	struct perf_frame f;

	if (perf_frame_parse((struct str){ p, (size_t)(stop - p) }, &f))
		return p;
	while (p < stop && perf_is_space(*p))
		p++;
	while (stop > p && perf_is_space(stop[-1]))
		stop--;
	buf_putc(out, ':');
	last = p < stop ? memrchr(p, ']', (size_t)(stop - p)) : NULL;
	while (p < stop) {
		const char *close = *p == '[' && p < last ? memchr(p, ']', (size_t)(stop - p)) : NULL;

		if (!close)
			buf_putc(out, *p);
		p = close ? close + 1 : p + 1;
	}
	if (out->size == start + 1)
		out->size = start;
	return newline ? newline + 1 : end;
}

/* Adds names with the source lines below the frame. */
static const char *add_names_and_lines(struct perf_chains *c, uint32_t file, const char *next, const char *end)
{
	_cleanup_(buf_done) struct buf name = { 0 };

	buf_init(&name);
	for (size_t i = 0; i < c->names.count; i++) {
		struct str text = perf_names_get(&c->names, i);

		buf_reset(&name);
		buf_put(&name, text.p, text.n);
		if (!c->names.names[i].nowhere)
			next = take_source_line(next, end, &name);
		add_frame(c, (struct str){ name.data, name.size }, file);
	}
	return next;
}

static bool add_inlined(struct perf_chains *c, const struct perf_frame *f)
{
	struct str names = { "", 0 };
	uint32_t file;

	if (!c->inlined)
		c->inlined = perf_inline_new(c->options->context);
	if (!perf_inline_find(c->inlined, f, &names))
		return false;
	file = string_of(c, file_of(f->module));
	for (;;) {
		const char *newline = memchr(names.p, '\n', names.n);

		add_frame(c, (struct str){ names.p, newline ? (size_t)(newline - names.p) : names.n }, file);
		if (!newline)
			return true;
		names.n -= (size_t)(newline + 1 - names.p);
		names.p = newline + 1;
	}
}

/* Appends the frames of a line to `frames`. Returns where the line after it begins. */
static const char *add_frames(struct perf_chains *c, const struct perf_frame *f, bool java, const char *next,
			      const char *end)
{
	uint32_t file;

	if (c->options->inlined && add_inlined(c, f))
		return next;
	perf_names_of(&c->names, f, c->options, java);
	file = string_of(c, file_of(f->module));
	if (c->options->source_lines)
		return add_names_and_lines(c, file, next, end);
	for (size_t i = 0; i < c->names.count; i++)
		add_frame(c, perf_names_get(&c->names, i), file);
	return next;
}

/* Encodes the frames of a line as one number, so that most lines need no further lookup: twice the frame plus one for
 * a single frame, twice the number of a span for others. It is never 0. */
static uint32_t number_of(struct perf_chains *c, struct perf_span span)
{
	assert(c->frame_count < UINT32_MAX / 2 && c->span_count < UINT32_MAX / 2 &&
	       c->profile->frame_count < UINT32_MAX / 2);
	if (span.count == 1)
		return c->frames[--c->frame_count] * 2 + 1;
	c->span_count += !c->span_count;
	GROW(&c->spans, &c->span_capacity, c->span_count + 1);
	c->spans[c->span_count] = span;
	return (uint32_t)c->span_count++ * 2;
}

/* *next, the start of the next line, is advanced if that line belongs to this one. */
static uint32_t parse_line(struct perf_chains *c, struct str line, uint64_t number, bool java, const char **next,
			   const char *end)
{
	struct perf_span span = { (uint32_t)c->frame_count, 0 };
	struct perf_frame f;

	if (perf_frame_parse(line, &f)) {
		*next = add_frames(c, &f, java, *next, end);
		span.count = (uint32_t)c->frame_count - span.first;
	} else if (line.n && line.p[0] != '#') {
		perf_chains_skip(c, line, number);
	}
	return number_of(c, span);
}

/* --- Call chains --- */

/* Returns the number of frames from the root on that the last chain has as well. */
static size_t common_depth(const struct perf_chains *c, uint32_t process, struct str chain)
{
	size_t n = chain.n < c->last.size ? chain.n : c->last.size, same = 0, low = 0, high = c->depth;
	const char *a = chain.p + chain.n, *b = c->last.data + c->last.size;

	if (process != c->last_process || c->options->source_lines)
		return 0;
	while (same + 8 <= n && !memcmp(a - same - 8, b - same - 8, 8))
		same += 8;
	while (same < n && a[-(ptrdiff_t)same - 1] == b[-(ptrdiff_t)same - 1])
		same++;
	/* A line is the same if all of it is, and is preceded by another line or nothing in both. */
	while (low < high) {
		size_t middle = (low + high + 1) / 2, bytes = c->steps[middle - 1].bytes;

		if (bytes <= same && (bytes == chain.n || a[-(ptrdiff_t)bytes - 1] == '\n'))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Looks up the lines of `chain` up to `stop`; `number` is that of the line before it. All are hashed before the first
 * is looked up, so that cache misses overlap. Returns their number. */
static size_t find_lines(struct perf_chains *c, bool java, struct str chain, const char *stop, uint64_t number)
{
	const char *end = chain.p + chain.n, *next;
	size_t n = 0;

	for (const char *p = chain.p; p < stop; p = next, n++) {
		const char *newline = memchr(p, '\n', (size_t)(stop - p));
		struct perf_chain_line *l;

		GROW(&c->chain, &c->chain_capacity, n + 1);
		l = &c->chain[n];
		l->text = (struct str){ p, (size_t)((newline ? newline : stop) - p) };
		l->bytes = (size_t)(end - p);
		next = newline ? newline + 1 : stop;
		if (c->options->source_lines) {
			l->frames = parse_line(c, l->text, number + n + 1, java, &next, stop);
			continue;
		}
		l->hash = XXH3_128bits_withSeed(l->text.p, l->text.n, java);
		seen_prefetch(&c->lines, l->hash);
	}
	for (size_t i = 0; i < n && !c->options->source_lines; i++) {
		uint32_t *slot = seen_slot(&c->lines, c->chain[i].hash);

		if (!*slot)
			*slot = parse_line(c, c->chain[i].text, number + i + 1, java, &next, stop);
		c->chain[i].frames = *slot;
	}
	return n;
}

static uint32_t add_line(struct perf_chains *c, uint32_t node, uint32_t frames)
{
	struct perf_span span;

	if (frames & 1)
		return profile_child(c->profile, node, frames / 2);
	span = c->spans[frames / 2];
	for (uint32_t i = 0; i < span.count; i++)
		node = profile_child(c->profile, node, c->frames[span.first + i]);
	return node;
}

uint32_t perf_chains_add(struct perf_chains *c, uint32_t process, bool java, struct str chain, uint64_t number)
{
	size_t depth = common_depth(c, process, chain), n;
	uint32_t node = depth ? c->steps[depth - 1].node : process;
	const char *stop = chain.p + chain.n - (depth ? c->steps[depth - 1].bytes : 0);

	n = find_lines(c, java, chain, stop, number);
	GROW(&c->steps, &c->step_capacity, depth + n);
	/* Lines are leaf first. */
	while (n-- > 0) {
		node = add_line(c, node, c->chain[n].frames);
		c->steps[depth++] = (struct perf_chain_step){ c->chain[n].bytes, node };
	}
	c->depth = depth;
	c->last_process = process;
	buf_reset(&c->last);
	buf_put(&c->last, chain.p, chain.n);
	return node;
}
