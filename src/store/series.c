/* series.c: label filters and the columns of a series, the same for every backend. */
#include "series.h"
#include <assert.h>

static const char *clock_name(enum strobe_clock clock)
{
	switch (clock) {
	case STROBE_CLOCK_WALL:
		return "wall";
	case STROBE_CLOCK_CPU:
		return "cpu";
	default:
		return NULL;
	}
}

void series_done(struct series *s)
{
	labels_done(&s->labels);
}

void series_put_columns(const struct profile *p, struct buf *out)
{
	for (uint32_t i = 0; i < p->column_count; i++) {
		buf_put(out, p->columns[i].name, strlen(p->columns[i].name) + 1);
		buf_put(out, p->columns[i].unit, strlen(p->columns[i].unit) + 1);
	}
}

static bool take_text(struct str *from, char *ret, size_t size)
{
	size_t n = strnlen(from->p, from->n);

	if (n == from->n || n >= size)
		return false;
	memcpy(ret, from->p, n + 1);
	from->p += n + 1;
	from->n -= n + 1;
	return true;
}

static bool parse_columns(struct series *s, struct str columns)
{
	while (columns.n) {
		uint32_t i = s->column_count;

		if (i == PROFILE_COLUMNS || !take_text(&columns, s->columns[i].name, sizeof(s->columns[i].name)) ||
		    !take_text(&columns, s->columns[i].unit, sizeof(s->columns[i].unit)))
			return false;
		if (!strcmp(s->columns[i].name, "samples"))
			s->samples = i;
		s->column_count++;
	}
	return s->column_count > 0;
}

int series_parse(struct series *ret, struct str labels, int64_t clock, int64_t period_ns, struct str columns)
{
	struct series s = { .samples = UINT32_MAX };
	_cleanup_(freep) char *text = strndup(labels.p, labels.n);

	if (!text || clock < 0 || clock > STROBE_CLOCK_CPU || period_ns < 0 || !parse_columns(&s, columns))
		return -EBADMSG;
	labels_init(&s.labels);
	if (labels_parse(text, &s.labels, NULL) < 0) {
		labels_done(&s.labels);
		return -EBADMSG;
	}
	assert(s.column_count > 0 && (s.samples == UINT32_MAX || s.samples < s.column_count));
	s.clock = (enum strobe_clock)clock;
	s.period_ns = period_ns;
	*ret = s;
	return 0;
}

void series_put_key(struct buf *out, struct str labels, enum strobe_clock clock, int64_t period_ns,
		    struct str columns)
{
	buf_put(out, labels.p, labels.n);
	buf_putc(out, 0);		/* the text of labels never contains a NUL */
	buf_put_varint(out, clock);
	buf_put_varint(out, (uint64_t)period_ns);
	buf_put(out, columns.p, columns.n);
}

static const char *value_of(const struct series *s, const char *key)
{
	const char *value = labels_get(&s->labels, key);

	if (!value && !strcmp(key, "clock"))
		value = clock_name(s->clock);
	return value ? value : "";
}

static bool filter_holds(const struct series *s, const struct label_filter *f)
{
	const char *value = value_of(s, f->key);

	switch (f->match) {
	case LABEL_IS:
		return !strcmp(value, f->value);
	case LABEL_IS_NOT:
		return strcmp(value, f->value) != 0;
	case LABEL_IS_PREFIX:
		return !strncmp(value, f->value, strlen(f->value));
	case LABEL_IS_NOT_PREFIX:
		return strncmp(value, f->value, strlen(f->value)) != 0;
	}
	return false;
}

/* Filters for the same key that match equality or a prefix are alternatives: one of them is enough. */
static bool any_is(const struct series *s, const char *key, const struct label_filter *filters, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!label_filter_excludes(&filters[i]) && !strcmp(filters[i].key, key) && filter_holds(s, &filters[i]))
			return true;
	return false;
}

bool series_matches(const struct series *s, const struct label_filter *filters, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (label_filter_excludes(&filters[i]) ? !filter_holds(s, &filters[i]) :
							 !any_is(s, filters[i].key, filters, count))
			return false;
	}
	return true;
}

void series_labels(const struct series *s, struct labels *ret)
{
	const char *clock = clock_name(s->clock);

	labels_copy(ret, &s->labels);
	if (clock && !labels_get(ret, "clock"))
		labels_set(ret, "clock", 5, clock, strlen(clock));
}

const char *series_time_column(const struct series *s)
{
	const char *name = s->clock == STROBE_CLOCK_WALL ? "wall_ns" : s->clock == STROBE_CLOCK_CPU ? "cpu_ns" : NULL;

	if (!name || s->samples == UINT32_MAX || s->period_ns == 0)
		return NULL;
	assert(s->samples < s->column_count);
	for (uint32_t i = 0; i < s->column_count; i++)
		if (!strcmp(s->columns[i].name, name))
			return NULL;
	return name;
}
