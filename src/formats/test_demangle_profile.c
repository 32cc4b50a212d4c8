/* test_demangle_profile.c: functions whose demangled names are equal are merged. */
#include "demangle_profile.h"

#include "test.h"

#include <stdio.h>

TEST(functions_whose_demangled_names_are_equal_are_merged)
{
	struct profile *p = profile_new();
	uint32_t samples = profile_column(p, "samples", "count");
	const struct str none = { "", 0 };

	for (int i = 0; i < 2; i++) {
		char name[40];
		int n = snprintf(name, sizeof(name), "a::b::h%016d", i);

		profile_add(p, profile_child(p, PROFILE_ROOT, profile_frame(p, (struct str){ name, (size_t)n }, none, 0)),
			    samples, 3 + i);
	}
	profile_add(p, profile_child(p, 1, profile_frame(p, (struct str){ "main", 4 }, none, 0)), samples, 5);
	demangle_profile(p);
	CHECK_INT(p->node_count, 3);
	CHECK_STR(profile_name(p, p->node_frames[1]).p, "a::b");
	CHECK_INT(p->columns[0].self[1], 7);
	CHECK_STR(profile_name(p, p->node_frames[2]).p, "main");
	CHECK_INT(profile_sum(p, 0), 12);
	profile_free(p);
}

TEST_MAIN()
