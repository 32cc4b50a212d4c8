/* log_plan.h: assigns the lines of a batch to log files. Does no I/O. */
#ifndef ARCLAMP_LOG_PLAN_H
#define ARCLAMP_LOG_PLAN_H

#include "log_tags.h"

/* Stacks of an entry that arrived as messages. */
struct log_stacks {
	uint32_t entry;
	uint64_t popped;		/* the group's sample_pop counter before them */
};

/* A file and the data to append to it. */
struct log_target {
	uint32_t group, time, tag;	/* `time` is an index into `times` */
	char *path;			/* below the base: "hourly/2026-11-21_18.index.log" */
	uint32_t *lines;		/* lines of the batch, in their order */
	size_t line_count, line_capacity;
	struct log_stacks *stacks;	/* written after the lines */
	size_t stack_count, stack_capacity;
	uint64_t inode, length;		/* for the undo record: state before the batch, 0 if missing */
};

struct log_plan {
	const struct logs_options *options;
	const struct log_name *names;	/* by group */
	struct log_tags *tags;
	const struct batch *batch;

	struct log_target *targets;
	size_t target_count, target_capacity;
	uint64_t popped[LOGS_GROUPS];	/* lines since the last one written; set by the caller, updated by the plan */
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

/* Returns how many of the next `n` are written if every `pop`-th is; updates the counter. */
uint64_t log_plan_pop(uint64_t *popped, unsigned pop, uint64_t n);

/* Returns the column with samples; UINT32_MAX if there is none. */
uint32_t log_plan_column(const struct profile *p);

#endif
