/* php_offsets.h: the offsets of the fields that the walker reads, by version of PHP.
 *
 * The table is a text file, so that a new PHP does not require a new Strobe: php_offsets.txt is part of the program,
 * and a file in the same format may add or replace versions. See php_offsets.txt for the format.
 */
#ifndef CAPTURE_PHP_OFFSETS_H
#define CAPTURE_PHP_OFFSETS_H

#include "bpf/event.h"
#include "err.h"
#include <stddef.h>
#include <stdint.h>

#define PHP_VERSIONS	64u

struct php_version {
	unsigned major, minor;
	u32 api;
	struct php_layout layout;
};

struct php_offsets {
	struct php_version versions[PHP_VERSIONS];
	size_t count;
};

/* Loads the table that is part of the program. */
void php_offsets_init(struct php_offsets *o);

/* Adds the versions in a text; `name` is used in errors. Returns -EINVAL if a line is invalid, and then adds nothing. */
int php_offsets_add(struct php_offsets *o, const char *name, const char *text, size_t n, struct err *err);

/* Return NULL if the version, or the module API's number, is not in the table. */
const struct php_version *php_offsets_by_version(const struct php_offsets *o, unsigned major, unsigned minor);
const struct php_version *php_offsets_by_api(const struct php_offsets *o, u32 api);

#endif
