/* fuzz_perf_sched.c: reads any bytes as events of the scheduler, with options chosen by the first byte. */
#include "format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = profile_new();
	struct format_options o = { 0 };
	struct err err = { 0 };
	struct input in;
	int r = -EINVAL;

	if (size) {
		o.record_tid = data[0] & 1;
		o.record_wake_stack = data[0] & 2;
		o.recurse = data[0] & 4;
	}
	if (size && input_memory(&in, "memory", (const char *)data + 1, size - 1, UINT64_MAX, &err) >= 0) {
		r = in.packed ? err_set(&err, -EINVAL, "it is compressed") : format_perf_sched.read(p, &in, &o, &err);
		input_close(&in);
	}
	if (r < 0 && size && !err.code)
		abort();
	if (r >= 0 && (p->column_count != 1 || profile_sum(p, 0) < 0))
		abort();
	profile_free(p);
	return 0;
}
