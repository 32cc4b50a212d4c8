/* open_waits.c: the time counted so far for each open wait, and the time still to be subtracted for those that have
 * ended. */

#include "open_waits.h"

#include "map.h"
#include "mem.h"

#include <string.h>
#include <xxhash.h>

/* A wait that ends just before a refresh may be counted by the programs just after it. If it is not counted within
 * this many refreshes, it was lost. */
#define CORRECTION_REFRESHES	3u

struct open_wait {
	u32 tid;
	bool seen;
	u64 since_ns;
	struct count_key key;
	struct count given[SAMPLE_KINDS], now[SAMPLE_KINDS];
};

struct correction {
	struct count_key key;
	struct count count;
	unsigned refreshes;
};

struct open_waits {
	u64 min_ns, now_ns;
	struct map places;		/* keyed by thread and start */
	struct open_wait *waits;
	size_t count, capacity;
	struct correction *corrections;
	size_t correction_count, correction_capacity;
};

struct open_waits *open_waits_new(u64 min_ns)
{
	struct open_waits *w = xcalloc(1, sizeof(*w));

	w->min_ns = min_ns;
	map_init(&w->places);
	return w;
}

struct open_waits *open_waits_free(struct open_waits *w)
{
	if (!w)
		return NULL;
	map_done(&w->places);
	free(w->waits);
	free(w->corrections);
	free(w);
	return NULL;
}

static u64 place_key(u32 tid, u64 since_ns)
{
	const u64 both[] = { tid, since_ns };

	return XXH3_64bits(both, sizeof(both));
}

void open_waits_begin(struct open_waits *w, u64 now_ns)
{
	w->now_ns = now_ns;
	for (size_t i = 0; i < w->count; i++)
		w->waits[i].seen = false;
}

static struct count interval(const struct waiting *wait, u64 begin_ns, u64 end_ns)
{
	struct count c = { wait->weight, end_ns > begin_ns ? (end_ns - begin_ns) * wait->weight : 0 };

	return c.ns ? c : (struct count){ 0, 0 };
}

void open_waits_see(struct open_waits *w, u32 tid, const struct waiting *wait)
{
	u32 *place;
	struct open_wait *o;

	if (w->now_ns < wait->since_ns || w->now_ns - wait->since_ns < w->min_ns)
		return;
	place = map_slot(&w->places, place_key(tid, wait->since_ns));
	if (*place == MAP_NONE) {
		GROW(&w->waits, &w->capacity, w->count + 1);
		*place = (u32)w->count;
		w->waits[w->count++] = (struct open_wait){ .tid = tid, .since_ns = wait->since_ns, .key = wait->key };
	}
	o = &w->waits[*place];
	o->seen = true;
	if (wait->preempted) {
		o->now[SAMPLE_RUNNABLE] = interval(wait, wait->since_ns, w->now_ns);
		return;
	}
	o->now[SAMPLE_BLOCKED] = interval(wait, wait->since_ns, wait->woken_ns ? wait->woken_ns : w->now_ns);
	if (wait->woken_ns)
		o->now[SAMPLE_RUNNABLE] = interval(wait, wait->woken_ns, w->now_ns);
}

static void add_correction(struct open_waits *w, const struct open_wait *o)
{
	for (u32 kind = 0; kind < SAMPLE_KINDS; kind++) {
		struct correction d = { o->key, o->given[kind], 0 };

		d.key.kind = kind;
		if (!d.count.ns)
			continue;
		GROW(&w->corrections, &w->correction_capacity, w->correction_count + 1);
		w->corrections[w->correction_count++] = d;
	}
}

/* Turns waits that are gone into corrections. */
static void remove_gone(struct open_waits *w)
{
	size_t kept = 0;

	map_clear(&w->places);
	for (size_t i = 0; i < w->count; i++) {
		if (!w->waits[i].seen) {
			add_correction(w, &w->waits[i]);
			continue;
		}
		map_set(&w->places, place_key(w->waits[i].tid, w->waits[i].since_ns), (u32)kept);
		w->waits[kept++] = w->waits[i];
	}
	w->count = kept;
}

static void pay(struct open_waits *w, struct stack_registry *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->correction_count; i++) {
		struct correction d = w->corrections[i];

		stack_registry_take_off(b, &d.key, &d.count);
		if (d.count.ns && ++d.refreshes < CORRECTION_REFRESHES)
			w->corrections[kept++] = d;
	}
	w->correction_count = kept;
}

static void count_new(struct open_wait *o, struct stack_registry *b)
{
	for (u32 kind = 0; kind < SAMPLE_KINDS; kind++) {
		struct count c = { o->now[kind].samples - o->given[kind].samples, o->now[kind].ns - o->given[kind].ns };
		struct count_key key = o->key;

		if (o->now[kind].ns <= o->given[kind].ns)
			continue;
		key.kind = kind;
		stack_registry_count(b, &key, &c);
		o->given[kind] = o->now[kind];
	}
}

void open_waits_end(struct open_waits *w, struct stack_registry *b)
{
	remove_gone(w);
	for (size_t i = 0; i < w->count; i++)
		count_new(&w->waits[i], b);
	pay(w, b);
}

void open_waits_finish(struct open_waits *w, struct stack_registry *b)
{
	open_waits_begin(w, 0);
	remove_gone(w);
	pay(w, b);
}
