/* suspects.c: a set of series, by hash; too many at a time are forgotten. */
#include "suspects.h"

#include "buf.h"
#include "labels.h"

#include <xxhash.h>

#define SUSPECTS_MAX	65536u

enum { CLEARED,
       SUSPECT };

void suspects_init(struct suspects *s)
{
	map_init(&s->series);
}

void suspects_done(struct suspects *s)
{
	map_done(&s->series);
}

static uint64_t key_of(const struct batch_entry *e)
{
	_cleanup_(buf_done) struct buf key = { 0 };

	buf_init(&key);
	buf_put(&key, &e->period_ns, sizeof(e->period_ns));
	buf_put(&key, &e->clock, sizeof(e->clock));
	labels_put(e->labels, &key);
	return XXH3_64bits(key.data, key.size);
}

bool suspects_has(const struct suspects *s, const struct batch_entry *e)
{
	return s->series.count && map_get(&s->series, key_of(e)) == SUSPECT;
}

void suspects_add(struct suspects *s, const struct batch_entry *e)
{
	if (s->series.count >= SUSPECTS_MAX)
		map_clear(&s->series);
	map_set(&s->series, key_of(e), SUSPECT);
}

void suspects_remove(struct suspects *s, const struct batch_entry *e)
{
	if (suspects_has(s, e))
		map_set(&s->series, key_of(e), CLEARED);
}
