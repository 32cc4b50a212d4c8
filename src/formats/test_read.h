/* test_read.h: converts texts to profiles, and profiles to lines, for tests of readers. */
#ifndef FORMATS_TEST_READ_H
#define FORMATS_TEST_READ_H

#include "format.h"
#include "round_trip.h"

static struct err err;		/* error of the last read_text */

/* Returns NULL if it cannot be read. */
static inline struct profile *read_text(const char *text)
{
	struct profile *p = profile_new();

	err = (struct err){ 0 };
	if (format_load_bytes("x", text, strlen(text), p, &err) < 0)
		p = profile_free(p);
	return p;
}

/* Returns the lines, or why there is no profile; valid until the next call. */
static inline const char *lines_of(const struct profile *p)
{
	static char text[8000];
	struct buf b;

	if (!p)
		return err.text;
	buf_init(&b);
	put_lines(p, &b);
	snprintf(text, sizeof(text), "%s", b.data);
	buf_done(&b);
	return text;
}

#endif
