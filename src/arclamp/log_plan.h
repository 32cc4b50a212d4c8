/* log_plan.h: assigns the lines of a batch to log files. Does no I/O. */
#ifndef ARCLAMP_LOG_PLAN_H
#define ARCLAMP_LOG_PLAN_H

#include "log_tags.h"

/* Stacks of an entry that came as messages. */
struct log_stacks {
	uint32_t entry;
	uint64_t popped;		/* the group's counter of sample_pop before them */
};

/* One file and what is appended to it. */
struct log_target {
	uint32_t group, time, tag;	/* `time` is a number in times */
	char *path;			/* below the base: "hourly/2026-11-21_18.index.log" */
	uint32_t *lines;		/* lines of the batch, in their order */
	size_t line_count, line_capacity;
	struct log_stacks *stacks;	/* behind the lines */
	size_t stack_count, stack_capacity;
	uint64_t inode, length;		/* for the undo record: before the batch, 0 if it is not there */
};

struct log_plan {
	const struct logs_options *options;
	const struct log_name *names;	/* by group */
	struct log_tags *tags;
	const struct batch *batch;

	struct log_target *targets;
	size_t target_count, target_capacity;
	uint64_t popped[LOGS_GROUPS];	/* lines since the last that was written; set before, read afterwards */
	uint64_t lines_other;

	/* private */
	struct intern times;		/* "hourly/2026-11-21_18" */
	struct map seconds, index;
	int64_t last_second[LOGS_GROUPS];
	uint32_t last_time[LOGS_GROUPS];
	struct entry_info { uint32_t tag, groups; bool is_known; } *entries;
};

void log_plan_init(struct log_plan *p, const struct logs_options *o, const struct log_name *names,
		   struct log_tags *tags, const struct batch *b);
void log_plan_done(struct log_plan *p);
void log_plan_make(struct log_plan *p);

/* The number of the next `n` that are written if every `pop`-th is; moves the counter. */
uint64_t log_plan_pop(uint64_t *popped, unsigned pop, uint64_t n);

/* The column with the samples of a profile; UINT32_MAX if it has none. */
uint32_t log_plan_column(const struct profile *p);

#endif
