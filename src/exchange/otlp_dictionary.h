/* otlp_dictionary.h: the tables that all profiles of a request refer to, checked and ready to be looked into. */
#ifndef EXCHANGE_OTLP_DICTIONARY_H
#define EXCHANGE_OTLP_DICTIONARY_H

#include "err.h"
#include "line_places.h"
#include "profile.h"
#include "protobuf.h"

struct otlp_attribute {
	struct str key, value;			/* value: NULL if it is no text, number or array of one of these */
	char number[24];			/* a number as text */
	bool unusable;				/* with an index out of range, as in stacks */
};

struct otlp_location {
	uint32_t first, count;			/* range in `lines` */
};

struct otlp_dictionary {
	struct str *strings;
	size_t string_count, string_capacity;
	struct otlp_attribute *attributes;
	size_t attribute_count, attribute_capacity;
	struct str *mappings;			/* their files; NULL: cannot be used */
	size_t mapping_count, mapping_capacity;
	struct profile *frames;			/* functions and addresses */
	uint32_t *functions;			/* frames of it */
	size_t function_count, function_capacity;
	struct otlp_location *locations;
	size_t location_count, location_capacity;
	struct line_place *lines;		/* the innermost first */
	size_t line_count, line_capacity;
	struct otlp_stack {
		struct protobuf bytes;		/* the message */
		uint32_t depth;			/* frames, with inlined ones; UINT32_MAX: as many or more */
		bool unusable;
	} *stacks;
	size_t stack_count, stack_capacity;
	struct otlp_unusable {
		const char *table;		/* name of an entry */
		size_t index;
		struct err why;
	} * unusable; /* the first of them */
	size_t unusable_count, unusable_capacity;
};

/* Reads the message ProfilesDictionary. -EINVAL with a sentence: damaged. Entries with an index beyond its table are kept as
 * unusable. */
int otlp_dictionary_read(struct otlp_dictionary *d, struct protobuf m, struct err *err);
void otlp_dictionary_done(struct otlp_dictionary *d);

/* -ERANGE with a sentence for an index beyond the table, and for an entry that is unusable. Entry 0 is the empty string, and NULL. */
int otlp_attribute(const struct otlp_dictionary *d, uint64_t index, const struct otlp_attribute **ret, struct err *err);
int otlp_stack(const struct otlp_dictionary *d, uint64_t index, const struct otlp_stack **ret, struct err *err);
int otlp_string(const struct otlp_dictionary *d, uint64_t index, struct str *ret, struct err *err);

/* The text of an AnyValue; number: room for one. Its p is NULL if it cannot become a label. */
int otlp_any_value(const struct otlp_dictionary *d, struct protobuf m, char number[24], struct str *ret, struct err *err);

#endif
