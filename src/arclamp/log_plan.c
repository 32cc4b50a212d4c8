/* log_plan.c: assigns lines to files in one pass over the batch. Lines of the same second usually go to the same
 * files, so the last target is remembered. */
#include "log_plan.h"

#include "clock.h"
#include "mem.h"
#include "saturate.h"

#include <assert.h>
#include <string.h>

void log_plan_init(struct log_plan *p, const struct logs_options *o, const struct log_name *names,
		   struct log_tags *tags, const struct batch *b)
{
	*p = (struct log_plan){ .options = o, .names = names, .tags = tags, .batch = b };
	intern_init(&p->times);
	map_init(&p->seconds);
	map_init(&p->index);
	for (size_t i = 0; i < LOGS_GROUPS; i++)
		p->last_second[i] = -1;
	p->entries = xcalloc(b->count + 1, sizeof(*p->entries));
}

void log_plan_done(struct log_plan *p)
{
	for (size_t i = 0; i < p->target_count; i++) {
		free(p->targets[i].path);
		free(p->targets[i].lines);
		free(p->targets[i].stacks);
	}
	free(p->targets);
	free(p->entries);
	intern_done(&p->times);
	map_done(&p->seconds);
	map_done(&p->index);
}

uint64_t log_plan_pop(uint64_t *popped, unsigned pop, uint64_t n)
{
	uint64_t all = *popped + n;

	*popped = all % pop;
	return all / pop;
}

uint32_t log_plan_column(const struct profile *p)
{
	uint32_t column = profile_find_column(p, "samples");

	return column != UINT32_MAX || !p->column_count ? column : 0;
}

/* Lines already have their entry point as a label; messages may have any labels. */
static struct entry_info *find_entry(struct log_plan *p, uint32_t i)
{
	const struct batch_entry *e = &p->batch->entries[i];
	const char *entry = labels_get(e->labels, "entry"), *channel = labels_get(e->labels, "profiler");
	_cleanup_(freep) char *name = NULL;
	struct entry_info *info = &p->entries[i];

	if (entry && !e->from_lines) {
		struct str s = log_entry_point(entry);

		name = xstrndup(s.p, s.n);
		entry = name;
	}
	info->tag = log_tags_of(p->tags, entry, p->options, p->names);
	for (uint32_t g = 0; g < p->options->group_count; g++) {
		const char *wanted = p->options->groups[g].channel;

		if (!wanted || (channel && !strcmp(wanted, channel)))
			info->groups |= 1u << g;
	}
	info->is_known = true;
	return info;
}

static const struct entry_info *entry_of(struct log_plan *p, uint32_t i)
{
	assert(i < p->batch->count);
	return p->entries[i].is_known ? &p->entries[i] : find_entry(p, i);
}

static uint32_t new_time(struct log_plan *p, uint32_t group, int64_t second)
{
	const char *period = p->options->groups[group].period;
	_cleanup_(freep) char *text = NULL;
	char time[LOG_TIME_MAX + 1];

	log_name_time(&p->names[group], second, time);
	text = xasprintf("%s/%s", period, time);
	return intern_add(&p->times, text, strlen(text));
}

static uint32_t time_of(struct log_plan *p, uint32_t group, int64_t second)
{
	uint32_t *slot;

	if (p->last_second[group] == second)
		return p->last_time[group];
	slot = map_slot(&p->seconds, (uint64_t)second * LOGS_GROUPS + group);
	if (*slot == MAP_NONE)
		*slot = new_time(p, group, second);
	p->last_second[group] = second;
	p->last_time[group] = *slot;
	return *slot;
}

static struct log_target *target_of(struct log_plan *p, uint32_t group, uint32_t time, uint32_t tag)
{
	uint32_t *slot = map_slot(&p->index, map_pair(time, tag));
	struct str t, n;

	if (*slot != MAP_NONE)
		return &p->targets[*slot];
	*slot = (uint32_t)p->target_count;
	t = intern_get(&p->times, time);
	n = intern_get(&p->tags->names, tag);
	GROW(&p->targets, &p->target_capacity, p->target_count + 1);
	p->targets[p->target_count] = (struct log_target){
		.group = group, .time = time, .tag = tag,
		.path = xasprintf("%.*s.%.*s.log", (int)t.n, t.p, (int)n.n, n.p),
	};
	return &p->targets[p->target_count++];
}

static void add_line(struct log_target *t, uint32_t line)
{
	if (t->line_count == t->line_capacity)
		GROW(&t->lines, &t->line_capacity, t->line_count + 1);
	t->lines[t->line_count++] = line;
}

static void plan_line(struct log_plan *p, uint32_t i)
{
	const struct batch_line *line = &p->batch->lines[i];
	const struct entry_info *e = entry_of(p, line->entry);
	int64_t second = line->time_ns / NS_PER_SECOND;

	p->lines_other += e->tag == LOG_TAG_OTHER;
	for (uint32_t g = 0; g < p->options->group_count; g++) {
		unsigned pop = p->options->groups[g].sample_pop;
		uint32_t time;

		if (!(e->groups & 1u << g) || (pop > 1 && !log_plan_pop(&p->popped[g], pop, 1)))
			continue;
		time = time_of(p, g, second);
		add_line(target_of(p, g, time, LOG_TAG_ALL), i);
		add_line(target_of(p, g, time, e->tag), i);
	}
}

static void add_stacks(struct log_target *t, uint32_t entry, uint64_t popped)
{
	GROW(&t->stacks, &t->stack_capacity, t->stack_count + 1);
	t->stacks[t->stack_count++] = (struct log_stacks){ entry, popped };
}

static uint64_t samples_of(const struct profile *p, uint32_t column)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->node_count; i++)
		saturating_count(&n, p->columns[column].self[i] > 0 ? (uint64_t)p->columns[column].self[i] : 0);
	return n;
}

static void plan_entry(struct log_plan *p, uint32_t i)
{
	const struct batch_entry *b = &p->batch->entries[i];
	uint32_t column = log_plan_column(b->profile);
	uint64_t samples = column == UINT32_MAX ? 0 : samples_of(b->profile, column);
	const struct entry_info *e = entry_of(p, i);

	p->lines_other += samples && e->tag == LOG_TAG_OTHER;
	for (uint32_t g = 0; g < p->options->group_count && samples; g++) {
		uint64_t before = p->popped[g];
		uint32_t time;

		if (!(e->groups & 1u << g) || !log_plan_pop(&p->popped[g], p->options->groups[g].sample_pop, samples))
			continue;
		time = time_of(p, g, b->bucket_ns / NS_PER_SECOND);
		add_stacks(target_of(p, g, time, LOG_TAG_ALL), i, before);
		add_stacks(target_of(p, g, time, e->tag), i, before);
	}
}

void log_plan_make(struct log_plan *p)
{
	for (size_t i = 0; i < p->batch->line_count; i++)
		plan_line(p, (uint32_t)i);
	for (size_t i = 0; i < p->batch->count; i++)
		if (!p->batch->entries[i].from_lines)
			plan_entry(p, (uint32_t)i);
}
