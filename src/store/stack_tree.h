/* stack_tree.h: the stacks of one day, for readers: a tree of numbered nodes over a list of frames.
 *
 * Both lists are stored as blocks of records, one row per block, that follow each other without gaps. Reading
 * half a million nodes is a pass over a few hundred kilobytes, no query per node.
 *
 *   frame record   length of the name, name, length of the file's path, path, line       (lengths and line: varints)
 *   node record    own number - parent's number, frame                                   (varints)
 *   line record    own number - that of the last node with a line (of the first: 0),
 *                  executed line - line where the frame's function begins, zigzag         (varints)
 *
 * Frames are numbered from 0. Nodes are numbered from 1; node 0 is the root, which has no record and no frame; so a
 * parent always has a smaller number. A frame may occur several times below one parent, with different lines. Most
 * senders send no lines: then there are no line records, and no table for them. A block is packed by pack.h; its row
 * also has the number of its first record, for lines, that of the node.
 *
 * Numbers are never reused: rows of samples refer to them. A record that no sample of the day needs any longer
 * becomes a hole: all zeros, which compress to almost nothing. A node with distance 0 is a hole, and so is an empty
 * frame, which may also be a frame without a name. The line record of a hole keeps its distance and means nothing.
 */
#ifndef STORE_STACK_TREE_H
#define STORE_STACK_TREE_H

#include "buf.h"
#include "intern.h"
#include "profile.h"
#include <sqlite3.h>

#define STACK_TREE_FRAMES	(4u * 1024 * 1024)	/* per day */
#define STACK_TREE_NODES	(16u * 1024 * 1024)	/* per day */
#define STACK_TREE_HOLE		UINT32_MAX		/* as the frame of a node */

struct stack_tree {
	struct str *records;		/* by frame: bytes of its record */
	uint32_t frame_count;
	uint32_t *starts;		/* by frame: first line of its function */
	uint32_t *parents, *node_frames;	/* by node; 0 for the root */
	uint32_t *node_lines;		/* by node: the executed line, 0 unknown, any other for a hole that has a line
					 * record; NULL: there is none */
	uint32_t node_count;		/* at least 1 once loaded */
	uint32_t hole_count;
	uint32_t last_lined;		/* the last node with a line; 0 if there is none */

	/* private */
	size_t record_capacity, node_capacity;
	struct buf *blocks;		/* with records of frames */
	size_t block_count, block_capacity;
	struct arena bytes;		/* copies of blocks that were stored plain */
};

void stack_tree_init(struct stack_tree *t);
void stack_tree_done(struct stack_tree *t);

/* Reads all blocks. Returns -EBADMSG if they are invalid; other errors as in sqlite_failed. */
int stack_tree_load(struct stack_tree *t, sqlite3 *db, const char *path, struct err *err);

/* Returns the number of the first node of the last block: a lower limit of the number of nodes, including holes. */
int stack_tree_size(sqlite3 *db, const char *path, uint32_t *ret, struct err *err);

/* Returns whether the file has a table of lines: 1 or 0, or a negative errno. */
int stack_tree_has_lines(sqlite3 *db, const char *path, struct err *err);

/* Nothing may refer to a hole. The root is not a hole. */
static inline bool stack_tree_is_hole(const struct stack_tree *t, uint32_t node)
{
	return t->hole_count && node > 0 && t->node_frames[node] == STACK_TREE_HOLE;
}

/* Keeps only these nodes, which must include each one's caller and the root but no holes, and renumbers them without
 * gaps. */
void stack_tree_keep(struct stack_tree *t, const bool *needed);

/* Returns the frame's parts; they point into its record. */
void stack_tree_frame(const struct stack_tree *t, uint32_t frame, struct str *ret_name, struct str *ret_file,
		      uint32_t *ret_line);

#endif
