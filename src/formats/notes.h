/* notes.h: collects what a writer could not represent, as one sentence for its caller; and writes names in JSON. */
#ifndef FORMATS_NOTES_H
#define FORMATS_NOTES_H

#include "err.h"
#include "profile.h"

struct notes {
	uint64_t count;		/* number of things left out or changed */
	uint64_t names;		/* number of names among these that were sanitized */
	struct buf text;
};

void notes_init(struct notes *n);
void notes_done(struct notes *n);
void notes_add(struct notes *n, uint64_t count, const char *format, ...) _printf_(3, 4);

/* Notes nodes with negative values in a column, for formats that do not support them. */
void notes_below_zero(struct notes *n, const struct profile *p, uint32_t column);

/* The same for a profile with edges, if these are written: its tree is an estimate. */
void notes_edges_below_zero(struct notes *n, const struct profile *p, uint32_t column);

/* Returns the result of a writer: 0, or the number of notes, and then `err` has the sentence; -EFBIG if `out` is full. */
int notes_result(struct notes *n, const struct buf *out, const char *what, struct err *err);

/* Appends `s` as a JSON string with quotes. Control characters are escaped; invalid UTF-8 becomes U+FFFD and is noted. */
void notes_put_json(struct notes *n, struct buf *out, struct str s);

#endif
