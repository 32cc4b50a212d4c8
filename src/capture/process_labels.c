/* process_labels.c: the labels of each process, in a table. */

#include "process_labels.h"

#include "map.h"
#include "mem.h"
#include "process.h"

#include <stdio.h>
#include <string.h>

#define VALUE_SIZE	128u
#define CONTAINER_DIGITS	12u

struct one {
	char pool[VALUE_SIZE], container[VALUE_SIZE], pid[16];
};

struct process_labels {
	bool with_pid;
	struct map places;		/* keyed by PROCESS_KEY */
	struct one *items;
	size_t count, capacity;
};

struct process_labels *process_labels_new(bool with_pid)
{
	struct process_labels *l = xcalloc(1, sizeof(*l));

	l->with_pid = with_pid;
	map_init(&l->places);
	return l;
}

struct process_labels *process_labels_free(struct process_labels *l)
{
	if (l) {
		map_done(&l->places);
		free(l->items);
	}
	free(l);
	return NULL;
}

static struct one *place_of(struct process_labels *l, u64 process)
{
	u32 *place = map_slot(&l->places, process);

	if (*place == MAP_NONE) {
		GROW(&l->items, &l->capacity, l->count + 1);
		*place = (u32)l->count++;
	}
	return &l->items[*place];
}

void process_labels_note(struct process_labels *l, u64 process, pid_t pid)
{
	struct one *o = place_of(l, process);

	*o = (struct one){ 0 };
	if (!pid)
		return;
	process_fpm_pool(pid, o->pool, sizeof(o->pool));
	/* The same form as `docker ps` and the daemon's rule cgroup:container use. */
	if (process_container(pid, o->container, sizeof(o->container)))
		o->container[CONTAINER_DIGITS] = 0;
	snprintf(o->pid, sizeof(o->pid), "%d", (int)pid);
}

void process_labels_adopt(struct process_labels *l, const struct process_labels *from, u64 process)
{
	u32 place = map_get(&from->places, process);

	if (place != MAP_NONE)
		*place_of(l, process) = from->items[place];
}

static void set(struct labels *ret, const char *key, const char *value)
{
	if (*value)
		labels_set(ret, key, strlen(key), value, strlen(value));
}

void process_labels_set(const struct process_labels *l, u64 process, struct labels *ret)
{
	u32 place = map_get(&l->places, process);

	if (place == MAP_NONE)
		return;
	set(ret, "pool", l->items[place].pool);
	set(ret, "container", l->items[place].container);
	if (l->with_pid)
		set(ret, "pid", l->items[place].pid);
}
