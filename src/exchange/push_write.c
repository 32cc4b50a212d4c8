/* push_write.c: writes a series per entry. */
#include "push_write.h"

#include "messages.h"
#include "pprof.h"
#include "protobuf.h"
#include "push_messages.h"
#include "text.h"

#include <string.h>

/* Returns the profile's name for columns that are not time on a clock. */
static const char *name_of(const struct batch_entry *e)
{
	static const char *const begins[][2] = {
		{ "mutex_", "mutex" }, { "block_", "block" }, { "inuse_", "memory" }, { "alloc_", "memory" }, { "goroutine", "goroutines" },
	};

	for (uint32_t i = 0; i < e->profile->column_count; i++)
		for (size_t k = 0; k < sizeof(begins) / sizeof(begins[0]); k++)
			if (!strncmp(e->profile->columns[i].name, begins[k][0], strlen(begins[k][0])))
				return begins[k][1];
	return e->clock == STROBE_CLOCK_CPU ? "process_cpu" : "wall";
}

/* Puts a label whose value is made valid UTF-8: Pyroscope refuses the whole request otherwise. */
static void put_label(struct buf *series, const char *name, const char *value)
{
	_cleanup_(buf_done) struct buf pair = { 0 }, safe = { 0 };

	buf_init(&pair);
	buf_init(&safe);
	text_put_utf8(&safe, (struct str){ value, strlen(value) });
	protobuf_put_bytes(&pair, LABEL_PAIR_NAME, name, strlen(name));
	protobuf_put_bytes(&pair, LABEL_PAIR_VALUE, safe.data, safe.size);
	protobuf_put_bytes(series, PUSH_SERIES_LABELS, pair.data, pair.size);
}

static int put_profile(const struct batch_entry *e, struct buf *series, struct err *err)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(buf_done) struct buf pprof = { 0 }, sample = { 0 };
	const char *clock = e->clock == STROBE_CLOCK_CPU ? "cpu" : "wall";
	int r;

	buf_init(&pprof);
	buf_init(&sample);
	profile_keep_lines(p, true);
	profile_merge(p, e->profile);
	p->period_ns = e->period_ns;
	p->mixed_periods = false;
	p->start_ns = e->bucket_ns;
	p->end_ns = e->bucket_ns + BATCH_BUCKET_NS - 1;
	if (e->clock != STROBE_CLOCK_NONE)
		labels_set(&p->labels, "clock", 5, clock, strlen(clock));
	profile_add_time(p);
	/* Pyroscope's wall time types have the period "cpu", too. */
	if ((r = pprof_write_pushed(p, "cpu", &pprof, err)) < 0)
		return r;
	protobuf_put_bytes(&sample, PUSH_SAMPLE_PROFILE, pprof.data, pprof.size);
	protobuf_put_bytes(series, PUSH_SERIES_SAMPLES, sample.data, sample.size);
	return 0;
}

int push_write_entry(const struct batch_entry *e, const char *service, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf series = { 0 };
	int r;

	buf_init(&series);
	put_label(&series, "__name__", name_of(e));
	if (!labels_get(e->labels, "service_name"))
		put_label(&series, "service_name", service);
	for (size_t i = 0; i < e->labels->count; i++)
		if (strcmp(e->labels->items[i].key, "tenant") && *e->labels->items[i].value)
			put_label(&series, e->labels->items[i].key, e->labels->items[i].value);
	if ((r = put_profile(e, &series, err)) < 0)
		return r;
	protobuf_put_bytes(out, PUSH_SERIES, series.data, series.size);
	return 0;
}
