/* offset_table.h: tables of offsets inside other programs' structs, one line per version, as text.
 *
 *	# comment
 *	all  NAME=NUMBER ...		for every version of this text
 *	8.4  NAME=NUMBER ...		for this one; may be several lines, and wins over "all"
 *
 * The meaning of the numbers is unknown here.
 */
#ifndef CAPTURE_OFFSET_TABLE_H
#define CAPTURE_OFFSET_TABLE_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

#define OFFSET_VERSIONS		64u	/* in one text */
#define OFFSET_FIELDS		64u
#define OFFSET_VERSION_BYTES	256u	/* limit of a struct per version */

struct offset_field {
	const char *name;
	unsigned limit;			/* the number is less */
	unsigned bytes;			/* read there; the offset is a multiple */
	size_t at;			/* in the struct per version */
	bool wide;			/* 32 bits there, not 16 */
	bool optional;
};

struct offset_form {
	const char *language;		/* for sentences */
	const struct offset_field *fields;
	size_t field_count;
	size_t version_size;		/* size of the struct per version, which begins with struct offset_version */
};

struct offset_version {
	unsigned major, minor;
};

/* Calls `add` for each version that the text has. -EINVAL with a sentence if a line is wrong, or a version lacks a field; then
 * `add` is not called at all. `name` is for the sentence. */
int offset_table_read(const struct offset_form *form, const char *name, const char *text, size_t n,
		      void (*add)(void *data, const void *version), void *data, struct err *err);

/* An array of structs per version. The one of this version; NULL if there is none. */
const void *offset_version_find(const struct offset_form *form, const void *list, size_t count, unsigned major, unsigned minor);

/* Adds one, or replaces that of the same version; nothing if there is no room. Returns how many there are then. */
size_t offset_version_put(const struct offset_form *form, void *list, size_t count, size_t capacity, const void *version);

#endif
