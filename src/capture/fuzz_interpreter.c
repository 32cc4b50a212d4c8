/* fuzz_interpreter.c: searches any bytes, as the program of a process, for the interpreter: its parts must not end
 * before they begin. */
#include "interpreter.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf e;
	struct cfi_table t;
	struct interpreter i;

	if (elf_open_memory(&e, data, size, "fuzz", NULL) < 0)
		return 0;
	if (cfi_read(&e, &t, NULL) == 0) {
		if (interpreter_find(&e, &t, &i) && (i.start > i.end || i.cold_start > i.cold_end))
			abort();
		cfi_done(&t);
	}
	elf_close(&e);
	return 0;
}
