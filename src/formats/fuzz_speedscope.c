/* fuzz_speedscope.c: any bytes as a file of speedscope. */
#include "fuzz_round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_round_trip(&format_speedscope, data, size);
	return 0;
}
