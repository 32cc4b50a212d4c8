/* fuzz_chrome.c: any bytes as trace events of Chrome; what is accepted is written and read again until it must be the
 * same. */
#include "format.h"
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = profile_new(), *one, *two;
	struct err err = { 0 };

	format_chrome.sniff((const char *)data, size);
	if (format_read_bytes(&format_chrome, p, (const char *)data, size, &err) < 0) {
		if (!err.code)
			abort();
	} else {
		one = there_and_back(&format_chrome, p, UINT32_MAX);
		two = one ? there_and_back(&format_chrome, one, UINT32_MAX) : NULL;
		if (!two || !same_lines(one, two))
			abort();
		profile_free(one);
		profile_free(two);
	}
	profile_free(p);
	return 0;
}
