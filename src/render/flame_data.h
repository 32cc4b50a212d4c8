/* flame_data.h: a profile laid out for the canvas of the page: every box with its position, ready for typed arrays.
 *
 * All integers and doubles are little-endian; sections follow each other without gaps, and each begins at a multiple
 * of 8 (zero bytes fill up).
 *
 *   offset  size  header
 *        0     4  magic "SFLM"
 *        4     4  version, 1
 *        8     4  n, number of boxes; the first is the root
 *       12     4  d, number of depths; the root's is 0
 *       16     4  w, bytes of a value: 4 or 8. 4 while the total is below 2^32
 *       20     4  bytes of the text
 *       24     8  total of the root, a double
 *       32     4  boxes left out because they were too narrow (FLAME_DATA_BOXES)
 *       36     4  1: a difference, with two more sections of values; else 0
 *       40     4  boxes too narrow to be seen, joined to gray ones with all boxes on top of them (flame_part.h)
 *       44     4  1: values before are scaled, with one more section; else 0
 *       48    16  zero
 *       64        first box of each depth: d + 1 times 4 bytes, the last one is n
 *                 start of each box, n times w bytes: unsigned when w is 4, a double when w is 8
 *                 width of each box, the same
 *                 frame of each box, n times 4 bytes: index into the lists of the text
 *                 in a difference: value of each box before, and after, n times w bytes each
 *                 in a scaled one: value of each box before, unscaled, n times w bytes
 *                 text: JSON, {"names": […], "files": […], "frame_name": […], "frame_file": […], "frame_line": […],
 *                 …} and other data added by the caller. The last frame is the root's, followed by that of gray boxes
 *                 if boxes were joined
 *
 * Boxes are sorted by depth, then by start; siblings by name. The children of a box are those of the next depth that
 * start within it, so they, or the parent, can be found by bisection.
 *
 * Pages that do the layout themselves, for any of several values, get the tree, with the self values of every column:
 *
 *   offset  size  header
 *        0     4  magic "STRE"
 *        4     4  version, 1
 *        8     4  n, number of nodes; the first is the root
 *       12     4  d, number of depths; the root's is 0
 *       16     4  c, number of columns of values
 *       20     4  bytes of the text
 *       24     4  nodes left out
 *       28    36  zero
 *       64        bytes of a value of each column, c times 4 bytes: 4 for signed integers, 8 for doubles
 *                 first node of each depth: d + 1 times 4 bytes
 *                 number of children of each node, n times 4 bytes
 *                 frame of each node, n times 4 bytes
 *                 own values of each column, n times 4 or 8 bytes
 *                 text, as above
 *
 * Nodes are sorted by depth, then by parent, then by name. */
#ifndef RENDER_FLAME_DATA_H
#define RENDER_FLAME_DATA_H

#include "json.h"
#include "profile.h"
#include "render.h"

#define FLAME_DATA_HEADER 64u
#define FLAME_DATA_BOXES (4u * 1024 * 1024)	/* limit; narrower ones are left out */

/* Appends the profile. Unless `before_column` is UINT32_MAX it has both sides, and `width_of` selects the widths: by
 * default the larger of both sides, so that removed stacks are visible, too. `about` is called inside the JSON object
 * to add keys; NULL is fine. */
void flame_data_put(const struct profile *p, uint32_t column, uint32_t before_column, enum flamegraph_width_of width_of, uint32_t max_boxes,
		    struct buf *out, void (*about)(struct json *j, void *data), void *data);

/* Appends the tree with those columns, without stacks that have no value in any of them; if there are too many, the
 * narrowest in columns[shown] are dropped. */
void flame_data_put_tree(const struct profile *p, const uint32_t *columns, uint32_t column_count, uint32_t shown, uint32_t max_nodes,
			 struct buf *out);

/* Boxes placed by another layout. Their frames are those of `p`, or its number of frames for the root, and one more
 * for gray boxes. `offsets` has one entry more than there are depths. Values are not negative, the first box is the
 * root. If boxes were joined, the text only has frames that are used. */
struct flame_boxes {
	uint32_t count, depths, joined;
	const uint32_t *offsets, *frames;
	const int64_t *starts, *widths, *before, *after;	/* the last two: only in a difference, else NULL */
	const int64_t *measured;				/* if `before` is scaled: unscaled; else NULL */
	const char *gray;					/* name of gray boxes; NULL unless boxes were joined */
};

void flame_data_put_boxes(const struct profile *p, const struct flame_boxes *b, struct buf *out,
			  void (*about)(struct json *j, void *data), void *data);

#endif
