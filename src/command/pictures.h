/* pictures.h: the pictures that one run of `strobe flamegraph` draws: that of -o, and one for each --also.
 *
 *	also	= change ("," change)* ":" FILE
 *	change	= "forward" | "reverse" | "inverted" | "hash" | "colors=" PALETTE | "title=" TEXT | "subtitle=" TEXT
 *		| "minwidth=" N["%"] | "column=" NAME | "focus=" REGEX
 *
 * The file name begins after the last colon. "focus=" (also "function=") extends up to that colon, commas included, so it must come
 * last.
 */
#ifndef COMMAND_PICTURES_H
#define COMMAND_PICTURES_H

#include "command.h"
#include "line_set.h"
#include "render.h"

#include <regex.h>

enum picture_form { PICTURE_SVG, PICTURE_SVGZ, PICTURE_HTML };

struct picture_order {
	struct flamegraph_options o;
	const char *column;		/* NULL: the default */
	const char *focus;		/* only stacks with a function that matches; NULL: all */
	const char *path;		/* "-" is standard output */
	enum picture_form form;
	regex_t pattern;		/* compiled `focus`, if that is not NULL */
};

/* "a.svgz", "a.svg.gz" */
bool picture_path_is_packed(const char *path);

/* Sets `path` and `form` from the file's name. This and the next three functions return 0, or an exit code after
 * printing the error. */
int picture_order_path(struct picture_order *order, const struct command_spec *spec, const char *path);
int picture_order_min_width(struct picture_order *order, const struct command_spec *spec, const char *text);
int picture_order_focus(struct picture_order *order, const struct command_spec *spec, const char *regex);

/* Copies `base` and applies the changes in `also`, which must stay valid. Call picture_order_done in any case. */
int picture_order_also(struct picture_order *order, const struct command_spec *spec, const struct picture_order *base,
		       char *also);
void picture_order_done(struct picture_order *order);

/* Returns the part of a profile or of lines that this picture shows. */
struct profile *picture_order_filter(const struct picture_order *order, const struct profile *p);
struct flamegraph_line *picture_order_filter_lines(const struct picture_order *order, const struct line_set *set,
						   size_t *ret_count);

#endif
