/* fuzz_flamegraph.c: any profile with any options gives a well-formed picture, or a sentence.
 *
 * The first byte chooses options, the second the width and whether it is a difference; the rest is lines of frames with ;
 * between them, whose value is the length of the line. */

#include "render.h"
#include "xml_check.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_line(struct profile *p, const char *line, size_t n)
{
	uint32_t node = PROFILE_ROOT, column = profile_column(p, "samples", "count");

	for (const char *at = line, *end = line + n; at < end;) {
		const char *stop = memchr(at, ';', (size_t)(end - at));
		struct str name = { at, (size_t)((stop ? stop : end) - at) };

		node = profile_child(p, node, profile_frame(p, name, name, (uint32_t)name.n));
		at = stop ? stop + 1 : end;
	}
	profile_add(p, node, column, (int64_t)n);
	profile_add(p, node, profile_column(p, "before", "count"), (int64_t)(n * 7 % 11) - 1);
}

static struct profile *profile_of(const char *text, size_t n)
{
	struct profile *p = profile_new();

	for (const char *at = text, *end = text + n; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		add_line(p, at, (size_t)((stop ? stop : end) - at));
		at = stop ? stop + 1 : end;
	}
	return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(freep) char *words = NULL;
	struct flamegraph_options o;
	struct buf svg;
	size_t at;

	if (size < 2)
		return 0;
	p = profile_of((const char *)data + 2, size - 2);
	words = strndup((const char *)data + 2, size - 2);
	flamegraph_defaults(&o);
	o.column = profile_find_column(p, "samples");
	o.reverse = data[0] & 1;
	o.inverted = data[0] & 2;
	o.hash = data[0] & 4;
	o.min_width_percent = data[0] & 8;
	o.min_width = data[0] & 16 ? 0 : 0.1;
	if (data[0] & 32)
		o.title = o.subtitle = o.notes = o.count_name = o.name_type = o.font_type = words;
	if (data[0] & 64)
		o.colors = "java";
	if (data[0] & 128)
		o.bg_colors = words;
	if (data[1] & 1) {
		o.before_column = profile_find_column(p, "before");
		o.width_of = (enum flamegraph_width_of)(data[1] >> 1 & 3);
		o.delta = (enum flamegraph_delta)(data[1] >> 3 & 1);
	}
	o.width = 40 + 8.5 * data[1];

	buf_init(&svg);
	if (flamegraph_svg(p, &o, &svg, NULL) == 0 && xml_check(svg.data, svg.size, &at))
		abort();
	buf_done(&svg);
	return 0;
}
