/* speedscope_write.c: writes one sampled profile per column; the time of a run with a flame chart is an evented one,
 * the chart. */
#include "speedscope.h"
#include "amount.h"
#include "chart.h"
#include "json_read.h"
#include "mem.h"
#include "notes.h"
#include "line_places.h"
#include "preorder.h"
#include <string.h>

struct writer {
	const struct profile *profile;
	struct buf *out;
	struct notes notes;
	struct line_places places;		/* frames of the file */
	uint32_t *order, *path;		/* nodes in preorder; places from the root down */
	size_t events;			/* number of events of a chart so far */
};

static void put_frames(struct writer *w)
{
	const struct profile *p = w->profile;

	buf_puts(w->out, "\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < w->places.count; i++) {
		const struct line_place *l = &w->places.list[i];
		struct str file = profile_file(p, l->frame);

		buf_puts(w->out, i ? ",\n{\"name\":" : "\n{\"name\":");
		notes_put_json(&w->notes, w->out, profile_name(p, l->frame));
		if (file.n) {
			buf_puts(w->out, ",\"file\":");
			notes_put_json(&w->notes, w->out, file);
		}
		if (l->line)
			buf_printf(w->out, ",\"line\":%u", l->line);
		buf_putc(w->out, '}');
	}
	buf_puts(w->out, "]}");
}

static void put_stack(struct writer *w, uint32_t node)
{
	const struct profile *p = w->profile;
	uint32_t depth = 0;

	for (uint32_t n = node; n != PROFILE_ROOT; n = p->parents[n])
		w->path[depth++] = line_place_of(&w->places, p, n);
	buf_putc(w->out, '[');
	while (depth--) {
		buf_put_u64(w->out, w->path[depth]);
		if (depth)
			buf_putc(w->out, ',');
	}
	buf_putc(w->out, ']');
}

static const char *unit_of(const struct profile_column *c)
{
	static const char *const known[] = { "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(c->unit, known[i]))
			return known[i];
	return "none";
}

static void put_weight(struct writer *w, uint32_t column, int64_t v)
{
	if (profile_scale(w->profile, column) == 1)
		buf_put_i64(w->out, v);
	else
		amount_put_millionths(w->out, v);
}

static void put_samples(struct writer *w, uint32_t column)
{
	const int64_t *self = w->profile->columns[column].self;
	bool first = true;

	buf_puts(w->out, "\"samples\":[");
	for (uint32_t i = 0; i < w->profile->node_count && !w->out->overflow; i++)
		if (self[w->order[i]] > 0) {
			buf_puts(w->out, first ? "\n" : ",\n");
			put_stack(w, w->order[i]);
			first = false;
		}
	buf_puts(w->out, "],\n\"weights\":[");
	first = true;
	for (uint32_t i = 0; i < w->profile->node_count; i++)
		if (self[w->order[i]] > 0) {
			buf_puts(w->out, first ? "" : ",");
			put_weight(w, column, self[w->order[i]]);
			first = false;
		}
	buf_putc(w->out, ']');
}

static int64_t sum_above_zero(const struct profile *p, uint32_t column)
{
	int64_t sum = 0;

	for (uint32_t n = 0; n < p->node_count; n++)
		if (p->columns[column].self[n] > 0 && __builtin_add_overflow(sum, p->columns[column].self[n], &sum))
			return INT64_MAX;
	return sum;
}

static void put_boundary(struct writer *w, char type, uint32_t call, int64_t at)
{
	buf_printf(w->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%lld}", w->events++ ? ",\n" : "\n", type,
		   line_place_of(&w->places, w->profile, w->profile->chart->calls[call].node), (long long)at);
}

static void put_open(void *writer, uint32_t call)
{
	struct writer *w = writer;

	put_boundary(w, 'O', call, w->profile->chart->calls[call].start_ns);
}

static void put_close(void *writer, uint32_t call)
{
	struct writer *w = writer;

	put_boundary(w, 'C', call, w->profile->chart->calls[call].end_ns);
}

static void put_chart(struct writer *w, uint32_t column)
{
	const struct profile_column *c = &w->profile->columns[column];

	buf_puts(w->out, "{\"type\":\"evented\",\"name\":");
	notes_put_json(&w->notes, w->out, (struct str){ c->name, strlen(c->name) });
	buf_printf(w->out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%lld,\n\"events\":[", (long long)chart_end(w->profile->chart));
	w->events = 0;
	chart_walk(w->profile->chart, put_open, put_close, w);
	buf_puts(w->out, "]}");
}

static void put_profile(struct writer *w, uint32_t column)
{
	const struct profile_column *c = &w->profile->columns[column];

	if (chart_shows(w->profile, column)) {
		put_chart(w, column);
		return;
	}
	notes_below_zero(&w->notes, w->profile, column);
	buf_puts(w->out, "{\"type\":\"sampled\",\"name\":");
	notes_put_json(&w->notes, w->out, (struct str){ c->name, strlen(c->name) });
	buf_printf(w->out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":", unit_of(c));
	put_weight(w, column, sum_above_zero(w->profile, column));
	buf_puts(w->out, ",\n");
	put_samples(w, column);
	buf_putc(w->out, '}');
}

/* Puts the first lines of functions, by frame of the file, since frames only have one line, the executed one. */
static void put_starts(struct writer *w)
{
	buf_puts(w->out, ",\n\"strobe_starts\":[");
	for (uint32_t i = 0; i < w->places.count; i++) {
		buf_puts(w->out, i ? "," : "");
		buf_put_u64(w->out, w->profile->frames[w->places.list[i].frame].line);
	}
	buf_putc(w->out, ']');
}

static void put_all(struct writer *w, uint32_t column)
{
	const struct profile *p = w->profile;
	const char *entry = labels_get(&p->labels, "entry");
	uint32_t shown = profile_pick_column(p, NULL);

	buf_puts(w->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n");
	put_frames(w);
	buf_puts(w->out, ",\n\"profiles\":[\n");
	for (uint32_t c = 0; c < p->column_count; c++)
		if (column == UINT32_MAX || c == column) {
			put_profile(w, c);
			buf_puts(w->out, column == UINT32_MAX && c + 1 < p->column_count ? ",\n" : "");
		}
	buf_puts(w->out, "],\n\"name\":");
	notes_put_json(&w->notes, w->out, entry ? (struct str){ entry, strlen(entry) } : (struct str){ "strobe", 6 });
	buf_printf(w->out, ",\n\"activeProfileIndex\":%u,\n\"exporter\":\"strobe@" STROBE_VERSION "\",\n\"strobe\":",
		   column == UINT32_MAX ? shown : 0);
	json_put_metadata(&w->notes, w->out, p);
	if (p->node_lines)
		put_starts(w);
	buf_puts(w->out, "}\n");
}

int speedscope_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	struct writer w = { .profile = p, .out = out };
	int r;

	if (!p->column_count)
		return err_set(err, -ENODATA, "nothing to write: the profile has no values");
	notes_init(&w.notes);
	w.order = preorder_new(p);
	line_places_init(&w.places, p);
	w.path = xmalloc(((size_t)profile_depth(p) + 1) * sizeof(*w.path));
	put_all(&w, column);
	r = notes_result(&w.notes, out, "file", err);
	free(w.order);
	free(w.path);
	line_places_done(&w.places);
	notes_done(&w.notes);
	return r;
}
