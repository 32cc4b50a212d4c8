/* callgraph.c: writes the graph in Graphviz's language.
 *
 * Every name is a quoted string in which \ and " get a \ before them, and & is written as an entity, since Graphviz
 * decodes entities in strings; NUL, control characters and invalid UTF-8 become U+FFFD (text.h). Boxes are n0, n1, …,
 * so no name is ever an identifier. Labels of the HTML kind are not used.
 */

#include "callgraph.h"

#include "amount.h"
#include "difference.h"
#include "exact.h"
#include "graph.h"
#include "mem.h"
#include "render.h"
#include "saturate.h"
#include "text.h"

#include <math.h>
#include <string.h>

#define LABEL_WIDTH 36		/* code points per line of a box, */
#define LABEL_LINES 3		/* and lines per name */
#define TOOLTIP_MAX 2000	/* bytes of a name in a tooltip */
#define BOX_GRAY 245		/* no change */
#define ARROW_GRAY 119

/* State shared by all parts of the drawing. */
struct drawing {
	const struct profile *p;
	const struct callgraph_options *o;
	const struct graph *g;
	struct buf *out;
	int64_t whole, whole_before, whole_measured;	/* 100 % of shares; measured: before, unscaled */
	int64_t total, total_before;
	const struct picture_difference *difference;	/* its colors and words; NULL: not a difference */
	enum amount_unit unit;
	bool is_estimate;		/* built from an estimated tree */
	bool is_text;			/* for people and other programs, rather than callgraph_finish_svg */
};

void callgraph_defaults(struct callgraph_options *o)
{
	*o = (struct callgraph_options){ .before_column = UINT32_MAX, .max_nodes = CALLGRAPH_NODES, .threshold = 0.5 };
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Negative if memory was freed. */
static double part_of_whole(const struct drawing *d, int64_t v)
{
	int64_t whole = larger(d->whole, d->whole_before);

	return whole > 0 ? (double)v / (double)whole : 0;
}

/* Returns a share from 0 to 1, for drawing. */
static double share(const struct drawing *d, int64_t v)
{
	double part = part_of_whole(d, v);

	return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* Puts the content of a quoted string, replacing backslashes with `backslash`. */
static void put_quoted(struct buf *out, struct str s, const char *backslash)
{
	_cleanup_(buf_done) struct buf plain = { 0 };

	buf_init(&plain);
	text_put_plain(&plain, s);
	for (size_t i = 0; i < plain.size; i++) {
		char c = plain.data[i];

		if (c == '\\')
			buf_puts(out, backslash);
		else if (c == '"')
			buf_puts(out, "\\\"");
		else if (c == '&')
			buf_puts(out, "&amp;");
		else
			buf_putc(out, c);
	}
}

static void put_escaped(struct buf *out, struct str s)
{
	put_quoted(out, s, "\\\\");
}

static struct str cut(struct str s, size_t n)
{
	return s.n > n ? (struct str){ s.p, n } : s;
}

static void put_name_in_tooltip(const struct drawing *d, struct str name)
{
	put_quoted(d->out, cut(name, TOOLTIP_MAX), d->is_text ? "\\\\" : CALLGRAPH_BACKSLASH);
}

/* Returns where to break a line of at most LABEL_WIDTH code points: after the last \ or / or before the last ::, else
 * before a dot or after another separator, else anywhere. */
static size_t line_end(struct str s)
{
	size_t room = text_cut(s, LABEL_WIDTH), end = 0, other = 0;

	if (room == s.n)
		return room;
	for (size_t i = 1; i + 1 < room; i++) {
		if (s.p[i] == '\\' || s.p[i] == '/')
			end = i + 1;
		else if (s.p[i] == ':' && s.p[i + 1] == ':')
			end = i;
		else if (strchr("_-(){}; ", s.p[i]))
			other = i + 1;
	}
	return end ? end : other ? other : room;
}

/* Returns the start of the part of a name shown on the last line: at most LABEL_WIDTH code points after a separator,
 * so that the method is complete. */
static size_t last_line(struct str s)
{
	size_t columns = text_columns(s), least = columns > LABEL_WIDTH ? text_cut(s, columns - LABEL_WIDTH + 1) : 0;

	for (size_t i = least; least && i + 1 < s.n; i++)
		if (s.p[i] == '\\' || s.p[i] == '/' || (s.p[i] == ':' && s.p[i + 1] == ':'))
			return i;
	return least;
}

/* Puts the name on several lines, omitting the middle if they are not enough. */
static void put_name(struct buf *out, struct str s)
{
	if (!s.n)
		buf_puts(out, "[unknown]\\n");
	for (int line = 0; s.n; line++) {
		size_t n = line_end(s);

		if (line == LABEL_LINES - 1 && n < s.n) {
			size_t skip = last_line(s);

			buf_puts(out, "…");
			s = (struct str){ s.p + skip, s.n - skip };
			n = s.n;
		}
		put_escaped(out, (struct str){ s.p, n });
		buf_puts(out, "\\n");
		s = (struct str){ s.p + n, s.n - n };
	}
}

static void put_amount(const struct drawing *d, int64_t v, bool at_most)
{
	int64_t whole = larger(d->whole, d->whole_before);

	buf_puts(d->out, at_most ? RENDER_AT_MOST : "");
	amount_put(d->out, v, d->unit);
	buf_puts(d->out, at_most ? " (" RENDER_AT_MOST : " (");
	amount_put_share(d->out, v, whole > 0 ? whole : 0);
	buf_putc(d->out, ')');
}

static void put_times(const struct drawing *d, int64_t calls)
{
	uint32_t column = profile_find_column(d->p, "calls");
	int64_t scale = column == UINT32_MAX ? 1 : profile_scale(d->p, column);

	amount_put(d->out, calls, scale == 1 ? AMOUNT_COUNT : AMOUNT_MILLIONTHS);
	buf_puts(d->out, calls == scale ? " call" : " calls");
}

/* Puts "495 → 900 (+405)" or "495 → 0 (gone)". */
static void put_change(const struct drawing *d, int64_t before, int64_t after, bool at_most)
{
	int64_t delta = saturating_sum(after, before == INT64_MIN ? INT64_MAX : -before);

	buf_puts(d->out, at_most ? RENDER_AT_MOST : "");
	amount_put(d->out, before, d->unit);
	buf_puts(d->out, at_most ? " → " RENDER_AT_MOST : " → ");
	amount_put(d->out, after, d->unit);
	if (!delta)
		return;
	if (!before || !after) {
		buf_puts(d->out, before ? " (gone)" : " (new)");
		return;
	}
	buf_puts(d->out, delta > 0 ? " (+" : " (");
	amount_put(d->out, delta, d->unit);
	buf_putc(d->out, ')');
}

static void put_rgb(struct buf *out, const char *attribute, struct rgb c)
{
	buf_printf(out, " %s=\"#%02x%02x%02x\"", attribute, c.r & 255, c.g & 255, c.b & 255);
}

/* Puts a color from nearly white to red by self value, always suitable for black text. */
static void put_color(const struct drawing *d, int64_t self)
{
	static const double stops[][3] = { { 255, 250, 242 }, { 253, 200, 140 }, { 233, 90, 60 } };
	double at = 2 * sqrt(share(d, self));
	int i = at < 1 ? 0 : 1;
	int rgb[3];

	for (int k = 0; k < 3; k++)
		rgb[k] = (int)(stops[i][k] + (at - i) * (stops[i + 1][k] - stops[i][k]));
	put_rgb(d->out, "fillcolor", (struct rgb){ rgb[0], rgb[1], rgb[2] });
}

static void put_node_change(const struct drawing *d, const struct graph_node *n, bool of_calls)
{
	if (!of_calls && (n->self || n->self_before)) {
		buf_puts(d->out, "self ");
		put_change(d, n->self_before, n->self, false);
		buf_puts(d->out, "\\n");
	}
	buf_puts(d->out, of_calls ? "called " : "total ");
	put_change(d, n->total_before, n->total, n->at_most);
}

static void put_node_words(const struct drawing *d, const struct graph_node *n, bool of_calls)
{
	if (d->difference) {
		put_node_change(d, n, of_calls);
		return;
	}
	if (of_calls) {
		buf_puts(d->out, "called ");
		put_amount(d, n->self, false);
		return;
	}
	buf_puts(d->out, "self ");
	put_amount(d, n->self, false);
	buf_puts(d->out, "\\ntotal ");
	put_amount(d, n->total, n->at_most);
	if (n->calls > 0) {
		buf_puts(d->out, "\\n");
		put_times(d, n->calls);
	}
}

static const char *value_name(const struct profile *p, const struct callgraph_options *o)
{
	return o->value_name ? o->value_name : p->columns[o->column].name;
}

static bool of_calls(const struct drawing *d)
{
	return d->p->columns[d->o->column].counts_calls;
}

/* Puts the same sentence as for a flame graph's frame. */
static void put_words_of_change(const struct drawing *d, struct picture_change c)
{
	c.whole_before = d->whole_before;
	c.whole_after = d->whole;
	buf_puts(d->out, "\\n");
	difference_put_words(d->difference, &c, NULL, d->out);
}

static void put_node_tooltip(const struct drawing *d, const struct graph_node *n)
{
	struct str name = profile_name(d->p, n->frame), file = profile_file(d->p, n->frame);
	struct buf *out = d->out;

	put_name_in_tooltip(d, name);
	if (file.n) {
		buf_puts(out, "\\n");
		put_name_in_tooltip(d, file);
		if (d->p->frames[n->frame].line)
			buf_printf(out, ":%u", d->p->frames[n->frame].line);
	}
	if (d->difference)
		put_words_of_change(d, (struct picture_change){
			.before = n->total_before, .after = n->total, .self_before = n->self_before, .self_after = n->self,
			.share_before = difference_share(n->total_measured, d->whole_measured),
			.self_share_before = difference_share(n->self_measured, d->whole_measured),
			.at_most = n->at_most });
}

/* Marks elements whose colors style sheets must not change. */
static void put_change_class(struct buf *out, int64_t before, int64_t after, bool critical)
{
	buf_printf(out, " class=\"change %s%s\"", after > before ? "grew" : after < before ? "fell" : "same",
		   critical ? " critical" : "");
}

static void put_node_style(const struct drawing *d, const struct graph_node *n)
{
	bool focus = d->o->focus && d->o->focus[n->frame];
	struct buf *out = d->out;

	if (d->difference) {
		put_rgb(out, "fillcolor", difference_shade(d->difference, (double)n->total_before, (double)n->total, BOX_GRAY));
		buf_puts(out, n->total_before && !n->total ? " style=\"filled,rounded,dashed\"" : "");
	} else {
		put_color(d, n->self);
	}
	if (n->critical)
		buf_printf(out, " color=\"%s\"", d->difference ? "#222222" : "#1f4e9e");
	buf_puts(out, n->critical || focus ? " penwidth=2.5" : "");
	if (d->difference)
		put_change_class(out, n->total_before, n->total, n->critical);
	else
		buf_puts(out, n->critical ? " class=critical" : "");
	buf_puts(out, focus ? " peripheries=2" : "");
}

static void put_node(const struct drawing *d, size_t i)
{
	const struct graph_node *n = &d->g->nodes[i];
	struct buf *out = d->out;

	buf_printf(out, "\tn%zu [label=\"", i);
	put_name(out, profile_name(d->p, n->frame));
	put_node_words(d, n, of_calls(d));
	buf_puts(out, "\" tooltip=\"");
	put_node_tooltip(d, n);
	buf_puts(out, "\" fontsize=");
	buf_put_fixed(out, 10 + 8 * sqrt(share(d, larger(n->self, n->self_before))), 1);
	put_node_style(d, n);
	buf_puts(out, "];\n");
}

/* Puts the label next to the arrow, after two blanks. */
static void put_edge_words(const struct drawing *d, const struct graph_edge *e)
{
	struct buf *out = d->out;

	buf_puts(out, " label=\"  ");
	if (d->difference)
		put_change(d, e->before, e->value, e->at_most);
	else
		put_amount(d, e->value, e->at_most);
	if (e->calls > 0 && !of_calls(d)) {
		buf_puts(out, "\\n  ");
		put_times(d, e->calls);
	}
	buf_putc(out, '"');
}

static void put_edge_style(const struct drawing *d, const struct graph_edge *e)
{
	struct buf *out = d->out;

	if (d->difference) {
		put_rgb(out, "color", difference_shade(d->difference, (double)e->before, (double)e->value, ARROW_GRAY));
		put_change_class(out, e->before, e->value, e->critical);
		buf_puts(out, e->before && !e->value ? " style=dashed" : "");
	} else if (e->critical) {
		buf_puts(out, " color=\"#1f4e9e\" class=critical");
	}
}

static void put_edge(const struct drawing *d, const struct graph_edge *e)
{
	struct buf *out = d->out;
	double part = share(d, e->weight);

	buf_printf(out, "\tn%u -> n%u [tooltip=\"", e->from, e->to);
	put_name_in_tooltip(d, profile_name(d->p, d->g->nodes[e->from].frame));
	buf_puts(out, " → ");
	put_name_in_tooltip(d, profile_name(d->p, d->g->nodes[e->to].frame));
	if (d->difference) {
		put_words_of_change(d, (struct picture_change){ .before = e->before, .after = e->value, .at_most = e->at_most,
			.share_before = difference_share(e->measured, d->whole_measured) });
	} else {
		buf_puts(out, "\\n");
		put_amount(d, e->value, e->at_most);
	}
	buf_putc(out, '"');
	if (!d->o->plain)
		put_edge_words(d, e);
	buf_puts(out, " penwidth=");
	buf_put_fixed(out, (e->critical ? 2 : 0.8) + 4 * part, 2);
	buf_puts(out, " arrowsize=");
	buf_put_fixed(out, 0.6 + 0.4 * part, 2);
	/* Heavy arrows should be short and straight. */
	buf_printf(out, " weight=%d", 1 + (int)(20 * part) + (e->critical ? 10 : 0));
	put_edge_style(d, e);
	buf_puts(out, "];\n");
}

static bool has_limits(const struct graph *g)
{
	bool has = false;

	for (size_t i = 0; i < g->node_count; i++)
		has |= g->nodes[i].at_most;
	for (size_t i = 0; i < g->edge_count; i++)
		has |= g->edges[i].at_most;
	return has;
}

static void put_heading(const struct drawing *d)
{
	const char *name = value_name(d->p, d->o);
	const struct graph *g = d->g;
	struct buf *out = d->out;

	buf_puts(out, "\tlabel=\"");
	if (d->o->title && *d->o->title) {
		put_escaped(out, (struct str){ d->o->title, strlen(d->o->title) });
		buf_puts(out, "\\n");
	}
	put_escaped(out, (struct str){ name, strlen(name) });
	buf_puts(out, ": ");
	if (d->difference)
		put_change(d, d->total_before, d->total, false);
	else
		amount_put(out, d->total, d->unit);
	if (g->node_count < g->all_nodes)
		buf_printf(out, "; %zu of %zu functions, %zu of %zu arrows", g->node_count, g->all_nodes, g->edge_count,
			   g->all_edges);
	else
		buf_printf(out, "; %zu function%s", g->node_count, g->node_count == 1 ? "" : "s");
	buf_puts(out, !g->node_count ? "; nothing is above zero" :
		      d->difference  ? "\\norange: more than before; blue: less; dashed: gone; bold: critical path" :
				       "; blue: critical path");
	buf_puts(out, d->is_estimate ? "\\n" RENDER_ESTIMATE : "");
	if (has_limits(g))
		buf_puts(out, "\\n" RENDER_AT_MOST ": calls in a cycle; only an upper bound is known");
	buf_puts(out, g->node_count ? "\\n \";\n" : "\";\n");
}

static void put_graph(const struct drawing *d)
{
	static const char font[] = "fontname=\"Verdana,DejaVu Sans,sans-serif\"";
	struct buf *out = d->out;

	buf_puts(out, "digraph callgraph {\n");
	buf_printf(out, "\tgraph [%s fontsize=12 labelloc=t ranksep=0.35 nodesep=0.2 dpi=72 nslimit=2 mclimit=0.3 "
			"charset=\"UTF-8\"%s];\n", font, d->o->plain ? " splines=line" : "");
	buf_printf(out, "\tnode [%s shape=box style=\"filled,rounded\" color=\"#777777\" margin=\"0.14,0.07\"];\n",
		   font);
	buf_printf(out, "\tedge [%s fontsize=9 color=\"#777777\"];\n", font);
	put_heading(d);
	for (size_t i = 0; i < d->g->node_count; i++)
		put_node(d, i);
	for (size_t i = 0; i < d->g->edge_count; i++)
		put_edge(d, &d->g->edges[i]);
	buf_puts(out, "}\n");
}

/* Returns the base of shares: the sum of all allocations, which exceeds the total if some memory was freed. */
static int64_t column_total(const struct profile *p, uint32_t column)
{
	_cleanup_(edges_sums_done) struct edges_sums sums = { 0 };
	int64_t sum;

	if (p->edges) {
		edges_sums(p, &sums);
		return exact_total(p, &sums, column);
	}
	return __builtin_sub_overflow(profile_sum(p, column), profile_below_zero(p, column, NULL), &sum) ? INT64_MAX :
	       sum;
}

/* Returns the value of this percentage, at least 1: zero values are never drawn. */
static int64_t least_value(int64_t all, double threshold)
{
	double v = ceil((double)all * threshold / 100);

	return v < 1 ? 1 : v >= (double)INT64_MAX ? INT64_MAX : (int64_t)v;
}

struct callgraph {
	const struct profile *p;
	struct callgraph_options o;
	struct graph sums;
	int64_t whole, whole_before, whole_measured;	/* measured: before, unscaled */
	int64_t total, total_before;
	bool is_estimate;
	bool is_text;
};

struct callgraph *callgraph_new(const struct profile *p, const struct callgraph_options *o, struct err *err)
{
	_cleanup_(profile_freep) struct profile *part = NULL;
	bool differs = o->before_column != UINT32_MAX;
	const struct profile *of;
	struct callgraph *c;

	if (o->column >= p->column_count || (differs && o->before_column >= p->column_count)) {
		err_set(err, -EINVAL, "the profile has no such column");
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	c->p = p;
	c->o = *o;
	c->whole = column_total(p, o->column);
	c->whole_measured = differs ? column_total(p, profile_measured(p, o->before_column)) : 0;
	c->whole_before = differs ? profile_scaled(&p->columns[o->before_column].scaling, c->whole_measured) : 0;
	c->total = edges_total(p, o->column);
	c->total_before = differs ? edges_total(p, o->before_column) : 0;
	if (o->focus)
		part = profile_filter(p, o->focus);	/* the filter does not renumber frames and columns */
	of = part ? part : p;
	if (differs)
		graph_init_difference(&c->sums, of, o->before_column, o->column);
	else
		graph_init(&c->sums, of, o->column);
	c->is_estimate = p->estimated && (part || !p->edges);
	return c;
}

struct callgraph *callgraph_free(struct callgraph *c)
{
	if (c)
		graph_done(&c->sums);
	free(c);
	return NULL;
}

void callgraph_freep(struct callgraph **c)
{
	callgraph_free(*c);
}

static void find_largest_change(const struct graph *g, struct picture_difference *d)
{
	for (size_t i = 0; i < g->node_count; i++)
		difference_note(d, (double)g->nodes[i].total_before, (double)g->nodes[i].total);
	for (size_t i = 0; i < g->edge_count; i++)
		difference_note(d, (double)g->edges[i].before, (double)g->edges[i].value);
}

void callgraph_put(const struct callgraph *c, size_t max_nodes, bool plain, struct buf *out,
		   struct callgraph_counts *ret)
{
	_cleanup_(graph_done) struct graph g = { 0 };
	struct callgraph_options o = c->o;
	struct flamegraph_options words;
	struct picture_difference difference = { .p = c->p, .o = &words };
	struct drawing d = { .p = c->p, .o = &o, .g = &g, .out = out, .whole = c->whole,
			     .whole_before = c->whole_before, .whole_measured = c->whole_measured, .total = c->total,
			     .total_before = c->total_before, .is_estimate = c->is_estimate, .is_text = c->is_text };

	o.max_nodes = max_nodes ? max_nodes : o.max_nodes ? o.max_nodes : CALLGRAPH_NODES;
	o.plain = plain;
	d.unit = amount_unit(c->p->columns[o.column].unit);
	graph_copy(&g, &c->sums);
	graph_prune(&g, o.max_nodes < CALLGRAPH_NODES_MAX ? o.max_nodes : CALLGRAPH_NODES_MAX,
		    least_value(larger(d.whole, d.whole_before), o.threshold));
	if (o.before_column != UINT32_MAX) {
		flamegraph_defaults(&words);
		words.column = o.column;
		words.compared = o.compared;
		difference_init(&difference);
		find_largest_change(&g, &difference);
		d.difference = &difference;
	}
	put_graph(&d);
	if (ret)
		*ret = (struct callgraph_counts){ g.all_nodes, g.wanted_nodes, g.node_count, g.all_edges, g.edge_count };
}

int callgraph_dot(const struct profile *p, const struct callgraph_options *o, struct buf *out,
		  struct callgraph_counts *ret, struct err *err)
{
	_cleanup_(callgraph_freep) struct callgraph *c = callgraph_new(p, o, err);

	if (!c)
		return -EINVAL;
	c->is_text = true;
	callgraph_put(c, 0, o->plain, out, ret);
	return 0;
}
