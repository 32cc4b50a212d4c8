/* fuzz_lines.c: draws any lines with any options: the result must be a well-formed picture, or an error with a sentence.
 *
 * The first two bytes choose options, the third the width; then follow the lines, which one of the options also uses
 * as files of attributes and of colors. */

#include "nameattr.h"
#include "palette_map.h"
#include "render.h"
#include "xml_check.h"

#include <errno.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINES_MAX 400

static size_t lines_of(const char *text, size_t n, struct flamegraph_line *lines)
{
	size_t count = 0;

	for (const char *at = text, *end = text + n; at < end && count < LINES_MAX;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		lines[count] = (struct flamegraph_line){ { at, (size_t)((stop ? stop : end) - at) }, 1, count + 1 };
		lines[count].repeat += lines[count].text.n % 3;
		count++;
		at = stop ? stop + 1 : end;
	}
	return count;
}

static void set_options(struct flamegraph_options *o, const uint8_t *data, const char *words)
{
	static const char *const colors[] = { "hot", "java", "js", "perl", "chain", "io", "mem", "orange" };

	flamegraph_defaults(o);
	o->compat = data[0] & 1;
	o->flamechart = data[0] & 2;
	o->reverse = data[0] & 4;
	o->inverted = data[0] & 8;
	o->hash = data[0] & 16;
	o->negate = data[0] & 32;
	o->min_width = data[0] & 64 ? 0 : 0.1;
	if (data[0] & 128)
		o->title = o->subtitle = o->notes = o->count_name = o->name_type = o->font_type = words;
	o->colors = colors[data[1] & 7];
	o->random_seed = data[1] & 8 ? 7 : 0;
	o->factor = data[1] & 16 ? -0.37 : 1;
	o->total = data[1] & 32 ? 1e4 : 0;
	o->encoding = data[1] & 64 ? "US-ASCII" : NULL;
	o->width = 40 + 8.5 * data[2];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct flamegraph_line lines[LINES_MAX];
	_cleanup_(freep) char *words = NULL;
	struct nameattr *attributes = NULL;
	struct palette_map *map = NULL;
	struct flamegraph_options o;
	struct buf svg;
	size_t at;
	int r;

	if (size < 3)
		return 0;
	words = strndup((const char *)data + 3, size - 3);
	set_options(&o, data, words);
	if (data[1] & 128) {
		map = o.palette_map = palette_map_new();
		palette_map_read(map, (const char *)data + 3, size - 3, o.compat);
		if (nameattr_read((const char *)data + 3, size - 3, &attributes, NULL) == 0)
			o.nameattr = attributes;
	}
	buf_init(&svg);
	r = flamegraph_svg_lines(lines, lines_of((const char *)data + 3, size - 3, lines), &o, &svg, NULL);
	if ((r >= 0 || r == -ENODATA) && xml_check(svg.data, svg.size, &at))
		abort();
	buf_done(&svg);
	palette_map_free(map);
	nameattr_free(attributes);
	return 0;
}
