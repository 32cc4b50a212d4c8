/* fuzz_stap.c: any bytes as stacks of SystemTap. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };

	fuzz_reader(&format_stap, &none, data, size);
	return 0;
}
