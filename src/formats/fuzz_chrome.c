/* fuzz_chrome.c: any bytes as trace events of Chrome. */
#include "fuzz_round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_round_trip(&format_chrome, data, size);
	return 0;
}
