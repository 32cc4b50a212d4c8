/* fuzz_eu_stack.c: reads any bytes as output of eu-stack. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };
	const struct format_options others = { .pid = true, .tid = true };

	fuzz_reader(&format_eu_stack, &none, data, size);
	fuzz_reader(&format_eu_stack, &others, data, size);
	return 0;
}
