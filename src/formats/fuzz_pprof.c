/* fuzz_pprof.c: reads any bytes as profile.proto; accepted ones must survive being written and read. */
#include "format.h"
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = profile_new(), *back = profile_new(), *again = profile_new();
	struct err err = { 0 };
	struct buf one, two;

	profile_keep_lines(p, true);
	profile_keep_lines(back, true);
	profile_keep_lines(again, true);
	buf_init(&one);
	buf_init(&two);
	format_pprof.sniff((const char *)data, size);
	if (format_read_bytes(&format_pprof, p, (const char *)data, size, &err) < 0) {
		if (!err.code)
			abort();
	} else if (p->column_count) {
		/* Sanitized names may become equal, so only the second round trip must keep everything. */
		if (format_pprof.write(p, UINT32_MAX, &one, &err) < 0 ||
		    format_load_bytes("one", one.data, one.size, back, &err) < 0 ||
		    format_pprof.write(back, UINT32_MAX, &two, &err) < 0 ||
		    format_load_bytes("two", two.data, two.size, again, &err) < 0 || !same_lines(back, again))
			abort();
	}
	profile_free(p);
	profile_free(back);
	profile_free(again);
	buf_done(&one);
	buf_done(&two);
	return 0;
}
