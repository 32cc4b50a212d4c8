/* stack_tree.h: the stacks of one day as they are read: a tree of numbered nodes over a list of frames.
 *
 * Both lists only ever grow, and stand in the file as blocks of records, one row per block, that follow each other
 * without gaps. Reading half a million nodes is a pass over a few hundred kilobytes, no query per node.
 *
 *   frame record   length of the name, name, length of the file's path, path, line       (lengths and line: varints)
 *   node record    own number - parent's number, frame                                   (varints)
 *
 * Frames are numbered from 0. Nodes are numbered from 1; node 0 is the root, which has no record and no frame; so a
 * parent always has a smaller number. A block is packed by pack.h; its row also has the number of its first record.
 */
#ifndef STORE_STACK_TREE_H
#define STORE_STACK_TREE_H

#include "buf.h"
#include "intern.h"
#include "profile.h"
#include <sqlite3.h>

#define STACK_TREE_FRAMES	(4u * 1024 * 1024)	/* per day */
#define STACK_TREE_NODES	(16u * 1024 * 1024)	/* per day */

struct stack_tree {
	struct str *records;		/* by frame: bytes of its record */
	uint32_t frame_count;
	uint32_t *parents, *node_frames;	/* by node; those of the root are 0 */
	uint32_t node_count;		/* at least 1 once loaded */

	/* private */
	size_t record_capacity, parent_capacity, frame_capacity;
	struct arena bytes;
};

void stack_tree_init(struct stack_tree *t);
void stack_tree_done(struct stack_tree *t);

/* Reads all blocks. -EBADMSG if they are not as above; other failures as sqlite_failed has them. */
int stack_tree_load(struct stack_tree *t, sqlite3 *db, const char *path, struct err *err);

/* The frame's parts; they point into the record. */
void stack_tree_frame(const struct stack_tree *t, uint32_t frame, struct str *ret_name, struct str *ret_file,
		      uint32_t *ret_line);

#endif
