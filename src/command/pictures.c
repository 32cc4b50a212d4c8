/* pictures.c: parses --also, and filters the stacks of a picture. */

#include "pictures.h"

#include "mem.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

bool picture_path_is_packed(const char *path)
{
	return text_path_ends(path, ".svgz") || text_path_ends(path, ".svg.gz");
}

int picture_order_path(struct picture_order *order, const struct command_spec *spec, const char *path)
{
	order->path = path;
	order->form = PICTURE_SVG;
	if (!strcmp(path, "-") || text_path_ends(path, ".svg"))
		return 0;
	if (picture_path_is_packed(path)) {
		order->form = PICTURE_SVGZ;
		return 0;
	}
	if (text_path_ends(path, ".html")) {
		order->form = PICTURE_HTML;
		return 0;
	}
	return command_usage(spec, "cannot infer the output format from '%s'; use .svg, .svgz or .html, or - for standard "
			     "output", path);
}

int picture_order_min_width(struct picture_order *order, const struct command_spec *spec, const char *text)
{
	struct flamegraph_options *o = &order->o;
	char *end;

	o->min_width = strtod(text, &end);
	o->min_width_percent = !strcmp(end, "%");
	if (end == text || (*end && !o->min_width_percent))
		return command_usage(spec, "invalid --minwidth '%s'; use pixels, such as 0.5, or a share, such as 1%%", text);
	return 0;
}

int picture_order_focus(struct picture_order *order, const struct command_spec *spec, const char *regex)
{
	char why[256];
	int e;

	e = regcomp(&order->pattern, regex, REG_EXTENDED | REG_NOSUB);
	if (e) {
		regerror(e, &order->pattern, why, sizeof(why));
		return command_usage(spec, "invalid regular expression '%s': %s", regex, why);
	}
	order->focus = regex;
	return 0;
}

void picture_order_done(struct picture_order *order)
{
	if (order->focus)
		regfree(&order->pattern);
	order->focus = NULL;
}

/* --- --also --- */

static int flag(struct picture_order *order, const char *name)
{
	if (!strcmp(name, "forward"))
		order->o.reverse = false;
	else if (!strcmp(name, "reverse"))
		order->o.reverse = true;
	else if (!strcmp(name, "inverted"))
		order->o.inverted = true;
	else if (!strcmp(name, "hash"))
		order->o.hash = true;
	else
		return -ENOENT;
	return 0;
}

static int setting(struct picture_order *order, const struct command_spec *spec, const char *name, const char *value)
{
	if (!strcmp(name, "focus") || !strcmp(name, "function"))
		return picture_order_focus(order, spec, value);
	if (!strcmp(name, "minwidth"))
		return picture_order_min_width(order, spec, value);
	if (!strcmp(name, "colors"))
		order->o.colors = value;
	else if (!strcmp(name, "title"))
		order->o.title = value;
	else if (!strcmp(name, "subtitle"))
		order->o.subtitle = value;
	else if (!strcmp(name, "column"))
		order->column = value;
	else
		return -ENOENT;
	return 0;
}

static int unknown_change(const struct command_spec *spec, const char *name)
{
	static const char *const known[] = { "forward", "reverse", "inverted", "hash", "colors", "title", "subtitle",
					     "minwidth", "column", "focus", NULL };
	const char *nearest = options_nearest(name, known);

	if (nearest)
		return command_usage(spec, "unknown change '%s' in --also; did you mean '%s'?", name, nearest);
	return command_usage(spec, "unknown change '%s' in --also; use forward, reverse, inverted, hash, colors=, title=, "
				   "subtitle=, minwidth=, column= or focus=",
			     name);
}

int picture_order_also(struct picture_order *order, const struct command_spec *spec, const struct picture_order *base,
		       char *also)
{
	char *colon = strrchr(also, ':'), *at = also;
	int code = 0;

	*order = *base;
	order->focus = NULL;
	if (!colon || colon == also || !colon[1])
		return command_usage(spec, "invalid --also '%s'; use changes, a colon and a file, such as "
				     "reverse:reversed.svg", also);
	*colon = 0;
	while (at && !code) {
		bool rest = !strncmp(at, "focus=", 6) || !strncmp(at, "function=", 9);
		char *comma = rest ? NULL : strchr(at, ','), *equals;

		if (comma)
			*comma = 0;
		equals = strchr(at, '=');
		if (equals)
			*equals = 0;
		code = equals ? setting(order, spec, at, equals + 1) : flag(order, at);
		if (code == -ENOENT)
			return unknown_change(spec, at);
		at = comma ? comma + 1 : NULL;
	}
	if (!code && base->focus && !order->focus)
		code = picture_order_focus(order, spec, base->focus);
	return code ? code : picture_order_path(order, spec, colon + 1);
}

/* --- Filtering stacks --- */

struct profile *picture_order_filter(const struct picture_order *order, const struct profile *p)
{
	_cleanup_(freep) bool *keep = xcalloc((size_t)p->frame_count + 1, sizeof(*keep));

	for (uint32_t i = 0; i < p->frame_count; i++)
		keep[i] = regexec(&order->pattern, profile_name(p, i).p, 0, NULL, 0) == 0;
	return profile_filter(p, keep);
}

/* Whether one of the frames matches; the count at the end of the line is excluded. */
static bool line_matches(const struct picture_order *order, struct str line, struct buf *scratch)
{
	const char *end = memrchr(line.p, ' ', line.n), *at = line.p;

	for (end = end ? end : line.p + line.n; at <= end;) {
		const char *stop = memchr(at, ';', (size_t)(end - at));

		buf_reset(scratch);
		buf_put(scratch, at, (size_t)((stop ? stop : end) - at));
		if (regexec(&order->pattern, scratch->data, 0, NULL, 0) == 0)
			return true;
		if (!stop)
			break;
		at = stop + 1;
	}
	return false;
}

struct flamegraph_line *picture_order_filter_lines(const struct picture_order *order, const struct line_set *set,
						   size_t *ret_count)
{
	_cleanup_(buf_done) struct buf scratch = { 0 };
	struct flamegraph_line *kept = xcalloc(set->count + 1, sizeof(*kept));
	size_t n = 0;

	buf_init(&scratch);
	for (size_t i = 0; i < set->count; i++)
		if (!order->focus || line_matches(order, set->lines[i].text, &scratch))
			kept[n++] = set->lines[i];
	*ret_count = n;
	return kept;
}
