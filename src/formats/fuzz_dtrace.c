/* fuzz_dtrace.c: any bytes as stacks of DTrace. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };

	fuzz_reader(&format_dtrace, &none, data, size);
	return 0;
}
