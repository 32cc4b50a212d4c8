/* fuzz_tree_name.c: any file name: its parts lie within it, and joined they are the stem. */
#include "tree.h"

#include "mem.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(const char *name, struct str s)
{
	return !s.n || (s.p >= name && s.p + s.n <= name + strlen(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = xstrndup((const char *)data, size < 4096 ? size : 4096);
	struct tree_name n;

	if (tree_name_parse(name, &n) &&
	    (!inside(name, n.stem) || !inside(name, n.function) || n.stem.p != name || n.time.p != name ||
	     n.time.n == 0 ||
	     n.tag.p != n.time.p + n.time.n + 1 || n.time.n + 1 + n.tag.n != n.stem.n || n.entry.n == 0 ||
	     n.entry.p + n.entry.n != n.stem.p + n.stem.n || (n.profiler.n && n.profiler.n + 1 + n.entry.n != n.tag.n)))
		abort();
	free(name);
	return 0;
}
