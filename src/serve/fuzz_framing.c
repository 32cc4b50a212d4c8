/* fuzz_framing.c: feeds any bytes at once and in pieces, whose size is the first byte; the result must be the same. */
#include "framing.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct framing whole, f;
	size_t piece, fine;

	if (!size)
		return 0;
	piece = data[0] ? data[0] : 1;
	data++;
	size--;
	framing_init(&whole);
	fine = framing_take(&whole, (const char *)data, size);
	assert(fine <= size && (fine == size || whole.problem));
	framing_init(&f);
	for (size_t i = 0; i < size && !f.problem; i += piece)
		framing_take(&f, (const char *)data + i, size - i < piece ? size - i : piece);
	assert(f.problem == whole.problem);
	assert(f.problem || (f.state == whole.state && f.left == whole.left));
	return 0;
}
