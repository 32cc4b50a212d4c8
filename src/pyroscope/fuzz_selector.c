/* fuzz_selector.c: parses a selector and matches it against its own text, and parses that text as a profile type and
 * a time. */
#include "buf.h"
#include "profile_type.h"
#include "pyroscope_time.h"
#include "selector.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct profile_type type;
	struct selector s;
	int64_t ns;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	selector_init(&s);
	if (selector_add(&s, text, NULL) >= 0)
		for (size_t i = 0; i < s.count; i++)
			selector_takes(&s, s.items[i].label, text);
	selector_done(&s);
	profile_type_parse(text, &type, NULL);
	pyroscope_time_parse(text, INT64_MAX, &ns, NULL);
	free(text);
	return 0;
}
