/* fuzz_resp.c: parses any bytes as a client's input: the commands must be the same no matter how they are split. */
#include "resp.h"

#include "mem.h"

#include <string.h>

#define COMMANDS_MAX 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints all commands, parsing a copy with exactly the bytes received so far, `step` more at a time. */
static void read_all(const uint8_t *data, size_t size, size_t step, bool unauthenticated, struct buf *out)
{
	size_t start = 0, known = 0, commands = 0;
	struct resp_parser p;

	resp_init(&p);
	if (unauthenticated) {
		p.argument_max = RESP_STRANGER_ARGUMENT_MAX;
		p.arguments_max = RESP_STRANGER_ARGUMENTS_MAX;
	}
	while (known <= size && commands < COMMANDS_MAX) {
		_cleanup_(freep) char *copy = xmalloc(known - start + 1);
		ssize_t used;

		memcpy(copy, data + start, known - start);
		used = resp_next(&p, copy, known - start);
		if (used < 0) {
			buf_printf(out, "error %s\n", p.error);
			break;
		}
		if (used == 0 && known == size)
			break;
		if (used == 0)
			known = size - known < step ? size : known + step;
		if ((size_t)used > known - start || (used && p.count > p.arguments_max))
			abort();
		start += (size_t)used;
		commands += used > 0;
		for (size_t i = 0; used && i < p.count; i++)
			resp_put_bulk(out, p.arguments[i].p, p.arguments[i].n);
		if (used)
			buf_putc(out, '\n');
	}
	resp_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = { 1, 3, 64 };

	if (size > 1 << 16)
		return 0;
	for (int unauthenticated = 0; unauthenticated < 2; unauthenticated++) {
		_cleanup_(buf_done) struct buf whole = { 0 };

		buf_init(&whole);
		read_all(data, size, size + 1, unauthenticated, &whole);
		for (size_t i = size > 2048 ? 2 : 0; i < ARRAY_SIZE(steps); i++) {
			_cleanup_(buf_done) struct buf pieces = { 0 };

			buf_init(&pieces);
			read_all(data, size, steps[i], unauthenticated, &pieces);
			if (pieces.size != whole.size || memcmp(pieces.data, whole.data, whole.size))
				abort();
		}
	}
	return 0;
}
