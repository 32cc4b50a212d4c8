/* fuzz_xdebug.c: reads any bytes as traces of Xdebug. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };
	const struct format_options others = { .calls = true, .script_values = true };

	fuzz_reader(&format_xdebug, &none, data, size);
	fuzz_reader(&format_xdebug, &others, data, size);
	return 0;
}
