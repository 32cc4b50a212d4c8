/* push_pprof.c: adds each sample to the series of its labels. */
#include "push_pprof.h"

#include "input.h"
#include "mem.h"
#include "pprof.h"

#include <string.h>

struct reader {
	struct pushed *pushed;
	const struct push_metadata *about;
	struct pushed_metadata facts;
	struct labels labels;			/* labels of the sample */
	struct profile *last;			/* series of the previous sample; NULL: none */
	uint32_t columns[PROFILE_COLUMNS];	/* columns in `last`, by column of the file */
	bool has_facts;
};

static bool is_name(struct str s, const char *word)
{
	return s.n == strlen(word) && !memcmp(s.p, word, s.n);
}

static enum strobe_clock clock_of(const struct reader *r, const struct pprof_sample *s)
{
	if (is_name(r->about->name, "wall") || profile_find_column(s->frames, "wall_ns") != UINT32_MAX)
		return STROBE_CLOCK_WALL;
	if (is_name(r->about->name, "process_cpu") || profile_find_column(s->frames, "cpu_ns") != UINT32_MAX)
		return STROBE_CLOCK_CPU;
	return !s->period_ns ? STROBE_CLOCK_NONE : is_name(s->period_type, "cpu") ? STROBE_CLOCK_CPU :
	       is_name(s->period_type, "wall") ? STROBE_CLOCK_WALL : STROBE_CLOCK_NONE;
}

static void set_facts(struct reader *r, const struct pprof_sample *s)
{
	const struct push_metadata *a = r->about;
	int64_t start = s->time_ns > 0 ? s->time_ns : 0, end = start;

	if (start && s->duration_ns > 0 && __builtin_add_overflow(start, s->duration_ns, &end))
		end = start;
	if (a->until_ns) {
		end = a->until_ns;
		start = a->from_ns && a->from_ns < end ? a->from_ns : end;
	}
	r->facts = (struct pushed_metadata){ .clock = clock_of(r, s), .period_ns = s->period_ns > 0 ? s->period_ns : 0, .start_ns = start, .end_ns = end };
	r->has_facts = true;
}

/* Contention profiles of mutexes and of blocking operations use the same column names, but must not be added up. */
static uint32_t column_in(struct profile *p, const struct profile_column *c, struct str name)
{
	char text[sizeof(c->name) + 8];

	if ((is_name(name, "mutex") || is_name(name, "block")) && strncmp(c->name, name.p, name.n))
		snprintf(text, sizeof(text), "%.*s_%s", (int)name.n, name.p, c->name);
	else
		snprintf(text, sizeof(text), "%s", c->name);
	text[sizeof(c->name) - 1] = 0;
	return profile_column(p, text, c->unit);
}

static int find_series(struct reader *r, const struct pprof_sample *s, struct err *err)
{
	struct profile *p;
	int e;

	labels_done(&r->labels);
	labels_init(&r->labels);
	for (size_t i = 0; i < s->label_count; i++)
		pushed_label(r->pushed, &r->labels, s->labels[i].key, s->labels[i].value);
	for (size_t i = 0; i < r->about->labels->count; i++)
		labels_set(&r->labels, r->about->labels->items[i].key, strlen(r->about->labels->items[i].key),
			   r->about->labels->items[i].value, strlen(r->about->labels->items[i].value));
	if ((e = pushed_series(r->pushed, &r->labels, &r->facts, &p, err)) < 0)
		return e;
	for (uint32_t i = 0; i < s->frames->column_count && p != r->last; i++) {
		r->columns[i] = column_in(p, &s->frames->columns[i], r->about->name);
		if (r->columns[i] == UINT32_MAX)
			return err_set(err, -E2BIG, "it has more than the limit of %u value columns", PROFILE_COLUMNS);
	}
	r->last = p;
	return 0;
}


static int take(void *data, const struct pprof_sample *s, struct err *err)
{
	struct reader *r = data;
	uint32_t node = PROFILE_ROOT;
	int e;

	if (!r->has_facts)
		set_facts(r, s);
	if ((e = find_series(r, s, err)) < 0)
		return e;
	for (size_t i = s->depth; i-- > 0;) {
		const struct line_place *at = &s->stack[i];

		if ((e = pushed_child(r->pushed, r->last, &node, s->frames, at->frame, s->has_lines ? at->line : 0, err)) < 0)
			return e;
	}
	node = pushed_leaf(r->last, node);
	for (uint32_t i = 0; i < s->frames->column_count; i++)
		profile_add(r->last, node, r->columns[i], s->values[i]);
	return 0;
}

int push_pprof(struct pushed *p, const struct push_metadata *a, const void *bytes, size_t n, struct err *err)
{
	struct reader r = { .pushed = p, .about = a };
	struct input in;
	struct str plain;
	int e;

	labels_init(&r.labels);
	e = input_memory(&in, "the profile", bytes, n, PUSHED_BYTES_MAX, err);
	if (e >= 0)
		e = input_all(&in, &plain, err);
	if (e >= 0)
		e = pprof_each(plain.p, plain.n, PUSHED_DEPTH_MAX, take, &r, err);
	input_close(&in);
	labels_done(&r.labels);
	return e;
}
