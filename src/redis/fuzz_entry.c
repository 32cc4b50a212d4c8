/* fuzz_entry.c: parses any fields as an entry: the result must point into the input, and labels must respect their caps.
 *
 * A field is one byte for its length and that many bytes; 255 is all remaining bytes. */
#include "entry.h"

#include "strobe_wire.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lies_in(struct str part, const struct str *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (part.p >= fields[i].p && part.p + part.n <= fields[i].p + fields[i].n)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str fields[FIELDS_MAX];
	struct entry e = { 0 };
	size_t n = 0;

	for (size_t at = 0; at < size && n < FIELDS_MAX;) {
		size_t length = data[at++];

		if (length == 255 || length > size - at)
			length = size - at;
		fields[n++] = (struct str){ (const char *)data + at, length };
		at += length;
	}
	if (entry_read(fields, n, &e, NULL) >= 0) {
		if (e.body.n > ENTRY_BYTES_MAX || (!e.unpacked && !lies_in(e.body, fields, n)))
			abort();
		if (e.labels.count > STROBE_WIRE_LABELS)
			abort();
		for (size_t i = 0; i < e.labels.count; i++)
			if (!strobe_wire_is_label_key((const uint8_t *)e.labels.items[i].key,
						      strlen(e.labels.items[i].key)) ||
			    strlen(e.labels.items[i].value) > STROBE_WIRE_LABEL_VALUE)
				abort();
	}
	entry_done(&e);
	return 0;
}
