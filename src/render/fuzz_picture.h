/* fuzz_picture.h: builds the picture that the fuzzers of pictures draw.
 *
 * The first byte chooses options, the second the width and whether it is a difference; the rest is lines of frames
 * separated by ;, whose value is the length of the line. It is also used as the texts and attributes of the picture. */
#ifndef RENDER_FUZZ_PICTURE_H
#define RENDER_FUZZ_PICTURE_H

#include "mem.h"
#include "nameattr.h"
#include "render.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_picture {
	struct profile *profile;
	struct flamegraph_options o;
	char *words;
	struct nameattr *attributes;
};

static inline void fuzz_add_line(struct profile *p, const char *line, size_t n)
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

static inline struct profile *fuzz_profile(const char *text, size_t n)
{
	struct profile *p = profile_new();

	for (const char *at = text, *end = text + n; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		fuzz_add_line(p, at, (size_t)((stop ? stop : end) - at));
		at = stop ? stop + 1 : end;
	}
	return p;
}

static inline void fuzz_options(struct fuzz_picture *g, const uint8_t *bits)
{
	struct flamegraph_options *o = &g->o;

	flamegraph_defaults(o);
	o->column = profile_find_column(g->profile, "samples");
	o->reverse = bits[0] & 1;
	o->inverted = bits[0] & 2;
	o->hash = bits[0] & 4;
	o->min_width_percent = bits[0] & 8;
	o->min_width = bits[0] & 16 ? 0 : 0.1;
	if (bits[0] & 32)
		o->title = o->subtitle = o->notes = o->count_name = o->name_type = o->font_type = g->words;
	if (bits[0] & 64)
		o->colors = "java";
	if (bits[0] & 128)
		o->bg_colors = g->words;
	if (bits[1] & 1) {
		o->before_column = profile_find_column(g->profile, "before");
		o->width_of = (enum flamegraph_width_of)(bits[1] >> 1 & 3);
		o->delta = (enum flamegraph_delta)(bits[1] >> 3 & 1);
		o->negate = bits[1] & 16;
	}
	if (bits[1] & 32)
		o->factor = -2.5;
	if (bits[1] & 64)
		o->total = 1e6;
	o->width = 40 + 8.5 * bits[1];
}

/* Returns false if there is nothing to draw. */
static inline bool fuzz_picture_init(struct fuzz_picture *g, const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 2;
	struct err err = { 0 };

	*g = (struct fuzz_picture){ 0 };
	if (size < 2)
		return false;
	g->profile = fuzz_profile(text, size - 2);
	g->words = xstrndup(text, size - 2);
	fuzz_options(g, data);
	if (nameattr_read(text, size - 2, &g->attributes, &err) == 0)
		g->o.nameattr = g->attributes;
	return true;
}

static inline void fuzz_picture_done(struct fuzz_picture *g)
{
	profile_free(g->profile);
	nameattr_free(g->attributes);
	free(g->words);
}

#endif
