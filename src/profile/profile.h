/* profile.h: a profile is a calling context tree with values.
 *
 * Sampler output, a day of a fleet, a traced run, a diff: all are this tree. Node 0 is the root ("all"); every other
 * node is one frame called from its parent's stack, and a parent always has a smaller number than its children, so
 * one backward pass computes totals, and one forward pass walks paths, without recursion at any depth. Values are
 * self values (of the node without its children), one per column; the same frame under the same parent is one node.
 * If lines are kept, a node also has the executed line, which is not part of the function's identity: the same frame
 * then occurs below one parent once per line. Lines are hidden by default (profile_keep_lines). This code uses no
 * files, sockets or clocks. Values measured per pair of caller and callee, without stacks, also have a second form:
 * edges.h.
 *
 * Read the struct directly, but change it only through the functions below.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "intern.h"
#include "map.h"
#include "labels.h"
#include <stdbool.h>

#define PROFILE_ROOT	0u
#define PROFILE_COLUMNS	16u
#define PROFILE_UNKNOWN	"[unknown]"

struct profile_frame {
	uint32_t name, file;	/* strings of profile->strings; file is "" if unknown */
	uint32_t line;		/* line of the function's definition, 0 unknown */
};

struct profile_column {
	char name[64];		/* "samples", "wall_ns", "cpu_ns", "calls", … */
	char unit[64];		/* "count", "nanoseconds", "bytes" */
	int64_t *self;		/* one value per node, `node_capacity` of them */
	bool counts_calls;	/* "calls", or a side of their comparison: has self values but no totals */
	struct profile_scaling {
		uint32_t from;			/* the column that this one was scaled from */
		int64_t numerator, denominator;	/* denominator 0: this column was not scaled */
	} scaling;
};

struct profile {
	struct intern strings;

	struct profile_frame *frames;
	uint32_t frame_count;

	uint32_t *parents;	/* by node; the root's is itself */
	uint32_t *node_frames;	/* by node; the root's is UINT32_MAX */
	uint32_t *node_lines;	/* by node: the executed line, or that of the call to its children, 0 unknown; NULL:
				 * no node has one */
	uint32_t node_count;	/* at least 1 */

	struct profile_column columns[PROFILE_COLUMNS];
	uint32_t column_count;
	uint32_t named_columns;		/* bit mask of the columns returned by profile_column since the caller set
					 * this to 0 */

	int64_t start_ns, end_ns;	/* period of the profile, since 1970; both 0 if unknown */
	int64_t period_ns;		/* sampling period; 0 if there is none or several were merged */
	bool mixed_periods;		/* several periods were merged: `samples` have different weights */
	struct labels labels;		/* labels common to everything merged into it */

	struct edges *edges;		/* edges.h; NULL: only the tree exists */
	bool estimated;			/* the tree was built from pairs of caller and callee: sums over functions
					 * that need stacks are estimates, and so are pictures */

	struct chart *chart;		/* chart.h; NULL: none, or not requested */
	uint32_t charted_calls;		/* calls in the chart of the run that was read, kept or not */

	/* private */
	size_t frame_capacity, node_capacity;
	bool keeps_lines, keeps_chart;
	struct map place_map;		/* frame and line to a number, for nodes with a line */
	struct map frame_map, child_map;	/* child_map has all children but the first of each node … */
	struct profile_child *first_children;	/* … which is here, because most nodes have only one */
	uint32_t indexed_count;			/* later nodes are in neither yet */
};

struct profile_child {
	uint32_t node;		/* 0: none */
	uint32_t place;		/* its frame, or the number in place_map of its frame and line */
};

struct profile *profile_new(void);
struct profile *profile_free(struct profile *p);	/* NULL is fine; returns NULL */
void profile_freep(struct profile **p);

/* A function without a name cannot be seen, clicked or requested: readers of formats in which it is a valid frame (in
 * folded text it is not) call it PROFILE_UNKNOWN. */
static inline struct str profile_given_name(struct str name)
{
	return name.n ? name : (struct str){ PROFILE_UNKNOWN, sizeof(PROFILE_UNKNOWN) - 1 };
}

/* The same for display; a name of blanks cannot be seen either. Conversions keep the original names. */
struct str profile_visible_name(struct str name);

/* Takes ownership of `p` and returns it, or a new one, with visible names. */
struct profile *profile_show_names(struct profile *p);

/* Finds or adds a frame, a column, a child. Names are copied. profile_column returns UINT32_MAX if there are
 * PROFILE_COLUMNS already. */
uint32_t profile_frame(struct profile *p, struct str name, struct str file, uint32_t line);
/* strings of p->strings */
uint32_t profile_frame_of(struct profile *p, uint32_t name, uint32_t file, uint32_t line);
uint32_t profile_column(struct profile *p, const char *name, const char *unit);
uint32_t profile_column_like(struct profile *p, const struct profile_column *c);		/* a column of another profile */
int64_t profile_scaled(const struct profile_scaling *s, int64_t v);	/* rounded half away from zero; `v` if there is no scaling */
uint32_t profile_measured(const struct profile *p, uint32_t column);	/* the column it was scaled from, or itself */
uint32_t profile_find_column(const struct profile *p, const char *name);	/* UINT32_MAX if it is not there */
uint32_t profile_child(struct profile *p, uint32_t parent, uint32_t frame);

/* Sets whether nodes are kept apart by executed line, from now on. A new profile does not do that, so that pictures
 * and tables by function have one node per function regardless of the input. Readers and profile_merge pass lines to
 * any profile; one that does not keep them merges their nodes. */
void profile_keep_lines(struct profile *p, bool keep);

/* Drops all lines if no stack with a value has one: the profile is then identical to one built without lines. */
void profile_drop_unused_lines(struct profile *p);

/* Gives all nodes a line from now on, 0 if unknown: for parts of a profile that has lines. */
void profile_begin_lines(struct profile *p);

/* Sets whether the flame chart of a run is kept when it is read, or merged into an empty profile; a new profile does
 * not keep it. Anything added later drops it. */
void profile_keep_chart(struct profile *p, bool keep);

/* Returns the child with that line, 0 for none. */
uint32_t profile_child_at(struct profile *p, uint32_t parent, uint32_t frame, uint32_t line);

static inline uint32_t profile_line(const struct profile *p, uint32_t node)
{
	return p->node_lines ? p->node_lines[node] : 0;
}

/* Returns the same stacks by function only. The caller frees. */
struct profile *profile_without_lines(const struct profile *p);

bool profile_columns_fit(const struct profile *p, const struct profile *more);	/* whether both sets of columns fit */

/* Converts a string of the frames of `from` to one of `into`, looking it up once: `ids` has one entry per string of
 * `from`, initially all ones. Many functions share a file, whose name may be long. */
uint32_t profile_copy_string(struct profile *into, const struct profile *from, uint32_t string, uint32_t *ids);
uint32_t *profile_string_ids(const struct profile *from);	/* allocates `ids`; the caller frees it */

/* Adds a child that the caller knows to be new: needs no lookup, and no memory for lookups before the next
 * profile_child. */
uint32_t profile_append(struct profile *p, uint32_t parent, uint32_t frame);
uint32_t profile_append_at(struct profile *p, uint32_t parent, uint32_t frame, uint32_t line);

/* Gives an empty profile all its nodes at once. No two may be the same stack. The arrays are from malloc, with at
 * least `count` elements: `lines` may be NULL, and `self` has one per column, NULL if all its values are 0. The
 * profile owns them. */
void profile_take_nodes(struct profile *p, uint32_t count, uint32_t *parents, uint32_t *frames, uint32_t *lines, int64_t *const *self);

/* Adds to a node's self value; saturates at the ends of int64_t instead of wrapping. */
void profile_add(struct profile *p, uint32_t node, uint32_t column, int64_t value);

/* Makes room for fractions of a count: the values become millionths, marked by the unit PROFILE_MILLIONTHS. Does
 * nothing if they are already. profile_scale returns the divisor of the values: 1 or 1,000,000. */
#define PROFILE_MILLIONTHS "millionths"
void profile_refine(struct profile *p, uint32_t column);
int64_t profile_scale(const struct profile *p, uint32_t column);

/* Adds a stack given root first as frames; returns its node. */
uint32_t profile_stack(struct profile *p, const uint32_t *frames, size_t depth);

struct str profile_name(const struct profile *p, uint32_t frame);
struct str profile_file(const struct profile *p, uint32_t frame);

/* Compares by name, file and line: an order that does not depend on the origin of a profile, unlike frame numbers. */
int profile_compare_frames(const struct profile *p, uint32_t a, uint32_t b);
uint32_t *profile_rank_frames(const struct profile *p);	/* position of each frame in that order; the caller frees */

/* Returns the column that pictures and tables show by default: `wanted` if it is not NULL (UINT32_MAX if the profile
 * lacks it), else the first; for a trace, whose first column counts calls, the time; for a difference, `after`. */
uint32_t profile_pick_column(const struct profile *p, const char *wanted);

/* Returns the total (self and all descendants) of every node: `node_count` numbers, which the caller frees. Saturates
 * like profile_add. */
int64_t *profile_totals(const struct profile *p, uint32_t column);

int64_t profile_sum(const struct profile *p, uint32_t column);	/* the root's total */

/* Returns the sum of negative values (0 or less), and the number of nodes that have them; `ret_nodes` may be NULL.
 * Only memory and differences have such values, and pictures and folded stacks cannot show them. */
int64_t profile_below_zero(const struct profile *p, uint32_t column, uint32_t *ret_nodes);

/* Returns the number of stacks that are not a prefix of another one. */
uint32_t profile_stacks(const struct profile *p);

uint32_t profile_depth(const struct profile *p);		/* depth of the deepest node */

/* Extends start and end to include these times, for a profile that is being added. 0, 0 changes nothing. */
void profile_cover(struct profile *p, int64_t start_ns, int64_t end_ns);

/* Call this before adding nodes one by one from something with this period and these labels. A profile without nodes
 * adopts them; otherwise, a different period sets `mixed_periods`, and only common labels are kept. */
void profile_describe(struct profile *p, int64_t period_ns, bool mixed_periods, const struct labels *labels);

/* Adds everything in `from` to `into`, columns by name (those above PROFILE_COLUMNS are left out); times, period and
 * labels as with the two functions above. */
void profile_merge(struct profile *into, const struct profile *from);

/* Returns the same values with every stack reversed, without lines: children of the root are the leaves. The caller
 * frees. */
struct profile *profile_reverse(const struct profile *p);

/* The same for a picture of `column` that omits anything below `least`: nodes with a smaller total have no children,
 * and include their values. A column with negative values is reversed completely. */
struct profile *profile_reverse_above(const struct profile *p, uint32_t column, double least);

/* Makes a profile without nodes, with the frames (same numbers), columns and metadata of `p`, to be filled with a
 * part of it; it keeps lines if `p` does. The caller frees. */
struct profile *profile_new_like(const struct profile *p);

/* Adds the values of a node of `from` to one of `to`; both must have the same columns. */
void profile_add_node(struct profile *to, uint32_t to_node, const struct profile *from, uint32_t node);
bool profile_has_values(const struct profile *p, uint32_t node);	/* in any column */
bool profile_has_samples(const struct profile *p);			/* whether any node but the root has values */

/* Returns only the stacks with at least one frame for which `keep` is true (by frame number). The caller frees. */
struct profile *profile_filter(const struct profile *p, const bool *keep);

/* Returns the same with at most `max` nodes: below the smallest total that still fits, everything becomes one node
 * PROFILE_PRUNED per caller, so that sums stay correct. The caller frees. */
#define PROFILE_PRUNED "[pruned]"
struct profile *profile_prune(const struct profile *p, uint32_t column, uint32_t max);
uint32_t profile_pruned_frame(struct profile *p);	/* the frame of such nodes, found or added */

/* Returns the smallest total that at most `max` nodes reach, among those that are `counted` (NULL: all); INT64_MAX if
 * there is none. */
int64_t profile_least_kept(const int64_t *totals, const bool *counted, uint32_t count, uint32_t max);

/* Returns the same with directly recursive frames merged into one. The caller frees. */
struct profile *profile_without_recursion(const struct profile *p);

/* Adds the column `wall_ns` or `cpu_ns` (by the label "clock") as samples × period, if possible and not present yet. */
void profile_add_time(struct profile *p);

/* Adds the column `off_cpu_ns`, wall time minus CPU time, if both are known and it is not present yet. If CPU time
 * exceeds wall time, one of the clocks was too coarse, and the wait counts as 0. */
void profile_add_off_cpu(struct profile *p);

#endif
