/* offset_table.h: tables of offsets inside other programs' structs, one line per version, as text.
 *
 *	# comment
 *	all  NAME=NUMBER ...		for every version of this text
 *	8.4  NAME=NUMBER ...		for this one; may have several lines, and overrides "all"
 *
 * This file does not know the meaning of the numbers.
 */
#ifndef CAPTURE_OFFSET_TABLE_H
#define CAPTURE_OFFSET_TABLE_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

#define OFFSET_VERSIONS		64u	/* per text */
#define OFFSET_FIELDS		64u
#define OFFSET_VERSION_BYTES	256u	/* limit of a struct per version */

struct offset_field {
	const char *name;
	unsigned limit;			/* exclusive upper limit of the number */
	unsigned bytes;			/* size of the read; the offset is a multiple of it */
	size_t at;			/* offset in the struct per version */
	bool wide;			/* stored as 32 bits, not 16 */
	bool optional;
};

struct offset_form {
	const char *language;		/* for errors */
	const struct offset_field *fields;
	size_t field_count;
	size_t version_size;		/* size of the struct per version, which begins with struct offset_version */
};

struct offset_version {
	unsigned major, minor;
};

/* Calls `add` for each version in the text. Returns -EINVAL with a sentence if a line is invalid, or a version lacks
 * a field; then `add` is not called at all. `name` is used in the error. */
int offset_table_read(const struct offset_form *form, const char *name, const char *text, size_t n,
		      void (*add)(void *data, const void *version), void *data, struct err *err);

/* Finds a version in an array of structs per version; returns NULL if it is missing. */
const void *offset_version_find(const struct offset_form *form, const void *list, size_t count, unsigned major, unsigned minor);

/* Adds a version, or replaces an equal one; does nothing if there is no room. Returns the new number of versions. */
size_t offset_version_put(const struct offset_form *form, void *list, size_t count, size_t capacity, const void *version);

#endif
