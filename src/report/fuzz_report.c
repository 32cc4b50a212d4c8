/* fuzz_report.c: any profile, grouped by anything, gives tables whose sums are right, JSON and CSV of whole lines.
 *
 * The first byte chooses options, the second a function, and whether there are edges; the rest is lines of frames with ; between them, where | parts
 * a name from its file, and whose value is the length of the line less 8, so that some are below zero. */

#include "report.h"

#include "edges.h"
#include "mem.h"
#include "text.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t frame_of(struct profile *p, const char *at, const char *stop)
{
	const char *bar = memchr(at, '|', (size_t)(stop - at));
	struct str name = { at, (size_t)((bar ? bar : stop) - at) };
	struct str file = { bar ? bar + 1 : "", bar ? (size_t)(stop - bar - 1) : 0 };

	return profile_frame(p, name, file, (uint32_t)name.n);
}

static void add_line(struct profile *p, const char *line, size_t n)
{
	uint32_t node = PROFILE_ROOT;

	for (const char *at = line, *end = line + n; at < end;) {
		const char *stop = memchr(at, ';', (size_t)(end - at));

		node = profile_child(p, node, frame_of(p, at, stop ? stop : end));
		at = stop ? stop + 1 : end;
	}
	if (node == PROFILE_ROOT)
		return;
	profile_add(p, node, 0, (int64_t)n - 8);
	profile_add(p, node, 1, 1);
}

static struct profile *profile_of(const char *text, size_t n)
{
	struct profile *p = profile_new();

	profile_column(p, "samples", "count");
	profile_column(p, "calls", "count");
	for (const char *at = text, *end = text + n; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		add_line(p, at, (size_t)((stop ? stop : end) - at));
		at = stop ? stop + 1 : end;
	}
	return p;
}

static void must(bool right)
{
	if (!right)
		abort();
}

static int64_t sum(const struct report_edges *e)
{
	int64_t all = 0;

	for (size_t i = 0; i < e->count; i++)
		all += e->edges[i].values[0];
	return all;
}

/* If so, edges may exceed the whole. */
static bool has_limits(const struct report_edges *e)
{
	bool any = e->total_at_most;

	for (size_t i = 0; i < e->count; i++)
		any |= e->edges[i].at_most;
	return any;
}

static void check_edges(const struct profile *p, const bool *of)
{
	struct report_edges in, out;

	report_edges(p, of, REPORT_CALLERS, 0, &in);
	report_edges(p, of, REPORT_CALLEES, 0, &out);
	must(in.total[0] == out.total[0] && in.self[0] == out.self[0]);
	must(has_limits(&in) || sum(&in) == in.total[0]);
	must(has_limits(&out) || sum(&out) == out.total[0] - out.self[0]);
	report_edges_done(&in);
	report_edges_done(&out);
}

/* Must be UTF-8 without control characters except line ends. */
static void check_text(const struct buf *b, bool csv)
{
	for (const char *at = b->data, *end = at + b->size; at < end;) {
		uint32_t c;
		unsigned n = text_decode(at, end, &c);

		must(n > 0 && (c >= 0x20 || c == '\n' || (csv && c == '\r')));
		at += n;
	}
	must(b->size == 0 || b->data[b->size - 1] == '\n');
}

static void check_tables(const struct profile *p, const struct report_options *o, const bool *of)
{
	struct buf b;

	buf_init(&b);
	must(report_flat_table(p, o, &b, NULL) == 0);
	check_text(&b, o->csv);
	buf_reset(&b);
	must(report_wide_table(p, o, &b, NULL) == 0);
	check_text(&b, o->csv);
	buf_reset(&b);
	must(report_edges_table(p, of, of, o, &b, NULL) == 0);
	check_text(&b, o->csv);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(profile_freep) struct profile *p = NULL, *g = NULL, *average = NULL;
	_cleanup_(freep) bool *of = NULL;
	_cleanup_(freep) char *word = NULL;
	struct report_options o = { 0 };

	if (size < 2)
		return 0;
	p = profile_of((const char *)data + 2, size - 2);
	if (data[1] & 128)
		p->edges = edges_of(p, &(struct edges_options){ .column = UINT32_MAX });
	o.by = (data[0] & 7) % REPORT_BY_COUNT;
	o.sort = data[0] & 8 ? REPORT_SORT_TOTAL : REPORT_SORT_SELF;
	o.all_columns = data[0] & 16;
	o.json = (data[0] >> 5 & 3) == 1;
	o.csv = (data[0] >> 5 & 3) == 2;
	o.sums = true;
	o.limit = data[1] % 4;
	o.width = data[0] & 128 ? 40 : 0;

	g = report_group(p, o.by);
	must(profile_sum(g, 0) == profile_sum(p, 0));
	of = xcalloc((size_t)g->frame_count + 1, sizeof(*of));
	if (g->frame_count)
		of[data[1] % g->frame_count] = true;
	check_edges(g, of);
	check_tables(g, &o, of);

	average = report_average((const struct profile *const[]){ p, p }, (uint64_t[]){ 1, 2 }, 2);
	must(profile_sum(average, 0) == profile_sum(p, 0) * profile_scale(average, 0) / profile_scale(p, 0));
	word = strndup((const char *)data + 2, size - 2 < 20 ? size - 2 : 20);
	report_find(g, word, of, NULL);
	return 0;
}
