/* fuzz_written_format.c: reads any bytes as a file of the format FORMAT, which the build defines, and which can also
 * be written. */
#include "fuzz_round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_round_trip(&FORMAT, data, size);
	return 0;
}
