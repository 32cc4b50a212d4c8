/* fuzz_gdb.c: any bytes as backtraces of gdb. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };

	fuzz_reader(&format_gdb, &none, data, size);
	return 0;
}
