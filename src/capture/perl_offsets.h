/* perl_offsets.h: the offsets that the walker reads, by version of Perl: perl_offsets.txt, embedded in the program. */
#ifndef CAPTURE_PERL_OFFSETS_H
#define CAPTURE_PERL_OFFSETS_H

#include "bpf/event.h"
#include "err.h"
#include <stddef.h>

#define PERL_VERSIONS	16u

struct perl_version {
	unsigned major, minor;
	struct perl_layout layout;
};

struct perl_offsets {
	struct perl_version versions[PERL_VERSIONS];
	size_t count;
};

/* Loads the table that is part of the program. */
void perl_offsets_init(struct perl_offsets *o);

/* Adds the versions in a text; `name` is used in errors. Returns -EINVAL if a line is invalid, and then adds nothing. */
int perl_offsets_add(struct perl_offsets *o, const char *name, const char *text, size_t n, struct err *err);

/* Returns NULL if the version is not in the table. */
const struct perl_version *perl_offsets_find(const struct perl_offsets *o, unsigned major, unsigned minor);

#endif
