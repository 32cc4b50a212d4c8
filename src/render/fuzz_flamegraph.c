/* fuzz_flamegraph.c: draws any profile with any options: the result must be a well-formed picture, or an error with a
 * sentence. */

#include "fuzz_picture.h"
#include "xml_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_picture g;
	struct err err = { 0 };
	struct buf svg;
	size_t at;
	int r;

	if (!fuzz_picture_init(&g, data, size))
		return 0;
	buf_init(&svg);
	r = flamegraph_svg(g.profile, &g.o, &svg, &err);
	if (r < 0 ? !err.text[0] : xml_check(svg.data, svg.size, &at) != NULL)
		abort();
	buf_done(&svg);
	fuzz_picture_done(&g);
	return 0;
}
