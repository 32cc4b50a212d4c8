/* table.c: the frames as numbers, for the script in the picture: {"total": …, "names": […], "depth": […], …}.
 *
 * An element per frame is what makes large flame graphs slow in browsers. The script draws what can be seen from
 * these arrays instead, and zooms by exact values where the elements only have tenths of pixels.
 */

#include "picture.h"

#include "groups.h"
#include "json.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

/* Each function once, numbered in the order of its first box; number 0 is the root. */
struct names {
	uint32_t *number_of;		/* by frame */
	const struct layout_box **first;
	uint32_t count;
};

static void names_init(struct names *n, const struct picture *g)
{
	n->number_of = xcalloc((size_t)g->p->frame_count + 1, sizeof(*n->number_of));
	n->first = xcalloc((size_t)g->p->frame_count + 1, sizeof(*n->first));
	n->first[n->count++] = &g->layout.boxes[0];
	for (size_t i = 1; i < g->layout.count; i++) {
		const struct layout_box *box = &g->layout.boxes[i];

		if (n->number_of[box->frame])
			continue;
		n->number_of[box->frame] = n->count;
		n->first[n->count++] = box;
	}
}

static void names_done(struct names *n)
{
	free(n->number_of);
	free(n->first);
}

static void put_hex(struct buf *out, struct rgb c)
{
	static const char digits[] = "0123456789abcdef";
	const int channels[] = { c.r, c.g, c.b };

	for (size_t i = 0; i < ARRAY_SIZE(channels); i++) {
		buf_putc(out, digits[channels[i] >> 4 & 15]);
		buf_putc(out, digits[channels[i] & 15]);
	}
}

/* "file:line", or nothing where the file is unknown. */
static void put_place(struct json *j, const struct picture *g, const struct layout_box *box, struct buf *scratch)
{
	struct str file = { "", 0 };

	buf_reset(scratch);
	if (box->frame != UINT32_MAX)
		file = profile_file(g->p, box->frame);
	if (file.n) {
		buf_put(scratch, file.p, file.n);
		if (g->p->frames[box->frame].line) {
			buf_putc(scratch, ':');
			buf_put_u64(scratch, g->p->frames[box->frame].line);
		}
	}
	json_bytes(j, (struct str){ scratch->data, scratch->size });
}

static bool has_places(const struct picture *g, const struct names *n)
{
	for (uint32_t i = 1; i < n->count; i++)
		if (profile_file(g->p, n->first[i]->frame).n)
			return true;
	return false;
}

static void put_names(struct json *j, const struct picture *g, const struct names *n)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };

	buf_init(&scratch);
	json_key(j, "names");
	json_open_array(j);
	for (uint32_t i = 0; i < n->count; i++)
		json_bytes(j, picture_name(g, n->first[i]));
	json_end(j);
	json_key(j, "places");
	json_open_array(j);
	for (uint32_t i = 0; has_places(g, n) && i < n->count; i++)
		put_place(j, g, n->first[i], &scratch);
	json_end(j);
}

/* Six hexadecimal digits for each, one after the other. */
static void put_fills_by(struct json *j, const struct picture *g, const uint32_t *frames, uint32_t count,
			 enum flamegraph_color_by by, struct buf *scratch)
{
	buf_reset(scratch);
	for (uint32_t i = 0; i < count; i++)
		put_hex(scratch, picture_color_by(g, frames[i], by));
	json_key(j, flamegraph_color_by_names[by]);
	json_bytes(j, (struct str){ scratch->data, scratch->size });
}

void picture_put_fills(struct json *j, const struct picture *g, const uint32_t *frames, uint32_t count)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };

	buf_init(&scratch);
	json_key(j, "fills");
	json_open_object(j);
	for (enum flamegraph_color_by by = COLOR_BY_FUNCTION; flamegraph_color_by_names[by]; by++)
		put_fills_by(j, g, frames, count, by, &scratch);
	json_end(j);
	json_key(j, "layers");
	json_open_array(j);
	for (enum group_layer layer = 0; layer < LAYERS; layer++) {
		buf_reset(&scratch);
		put_hex(&scratch, group_layer_color(layer, (struct str){ "", 0 }));
		json_open_array(j);
		json_str(j, group_layer_names[layer]);
		json_str(j, scratch.data);
		json_end(j);
	}
	json_end(j);
}

enum box_field { BOX_DEPTH, BOX_NAME, BOX_VALUE };

/* A value as the script shows it. */
static void put_value(struct json *j, const struct picture *g, int64_t v)
{
	if (g->factor > 0 && g->factor != 1)
		json_double(j, (double)v * g->factor);
	else
		json_i64(j, v);
}

static void put_field(struct json *j, const struct picture *g, const struct names *n, const char *key,
		      enum box_field field)
{
	json_key(j, key);
	json_open_array(j);
	for (size_t i = 0; i < g->layout.count; i++) {
		const struct layout_box *box = &g->layout.boxes[i];

		if (field == BOX_DEPTH)
			json_i64(j, box->depth);
		else if (field == BOX_NAME)
			json_i64(j, i ? n->number_of[box->frame] : 0);
		else
			put_value(j, g, box->value);
	}
	json_end(j);
}

/* How far a box begins behind the end of its elder sibling or, if it is the first, behind the start of its caller. That is
 * mostly 0, and shorter than where it begins. */
static void put_skips(struct json *j, const struct picture *g)
{
	int64_t *next = xcalloc((size_t)g->layout.depth + 2, sizeof(*next));

	json_key(j, "skip");
	json_open_array(j);
	for (size_t i = 0; i < g->layout.count; i++) {
		const struct layout_box *box = &g->layout.boxes[i];

		put_value(j, g, box->start - next[box->depth]);
		next[box->depth] = box->start + box->value;
		next[box->depth + 1] = box->start;
	}
	json_end(j);
	free(next);
}

/* What a side of a difference took, by box. */
static void put_side(struct json *j, const struct picture *g, const char *key, uint32_t column)
{
	int64_t *totals = profile_totals(g->p, column);

	json_key(j, key);
	json_open_array(j);
	for (size_t i = 0; i < g->layout.count; i++)
		put_value(j, g, totals[g->layout.boxes[i].node]);
	json_end(j);
	free(totals);
}

static void put_sizes(struct json *j, const struct picture *g)
{
	struct { const char *key; double value; } sizes[] = {
		{ "width", g->o->width }, { "height", g->height }, { "top", g->top }, { "bottom", g->bottom },
		{ "margin", PICTURE_MARGIN }, { "gap", PICTURE_FRAME_GAP }, { "frameHeight", g->o->frame_height },
		{ "fontSize", g->o->font_size }, { "characterWidth", g->o->font_size * g->o->font_width },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		json_key(j, sizes[i].key);
		json_double(j, sizes[i].value);
	}
}

void picture_put_words(struct json *j, const struct picture *g, const char *note)
{
	static const char *const units[] = {
		[AMOUNT_COUNT] = "count", [AMOUNT_TIME] = "time", [AMOUNT_BYTES] = "bytes",
	};

	json_key(j, "inverted");
	json_bool(j, g->o->inverted);
	json_key(j, "reversed");
	json_bool(j, g->o->reverse);
	json_key(j, "colorBy");
	json_str(j, flamegraph_color_by_names[g->o->color_by]);
	json_key(j, "unit");
	json_str(j, units[g->unit]);
	json_key(j, "countName");
	json_str(j, g->count_name);
	json_key(j, "nameType");
	json_str(j, g->o->name_type);
	json_key(j, "note");
	json_str(j, note);
	if (g->o->before_column != UINT32_MAX) {
		json_key(j, "self");
		json_bool(j, g->o->delta == DELTA_SELF);
	}
}

static void put_narrow_fill(struct json *j, const struct picture *g)
{
	_cleanup_(buf_done) struct buf fill = { 0 };

	buf_init(&fill);
	palette_put(&fill, picture_narrow_color(g));
	json_key(j, "narrowFill");
	json_str(j, fill.data);
}

static void put_colors(struct json *j, const struct picture *g, const struct names *n)
{
	uint32_t *frames = xcalloc(n->count, sizeof(*frames));

	for (uint32_t i = 0; i < n->count; i++)
		frames[i] = n->first[i]->frame;
	picture_put_fills(j, g, frames, n->count);
	put_narrow_fill(j, g);
	free(frames);
}

void picture_put_table(const struct picture *g, const char *note, struct buf *out)
{
	struct names n = { 0 };
	struct json j;

	names_init(&n, g);
	json_init(&j, out);
	json_open_object(&j);
	put_sizes(&j, g);
	picture_put_words(&j, g, note);
	json_key(&j, "elementMin");
	put_value(&j, g, g->element_min);
	put_names(&j, g, &n);
	put_colors(&j, g, &n);
	put_field(&j, g, &n, "depth", BOX_DEPTH);
	put_field(&j, g, &n, "name", BOX_NAME);
	put_skips(&j, g);
	put_field(&j, g, &n, "value", BOX_VALUE);
	if (g->o->before_column != UINT32_MAX) {
		put_side(&j, g, "before", g->o->before_column);
		put_side(&j, g, "after", g->o->column);
	}
	json_end(&j);
	names_done(&n);
}
