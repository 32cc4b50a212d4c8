/* stack_registry_private.h: the tables of a stack registry, for the files that fill and read them. */
#ifndef CAPTURE_STACK_REGISTRY_PRIVATE_H
#define CAPTURE_STACK_REGISTRY_PRIVATE_H

#include "file_registry.h"
#include "kernel_symbols.h"
#include "map.h"
#include "stack_registry.h"

struct known_stack {
	u32 first, count;		/* in php_frames, native_frames or kernel_frames */
	enum native_end end;		/* for native ones */
	bool perl;
};

struct counted {
	struct count_key key;
	struct count count;
};

struct stack_registry {
	struct profile *names;		/* only its frames are used, by function */
	struct map functions;		/* id -> frame of `names` */
	struct map php_stacks, native_stacks, kernel_stacks;
	struct known_stack *stacks;
	size_t stack_count, stack_capacity;
	struct php_frame *php_frames;
	size_t php_count, php_capacity;
	u64 *native_frames, *kernel_frames;
	size_t native_count, native_capacity, kernel_count, kernel_capacity;
	struct map requests;		/* id -> index of `request_events` */
	struct request_event *request_events;
	size_t request_count, request_capacity;
	struct file_registry files;
	struct kernel_symbols symbols;	/* read on first use */
	bool has_symbols;
	struct map keys;		/* hash of a key -> index of `counts` */
	struct counted *counts;
	size_t count_count, count_capacity;
};

#endif
