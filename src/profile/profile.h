/* profile.h: a profile is a calling context tree with values.
 *
 * Sampler output, a day of a fleet, a traced run, a diff: all are this tree. Node 0 is the root ("all"); every other
 * node is one frame called from its parent's stack, and a parent always has a smaller number than its children, so one
 * pass from the back adds totals up and one pass from the front walks paths down, without recursion at any depth.
 * Values are self values (what the node took without its children), one per column; the same frame under the same
 * parent is one node. Where lines are kept, a node also has the executed line, which is no part of what the function
 * is: the same frame stands below one parent once per line, which is hidden by default (profile_keep_lines). No
 * files, no sockets, no clock in here. Values measured per pair of caller and callee, without stacks, also have a
 * second form: edges.h.
 *
 * The struct is open for reading; it is changed through the functions below only.
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
	uint32_t name, file;	/* strings of profile->strings; file is that of "" if unknown */
	uint32_t line;		/* line of the function's definition, 0 unknown */
};

struct profile_column {
	char name[64];		/* "samples", "wall_ns", "cpu_ns", "calls", … */
	char unit[64];		/* "count", "nanoseconds", "bytes" */
	int64_t *self;		/* one value per node, `node_capacity` of them */
	bool counts_calls;	/* "calls", or a side of their comparison: a function has its own, and no total of those below */
	struct profile_scaling {
		uint32_t from;			/* the column that this one is a multiple of */
		int64_t numerator, denominator;	/* denominator 0: this column was not scaled */
	} scaling;
};

struct profile {
	struct intern strings;

	struct profile_frame *frames;
	uint32_t frame_count;

	uint32_t *parents;	/* by node; the root's is itself */
	uint32_t *node_frames;	/* by node; the root's is UINT32_MAX */
	uint32_t *node_lines;	/* by node: the executed line, or that of the call to its children, 0 unknown; NULL: no
				 * node has one */
	uint32_t node_count;	/* at least 1 */

	struct profile_column columns[PROFILE_COLUMNS];
	uint32_t column_count;
	uint32_t named_columns;		/* one bit for each that profile_column has returned since the caller set this
					 * to 0 */

	int64_t start_ns, end_ns;	/* period of the profile, since 1970; both 0 if unknown */
	int64_t period_ns;		/* sampling period; 0 if there is none or several were merged */
	bool mixed_periods;		/* several periods were merged: `samples` do not weigh the same */
	struct labels labels;		/* those common to everything merged into it */

	struct edges *edges;		/* edges.h; NULL: the tree is all there is */
	bool estimated;			/* the tree was made of pairs of caller and callee: sums over functions that
					 * need stacks are an estimate, as are pictures */

	struct chart *chart;		/* chart.h; NULL: none, or not requested */
	uint32_t charted_calls;		/* calls of the chart of the run that was read, whether it is carried or not */

	/* private */
	size_t frame_capacity, node_capacity;
	bool keeps_lines, keeps_chart;
	struct map place_map;		/* frame and line to a number, for nodes with a line */
	struct map frame_map, child_map;	/* child_map has all children but the first of each node … */
	struct profile_child *first_children;	/* … which is here, because most nodes have only one */
	uint32_t indexed_count;			/* nodes above this are in neither yet */
};

struct profile_child {
	uint32_t node;		/* 0: there is none */
	uint32_t place;		/* its frame, or what place_map has for its frame and line */
};

struct profile *profile_new(void);
struct profile *profile_free(struct profile *p);	/* NULL is fine; returns NULL */
void profile_freep(struct profile **p);

/* A function without a name cannot be seen, clicked or requested: readers of formats in which that is no frame of its own
 * (as it is in folded text) call it PROFILE_UNKNOWN. */
static inline struct str profile_given_name(struct str name)
{
	return name.n ? name : (struct str){ PROFILE_UNKNOWN, sizeof(PROFILE_UNKNOWN) - 1 };
}

/* The same wherever functions are shown; a name of blanks cannot be seen either. Conversions keep what they read. */
struct str profile_visible_name(struct str name);

/* Takes ownership of `p` and returns it, or a new one, with visible names. */
struct profile *profile_show_names(struct profile *p);

/* Finds or adds a frame, a column, a child. Names are copied. profile_column returns UINT32_MAX when there are
 * PROFILE_COLUMNS already. */
uint32_t profile_frame(struct profile *p, struct str name, struct str file, uint32_t line);
/* strings of p->strings */
uint32_t profile_frame_of(struct profile *p, uint32_t name, uint32_t file, uint32_t line);
uint32_t profile_column(struct profile *p, const char *name, const char *unit);
uint32_t profile_column_like(struct profile *p, const struct profile_column *c);		/* a column of another profile */
int64_t profile_scaled(const struct profile_scaling *s, int64_t v);	/* rounded, half a unit away from zero; `v` if there is no scaling */
uint32_t profile_measured(const struct profile *p, uint32_t column);	/* that which it was scaled from, or itself */
uint32_t profile_find_column(const struct profile *p, const char *name);	/* UINT32_MAX if it is not there */
uint32_t profile_child(struct profile *p, uint32_t parent, uint32_t frame);

/* Whether nodes are kept apart by executed line, from now on; a new profile does not, so that all that goes by
 * functions, pictures and tables, has one node per function regardless of its input. Readers and profile_merge hand
 * lines over to any profile; one that does not keep them adds their nodes up. */
void profile_keep_lines(struct profile *p, bool keep);

/* Leaves no lines where no stack with a value has one: such a profile is the same as one that was made without lines. */
void profile_drop_unused_lines(struct profile *p);

/* All nodes have a line from now on, 0 if it is not known: for what is left of a profile that has some. */
void profile_begin_lines(struct profile *p);

/* Whether the flame chart of a run that is read, or merged into an empty profile, is carried along; a new profile does not. It goes
 * with the next thing that is added. */
void profile_keep_chart(struct profile *p, bool keep);

/* The child with that line, 0 for none. */
uint32_t profile_child_at(struct profile *p, uint32_t parent, uint32_t frame, uint32_t line);

static inline uint32_t profile_line(const struct profile *p, uint32_t node)
{
	return p->node_lines ? p->node_lines[node] : 0;
}

/* The same stacks by function alone. The caller frees. */
struct profile *profile_without_lines(const struct profile *p);

bool profile_columns_fit(const struct profile *p, const struct profile *more);	/* for the columns of both */

/* A string of the frames of `from` as one of `into`, looked up once: `ids` has one entry per string of `from`, all of
 * bits 1 at first. Many functions have one file, whose name may be long. */
uint32_t profile_copy_string(struct profile *into, const struct profile *from, uint32_t string, uint32_t *ids);
uint32_t *profile_string_ids(const struct profile *from);	/* such entries, to be freed */

/* Adds a child that the caller knows to be new: no lookup, and none of the memory that lookups take before
 * the next profile_child. */
uint32_t profile_append(struct profile *p, uint32_t parent, uint32_t frame);
uint32_t profile_append_at(struct profile *p, uint32_t parent, uint32_t frame, uint32_t line);

/* Gives a profile without nodes all of them at once, no two the same stack, in arrays from malloc with at least `count` elements: `lines`
 * may be NULL, and `self` has one per column, NULL if all its values are 0. They belong to the profile then. */
void profile_take_nodes(struct profile *p, uint32_t count, uint32_t *parents, uint32_t *frames, uint32_t *lines, int64_t *const *self);

/* Adds to a node's self value; stops at the ends of int64_t instead of wrapping. */
void profile_add(struct profile *p, uint32_t node, uint32_t column, int64_t value);

/* Makes room for parts of a count: the values become millions of them, which the unit PROFILE_MILLIONTHS says. Nothing
 * if that is so already. profile_scale is what the values are to be divided by: 1 or 1,000,000. */
#define PROFILE_MILLIONTHS "millionths"
void profile_refine(struct profile *p, uint32_t column);
int64_t profile_scale(const struct profile *p, uint32_t column);

/* Adds a stack given root first as frames; returns its node. */
uint32_t profile_stack(struct profile *p, const uint32_t *frames, size_t depth);

struct str profile_name(const struct profile *p, uint32_t frame);
struct str profile_file(const struct profile *p, uint32_t frame);

/* By name, file and line: an order that does not depend on where a profile came from, as frame numbers do. */
int profile_compare_frames(const struct profile *p, uint32_t a, uint32_t b);
uint32_t *profile_rank_frames(const struct profile *p);	/* by frame its place in that order; the caller frees */

/* The column that pictures and tables show unless another is requested: `wanted` if it is not NULL (UINT32_MAX when
 * the profile lacks it), else the first; of a trace, whose first is how often functions were called, what time they
 * took; of a difference what is `after`. */
uint32_t profile_pick_column(const struct profile *p, const char *wanted);

/* Total (self and all below) of every node: `node_count` numbers, the caller frees. Saturates as profile_add does. */
int64_t *profile_totals(const struct profile *p, uint32_t column);

int64_t profile_sum(const struct profile *p, uint32_t column);	/* the root's total */

/* The sum of negative values (0 or less), and the number of nodes that have them; `ret_nodes` may be NULL. Only memory
 * and differences have such values, and pictures and folded stacks have no place for them. */
int64_t profile_below_zero(const struct profile *p, uint32_t column, uint32_t *ret_nodes);

/* The number of stacks that are not the beginning of another one. */
uint32_t profile_stacks(const struct profile *p);

uint32_t profile_depth(const struct profile *p);		/* the deepest node's */

/* Extends start and end to cover these times, those of a profile that is being added. 0, 0 changes nothing. */
void profile_cover(struct profile *p, int64_t start_ns, int64_t end_ns);

/* Call this before the nodes of something with this period and these labels are added one by one. A profile without
 * nodes takes them over; in another one a second period makes `mixed_periods`, and only labels that agree stay. */
void profile_describe(struct profile *p, int64_t period_ns, bool mixed_periods, const struct labels *labels);

/* Adds everything of `from` to `into`, columns by name (those above PROFILE_COLUMNS are left out), with times, period
 * and labels as the two functions above say. */
void profile_merge(struct profile *into, const struct profile *from);

/* The same values with every stack turned over, without lines: children of the root are the leaves. The caller frees. */
struct profile *profile_reverse(const struct profile *p);

/* The same for a picture of `column` that shows nothing below `least`: a node with less than that in all has no
 * children, and what they would have is its own. A column with values below zero is turned over as a whole. */
struct profile *profile_reverse_above(const struct profile *p, uint32_t column, double least);

/* A profile without nodes and with the frames (of the same numbers), columns and facts of `p`, to put a part of it
 * into; it keeps lines if `p` does. The caller frees. */
struct profile *profile_new_like(const struct profile *p);

/* Adds the values of a node of `from` to one of `to`, both with the same columns. */
void profile_add_node(struct profile *to, uint32_t to_node, const struct profile *from, uint32_t node);
bool profile_has_values(const struct profile *p, uint32_t node);	/* in any column */
bool profile_has_samples(const struct profile *p);			/* whether any node but the root has values */

/* Only the stacks for which `keep` is true of at least one frame (by frame number). The caller frees. */
struct profile *profile_filter(const struct profile *p, const bool *keep);

/* The same in at most so many nodes: what is below the least total that still fits becomes one node PROFILE_PRUNED under
 * its caller, so that sums stay right. The caller frees. */
#define PROFILE_PRUNED "[pruned]"
struct profile *profile_prune(const struct profile *p, uint32_t column, uint32_t max);
uint32_t profile_pruned_frame(struct profile *p);	/* the frame of such nodes, found or added */

/* The least total that at most `max` nodes reach, of those that are `counted` (NULL: all); INT64_MAX if that is none. */
int64_t profile_least_kept(const int64_t *totals, const bool *counted, uint32_t count, uint32_t max);

/* The same with frames of one name that stand directly below each other as one. The caller frees. */
struct profile *profile_without_recursion(const struct profile *p);

/* Adds column `wall_ns` or `cpu_ns` (by the label "clock") as samples × period, if it can and it is not there. */
void profile_add_time(struct profile *p);

/* Adds column `off_cpu_ns`, the wall time that was not CPU time, where both are known and it is not there. Where CPU time is above
 * wall time, one of the clocks was too coarse, and the wait counts as 0. */
void profile_add_off_cpu(struct profile *p);

#endif
