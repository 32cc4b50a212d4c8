/* table.c: the frames as numbers, for the script in the picture: {"total": …, "names": […], "depth": […], …}.
 *
 * An element per frame is what makes large flame graphs slow in browsers. The script draws what can be seen from
 * these arrays instead, and zooms by exact values where the elements only have tenths of pixels.
 */

#include "picture.h"

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
	for (uint32_t i = 0; i < n->count; i++)
		put_place(j, g, n->first[i], &scratch);
	json_end(j);
	json_key(j, "fills");
	json_open_array(j);
	for (uint32_t i = 0; i < n->count; i++) {
		struct rgb c = picture_color(g, n->first[i]);

		json_i64(j, c.r << 16 | c.g << 8 | c.b);
	}
	json_end(j);
}

enum box_field { BOX_DEPTH, BOX_NAME, BOX_START, BOX_VALUE };

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
			json_i64(j, field == BOX_START ? box->start : box->value);
	}
	json_end(j);
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
	json_key(j, "inverted");
	json_bool(j, g->o->inverted);
}

static void put_words(struct json *j, const struct picture *g, const char *note)
{
	static const char *const units[] = {
		[AMOUNT_COUNT] = "count", [AMOUNT_TIME] = "time", [AMOUNT_BYTES] = "bytes",
	};
	struct rgb c = palette_middle(g->palette);

	json_key(j, "unit");
	json_str(j, units[g->unit]);
	json_key(j, "countName");
	json_str(j, g->count_name);
	json_key(j, "nameType");
	json_str(j, g->o->name_type);
	json_key(j, "note");
	json_str(j, note);
	json_key(j, "narrowFill");
	json_i64(j, c.r << 16 | c.g << 8 | c.b);
}

void picture_put_table(const struct picture *g, const char *note, struct buf *out)
{
	struct names n = { 0 };
	struct json j;

	names_init(&n, g);
	json_init(&j, out);
	json_open_object(&j);
	put_sizes(&j, g);
	put_words(&j, g, note);
	json_key(&j, "elementMin");
	json_i64(&j, g->element_min);
	put_names(&j, g, &n);
	put_field(&j, g, &n, "depth", BOX_DEPTH);
	put_field(&j, g, &n, "name", BOX_NAME);
	put_field(&j, g, &n, "start", BOX_START);
	put_field(&j, g, &n, "value", BOX_VALUE);
	json_end(&j);
	names_done(&n);
}
