/* test.h: unit tests whose names are the promises they check.
 *
 *	TEST(a_sample_on_the_boundary_belongs_to_the_next_hour)
 *	{
 *		CHECK(window_add(w, &s, NULL) == 1);
 *	}
 *	TEST_MAIN()
 *
 * Each file is one program. It prints "ok - sentence" or "not ok - sentence", or "skip - sentence: reason", one
 * line per test, and ends with 1 if any failed; tests/run counts these lines. */
#ifndef BASE_TEST_H
#define BASE_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

static struct test *test_first, **test_last = &test_first;
static int test_failures;
static const char *test_skipped;

#define TEST(sentence)								\
	static void test_##sentence(void);					\
	__attribute__((constructor)) static void test_add_##sentence(void)	\
	{									\
		static struct test t = { #sentence, test_##sentence, NULL };	\
										\
		*test_last = &t;						\
		test_last = &t.next;						\
	}									\
	static void test_##sentence(void)

/* Returns the step of a loop over cases that resemble each other: `n`, or, with STROBE_TEST_IN_FULL=1, as in the
 * suite "long", 1. */
static inline unsigned test_every(unsigned n)
{
	return getenv("STROBE_TEST_IN_FULL") ? 1 : n;
}

/* Records a failure and continues. */
#define CHECK(condition)							\
	((condition) ? (void)0 :						\
	 (test_failures++, (void)printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition)))

#define CHECK_INT(a, b)								\
	do {									\
		long long a_ = (long long)(a), b_ = (long long)(b);		\
										\
		if (a_ != b_) {							\
			test_failures++;					\
			printf("# %s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #a, a_, b_);	\
		}								\
	} while (0)

#define CHECK_STR(a, b)								\
	do {									\
		const char *a_ = (a), *b_ = (b);				\
										\
		if (!a_ || strcmp(a_, b_)) {					\
			test_failures++;					\
			printf("# %s:%d: %s is\n#   %s\n# not\n#   %s\n", __FILE__, __LINE__, #a,		\
			       a_ ? a_ : "(null)", b_);				\
		}								\
	} while (0)

/* Leaves the test, which counts as skipped unless a check has failed before. */
#define SKIP(reason) do { test_skipped = (reason); return; } while (0)

#define TEST_MAIN()								\
	int main(void)								\
	{									\
		int failed = 0;							\
										\
		setvbuf(stdout, NULL, _IOLBF, 0);				\
		for (struct test *t = test_first; t; t = t->next) {		\
			char sentence[256];					\
										\
			snprintf(sentence, sizeof(sentence), "%s", t->name);	\
			for (char *p = sentence; *p; p++)			\
				if (*p == '_')					\
					*p = ' ';				\
			test_failures = 0;					\
			test_skipped = NULL;					\
			t->run();						\
			if (test_failures)					\
				printf("not ok - %s\n", sentence);		\
			else if (test_skipped)					\
				printf("skip - %s: %s\n", sentence, test_skipped);	\
			else							\
				printf("ok - %s\n", sentence);			\
			failed += test_failures > 0;				\
		}								\
		return failed ? 1 : 0;						\
	}

#endif
