/* fuzz_multipart.c: any bytes must be parsed as a form or rejected; parts lie inside the body, in order, and names
 * are terminated. */
#include "multipart.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	char *body = malloc(n ? n : 1);		/* an exact allocation, so that reads beyond the end are detected */
	const char *last = body;
	struct multipart_part part;
	struct multipart m;
	struct err err;
	unsigned parts = 0;
	int r;

	memcpy(body, data, n);
	r = multipart_begin(&m, body, n, &err);
	while (r >= 0 && (r = multipart_next(&m, &part, &err)) > 0) {
		assert(part.bytes >= last && part.bytes + part.size <= body + n);
		assert(*part.name && memchr(part.name, 0, sizeof(part.name)) && memchr(part.file, 0, sizeof(part.file)));
		last = part.bytes + part.size;
		parts++;
	}
	assert(parts <= MULTIPART_PARTS);
	free(body);
	return 0;
}
