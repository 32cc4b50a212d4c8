/* fuzz_callgraph.c: draws any profile: all strings of the graph must end where they should.
 *
 * The first byte chooses options, the second how many functions; the rest is lines of frames separated by ;, whose
 * value is the length of the line less 8, so that some are negative. */

#include "callgraph.h"

#include "mem.h"
#include "text.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_line(struct profile *p, const char *line, size_t n)
{
	uint32_t node = PROFILE_ROOT, column = profile_column(p, "samples", "count"),
		calls = profile_column(p, "calls", "count");

	for (const char *at = line, *end = line + n; at < end;) {
		const char *stop = memchr(at, ';', (size_t)(end - at));
		struct str name = { at, (size_t)((stop ? stop : end) - at) };

		node = profile_child(p, node, profile_frame(p, name, name, (uint32_t)name.n));
		at = stop ? stop + 1 : end;
	}
	profile_add(p, node, column, (int64_t)n - 8);
	profile_add(p, node, calls, 1);
}

static struct profile *profile_of(const char *text, size_t n)
{
	struct profile *p = profile_new();

	profile_column(p, "samples", "count");
	for (const char *at = text, *end = text + n; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		add_line(p, at, (size_t)((stop ? stop : end) - at));
		at = stop ? stop + 1 : end;
	}
	return p;
}

/* Statements must be lines, quotes must close on their line, and everything must be UTF-8 without control characters. */
static void check(const struct buf *dot)
{
	const char *at = dot->data, *end = dot->data + dot->size;
	bool inside = false;

	while (at < end) {
		uint32_t c;
		unsigned n = text_decode(at, end, &c);

		if (n == 0 || (c < 0x20 && c != '\n' && c != '\t') || (c == '\n' && inside))
			abort();
		if (inside && c == '\\')
			n++;
		else if (c == '"')
			inside = !inside;
		at += n;
	}
	if (inside || at != end)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(freep) bool *focus = NULL;
	_cleanup_(freep) char *title = NULL;
	struct callgraph_counts counts;
	struct callgraph_options o;
	struct buf dot;

	if (size < 2)
		return 0;
	p = profile_of((const char *)data + 2, size - 2);
	title = strndup((const char *)data + 2, size - 2);
	focus = xcalloc((size_t)p->frame_count + 1, sizeof(*focus));
	callgraph_defaults(&o);
	o.plain = data[0] & 1;
	o.title = data[0] & 2 ? title : NULL;
	o.threshold = data[0] & 4 ? 0 : 5;
	o.max_nodes = data[1];
	if (data[0] & 8 && p->frame_count) {
		focus[data[1] % p->frame_count] = true;
		o.focus = focus;
	}
	if (data[0] & 16 && p->column_count > 1)
		o.column = 1;
	if (data[0] & 32 && p->column_count > 1)
		o.before_column = 1 - o.column;

	buf_init(&dot);
	if (callgraph_dot(p, &o, &dot, &counts, NULL) == 0)
		check(&dot);
	if (counts.shown > counts.functions || counts.edges_shown > counts.edges)
		abort();
	buf_reset(&dot);
	callgraph_finish_svg((struct str){ (const char *)data, size }, &dot);
	buf_done(&dot);
	return 0;
}
