/* frame_dict.h: the writer's frames of one day, by number and by their parts.
 *
 * A frame is kept as its record (stack_tree.h), once. Lookups use name, file and line without encoding the record
 * first: a batch has many small profiles, and looking up their frames is most of the work of storing them. */
#ifndef STORE_FRAME_DICT_H
#define STORE_FRAME_DICT_H

#include "arena.h"
#include "buf.h"
#include "intern.h"
#include "map.h"

#define FRAME_NONE UINT32_MAX

struct frame_dict {
	struct str *records;		/* by frame */
	size_t capacity;
	uint32_t count;
	uint8_t *is_hole;		/* by frame, for the first `hole_count`; numbers of holes are not reused */
	uint32_t hole_count;
	struct map numbers;		/* key of the parts, or the next free key above it → frame */
	struct arena bytes;
};

/* The hashes are computed by intern_hash. */
struct frame_parts {
	struct str name, file;
	uint32_t name_hash, file_hash, line;
};

void frame_dict_init(struct frame_dict *d);
void frame_dict_done(struct frame_dict *d);

/* Adds the next frame from a file; `record` must be valid. Returns false if the frame exists already. */
bool frame_dict_load(struct frame_dict *d, struct str record);

/* Prefetches the memory of all these frames at once. Looked up one by one, each would wait for memory three times. */
void frame_dict_prefetch(const struct frame_dict *d, const struct frame_parts *frames, size_t n);

/* Tells whether frame `number`, which must not be a hole, has these parts; their hashes are not needed. */
bool frame_dict_is(const struct frame_dict *d, uint32_t number, const struct frame_parts *f);

/* Returns FRAME_NONE if the frame does not exist or is a hole. */
uint32_t frame_dict_find(const struct frame_dict *d, const struct frame_parts *f);

/* Finds the frame, or adds it under the next number and appends its record to `new_records`. */
uint32_t frame_dict_add(struct frame_dict *d, const struct frame_parts *f, struct buf *new_records);

/* Hides the frames with 0 in `kept`, which covers all frames: a hidden frame that occurs again gets a new number. */
void frame_dict_make_holes(struct frame_dict *d, const uint8_t *kept);

#endif
