/* fuzz_cgroup_names.c: parses any bytes as /proc/PID/cgroup; results must be slices of them. */
#include "cgroup_names.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct str part, struct str text)
{
	if (part.n && (part.p < text.p || part.p + part.n > text.p + text.n))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct cgroup_names names;

	cgroup_names_read(text, &names);
	check(names.container, text);
	check(names.pod, text);
	check(names.unit, text);
	check(names.slice, text);
	if (names.container.n && names.container.n != CGROUP_CONTAINER_DIGITS)
		abort();
	return 0;
}
