/* fuzz_bpftrace.c: any bytes as maps of bpftrace, as text and as JSON. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format_options none = { 0 };

	fuzz_reader(&format_bpftrace, &none, data, size);
	return 0;
}
