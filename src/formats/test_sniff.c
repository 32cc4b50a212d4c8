/* test_sniff.c: tests that each format's sample is detected as that format, with the highest confidence. */
#include "format.h"
#include "mem.h"
#include "test.h"
#include "test_samples.h"
#include <string.h>

/* Returns the format with the highest confidence for the first `n` bytes, NULL if there is none. They are copied, so
 * that a memory checker detects reads beyond them. */
static const char *surest(const char *text, size_t n)
{
	_cleanup_(freep) char *copy = xmalloc(n);
	const char *best = NULL;
	int score = 0;

	memcpy(copy, text, n);
	for (const struct format *const *f = formats; *f; f++) {
		int sure = (*f)->sniff && (*f)->read ? (*f)->sniff(copy, n) : 0;

		CHECK(sure >= 0 && sure <= 100);
		if (sure > score) {
			best = (*f)->name;
			score = sure;
		}
	}
	return best;
}

TEST(each_example_is_detected_as_its_format)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const char *best = surest(samples[i].text, strlen(samples[i].text));

		CHECK_STR(best ? best : "nothing", samples[i].format);
	}
}

/* A text may be truncated anywhere: it must be detected as its format or as none, without reading beyond its end. */
TEST(a_truncated_example_is_not_detected_as_another_format)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		for (size_t n = strlen(samples[i].text); n > 0; n--) {
			const char *best = surest(samples[i].text, n);

			/* Until then, a single line that ends with a number may be folded stacks of one frame. */
			if (n > 20 && samples[i].format[0] != 'f' && best && strcmp(best, "folded"))
				CHECK_STR(best, samples[i].format);
		}
}

TEST(other_files_match_no_format)
{
	static const char *const others[] = {
		"hello\nworld\n", "<?php\necho 1;\n", "a,b,c\n1,2,3\n", "#!/bin/sh\necho no\n", "{\"a\": 1}\n",
		"# Title\n\nText (see #1).\n", "1\n2\n3\n", "name:\n  - a\n", "chapter\n12",
		/* Two profiles of GHC, and a table. */
		"\tMon Nov 23 06:40 2026 Time and Allocation Profiling Report  (Final)\n\n\t   prog +RTS -p -RTS 1000\n\n"
		"COST CENTRE MODULE    SRC                 %time %alloc\n\n"
		"sieve       Main      prog.hs:(4,1)-(6,50) 86.5   60.1\nmain        Main      prog.hs:10:1-30      11.5   39.8\n"
		" CAF        Main      <entire-module>       0.0   0.0\n MAIN       MAIN      <built-in>            0.0   0.0\n",
		"JOB \"prog\"\nDATE \"x\"\nBEGIN_SAMPLE 0.1\nsieve\t4520\nmain\t80\nCAF\t8\nEND_SAMPLE 0.1\n",
		"Name Size\na 1\nb 2\nc 3\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		const char *best = surest(others[i], strlen(others[i]));

		CHECK_STR(best ? best : "nothing", "nothing");
	}
}

TEST_MAIN()
