/* fuzz_leaderboard.c: any names, and the first line of the input as the text to search for: each sample is counted once, or reported as not counted. */
#include "leaderboard.h"

#include "format.h"
#include "mem.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const skip[] = { "*Cache*", "[a-", "Database*" };
	const char *newline = memchr(data, '\n', size);
	struct leaderboard_options o = { .skip = skip, .skip_count = ARRAY_SIZE(skip), .keep_lowercase = size & 1 };
	struct profile *p = profile_new();
	char *grep = newline ? xstrndup((const char *)data, (size_t)(newline - (const char *)data)) : NULL;
	struct leaderboard l;
	int64_t sum = 0;

	o.grep = grep;
	if (newline && size < 1 << 16 &&
	    format_read_bytes(&format_folded, p, newline + 1, (size_t)((const char *)data + size - newline) - 1,
			      NULL) >= 0 &&
	    p->column_count == 1 && profile_sum(p, 0) < 1LL << 40 && profile_below_zero(p, 0, NULL) == 0) {
		leaderboard_make(p, 0, &o, &l);
		for (size_t i = 0; i < l.count; i++)
			sum += l.rows[i].samples;
		if (sum != l.samples || l.samples + l.passed_over + l.unmatched != profile_sum(p, 0))
			abort();
		leaderboard_done(&l);
	}
	profile_free(p);
	free(grep);
	return 0;
}
