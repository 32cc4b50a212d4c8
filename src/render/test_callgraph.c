/* test_callgraph.c: tests a call graph's sums, its pruning, and the quoting of names. */

#include "callgraph.h"
#include "edges.h"
#include "graph.h"
#include "mem.h"
#include "test.h"
#include "test_letters.h"
#include "test_random.h"

static char letter(const struct profile *p, uint32_t frame)
{
	return profile_name(p, frame).p[0];
}

static const struct graph_node *node_of(const struct profile *p, const struct graph *g, char name)
{
	for (size_t i = 0; i < g->node_count; i++)
		if (letter(p, g->nodes[i].frame) == name)
			return &g->nodes[i];
	return NULL;
}

/* Returns the value before pruning; INT64_MIN if there is none. */
static int64_t edge_value(const struct profile *p, const struct graph *g, const char *pair)
{
	for (size_t i = 0; i < g->edge_count; i++)
		if (letter(p, g->edges[i].from) == pair[0] && letter(p, g->edges[i].to) == pair[1])
			return g->edges[i].value;
	return INT64_MIN;
}

TEST(functions_and_edges_count_once_per_stack)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(graph_done) struct graph g = { 0 };

	add(p, "mfgfg", "samples", 7);
	add(p, "mff", "samples", 30);
	add(p, "mg", "samples", 500);
	graph_init(&g, p, 0);
	CHECK_INT(node_of(p, &g, 'm')->total, 537);
	CHECK_INT(node_of(p, &g, 'f')->total, 37);
	CHECK_INT(node_of(p, &g, 'f')->self, 30);
	CHECK_INT(node_of(p, &g, 'g')->total, 507);
	CHECK_INT(edge_value(p, &g, "mf"), 37);
	CHECK_INT(edge_value(p, &g, "fg"), 7);
	CHECK_INT(edge_value(p, &g, "gf"), 7);
	CHECK_INT(edge_value(p, &g, "ff"), 30);
	CHECK_INT(edge_value(p, &g, "mg"), 500);
}

/* Makes a tree of a few functions that call each other at random. */
static struct profile *any_tree(uint32_t nodes, uint32_t functions)
{
	struct profile *p = profile_new();

	profile_column(p, "calls", "count");
	profile_column(p, "wall_ns", "nanoseconds");
	for (uint32_t i = 0; i < nodes; i++) {
		char name[2] = { (char)('a' + below(functions)), 0 };
		uint32_t parent = below(3) ? p->node_count - 1 : below(p->node_count);
		uint32_t node = profile_child(p, parent, profile_frame(p, (struct str){ name, 1 }, (struct str){ "", 0 }, 0));

		profile_add(p, node, 0, 1 + below(3));
		profile_add(p, node, 1, below(100));
	}
	return p;
}

/* Merges levels, like a file without levels. */
static void fold(struct profile *p)
{
	uint32_t frames[26], columns[] = { 0, 1 };
	struct edges *e = edges_new();

	for (uint32_t f = 0; f < p->frame_count; f++)
		frames[f] = f;
	edges_add(e, p->edges, &(struct edges_places){ .columns = columns, .frames = frames, .column_count = 2, .fold = true });
	edges_free(p->edges);
	p->edges = e;
}

static const struct graph_edge *edge_of(const struct graph *g, const struct graph_edge *like)
{
	for (size_t i = 0; i < g->edge_count; i++)
		if (g->edges[i].from == like->from && g->edges[i].to == like->to)
			return &g->edges[i];
	return NULL;
}

static int by_frame(const void *a, const void *b)
{
	const struct graph_node *x = a, *y = b;

	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void check_same(struct graph *tree, struct graph *edges, unsigned *exact, unsigned *limits)
{
	CHECK_INT(tree->node_count, edges->node_count);
	CHECK_INT(tree->edge_count, edges->edge_count);
	qsort(tree->nodes, tree->node_count, sizeof(*tree->nodes), by_frame);
	qsort(edges->nodes, edges->node_count, sizeof(*edges->nodes), by_frame);
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct graph_node *x = &tree->nodes[i], *y = &edges->nodes[i];

		CHECK(x->self == y->self && x->calls == y->calls);
		CHECK(y->at_most ? y->total >= x->total : y->total == x->total);
	}
	for (size_t i = 0; i < tree->edge_count; i++) {
		const struct graph_edge *x = &tree->edges[i], *y = edge_of(edges, x);

		CHECK(y && x->calls == y->calls);
		if (y)
			CHECK(y->at_most ? y->value >= x->value : y->value == x->value);
		*exact += y && !y->at_most;
		*limits += y && y->at_most;
	}
}

TEST(a_graph_of_edges_matches_that_of_the_stacks_or_shows_bounds)
{
	unsigned exact = 0, limits = 0;

	for (int i = 0; i < 600; i++) {
		_cleanup_(profile_freep) struct profile *p = any_tree(1 + below(40), 2 + below(8));
		_cleanup_(graph_done) struct graph tree = { 0 }, edges = { 0 };

		graph_init(&tree, p, 1);
		p->edges = edges_of(p, &(struct edges_options){ .column = UINT32_MAX });
		if (i % 2)
			fold(p);
		graph_init(&edges, p, 1);
		check_same(&tree, &edges, &exact, &limits);
	}
	CHECK(exact > 1000 && limits > 1000);
}

/* f calls itself at any depth: values below inner calls are included in the outer one. */
TEST(a_recursive_edge_counts_once_by_levels)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(graph_done) struct graph g = { 0 };

	add(p, "mf", "wall_ns", 1);
	add(p, "mff", "wall_ns", 10);
	add(p, "mffff", "wall_ns", 100);
	p->edges = edges_of(p, &(struct edges_options){ .column = UINT32_MAX });
	graph_init(&g, p, 0);
	CHECK_INT(edge_value(p, &g, "ff"), 110);
	CHECK(!edge_of(&g, &(struct graph_edge){ .from = 1, .to = 1 })->at_most);
}

TEST(differences_show_removed_and_new_functions_ranked_by_the_larger_side)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(graph_done) struct graph g = { 0 };

	add(p, "mfgf", "before", 7);
	add(p, "mfgf", "after", 2);
	add(p, "mold", "before", 500);
	add(p, "mnew", "after", 90);
	graph_init_difference(&g, p, 0, 1);
	CHECK_INT(g.nodes[0].total_before, 507);
	CHECK_INT(g.nodes[0].total, 92);
	CHECK_INT(node_of(p, &g, 'f')->total_before, 7);
	CHECK_INT(node_of(p, &g, 'f')->self, 2);
	CHECK_INT(node_of(p, &g, 'l')->weight, 500);
	CHECK_INT(edge_value(p, &g, "ol"), 0);
	CHECK_INT(edge_value(p, &g, "ne"), 90);
	graph_prune(&g, 100, 50);
	CHECK(node_of(p, &g, 'd') && node_of(p, &g, 'w') && !node_of(p, &g, 'g'));
	CHECK(node_of(p, &g, 'd')->critical && !node_of(p, &g, 'w')->critical);
	for (size_t i = 1; i < g.edge_count; i++)
		CHECK(g.edges[i - 1].weight >= g.edges[i].weight);
}

TEST(a_difference_of_calls_has_no_totals)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(graph_done) struct graph g = { 0 };

	add(p, "m", "before", 1);
	add(p, "mf", "before", 2);
	add(p, "mff", "after", 5);
	p->columns[0].counts_calls = p->columns[1].counts_calls = true;
	graph_init_difference(&g, p, 0, 1);
	CHECK_INT(node_of(p, &g, 'm')->total_before, 1);
	CHECK_INT(node_of(p, &g, 'f')->total_before, 2);
	CHECK_INT(node_of(p, &g, 'f')->total, 5);
	CHECK_INT(edge_value(p, &g, "ff"), 5);
}

TEST(calls_are_counted_on_each_edge)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(graph_done) struct graph g = { 0 }, calls = { 0 };

	add(p, "mf", "wall_ns", 10);
	add(p, "mff", "wall_ns", 20);
	add(p, "mf", "calls", 2);
	add(p, "mff", "calls", 5);
	graph_init(&g, p, 0);
	CHECK_INT(node_of(p, &g, 'f')->calls, 7);
	CHECK_INT(edge_value(p, &g, "mf"), 30);
	graph_init(&calls, p, 1);
	CHECK_INT(node_of(p, &calls, 'f')->total, 7);
	CHECK_INT(edge_value(p, &calls, "mf"), 2);
	CHECK_INT(edge_value(p, &calls, "ff"), 5);
}

TEST(pruning_keeps_the_largest_nodes_their_heaviest_edges_and_the_critical_path)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(graph_done) struct graph g = { 0 };

	add(p, "mab", "samples", 60);
	add(p, "mac", "samples", 30);
	add(p, "mb", "samples", 8);
	add(p, "md", "samples", 2);
	graph_init(&g, p, 0);
	graph_prune(&g, 3, 50);
	CHECK_INT(g.all_nodes, 5);
	CHECK_INT(g.all_edges, 5);
	CHECK_INT(g.node_count, 3);
	CHECK_INT(letter(p, g.nodes[0].frame), 'm');
	CHECK_INT(letter(p, g.nodes[1].frame), 'a');
	CHECK_INT(letter(p, g.nodes[2].frame), 'b');
	CHECK_INT(g.edge_count, 2);
	CHECK_INT(g.edges[0].value, 90);
	CHECK_INT(g.edges[1].value, 60);
	CHECK(g.edges[0].critical && g.edges[1].critical && g.nodes[2].critical);
}

TEST(the_critical_path_is_chosen_before_the_limit_applies)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(graph_done) struct graph g = { 0 }, top = { 0 };

	/* The path ends at e, which is lighter than all others, and f, which calls e, has the largest self value
	 * among equal ones. */
	add(p, "mzyxf", "samples", 500);
	add(p, "mzyxfe", "samples", 15);
	add(p, "mga", "samples", 23);
	add(p, "mgb", "samples", 22);
	add(p, "mgc", "samples", 21);
	add(p, "mgd", "samples", 20);
	graph_init(&g, p, 0);
	graph_copy(&top, &g);
	graph_prune(&g, 7, 5);
	CHECK_INT(g.wanted_nodes, 11);
	CHECK_INT(g.node_count, 7);
	for (size_t i = 0; i < g.node_count; i++)
		CHECK_INT(g.nodes[i].critical, strchr("mzyxfe", letter(p, g.nodes[i].frame)) != NULL);
	for (size_t i = 1; i < g.node_count; i++)
		CHECK(g.nodes[i - 1].weight >= g.nodes[i].weight);
	CHECK_INT(g.edge_count, 6);
	for (size_t i = 0; i < g.edge_count; i++)
		CHECK_INT(g.edges[i].critical, letter(p, g.nodes[g.edges[i].to].frame) != 'g');
	graph_prune(&top, 3, 5);
	CHECK_INT(top.node_count, 3);
	for (size_t i = 0; i < 3; i++)
		CHECK(strchr("mzy", letter(p, top.nodes[i].frame)) && top.nodes[i].critical);
	CHECK_INT(top.edge_count, 2);
}

TEST(negative_and_overflowing_values_are_handled)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(graph_done) struct graph g = { 0 };
	_cleanup_(buf_done) struct buf dot = { 0 };
	struct callgraph_options o;
	struct callgraph_counts counts;

	add(p, "mf", "memory_bytes", -100);
	add(p, "ma", "memory_bytes", INT64_MAX);
	add(p, "mb", "memory_bytes", INT64_MAX);
	graph_init(&g, p, 0);
	CHECK_INT(edge_value(p, &g, "mf"), -100);
	callgraph_defaults(&o);
	buf_init(&dot);
	CHECK_INT(callgraph_dot(p, &o, &dot, &counts, NULL), 0);
	CHECK_INT(counts.functions, 4);		/* including the one of freed memory */
	CHECK_INT(counts.shown, 3);
	o.before_column = 7;
	CHECK_INT(callgraph_dot(p, &o, &dot, &counts, NULL), -EINVAL);
	o.before_column = UINT32_MAX;
	o.column = 7;
	CHECK_INT(callgraph_dot(p, &o, &dot, &counts, NULL), -EINVAL);
}

TEST(the_heading_shows_the_total_rather_than_the_base_of_percentages)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf dot = { 0 };
	struct callgraph_options o;

	add(p, "ma", "memory_bytes", 1000);
	add(p, "mb", "memory_bytes", -400);
	callgraph_defaults(&o);
	buf_init(&dot);
	CHECK_INT(callgraph_dot(p, &o, &dot, NULL, NULL), 0);
	buf_putc(&dot, 0);
	CHECK(strstr(dot.data, "memory_bytes: 600") != NULL);
}

TEST(a_focus_keeps_callers_and_callees_with_percentages_of_the_whole)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf dot = { 0 };
	struct callgraph_options o;
	struct callgraph_counts counts;
	bool focus[5] = { false };

	add(p, "mab", "samples", 25);
	add(p, "mc", "samples", 75);
	callgraph_defaults(&o);
	for (uint32_t f = 0; f < p->frame_count; f++)
		focus[f] = letter(p, f) == 'a';
	o.focus = focus;
	buf_init(&dot);
	CHECK_INT(callgraph_dot(p, &o, &dot, &counts, NULL), 0);
	CHECK_INT(counts.shown, 3);
	CHECK(strstr(dot.data, "label=\"b\\nself 25 (25.0%)\\ntotal 25 (25.0%)\"") != NULL);
	CHECK(strstr(dot.data, "label=\"c\\n") == NULL);
}

static struct profile *named(const char *name, size_t n);

TEST(labels_break_at_separators_and_keep_the_method)
{
	static const struct { const char *name, *label; } labels[] = {
		{ "/usr/share/mediawiki/includes/WebStart.php", "/usr/share/mediawiki/includes/\\nWebStart.php\\n" },
		{ "Wikimedia\\Services\\ServiceContainer::createService", "Wikimedia\\\\Services\\\\\\nServiceContainer::createService\\n" },
		{ "a_function_without_any_other_separator_in_it", "a_function_without_any_other_\\nseparator_in_it\\n" },
		{ "/srv/a/very/long/folder/of/an/application/in/which/many/folders/are/in/each/other/and/more/src/Controller.php",
		  "/srv/a/very/long/folder/of/an/\\napplication/in/which/many/folders/\\n…/other/and/more/src/Controller.php\\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		_cleanup_(profile_freep) struct profile *p = named(labels[i].name, strlen(labels[i].name));
		_cleanup_(buf_done) struct buf dot = { 0 };
		struct callgraph_options o;

		callgraph_defaults(&o);
		buf_init(&dot);
		CHECK_INT(callgraph_dot(p, &o, &dot, NULL, NULL), 0);
		CHECK(strstr(dot.data, labels[i].label) != NULL);
	}
}

static struct profile *named(const char *name, size_t n)
{
	struct profile *p = profile_new();
	uint32_t frame = profile_frame(p, (struct str){ name, n }, (struct str){ name, n }, 3);

	profile_add(p, profile_stack(p, &frame, 1), profile_column(p, "samples", "count"), 1);
	return p;
}

/* Tells whether every quote is closed on its line; names must not break that. */
static bool quotes_close(const char *text)
{
	bool inside = false;

	for (; *text; text++) {
		if (inside && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			inside = !inside;
		else if (*text == '\n' && inside)
			return false;
	}
	return !inside;
}

TEST(names_cannot_escape_their_quotes)
{
	static const char *const names[] = {
		"\"", "\\", "a\\", "\\\"", "\"];\nn0 -> n0 [label=\"", "a\nb", "\\N\\G\\l", "<b>x</b>", "&amp;&#0;&lt;",
		"{a|b}", "\x01\x7f\xff\xc3",
		"Namespace\\Of\\A\\Very\\Long\\Class\\Name\\That\\Needs\\Several\\Lines\\And::someMore_and_even_more_than_fits_in_all_of_them",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(profile_freep) struct profile *p = named(names[i], strlen(names[i]));
		_cleanup_(buf_done) struct buf dot = { 0 };
		struct callgraph_options o;

		callgraph_defaults(&o);
		o.title = names[i];
		buf_init(&dot);
		CHECK_INT(callgraph_dot(p, &o, &dot, NULL, NULL), 0);
		CHECK(quotes_close(dot.data));
		CHECK(strlen(dot.data) == dot.size);
	}
}

TEST(an_svg_of_graphviz_fills_the_window_and_other_output_is_unchanged)
{
	static const char from[] = "<?xml?>\n<svg width=\"69pt\" height=\"51pt\"\n viewBox=\"0 0 69 51\" xmlns=\"x\">\n"
				   "<g><title>n0</title>\n<text>a</text></g>\n</svg>\n";
	static const char *const others[] = { "", "<svg", "<svg width=\"1pt\"></svg>", "<svg width=\"1\" viewBox=\"0",
					      "text" };
	_cleanup_(buf_done) struct buf out = { 0 };

	buf_init(&out);
	callgraph_finish_svg((struct str){ from, strlen(from) }, &out);
	CHECK(strstr(out.data, "<svg width=\"100%\" height=\"100%\"\n viewBox=\"0 0 69 51\" xmlns=\"x\">\n"
		     "<style>") != NULL);
	CHECK(strstr(out.data, "<g><text>a</text></g>\n<script>") != NULL);
	CHECK_STR(out.data + out.size - 7, "</svg>\n");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		buf_reset(&out);
		callgraph_finish_svg((struct str){ others[i], strlen(others[i]) }, &out);
		CHECK_STR(out.data, others[i]);
	}
}

TEST_MAIN()
