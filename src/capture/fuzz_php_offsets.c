/* fuzz_php_offsets.c: parses any bytes as a table of offsets. An accepted table is safe to walk with: every field is
 * within the memory that is read. */
#include "bpf/php_walk.h"
#include "php_offsets.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_layout(const struct php_layout *l)
{
	if (l->function_bytes > PHP_FUNCTION_MAX || l->fn_line_end + 4u > l->function_bytes || l->fn_filename + 8u > PHP_FUNCTION_MAX ||
	    l->func + 8u > EXECUTE_DATA_BYTES || l->prev + 8u > EXECUTE_DATA_BYTES)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct php_offsets o;
	struct err err = { 0 };
	size_t before;
	int r;

	php_offsets_init(&o);
	before = o.count;
	r = php_offsets_add(&o, "fuzz.txt", (const char *)data, size, &err);
	if (r < 0 && (o.count != before || !strstr(err.text, "fuzz.txt")))
		abort();
	for (size_t i = 0; i < o.count; i++)
		check_layout(&o.versions[i].layout);
	return 0;
}
