/* render.h: pictures of a profile. Pure: profile and options in, bytes out; no files, no clock, no globals. They show
 * its tree; if it was built from pairs of caller and callee, it is an estimate, and the picture says so below its
 * heading. Its figures about functions (totals, its table, the matches of a search) then come from the pairs
 * (edges.h), like those in tables. */
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

/* In a difference, the value shown as width (by default the larger of both sides, so that removed frames are visible,
 * too), and the change shown as color. Their names end with NULL. */
enum flamegraph_width_of { WIDTH_OF_MAXIMUM, WIDTH_OF_AFTER, WIDTH_OF_BEFORE, WIDTH_OF_DIFFERENCE };
enum flamegraph_delta { DELTA_INCLUSIVE, DELTA_SELF };

extern const char *const flamegraph_width_names[], *const flamegraph_delta_names[];

struct diff;
struct nameattr;
struct palette_map;

#define FLAMEGRAPH_WIDTH 1200

/* Names and effects are those of flamegraph.pl's options. */
struct flamegraph_options {
	const char *title, *subtitle, *notes;	/* NULL is the default or none */
	double width;				/* px: FLAMEGRAPH_WIDTH, or the window's in a browser with scripts */
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
	bool flamechart;			/* only for lines: in the order of the input */
	bool compat;				/* only for lines: flamegraph.pl's picture, including its defects */
	uint64_t random_seed;			/* random colors; 0: by name */
	double total;				/* value of the whole width, if the sum is less; 0: the sum */
	double factor;				/* multiplier of shown counts: 1 */
	const char *encoding;			/* encoding of the document; NULL is UTF-8 */
	struct palette_map *palette_map;	/* persistent colors; NULL: none. New names are added */
	const struct nameattr *nameattr;	/* attributes of frames by name; NULL: none */
	enum flamegraph_color_by color_by;
	uint32_t column;			/* column of the values; see profile_pick_column */
	uint32_t before_column;			/* for a difference: the column of values before; UINT32_MAX: none */
	enum flamegraph_width_of width_of;
	enum flamegraph_delta delta;
	const struct diff *compared;		/* marks changes that may be noise, drawn pale; NULL: none */
};

void flamegraph_defaults(struct flamegraph_options *o);

/* Chooses default colors for this profile: a recording from outside has PHP's frames and the kernel's in one stack,
 * so colors show layers. */
void flamegraph_suit(struct flamegraph_options *o, const struct profile *p);

/* Returns -EINVAL for invalid options, such as an unknown palette; call it before reading anything. */
int flamegraph_check(const struct flamegraph_options *o, struct err *err);

/* Appends a complete SVG document. For an empty profile, the picture has a message. Returns -EINVAL like
 * flamegraph_check. */
int flamegraph_svg(const struct profile *p, const struct flamegraph_options *o, struct buf *out, struct err *err);

/* Additional data for a page: columns of values that it can switch between, and additional keys put by `put`. */
struct flamegraph_page {
	const uint32_t *columns;	/* for a difference, before and after of each value */
	uint32_t column_count, shown;	/* shown: decides which frames are dropped if there are too many */
	void (*put)(struct json *j, const void *data);
	const void *data;
};

/* The same as the page of strobe serve, for millions of frames: one self-contained file. With scripts off it shows a
 * still picture of the widest frames. It includes the profile's flame chart, if any. `page` may be NULL: only the
 * column in the options is included. */
int flamegraph_html(const struct profile *p, const struct flamegraph_options *o, const struct flamegraph_page *page, struct buf *out,
		    struct err *err);

/* 'sha256-…' of each script that may occur in either, with the quotes, as used in a content security policy. */
extern const char flamegraph_svg_script_hashes[], flamegraph_html_script_hashes[];

/* A line of folded stacks as read, "a;b 12", without its newline. */
struct flamegraph_line {
	struct str text;
	uint64_t repeat;		/* number of repetitions */
	uint64_t number;		/* line of its first occurrence, for errors; from 1 */
};

/* Draws lines instead of a profile: with `compat` exactly the frames of flamegraph.pl; otherwise a flame chart, since
 * a profile, which merges equal stacks, does not keep their order. `column` and `before_column` are ignored: lines
 * with two counts are a difference. Lines without a count are left out: the result is their number, and `err` has the
 * first. Returns -ENODATA if nothing is counted, after appending a picture with a message; -ERANGE for counts that
 * are out of range, -E2BIG for a stack of a million frames. */
int flamegraph_svg_lines(const struct flamegraph_line *lines, size_t count, const struct flamegraph_options *o,
			 struct buf *out, struct err *err);

#endif
