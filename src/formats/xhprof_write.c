/* xhprof_write.c: pairs of caller and callee, in PHP's serialize() format or JSON; xhprof.c has the layout.
 *
 *	key	column			per pair
 *	ct	calls			number of calls; if calls were not counted, the number of samples below
 *	wt	wall_ns / 1000		inclusive; in a sampling profile, samples × period
 *	cpu	cpu_ns / 1000
 *	mu	memory_bytes
 *	pmu	peak_memory_bytes
 *	mem.na, mem.nf, mem.aa		allocations, frees, allocated_bytes
 *	samples	samples			also supported by the originals' web page
 *
 * Times are truncated to whole microseconds, never rounded up, so that no function has less than its callees. The
 * root is main(), unless a single main() below it has everything. off_cpu_ns is computed as wt less cpu on reading.
 */
#include "xhprof_write.h"
#include "amount.h"
#include "edge_list.h"
#include "edges.h"
#include "mem.h"
#include "notes.h"
#include <string.h>

static const char main_name[] = "main()";

struct writer {
	const struct profile *profile;
	struct edges *edges;
	struct buf *out, key;		/* key: "caller==>callee" */
	struct notes notes;
	bool json;
	uint32_t calls, samples;	/* columns; UINT32_MAX if missing */
	struct {
		uint32_t column;
		enum edge_value value;
	} values[EDGE_VALUES];		/* values to be written, without ct */
	unsigned value_count;
};

static bool is_main(const struct profile *p, uint32_t frame)
{
	struct str name = profile_name(p, frame);

	return name.n == strlen(main_name) && !memcmp(name.p, main_name, name.n);
}

static bool tree_has_main(const struct profile *p)
{
	bool found = false;

	for (uint32_t n = 1; n < p->node_count; n++) {
		if (p->parents[n] != PROFILE_ROOT)
			continue;
		if (!is_main(p, p->node_frames[n]))
			return false;
		found = true;
	}
	for (uint32_t c = 0; c < p->column_count; c++)
		if (p->columns[c].self[PROFILE_ROOT])
			return false;
	return found;
}

static bool edges_have_main(const struct profile *p)
{
	const struct edges *e = p->edges;
	bool found = false;

	for (uint32_t i = 0; i < e->pair_count; i++) {
		if (e->pairs[i].caller != EDGES_ROOT)
			continue;
		if (!is_main(p, e->nodes[e->pairs[i].callee].frame))
			return false;
		found = true;
	}
	for (uint32_t c = 0; c < p->column_count; c++)
		if (e->nodes[EDGES_ROOT].self[c])
			return false;
	return found;
}

/* Tells whether main() is the only function below the root. A tree built from edges may have other functions there,
 * for which it found no place. */
static bool has_main(const struct profile *p)
{
	return p->edges ? edges_have_main(p) : tree_has_main(p);
}

static bool is_derived(const struct profile *p, uint32_t column)
{
	return !strcmp(p->columns[column].name, "off_cpu_ns") && profile_find_column(p, "wall_ns") != UINT32_MAX &&
	       profile_find_column(p, "cpu_ns") != UINT32_MAX;
}

/* Chooses the columns that have a key and notes the others. */
static void choose_values(struct writer *w, uint32_t column)
{
	const struct profile *p = w->profile;

	w->calls = profile_find_column(p, "calls");
	w->samples = profile_find_column(p, "samples");
	if (column != UINT32_MAX && column != w->samples)
		w->samples = UINT32_MAX;
	for (uint32_t c = 0; c < p->column_count; c++) {
		enum edge_value v = edge_list_value_of_column(p->columns[c].name);

		if ((column != UINT32_MAX && c != column) || v == EDGE_CALLS)
			continue;
		if (v == EDGE_VALUES && !is_derived(p, c)) {
			notes_add(&w->notes, 1, "xhprof has no place for %s, which is left out", p->columns[c].name);
		} else if (v != EDGE_VALUES) {
			w->values[w->value_count].column = c;
			w->values[w->value_count++].value = v;
		}
	}
}

/* Replaces the arrow in a name with a placeholder. */
static void put_name_bytes(struct writer *w, struct str name)
{
	const char *arrow;
	bool changed = false;

	while (name.n && (arrow = memmem(name.p, name.n, "==>", 3))) {
		buf_put(&w->key, name.p, (size_t)(arrow - name.p));
		buf_puts(&w->key, "\xef\xbf\xbd");
		name = (struct str){ arrow + 3, name.n - (size_t)(arrow - name.p) - 3 };
		changed = true;
	}
	if (name.n)
		buf_put(&w->key, name.p, name.n);
	w->notes.names += changed;
}

static void put_name(struct writer *w, uint32_t function)
{
	const struct edges_node *f = &w->edges->nodes[function];

	if (f->frame == UINT32_MAX)
		buf_puts(&w->key, main_name);
	else
		put_name_bytes(w, profile_name(w->profile, f->frame));
	if (f->level)
		buf_printf(&w->key, "@%u", f->level);
}

static void put_text(struct writer *w, struct str s)
{
	if (w->json) {
		notes_put_json(&w->notes, w->out, s);
	} else {
		buf_printf(w->out, "s:%zu:\"", s.n);
		buf_put(w->out, s.p, s.n);
		buf_puts(w->out, "\";");
	}
}

/* Returns the value of one sample in the profile: a million if there are fractional counts. */
static int64_t scale_of_samples(const struct writer *w)
{
	return w->samples == UINT32_MAX ? 1 : profile_scale(w->profile, w->samples);
}

static void put_value(struct writer *w, const char *key, int64_t value, int64_t parts, bool first)
{
	if (w->json && !first)
		buf_putc(w->out, ',');
	put_text(w, (struct str){ key, strlen(key) });
	buf_puts(w->out, w->json ? ":" : value % parts ? "d:" : "i:");
	if (value % parts)
		amount_put_millionths(w->out, value);
	else
		buf_put_i64(w->out, value / parts);
	if (!w->json)
		buf_putc(w->out, ';');
}

static int64_t scaled_down(int64_t v, int64_t scale)
{
	return v / scale - (v % scale < 0);
}

/* `inclusive` returns a column's value for this pair. */
static void put_values(struct writer *w, int64_t calls, int64_t (*inclusive)(const struct writer *, uint32_t, uint32_t),
		       uint32_t pair)
{
	if (w->json)
		buf_putc(w->out, '{');
	else
		buf_printf(w->out, "a:%u:{", w->value_count + 1);
	put_value(w, "ct", calls, w->calls == UINT32_MAX ? scale_of_samples(w) : 1, true);
	for (unsigned i = 0; i < w->value_count; i++) {
		const struct edge_list_column *c = &edge_list_xhprof[w->values[i].value];

		put_value(w, c->key, scaled_down(inclusive(w, w->values[i].column, pair), c->scale),
			  profile_scale(w->profile, w->values[i].column), false);
	}
	buf_putc(w->out, '}');
}

static int64_t of_pair(const struct writer *w, uint32_t column, uint32_t pair)
{
	return w->edges->pairs[pair].value[column];
}

static int64_t of_all(const struct writer *w, uint32_t column, uint32_t pair)
{
	(void)pair;
	return edges_total(w->profile, column);
}

static int64_t of_none(const struct writer *w, uint32_t column, uint32_t pair)
{
	(void)w;
	(void)column;
	(void)pair;
	return 0;
}

static int64_t calls_of(const struct writer *w, uint32_t pair)
{
	const struct edges_pair *p = &w->edges->pairs[pair];

	if (w->calls != UINT32_MAX)
		return p->value[w->calls];
	if (w->samples != UINT32_MAX)
		return p->value[w->samples];
	return p->stacks ? p->stacks : 1;
}

static void put_main(struct writer *w)
{
	put_text(w, (struct str){ main_name, strlen(main_name) });
	buf_puts(w->out, w->json ? ":" : "");
	put_values(w, w->calls == UINT32_MAX && w->samples != UINT32_MAX ? edges_total(w->profile, w->samples) : 1,
		   of_all, 0);
}

static void put_pair(struct writer *w, uint32_t pair, bool alone)
{
	const struct edges_pair *p = &w->edges->pairs[pair];

	buf_reset(&w->key);
	if (!alone) {
		put_name(w, p->caller);
		buf_puts(&w->key, "==>");
	}
	put_name(w, p->callee);
	put_text(w, (struct str){ w->key.data, w->key.size });
	buf_puts(w->out, w->json ? ":" : "");
	put_values(w, calls_of(w, pair), of_pair, pair);
}

/* Returns the function to write as a mark, or UINT32_MAX. Profilers of this format never write a function as its own
 * caller under the same name, so such a pair tells our reader that recursion levels do not separate cycles of calls. */
static uint32_t find_mark(const struct writer *w)
{
	const struct edges *e = w->edges;

	if (!edges_are_circular(e))
		return UINT32_MAX;
	for (uint32_t i = 0; i < e->pair_count; i++)
		if (e->pairs[i].caller == e->pairs[i].callee)
			return UINT32_MAX;
	return e->pairs[0].callee;
}

static void put_mark(struct writer *w, uint32_t function)
{
	buf_reset(&w->key);
	put_name(w, function);
	buf_puts(&w->key, "==>");
	put_name(w, function);
	buf_puts(w->out, w->json ? ",\n" : "");
	put_text(w, (struct str){ w->key.data, w->key.size });
	buf_puts(w->out, w->json ? ":" : "");
	put_values(w, 0, of_none, 0);
}

static void put_all(struct writer *w, bool with_main)
{
	uint32_t mark = find_mark(w), count = w->edges->pair_count;

	if (w->json)
		buf_puts(w->out, "{\n");
	else
		buf_printf(w->out, "a:%u:{", count + !with_main + (mark != UINT32_MAX));
	if (!with_main)
		put_main(w);
	for (uint32_t i = 0; i < count && !w->out->overflow; i++) {
		if (w->json && (i || !with_main))
			buf_puts(w->out, ",\n");
		put_pair(w, i, with_main && w->edges->pairs[i].caller == EDGES_ROOT);
	}
	if (mark != UINT32_MAX)
		put_mark(w, mark);
	buf_puts(w->out, w->json ? "\n}\n" : "}");
}

static void note_meaning(struct writer *w)
{
	const struct profile *p = w->profile;

	if (w->calls != UINT32_MAX || w->samples == UINT32_MAX)
		return;
	if (profile_find_column(p, "wall_ns") == UINT32_MAX && profile_find_column(p, "cpu_ns") == UINT32_MAX)
		notes_add(&w->notes, 1, "it is a sampling profile without a period: ct counts samples, and there "
			  "is no time");
	else
		notes_add(&w->notes, 1, "it is a sampling profile: ct counts samples, and time is samples × period");
}

static int write_pairs(const struct profile *p, uint32_t column, bool json, struct buf *out, struct err *err)
{
	bool with_main = has_main(p);
	const struct edges_options o = { .by = EDGES_BY_NAME, .root = with_main ? NULL : main_name,
					 .column = UINT32_MAX };
	struct writer w = { .profile = p, .out = out, .json = json };
	int r;

	if (!p->column_count)
		return err_set(err, -ENODATA, "nothing to write: the profile has no values");
	notes_init(&w.notes);
	buf_init(&w.key);
	choose_values(&w, column);
	w.edges = edges_of(p, &o);
	put_all(&w, with_main);
	note_meaning(&w);
	r = notes_result(&w.notes, out, "array", err);
	edges_free(w.edges);
	buf_done(&w.key);
	notes_done(&w.notes);
	return r;
}

int xhprof_write_serialized(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	return write_pairs(p, column, false, out, err);
}

int xhprof_write_json(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	return write_pairs(p, column, true, out, err);
}
