/* table.c: the frames as numbers, for the script in the picture: {"count": …, "all": …, "names": […], "boxes": "…", …}.
 *
 * Large flame graphs are slow in browsers because each frame is an element. Instead, the script draws the visible
 * ones from these numbers, and zooms with exact values, while elements only have tenths of pixels.
 *
 * The boxes, callers before callees, are numbers in base 64, so that a small picture has a small table and a large
 * one is parsed quickly:
 *
 *	digit	= a character from "?" (0) to "~" (63), but "!" instead of the backslash
 *	number	= digit*, each 5 bits, the lowest first; all but the last have 32 added
 *	signed	= number: twice the value, or -1 - twice the value if it is below zero
 *	boxes	= (up skip rest name)*
 *	up	= number: how many levels the box begins below a callee of the one before it; 0: it is its callee. The root: 1
 *	skip	= signed: offset from its previous sibling's end or, if it is the first, its caller's start
 *	rest	= signed: how far its caller continues after it; for the root 0, its width is "all"
 *	name	= number: index into "names"; 0 is the root
 *	sides	= (before after own-before own-after)*: in a difference, for each box; all signed
 *	sums	= (a b)*: for the whole profile, for each name but the root's: self and total, or before and after; signed.
 *		  If the boxes are an estimate, "exact" has the values of functions (exact_table.c)
 *
 * Boxes that are too narrow to be drawn are included, too, after their siblings, so that the script's table and
 * search cover the whole profile. Elements are the boxes of at least "elementMin". If there are too many, the
 * narrowest are left out: "beyond" is their number, "sums" still has the values of functions, and "unlisted" is the
 * number of functions missing there.
 *
 * "fills" has four digits for each name, 6 bits each, the highest first: rrggbb. Names that are left out below are
 * left out here, too, since their colors are in the document; a difference lists all, since its colors belong to
 * boxes.
 *
 * "names" leaves out names that are already complete in the document: the text before the last " (" in the title of
 * the first box. "more" has the names after these.
 */

#include "picture.h"

#include "groups.h"
#include "json.h"
#include "mem.h"
#include "sums.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* The number of functions in the sums that only have hidden frames: those with the largest values. */
#define SUMMED_MAX	2000u

/* Each function once: first those that are drawn, in the order of their first box, then those of hidden boxes, then
 * those that are only in the sums. Number 0 is the root. */
struct names {
	uint32_t *number_of;		/* by frame */
	uint32_t *frames;		/* by number */
	const struct layout_box **first;	/* by number; NULL: no box */
	uint32_t count, drawn;
	uint32_t left_out;		/* functions with a value but no number */
	int64_t *sums[2];		/* by frame, the values of "sums"; NULL: the boxes are complete */
};

static void add_name(struct names *n, uint32_t frame, const struct layout_box *box)
{
	n->number_of[frame] = n->count;
	n->frames[n->count] = frame;
	n->first[n->count++] = box;
}

static void add_boxes(struct names *n, const struct picture *g, bool hidden)
{
	for (size_t i = 1; i < g->layout.count; i++) {
		const struct layout_box *box = &g->layout.boxes[i];

		if (box->hidden == hidden && !n->number_of[box->frame])
			add_name(n, box->frame, box);
	}
}

static bool needs_sums(const struct picture *g)
{
	if (g->lines)
		return false;
	return g->exact || g->layout.beyond || g->is_pruned || (g->difference && g->o->width_of != WIDTH_OF_MAXIMUM);
}

struct summed {
	int64_t value;
	uint32_t frame;
};

static int by_value(const void *a, const void *b, void *profile)
{
	const struct summed *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return profile_compare_frames(profile, x->frame, y->frame);
}

/* Adds the functions without a box. */
static void add_summed(struct names *n, const struct picture *g)
{
	struct summed *list = xcalloc((size_t)g->p->frame_count + 1, sizeof(*list));
	uint32_t count = 0;

	for (uint32_t f = 0; f < g->p->frame_count; f++) {
		int64_t a = n->sums[0][f], b = n->sums[1][f];

		if (!n->number_of[f] && (a || b))
			list[count++] = (struct summed){ a > b ? a : b, f };
	}
	qsort_r(list, count, sizeof(*list), by_value, (void *)g->p);
	for (uint32_t i = 0; i < count && i < SUMMED_MAX; i++)
		add_name(n, list[i].frame, NULL);
	n->left_out = count > SUMMED_MAX ? count - SUMMED_MAX : 0;
	free(list);
}

static int64_t *column_of(const struct picture *g, int64_t (*sums)[PROFILE_COLUMNS], uint32_t column)
{
	int64_t *list = xcalloc((size_t)g->p->frame_count + 1, sizeof(*list));

	for (uint32_t f = 0; f < g->p->frame_count; f++)
		list[f] = sums[f][column];
	return list;
}

/* Scales each value separately, so that they equal those in tables. */
static void scale_sums(const struct picture *g, int64_t *sums)
{
	const struct profile_scaling *scaling = &g->p->columns[g->o->before_column].scaling;

	for (uint32_t f = 0; f < g->p->frame_count; f++)
		sums[f] = profile_scaled(scaling, sums[f]);
}

static void find_sums(struct names *n, const struct picture *g)
{
	const struct exact *x = g->exact;

	if (x) {
		n->sums[0] = column_of(g, g->difference ? x->sums.total : x->sums.self,
				       g->difference ? x->before : x->column);
		n->sums[1] = column_of(g, x->sums.total, x->column);
	} else if (g->difference) {
		n->sums[0] = sums_of_totals(g->p, g->difference->measured);
		n->sums[1] = sums_of_totals(g->p, g->difference->after);
	} else {
		sums_of_column(g->unreversed, g->o->column, &n->sums[0], &n->sums[1]);
	}
	if (g->difference)
		scale_sums(g, n->sums[0]);
}

static void names_init(struct names *n, const struct picture *g)
{
	size_t most = (size_t)g->p->frame_count + 1;

	n->number_of = xcalloc(most, sizeof(*n->number_of));
	n->frames = xcalloc(most, sizeof(*n->frames));
	n->first = xcalloc(most, sizeof(*n->first));
	n->frames[0] = UINT32_MAX;
	n->first[n->count++] = &g->layout.boxes[0];
	add_boxes(n, g, false);
	n->drawn = n->count;
	add_boxes(n, g, true);
	if (needs_sums(g)) {
		find_sums(n, g);
		add_summed(n, g);
	}
}

static void names_done(struct names *n)
{
	free(n->number_of);
	free(n->frames);
	free(n->first);
	free(n->sums[0]);
	free(n->sums[1]);
}

static struct str name_of(const struct picture *g, const struct names *n, uint32_t number)
{
	return picture_name(g, &(struct layout_box){ .frame = n->frames[number] });
}

static void put_digit(struct buf *out, uint64_t v)
{
	char c = (char)('?' + (v & 63));

	buf_putc(out, c == '\\' ? '!' : c);
}

void picture_put_unsigned(struct buf *out, uint64_t v)
{
	for (; v >= 32; v >>= 5)
		put_digit(out, 32 | (v & 31));
	put_digit(out, v);
}

void picture_put_signed(struct buf *out, int64_t v)
{
	picture_put_unsigned(out, v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1);
}

static void put_rgb(struct buf *out, struct rgb c)
{
	uint32_t v = (uint32_t)(c.r & 255) << 16 | (uint32_t)(c.g & 255) << 8 | (uint32_t)(c.b & 255);

	for (int shift = 18; shift >= 0; shift -= 6)
		put_digit(out, v >> shift);
}

/* Puts "file:line", or nothing if the file is unknown. */
static void put_place(struct json *j, const struct picture *g, uint32_t frame, struct buf *scratch)
{
	struct str file = { "", 0 };

	buf_reset(scratch);
	if (frame != UINT32_MAX)
		file = profile_file(g->p, frame);
	if (file.n) {
		buf_put(scratch, file.p, file.n);
		if (g->p->frames[frame].line) {
			buf_putc(scratch, ':');
			buf_put_u64(scratch, g->p->frames[frame].line);
		}
	}
	json_bytes(j, (struct str){ scratch->data, scratch->size });
}

static bool has_places(const struct picture *g, const struct names *n)
{
	for (uint32_t i = 1; i < n->count; i++)
		if (profile_file(g->p, n->frames[i]).n)
			return true;
	return false;
}

/* text_put_xml and text_put_json represent the same text, so it is enough to compare the output. */
static bool is_in_title(const struct picture *g, const struct layout_box *box, struct buf *title, struct buf *name)
{
	const char *end;

	buf_reset(title);
	buf_reset(name);
	picture_put_title(g, box, title);
	text_put_xml(name, picture_name(g, box));
	buf_puts(name, " (");
	end = title->data + name->size;
	return title->size > name->size && !memcmp(title->data, name->data, name->size) && !strstr(end, " (");
}

/* Names can be omitted if every visible box is an element, and no title comes from elsewhere. */
static bool are_in_titles(const struct picture *g, const struct names *n)
{
	_cleanup_(buf_done) struct buf title = { 0 }, name = { 0 };

	if (g->element_min > 0 || g->o->nameattr || g->lines)
		return false;
	buf_init(&title);
	buf_init(&name);
	for (uint32_t i = 0; i < n->drawn; i++)
		if (!is_in_title(g, n->first[i], &title, &name))
			return false;
	return true;
}

static void put_names(struct json *j, const struct picture *g, const struct names *n, bool known)
{
	if (known && n->drawn == n->count)
		return;
	json_key(j, known ? "more" : "names");
	json_open_array(j);
	for (uint32_t i = known ? n->drawn : 0; i < n->count; i++)
		json_bytes(j, name_of(g, n, i));
	json_end(j);
}

static void put_places(struct json *j, const struct picture *g, const struct names *n)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };

	if (!has_places(g, n))
		return;
	buf_init(&scratch);
	json_key(j, "places");
	json_open_array(j);
	for (uint32_t i = 0; i < n->count; i++)
		put_place(j, g, n->frames[i], &scratch);
	json_end(j);
}

static void put_fills_by(struct json *j, const struct picture *g, const uint32_t *frames, uint32_t first, uint32_t count,
			 enum flamegraph_color_by by, struct buf *scratch)
{
	buf_reset(scratch);
	for (uint32_t i = first; i < count; i++)
		put_rgb(scratch, picture_color_by(g, frames[i], by));
	json_key(j, flamegraph_color_by_names[by]);
	json_bytes(j, (struct str){ scratch->data, scratch->size });
}

void picture_put_fills(struct json *j, const struct picture *g, const uint32_t *frames, uint32_t drawn, uint32_t count)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };

	buf_init(&scratch);
	json_key(j, "fills");
	json_open_object(j);
	for (enum flamegraph_color_by by = COLOR_BY_FUNCTION; flamegraph_color_by_names[by]; by++)
		put_fills_by(j, g, frames, by == g->o->color_by ? drawn : 0, count, by, &scratch);
	json_end(j);
	json_key(j, "layers");
	json_open_array(j);
	for (enum group_layer layer = 0; layer < LAYERS; layer++) {
		buf_reset(&scratch);
		put_rgb(&scratch, group_layer_color(layer, (struct str){ "", 0 }));
		json_open_array(j);
		json_str(j, group_layer_names[layer]);
		json_str(j, scratch.data);
		json_end(j);
	}
	json_end(j);
}

static void put_boxes(struct json *j, const struct picture *g, const struct names *n)
{
	size_t levels = (size_t)g->layout.depth_boxes + 2;
	int64_t *next = xcalloc(levels, sizeof(*next)), *right = xcalloc(levels, sizeof(*right));
	_cleanup_(buf_done) struct buf digits = { 0 };
	uint32_t depth = 0;

	buf_init(&digits);
	right[0] = g->layout.boxes[0].value;
	for (size_t i = 0; i < g->layout.count; i++) {
		const struct layout_box *box = &g->layout.boxes[i];
		int64_t end = box->start + box->value;

		picture_put_unsigned(&digits, depth + 1 - box->depth);
		picture_put_signed(&digits, box->start - next[box->depth]);
		picture_put_signed(&digits, right[box->depth] - end);
		picture_put_unsigned(&digits, i ? n->number_of[box->frame] : 0);
		depth = box->depth;
		next[depth] = right[depth + 1] = end;
		next[depth + 1] = box->start;
	}
	json_key(j, "boxes");
	json_bytes(j, (struct str){ digits.data, digits.size });
	free(next);
	free(right);
}

static void put_sides(struct json *j, const struct picture *g)
{
	const struct picture_difference *d = g->difference;
	const struct profile_scaling *scaling = &g->p->columns[g->o->before_column].scaling;
	const int64_t *own_before = g->p->columns[profile_measured(g->p, g->o->before_column)].self,
		*own_after = g->p->columns[g->o->column].self;
	_cleanup_(buf_done) struct buf digits = { 0 };

	buf_init(&digits);
	for (size_t i = 0; i < g->layout.count; i++) {
		uint32_t node = g->layout.boxes[i].node;

		picture_put_signed(&digits, d->measured[node]);
		picture_put_signed(&digits, d->after[node]);
		picture_put_signed(&digits, own_before[node]);
		picture_put_signed(&digits, own_after[node]);
	}
	json_key(j, "sides");
	json_bytes(j, (struct str){ digits.data, digits.size });
	if (scaling->denominator) {
		json_key(j, "scale");
		json_double(j, (double)scaling->numerator / (double)scaling->denominator);
	}
}

static void put_sums(struct json *j, const struct picture *g, const struct names *n)
{
	_cleanup_(buf_done) struct buf digits = { 0 };

	if (!n->sums[0])
		return;
	buf_init(&digits);
	for (uint32_t i = 1; i < n->count && !g->exact; i++) {
		picture_put_signed(&digits, n->sums[0][n->frames[i]]);
		picture_put_signed(&digits, n->sums[1][n->frames[i]]);
	}
	if (g->exact) {
		picture_put_exact(j, g, n->frames, n->count);
	} else {
		json_key(j, "sums");
		json_bytes(j, (struct str){ digits.data, digits.size });
	}
	json_key(j, "beyond");
	json_u64(j, g->layout.beyond + g->is_pruned);
	json_key(j, "unlisted");
	json_u64(j, n->left_out);
}

/* Puts attributes from --nameattr, by number: attributes of the frame and of its link, and its title, as markup. */
static void put_attributes(struct json *j, const struct picture *g, const struct names *n)
{
	if (!g->o->nameattr)
		return;
	json_key(j, "attributes");
	json_open_object(j);
	for (uint32_t i = 0; i < n->count; i++)
		picture_put_attributes(j, g, i, i ? profile_name(g->p, n->frames[i]) : (struct str){ "", 0 });
	json_end(j);
}

static void put_sizes(struct json *j, const struct picture *g)
{
	struct { const char *key; double value; } sizes[] = {
		{ "width", g->o->width }, { "height", g->height }, { "top", g->top }, { "bottom", g->bottom },
		{ "margin", PICTURE_MARGIN }, { "gap", PICTURE_FRAME_GAP }, { "frameHeight", g->o->frame_height },
		{ "characterWidth", g->o->font_size * g->o->font_width },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		json_key(j, sizes[i].key);
		json_double(j, sizes[i].value);
	}
}

/* Tells whether the picture has the width of its window: unless a width is given, or flamegraph.pl's picture is
 * requested. */
static bool is_fluid(const struct flamegraph_options *o)
{
	return o->width == FLAMEGRAPH_WIDTH && !o->compat;
}

void picture_put_attributes(struct json *j, const struct picture *g, uint32_t number, struct str name)
{
	const struct nameattr_frame *a = nameattr_find(g->o->nameattr, name);
	char key[16];

	if (!a || (!*a->group && !*a->link && !*a->title))
		return;
	snprintf(key, sizeof(key), "%u", number);
	json_key(j, key);
	json_open_array(j);
	json_str(j, a->group);
	json_str(j, a->link);
	json_str(j, a->title);
	json_end(j);
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
	if (g->o->compared)
		difference_put_chance(g->o->compared, j);
	if (g->factor != 1) {
		json_key(j, "factor");
		json_double(j, g->factor);
	}
	if (g->o->column != UINT32_MAX && !g->lines && profile_scale(g->p, g->o->column) != 1) {
		json_key(j, "fractions");
		json_bool(j, true);
	}
	if (g->o->negate) {
		json_key(j, "negate");
		json_bool(j, true);
	}
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

static void put_colors(struct json *j, const struct picture *g, const struct names *n, bool known)
{
	picture_put_fills(j, g, n->frames, known && !g->difference ? n->drawn : 0, n->count);
	put_narrow_fill(j, g);
}

/* Returns the middle between the widest box that is not an element and the narrowest element: the script counts in
 * doubles, which are not exact above 2^53. */
static int64_t least_element(const struct picture *g)
{
	int64_t below = -1, least = INT64_MAX;

	for (size_t i = 0; i < g->layout.count; i++) {
		const struct layout_box *box = &g->layout.boxes[i];

		if (picture_is_element(g, box))
			least = box->value < least ? box->value : least;
		else
			below = box->value > below ? box->value : below;
	}
	return below < 0 ? 0 : below + (least - below + 1) / 2;
}

/* Returns the width in px below which a frame is not drawn. */
static double least_drawn(const struct flamegraph_options *o)
{
	return o->min_width_percent ? o->min_width / 100 * (o->width - 2 * PICTURE_MARGIN) : o->min_width;
}

void picture_put_table(const struct picture *g, const char *note, struct buf *out)
{
	struct names n = { 0 };
	struct json j;
	bool known;

	names_init(&n, g);
	known = are_in_titles(g, &n);
	json_init(&j, out);
	json_open_object(&j);
	put_sizes(&j, g);
	json_key(&j, "fluid");
	json_bool(&j, is_fluid(g->o));
	picture_put_words(&j, g, note);
	json_key(&j, "elementMin");
	json_i64(&j, least_element(g));
	json_key(&j, "drawnMin");
	json_double(&j, least_drawn(g->o));
	put_names(&j, g, &n, known);
	put_places(&j, g, &n);
	put_colors(&j, g, &n, known);
	put_attributes(&j, g, &n);
	json_key(&j, "count");
	json_u64(&j, g->layout.count);
	json_key(&j, "all");
	json_i64(&j, g->layout.boxes[0].value);
	put_boxes(&j, g, &n);
	if (g->difference)
		put_sides(&j, g);
	put_sums(&j, g, &n);
	json_end(&j);
	names_done(&n);
}
