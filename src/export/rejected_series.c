/* rejected_series.c: a set of series, by hash; too many at a time are forgotten. */
#include "rejected_series.h"

#include "buf.h"
#include "labels.h"

#include <xxhash.h>

#define REJECTED_SERIES_MAX	65536u

enum {
	CLEARED,
	SUSPECT,
};

void rejected_series_init(struct rejected_series *s)
{
	map_init(&s->series);
}

void rejected_series_done(struct rejected_series *s)
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

bool rejected_series_has(const struct rejected_series *s, const struct batch_entry *e)
{
	return s->series.count && map_get(&s->series, key_of(e)) == SUSPECT;
}

void rejected_series_add(struct rejected_series *s, const struct batch_entry *e)
{
	if (s->series.count >= REJECTED_SERIES_MAX)
		map_clear(&s->series);
	map_set(&s->series, key_of(e), SUSPECT);
}

void rejected_series_remove(struct rejected_series *s, const struct batch_entry *e)
{
	if (rejected_series_has(s, e))
		map_set(&s->series, key_of(e), CLEARED);
}
