/* fuzz_otlp.c: parses any bytes as a request of OTLP profiles, of both kinds; accepted ones must yield messages that
 * the daemon accepts. */
#include "otlp_read.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const uint8_t *data, size_t size, bool from_json)
{
	struct strobe_wire_message m;
	struct otlp_outcome o;
	struct err err = { 0 };
	struct pushed p;
	struct buf out;

	pushed_init(&p);
	buf_init(&out);
	if (otlp_read(&p, data, size, from_json, &o, &err) < 0) {
		if (!err.text[0])
			abort();
	} else if (pushed_write(&p, "t", 1, &out, &err) >= 0) {
		for (size_t at = 0; at < out.size; at += m.size)
			if (strobe_wire_parse(out.data + at, strobe_wire_first(out.data + at, out.size - at), &m))
				abort();
	}
	buf_done(&out);
	pushed_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as(data, size, false);
	read_as(data, size, true);
	return 0;
}
