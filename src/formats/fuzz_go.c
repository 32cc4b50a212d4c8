/* fuzz_go.c: reads any bytes as raw text of pprof. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };
	const struct format_options others = { .inlined = true };

	fuzz_reader(&format_go, &none, data, size);
	fuzz_reader(&format_go, &others, data, size);
	return 0;
}
