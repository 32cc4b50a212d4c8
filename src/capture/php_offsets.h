/* php_offsets.h: the offsets of the fields that the walker reads, by version of PHP.
 *
 * A table in a text file, so that a new PHP needs no new Strobe: php_offsets.txt is part of the program, and a file of the
 * same form may add versions, or replace some. See php_offsets.txt for the form.
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

/* The table that is part of the program. */
void php_offsets_init(struct php_offsets *o);

/* Adds what a text says; `name` is for the sentence. -EINVAL if a line is wrong, and then nothing is added. */
int php_offsets_add(struct php_offsets *o, const char *name, const char *text, size_t n, struct err *err);

/* NULL if the version, or number of the module API, is not in the table. */
const struct php_version *php_offsets_by_version(const struct php_offsets *o, unsigned major, unsigned minor);
const struct php_version *php_offsets_by_api(const struct php_offsets *o, u32 api);

#endif
