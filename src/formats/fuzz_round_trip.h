/* fuzz_round_trip.h: shared by fuzzers of formats that can also be written: any bytes are read or refused with a
 * sentence, and the result is written and read again until it must be the same. */
#ifndef FORMATS_FUZZ_ROUND_TRIP_H
#define FORMATS_FUZZ_ROUND_TRIP_H

#include "format.h"
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_round_trip(const struct format *f, const uint8_t *data, size_t size)
{
	struct profile *p = profile_new(), *one, *two;
	struct err err = { 0 };

	profile_keep_lines(p, true);
	f->sniff((const char *)data, size);
	if (format_read_bytes(f, p, (const char *)data, size, &err) < 0) {
		if (!err.code)
			abort();
	} else {
		one = round_trip(f, p, UINT32_MAX);
		two = one ? round_trip(f, one, UINT32_MAX) : NULL;
		if (!two || !same_lines(one, two))
			abort();
		profile_free(one);
		profile_free(two);
	}
	profile_free(p);
}

#endif
