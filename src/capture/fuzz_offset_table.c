/* fuzz_offset_table.c: parses any text as a table of offsets of PHP and of Perl: the result is either versions with
 * offsets within bounds, or an error and nothing. */
#include "perl_offsets.h"
#include "php_offsets.h"

#include "bpf/perl_walk.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

bool read_user(void *to, u32 size, u64 address)
{
	return false;
}

long read_user_text(char *to, u32 size, u64 address)
{
	return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct php_offsets php;
	static struct perl_offsets perl;
	struct err err = { 0 };

	php.count = perl.count = 0;
	if (php_offsets_add(&php, "php", (const char *)data, size, &err) < 0 && (php.count || !*err.text))
		abort();
	if (perl_offsets_add(&perl, "perl", (const char *)data, size, &err) < 0 && (perl.count || !*err.text))
		abort();
	for (size_t i = 0; i < perl.count; i++)
		if (perl.versions[i].layout.cx_cv + 8u > CONTEXT_BYTES || perl.versions[i].layout.cv_depth + 4u > CODE_BYTES)
			abort();
	for (size_t i = 0; i < php.count; i++)
		if (php.versions[i].layout.function_bytes > PHP_FUNCTION_MAX)
			abort();
	return 0;
}
