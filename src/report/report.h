/* report.h: tables of a profile. Pure: profile and options in, bytes out.
 *
 * If a profile has edges (edges.h), tables are made from these and never from its tree, which is only an estimate.
 * Values that edges do not determine are marked: `at_most` is an upper limit, which tables show as "≤12.3". */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "buf.h"
#include "err.h"
#include "profile.h"

#define REPORT_AT_MOST "≤"

/* One function over all its stacks. Total counts a recursive function once per stack. */
struct flat_row {
	uint32_t frame;
	int64_t self, total;
	bool at_most;			/* the total is an upper limit */
};

/* The order of rows: most self first (ties: most total, then name), most total first, or by name. */
enum report_sort { REPORT_SORT_SELF, REPORT_SORT_TOTAL, REPORT_SORT_NAME };

/* Returns a row for every frame, sorted. The caller frees. */
struct flat_row *report_flat(const struct profile *p, uint32_t column, enum report_sort sort, size_t *ret_count);

/* Returns the sum of all self values. */
int64_t report_sum(const struct profile *p, uint32_t column);

/* Returns the base of shares. If nodes have negative values, such as freed memory, it is more than the profile's sum,
 * which could be 0 or less. */
int64_t report_whole(const struct profile *p, uint32_t column);

/* The grouping of rows. */
enum report_by {
	REPORT_BY_FUNCTION, REPORT_BY_LINE, REPORT_BY_FILE, REPORT_BY_CLASS, REPORT_BY_NAMESPACE, REPORT_BY_PACKAGE, REPORT_BY_OWN,
	REPORT_BY_COUNT
};

struct report_options {
	uint32_t column;
	size_t limit;			/* rows; 0 is all */
	enum report_sort sort;
	bool json, csv, color;
	bool all_columns;		/* self and total of every column; the wide table has self of each anyway */
	bool sums;			/* append rows for the rest and the sum */
	enum report_by by;		/* the profile's grouping, for headings */
	size_t width;			/* columns of the terminal; 0 is no limit */
};

/* Appends the table: self %, total %, self, total, function, and file:line where known. With `csv` or `json`, numbers
 * are plain; CSV follows RFC 4180, and a name that a spreadsheet would take for a formula gets a ' before it. */
int report_flat_table(const struct profile *p, const struct report_options *o, struct buf *out, struct err *err);

/* --- Several columns at once, as for traces --- */

/* One function over all its stacks, in every column. In a column of calls, `self` is the number of calls. */
struct wide_row {
	uint32_t frame;
	int64_t self[PROFILE_COLUMNS], total[PROFILE_COLUMNS];
	bool at_most;			/* the total is an upper limit */
};

/* Returns a row for every frame, sorted by one column as in report_flat. The caller frees. */
struct wide_row *report_wide(const struct profile *p, uint32_t column, enum report_sort sort, size_t *ret_count);

/* Returns the number of columns that a table of a trace shows, in this order: calls, wall, CPU, off-CPU, memory, as
 * available; then the others. */
size_t report_wide_columns(const struct profile *p, uint32_t ret[PROFILE_COLUMNS]);

/* Returns the heading of a column in a table: "wall" for "wall_ns". */
const char *report_column_title(const char *name);

/* Appends the table: self % and self of each column, total of the time, function and file:line. */
int report_wide_table(const struct profile *p, const struct report_options *o, struct buf *out, struct err *err);

/* --- Callers and callees --- */

enum report_direction { REPORT_CALLERS, REPORT_CALLEES };

#define REPORT_NO_CALLER UINT32_MAX	/* the frame of an edge if the function is at the root of the stack */

/* The share of one caller, or one callee, in the requested function. In a column "calls" the value is the number of
 * calls between the two. */
struct report_edge {
	uint32_t frame;
	int64_t values[PROFILE_COLUMNS];
	bool at_most;				/* not for calls */
};

/* A function and its callers or its callees. Each value of the tree belongs to one edge: to the caller of the
 * outermost call of the function on its stack, or to what the innermost one called. So recursion counts once, and
 *	callers: the edges add up to `total`		callees: the edges and `self` add up to `total`
 * but for "calls", where the callers' edges add up to `self`. For a profile with edges they add up to that or, where
 * some are `at_most`, to more: where a callee calls the function again, its calls have what is below them in both. */
struct report_edges {
	int64_t self[PROFILE_COLUMNS], total[PROFILE_COLUMNS];
	int64_t again[PROFILE_COLUMNS];		/* the part of total where it is on the stack repeatedly */
	bool total_at_most, again_at_most;
	struct report_edge *edges;		/* most of the sorting column first, then most calls, then by name */
	size_t count;
};

/* `of` selects the frames of the function: several if files share its name. */
void report_edges(const struct profile *p, const bool *of, enum report_direction direction, uint32_t column,
		  struct report_edges *ret);
void report_edges_done(struct report_edges *e);

/* Appends the tables of `callers` and `callees` (NULL: no such table) below the function's own values, with shares of
 * the function and of everything. */
int report_edges_table(const struct profile *p, const bool *callers, const bool *callees,
		       const struct report_options *o, struct buf *out, struct err *err);

/* --- The choice of functions --- */

/* Finds a function by its whole name (ignoring case as PHP does), else by the only name that contains `text`, else by
 * the only name that it matches as an extended regular expression. Sets `ret` by frame and returns how many frames
 * have that name; -ENOENT with the nearest names, -ENOTUNIQ with some of the matches. Expressions must be trusted,
 * since matching may take unbounded time and memory. */
int report_find(const struct profile *p, const char *text, bool *ret, struct err *err);

/* Returns an array for all frames with none selected. The caller frees. */
bool *report_no_frames(const struct profile *p);

/* Returns, by frame, whether a frame of another file has its name. The caller frees. */
bool *report_shared_names(const struct profile *p);

/* Sets `ret` by frame for every name that the extended regular expression matches, ignoring case. Returns their
 * number, or -EINVAL. */
int report_match(const struct profile *p, const char *regex, bool *ret, struct err *err);

/* --- Other profiles for the same tables; the caller frees them --- */

/* Returns "function", "class", … in the singular or plural. */
const char *report_by_name(enum report_by by, bool plural);
bool report_by_parse(const char *text, enum report_by *ret);

/* The name of a grouping in parameters and options: "own", where its name is that of functions. */
const char *report_by_key(enum report_by by);

/* Whether the profile has executed lines; first lines of functions do not count. */
static inline bool report_has_lines(const struct profile *p)
{
	return p->node_lines && !p->edges;
}

/* Returns the same stacks by line: a frame is a function, its file and the executed line, or without `functions` a
 * line of a file in any function. Code without source, such as PHP's own functions and native code, counts as the
 * line that called it. */
struct profile *report_lines(const struct profile *p, bool functions);

/* Returns, by node, whether it counts as the line that called it. The caller frees. */
bool *report_lines_of_callers(const struct profile *p);

/* The same stacks of classes, files, … instead of functions. The group's name is the frame's name, "[no class]" where
 * there is none:
 *	line		FILE:LINE executed, see report_lines; of a profile without lines, where the function is defined
 *	class		what stands before ::
 *	namespace	what stands before the last \ of the class or function
 *	package		vendor/name of a path with /vendor/vendor/name/; plugins/name or themes/name of one below
 *			wp-content/; a native module by its file name; "[kernel]"; else the first two parts of the
 *			namespace
 *	own		functions of one's own code: what libraries below vendor/, PHP's own functions and native code
 *			take counts for the function of one's own that called them. In a profile without files all
 *			functions are one's own; of edges only the tree is left */
struct profile *report_group(const struct profile *p, enum report_by by);

/* Returns, by frame, whether it is own code, as for REPORT_BY_OWN. The caller frees. */
bool *report_own_frames(const struct profile *p);

/* Appends "FILE:LINE", the name of a group by line. */
void report_put_line(struct str file, uint32_t line, struct buf *out);

void report_group_name(const struct profile *p, uint32_t frame, enum report_by by, struct buf *out);

/* Keeps only stacks with a frame of `focus` and none of `ignore`; either may be NULL. */
struct profile *report_filter(const struct profile *p, const bool *focus, const bool *ignore);

/* Does the same with selections by node. */
struct profile *report_filter_nodes(const struct profile *p, const bool *focus, const bool *ignore);

/* Returns, by node, whether its frame is selected. The caller frees. */
bool *report_nodes_of(const struct profile *p, const bool *frames);

/* The weighted average of `count` profiles, as of several runs: the sum of value × weight, by the sum of weights.
 * Weights are whole numbers from 0 to REPORT_WEIGHT_MAX, not all 0. Counts become fractions (PROFILE_MILLIONTHS);
 * rounding errors of a node are carried to the next node of its function, so that sums stay exact. */
#define REPORT_WEIGHT_MAX UINT64_C(1000000000000)
struct profile *report_average(const struct profile *const *profiles, const uint64_t *weights, size_t count);

/* Names the columns that an average leaves out because some profiles with a weight lack them; nothing if it has all
 * of them, as when there is no common column. */
void report_average_lacks(const struct profile *const *profiles, const uint64_t *weights, size_t count, struct buf *out);

/* Returns -EINVAL if the profiles with a weight, except empty ones, have no column in common, so that there is
 * nothing to average. */
int report_average_check(const struct profile *const *profiles, const uint64_t *weights, size_t count, struct err *err);

#endif
