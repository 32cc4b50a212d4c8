/* fuzz_phpspy.c: any bytes as traces of phpspy. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };

	fuzz_reader(&format_phpspy, &none, data, size);
	return 0;
}
