/* fuzz_perf.c: reads any bytes as text of perf script, with options chosen by the first byte; the values of accepted
 * ones must add up. */
#include "format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const struct format *f, const struct format_options *o, const char *bytes, size_t n)
{
	struct profile *p = profile_new();
	struct err err = { 0 };
	struct input in;
	struct buf out;
	int64_t sum;
	int r = input_memory(&in, "memory", bytes, n, UINT64_MAX, &err);

	buf_init(&out);
	if (r >= 0 && !in.packed)
		r = f->read(p, &in, o, &err);
	if (r < 0 && !err.code)
		abort();
	if (r >= 0 && p->column_count) {
		sum = profile_sum(p, p->column_count - 1);
		if (sum < 0)
			abort();
		format_folded.write(p, UINT32_MAX, &out, &err);
	}
	input_close(&in);
	buf_done(&out);
	profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data + 1;
	struct format_options o = { 0 };
	unsigned bits = size ? data[0] : 0;

	if (!size)
		return 0;
	o.pid = bits & 1;
	o.tid = bits & 2;
	o.kernel = o.jit = bits & 4;
	o.addresses = bits & 8;
	o.source_lines = bits & 16;
	o.event = bits & 32 ? "cycles" : NULL;
	o.time_range = bits & 64;
	o.time_max = 1;
	format_perf.sniff(bytes, size - 1);
	read_as(&format_perf, &o, bytes, size - 1);
	return 0;
}
