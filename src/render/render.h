/* render.h: pictures of a profile. Pure: profile and options in, bytes out; no files, no clock, no globals. They show its
 * tree; one that was made of pairs of caller and callee is an estimate, and the picture says so below its heading.
 * Its figures about functions (totals, its table, the matches of a search) come from the pairs (edges.h) then, as
 * those of tables do. */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include "buf.h"
#include "err.h"
#include "json.h"
#include "profile.h"

enum flamegraph_color_by { COLOR_BY_FUNCTION, COLOR_BY_LAYER, COLOR_BY_PACKAGE };

#define RENDER_AT_MOST "≤"
#define RENDER_ESTIMATE "estimated stacks: only pairs of caller and callee were measured"

extern const char *const flamegraph_color_by_names[];	/* "function", "layer", "package", NULL */

/* In a difference, the value of widths (by default the larger of both sides, so that vanished frames are there too), and
 * the change that colors show. Their names end with NULL. */
enum flamegraph_width_of { WIDTH_OF_MAXIMUM, WIDTH_OF_AFTER, WIDTH_OF_BEFORE, WIDTH_OF_DIFFERENCE };
enum flamegraph_delta { DELTA_INCLUSIVE, DELTA_SELF };

extern const char *const flamegraph_width_names[], *const flamegraph_delta_names[];

struct diff;
struct nameattr;
struct palette_map;

#define FLAMEGRAPH_WIDTH 1200

/* Names and effects as flamegraph.pl's options of the same name. */
struct flamegraph_options {
	const char *title, *subtitle, *notes;	/* NULL is the default or none */
	double width;				/* width of the picture, px: FLAMEGRAPH_WIDTH, then the window's in a browser with scripts */
	double frame_height;			/* px: 16 */
	double min_width;			/* narrower frames are left out, px (or percent): 0.1 */
	bool min_width_percent;
	const char *font_type;			/* "Verdana" */
	double font_size;			/* 12 */
	double font_width;			/* average glyph width / size: 0.59 */
	const char *count_name;			/* "samples", by default from the column's name */
	const char *name_type;			/* "Function:" */
	const char *colors;			/* palette: "hot" */
	const char *bg_colors;			/* NULL: by palette */
	bool hash, inverted, reverse, negate;
	bool flamechart;			/* only for lines: in the order in which they come */
	bool compat;				/* only for lines: flamegraph.pl's picture, its defects included */
	uint64_t random_seed;			/* random colors; 0: by name */
	double total;				/* value of the whole width, if the values are less; 0: their sum */
	double factor;				/* by which shown counts are multiplied: 1 */
	const char *encoding;			/* encoding of the document; NULL is UTF-8 */
	struct palette_map *palette_map;	/* colors that stay; NULL: none. New names are added */
	const struct nameattr *nameattr;	/* attributes of frames by name; NULL: none */
	enum flamegraph_color_by color_by;
	uint32_t column;			/* column of the values; see profile_pick_column */
	uint32_t before_column;			/* for a difference: the values of `column` before; UINT32_MAX: none */
	enum flamegraph_width_of width_of;
	enum flamegraph_delta delta;
	const struct diff *compared;		/* marks changes that may be noise, which are pale; NULL: none */
};

void flamegraph_defaults(struct flamegraph_options *o);

/* Default colors for this profile: a recording from outside has PHP's frames and the
 * kernel's in one stack, so its colors tell layers. */
void flamegraph_suit(struct flamegraph_options *o, const struct profile *p);

/* -EINVAL for invalid options, such as an unknown palette, before anything is read. */
int flamegraph_check(const struct flamegraph_options *o, struct err *err);

/* Appends a whole SVG document. An empty profile gives a picture that says so. Returns -EINVAL for options as
 * flamegraph_check does. */
int flamegraph_svg(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err);

/* More than a picture needs of a page: columns of values between which it switches, and what `put` adds to what it knows of them. */
struct flamegraph_page {
	const uint32_t *columns;	/* for a difference before and after of each value */
	uint32_t column_count, shown;	/* shown: the one that decides which frames remain if there are too many */
	void (*put)(struct json *j, const void *data);
	const void *data;
};

/* The same as the page of strobe serve, for millions of frames: one file that needs nothing beside it. With scripts off it
 * shows a still picture of the widest frames. A flame chart that the profile carries is in it. `page` may be NULL: the column of the
 * options is all. */
int flamegraph_html(const struct profile *p, const struct flamegraph_options *o, const struct flamegraph_page *page, struct buf *out,
		    struct err *err);

/* 'sha256-…' of each script that may be in either, with the quotes, as a content security policy names them. */
extern const char flamegraph_svg_script_hashes[], flamegraph_html_script_hashes[];

/* A line of folded stacks as it is, "a;b 12", without its newline. */
struct flamegraph_line {
	struct str text;
	uint64_t repeat;		/* number of repetitions */
	uint64_t number;		/* line of its first occurrence, for messages; from 1 */
};

/* Draws lines instead of a profile: with `compat` exactly the frames of flamegraph.pl, and without it for a flame
 * chart, which a profile, where equal stacks are one, has not the order for. `column` and `before_column` do not
 * matter: lines with two counts are a difference. Lines without a count are left out: the result is their number, and
 * `err` names the first. -ENODATA if nothing is counted, after a picture that says so has been appended; -ERANGE for
 * counts that are out of range, -E2BIG for a stack of a million frames. */
int flamegraph_svg_lines(const struct flamegraph_line *lines, size_t count, const struct flamegraph_options *o,
			 struct buf *out, struct err *err);

#endif
