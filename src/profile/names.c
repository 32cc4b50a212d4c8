/* names.c: makes names of functions visible. */
#include "profile.h"

#include "text.h"

/* Tells whether it is a Unicode space or a code point without width. */
static bool is_blank(uint32_t c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202f) || (c >= 0x205f && c <= 0x206f) || c == 0x3000 || c == 0xfeff;
}

static bool is_visible(struct str name)
{
	const char *at = name.p, *end = name.p + name.n;

	while (at < end) {
		uint32_t c = 0;
		unsigned n = text_decode(at, end, &c);

		if (!n || !is_blank(c))
			return true;
		at += n;
	}
	return false;
}

struct str profile_visible_name(struct str name)
{
	return is_visible(name) ? name : profile_given_name((struct str){ "", 0 });
}

struct profile *profile_show_names(struct profile *p)
{
	struct profile *r;
	bool changed = false;

	for (uint32_t f = 0; f < p->frame_count; f++)
		if (!is_visible(profile_name(p, f))) {
			p->frames[f].name = intern_add(&p->strings, PROFILE_UNKNOWN, sizeof(PROFILE_UNKNOWN) - 1);
			changed = true;
		}
	if (!changed)
		return p;
	/* Different frames may have become equal. */
	r = profile_new();
	profile_keep_lines(r, p->keeps_lines);
	profile_keep_chart(r, p->keeps_chart);
	profile_merge(r, p);
	profile_free(p);
	return r;
}
