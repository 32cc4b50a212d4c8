/* otlp_dictionary.h: the tables that all profiles of a request share, validated and indexed. */
#ifndef EXCHANGE_OTLP_DICTIONARY_H
#define EXCHANGE_OTLP_DICTIONARY_H

#include "err.h"
#include "line_places.h"
#include "profile.h"
#include "protobuf.h"

struct otlp_attribute {
	struct str key, value;			/* value: NULL unless a string, a number or an array of one of these */
	char number[24];			/* a number as text */
	bool unusable;				/* has an index out of range; stacks likewise */
};

struct otlp_location {
	uint32_t first, count;			/* range in `lines` */
};

struct otlp_dictionary {
	struct str *strings;
	size_t string_count, string_capacity;
	struct otlp_attribute *attributes;
	size_t attribute_count, attribute_capacity;
	struct str *mappings;			/* file names; NULL: unusable */
	size_t mapping_count, mapping_capacity;
	struct profile *frames;			/* functions and addresses */
	uint32_t *functions;			/* frames of each */
	size_t function_count, function_capacity;
	struct otlp_location *locations;
	size_t location_count, location_capacity;
	struct line_place *lines;		/* innermost first */
	size_t line_count, line_capacity;
	struct otlp_stack {
		struct protobuf bytes;		/* the message */
		uint32_t depth;			/* frames including inlined ones; UINT32_MAX: at least that many */
		bool unusable;
	} *stacks;
	size_t stack_count, stack_capacity;
	struct otlp_unusable {
		const char *table;		/* name of an entry */
		size_t index;
		struct err why;
	} * unusable; /* the first unusable entries, with reasons */
	size_t unusable_count, unusable_capacity;
};

/* Reads the message ProfilesDictionary. -EINVAL with a sentence if it is damaged. Entries with an index out of range
 * are kept but marked unusable. */
int otlp_dictionary_read(struct otlp_dictionary *d, struct protobuf m, struct err *err);
void otlp_dictionary_done(struct otlp_dictionary *d);

/* Looks an attribute up. -ERANGE with a sentence if the index is beyond the table or its entry is unusable. Entry 0
 * has an empty key and the value NULL. */
int otlp_attribute(const struct otlp_dictionary *d, uint64_t index, const struct otlp_attribute **ret, struct err *err);
int otlp_stack(const struct otlp_dictionary *d, uint64_t index, const struct otlp_stack **ret, struct err *err);
int otlp_string(const struct otlp_dictionary *d, uint64_t index, struct str *ret, struct err *err);

/* Converts an AnyValue to text; `number` is a buffer. The result's p is NULL if it cannot become a label. */
int otlp_any_value(const struct otlp_dictionary *d, struct protobuf m, char number[24], struct str *ret, struct err *err);

#endif
