/* fuzz_perl_walk.c: walks any memory as that of a Perl process: the walk must end, and names must end with a NUL. The
 * first byte chooses whether there are threads. */
#include "bpf/perl_names.h"
#include "fuzz_memory.h"
#include "perl_offsets.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perl_offsets offsets;
	static struct php_walk stack;
	static struct perl_walk walk;
	static struct function_event e;
	struct perl_place place = { .tls_offset = -8, .curstackinfo = 64, .curcop = 72 };

	if (size < 2)
		return 0;
	if (!offsets.count)
		perl_offsets_init(&offsets);
	place.layout = offsets.versions[0].layout;
	place.threads = data[0] & 1;
	memory = data + 1;
	memory_size = size - 1;
	if (!perl_walk_start(&stack, &walk, &place, 0, perl_interpreter(&place, 0, 4096)))
		return 0;
	for (unsigned i = 0; i < PERL_STEPS && perl_walk_step(&stack, &walk, &place.layout); i++)
		;
	if (stack.count > PHP_DEPTH)
		abort();
	for (u32 at = 0; at < stack.count; at++) {
		if (stack.frames[at].function < FUNCTION_SPECIAL)
			continue;
		perl_describe(&place.layout, &stack, &walk, at, &e);
		if (!memchr(e.name, 0, NAME_SIZE) || !memchr(e.scope, 0, NAME_SIZE) || !memchr(e.file, 0, FILE_SIZE))
			abort();
	}
	return 0;
}
