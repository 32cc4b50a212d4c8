/* diff_picture.c: draws for `strobe diff`. */

#include "diff_picture.h"

#include "gzip.h"
#include "io.h"
#include "pictures.h"
#include "text.h"

#include <string.h>

int diff_picture_options(struct diff_picture *d, const struct command_spec *spec)
{
	unsigned width_of, delta;
	int code;

	if ((code = command_choice(spec, "width-of", d->width_of, flamegraph_width_names, &width_of)) ||
	    (code = command_choice(spec, "delta", d->delta, flamegraph_delta_names, &delta)))
		return code;
	d->o.width_of = (enum flamegraph_width_of)width_of;
	d->o.delta = (enum flamegraph_delta)delta;
	return 0;
}

const char *diff_picture_title(bool inverted)
{
	return inverted ? "Difference (icicles)" : "Difference";
}

int diff_picture_write(struct diff_picture *d, const struct page_comparison *c, const char *path,
		       const struct command_spec *spec)
{
	_cleanup_(buf_done) struct buf svg = { 0 }, packed = { 0 };
	const struct diff *diff = c->metrics[c->shown].diff;
	struct flamegraph_options o = d->o;
	struct err err = { 0 };
	int e;

	buf_init(&svg);
	buf_init(&packed);
	o.column = diff->after;
	o.before_column = diff->before;
	o.compared = diff;
	o.title = o.title ? o.title : diff_picture_title(o.inverted);
	o.count_name = d->count_name;
	e = text_path_ends(path, ".html") ? page_file_put_difference(c, &o, &svg, &err) :
				     flamegraph_svg(diff->profile, &o, &svg, &err);
	if (e == -EINVAL)
		return command_usage(spec, "%s", err.text);
	if (e >= 0 && picture_path_is_packed(path))
		e = gzip_put(&packed, svg.data, svg.size, &err);
	if (e >= 0)
		e = io_write_file(path, picture_path_is_packed(path) ? packed.data : svg.data,
				  picture_path_is_packed(path) ? packed.size : svg.size, &err);
	if (e < 0)
		return command_fail(spec, &err);
	if (strcmp(path, "-"))
		fprintf(stderr, "strobe %s: wrote %s\n", spec->name, path);
	return 0;
}
