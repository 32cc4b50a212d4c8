/* fuzz_reader.h: shared by fuzzers of readers: any bytes are read or refused with a sentence, and the result can be
 * written as folded stacks. */
#ifndef FORMATS_FUZZ_READER_H
#define FORMATS_FUZZ_READER_H

#include "format.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_reader(const struct format *f, const struct format_options *o, const uint8_t *data, size_t size)
{
	struct profile *p = profile_new();
	struct err err = { 0 };
	struct input in;
	struct buf out;
	int r;

	profile_keep_lines(p, true);
	buf_init(&out);
	f->sniff((const char *)data, size < FORMAT_SNIFF_MAX ? size : FORMAT_SNIFF_MAX);
	if (input_memory(&in, "memory", (const char *)data, size, UINT64_MAX, &err) >= 0 && !in.packed) {
		r = f->read(p, &in, o, &err);
		if (r && !err.text[0])
			abort();
		if (r >= 0 && p->column_count && format_write(&format_folded, p, UINT32_MAX, &out, &err) < 0)
			abort();
	}
	input_close(&in);
	buf_done(&out);
	profile_free(p);
}

#endif
