/* fuzz_spx.c: any bytes as reports of SPX. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };

	fuzz_reader(&format_spx, &none, data, size);
	return 0;
}
