/* fuzz_format.c: reads any bytes as a file of the format FORMAT, which the build defines: format_gdb, … */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };

	fuzz_reader(&FORMAT, &none, data, size);
	return 0;
}
