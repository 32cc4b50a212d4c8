/* edge_list.h: a profile from values counted per caller and callee.
 *
 * xhprof, tideways_xhprof and uprofiler record, for each pair of caller and callee, the number of calls and their
 * inclusive values. The stack of a call is lost. These pairs become the profile's edges (edges.h), which are exact.
 * Its tree is built as follows:
 *
 *   1. It begins at main(), with the values of the entry "main()" that has no caller; then at every other function
 *      that has no caller.
 *   2. If a function was called from several places, each of its callees is divided among those places in proportion:
 *      time by the function's time in each place, everything else (calls, memory, allocations) by its number of calls
 *      there. The pieces add up to the measured values, and a function with one caller is not divided.
 *   3. The self value of a node is its total less the totals of its callees.
 *   4. A recursive function occurs once per level, as in these extensions: "foo", "foo@1", "foo@2", which are levels
 *      of one function.
 *   5. If pairs form a cycle, a function is not expanded again below itself. The largest places are expanded first;
 *      once there are EDGE_LIST_NODES nodes, or a place has no value left, it is not expanded. Its callees are then
 *      combined below it as "[folded]". After 20 million visits to pairs no place is expanded, so that a complete
 *      graph takes seconds rather than minutes.
 *
 * If every function has one caller, nothing is divided: the tree is exact, and the profile has no edges.
 */
#ifndef FORMATS_EDGE_LIST_H
#define FORMATS_EDGE_LIST_H

#include "profile.h"

#define EDGE_LIST_NODES	200000u		/* limit of the tree */
#define EDGE_LIST_MAX	2000000u	/* limit of pairs */

/* The values of these extensions' keys, in order. The first column is always calls. */
enum edge_value {
	EDGE_CALLS,		/* ct */
	EDGE_WALL,		/* wt, microseconds */
	EDGE_CPU,		/* cpu, microseconds */
	EDGE_MEMORY,		/* mu, bytes, may be negative */
	EDGE_PEAK,		/* pmu */
	EDGE_ALLOCATIONS,	/* mem.na */
	EDGE_FREES,		/* mem.nf */
	EDGE_ALLOCATED,		/* mem.aa */
	EDGE_SAMPLES,		/* samples: of a sampled profile */
	EDGE_VALUES
};

#define EDGE_LIST_COLUMNS	16u		/* values per pair */

struct edge_list_column {
	const char *column, *unit;
	int64_t scale;			/* factor from the input's unit */
	bool divided_by_itself;		/* otherwise by calls */
	const char *key;		/* name in xhprof's arrays */
};

extern const struct edge_list_column edge_list_xhprof[EDGE_VALUES];

struct edge_list;

/* The columns must outlive the list. */
struct edge_list *edge_list_new(const struct edge_list_column *columns, unsigned count);
struct edge_list *edge_list_free(struct edge_list *e);	/* NULL is fine; returns NULL */

/* Returns the value of a key such as "wt" or of a column such as "wall_ns"; EDGE_VALUES if unknown. */
enum edge_value edge_list_value(struct str key);
enum edge_value edge_list_value_of_column(const char *column);

/* Adds "caller==>callee", or a function without a caller. `set` has a bit for each measured value. Returns -E2BIG if
 * there are EDGE_LIST_MAX already. */
int edge_list_add(struct edge_list *e, struct str pair, const int64_t *value, unsigned set);

/* The same in steps, for functions with a file, and optionally a line. `caller` is UINT32_MAX if there is none. All
 * functions must be added in the same way. */
uint32_t edge_list_string(struct edge_list *e, struct str s);
uint32_t edge_list_function(struct edge_list *e, uint32_t name, uint32_t file);	/* strings */
int edge_list_add_pair(struct edge_list *e, uint32_t caller, uint32_t callee, const int64_t *value, unsigned set);

void edge_list_set_line(struct edge_list *e, uint32_t function, uint32_t line);	/* unless it has one; 0: none */

/* Adds to the measured self value of a function. Its places in the tree then share that, as they share the rest of
 * the pairs, and there is no "[folded]": even if pairs form a cycle, this value stays exact. */
void edge_list_add_own(struct edge_list *e, uint32_t function, const int64_t *value);

size_t edge_list_count(const struct edge_list *e);

/* Tells which recursive functions have a different name per level. */
enum edge_levels {
	EDGE_LEVELS_NONE,
	EDGE_LEVELS_OUTERMOST,		/* those with a second name; deeper levels may share that */
	EDGE_LEVELS_ALL,		/* every one at every level, unless the values contradict it */
};

/* A format's spelling of names, and its consequences. */
struct edge_list_meaning {
	char level_mark;		/* precedes the number of a level in a name: foo@7, foo'7 */
	unsigned level_base;		/* number of the outermost level, which is not written */
	enum edge_levels levels;
	const char *root;		/* a function with this name at the top is the root; NULL: none is */
	bool calls_of_root;		/* the root's "calls" are events, rather than 1 call */
	bool calls_last;		/* the column of calls comes last */
};

/* Adds tree and edges to `p`, with times in nanoseconds, and off_cpu_ns if both clocks were measured. Returns -E2BIG
 * if `p` has no room for the columns. */
int edge_list_to_profile(const struct edge_list *e, const struct edge_list_meaning *m, struct profile *p);

#endif
