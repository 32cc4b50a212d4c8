/* fuzz_rust_name.c: demangles any bytes as a name of Rust's second form: the result must be a bounded name, or
 * nothing. */
#include "rust_name.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out;
	bool well;

	buf_init(&out);
	well = rust_name_put(&out, (struct str){ (const char *)data, size });
	if (out.size > 64 * size + 1 || (!well && out.size))
		abort();
	buf_done(&out);
	return 0;
}
