/* fallback.c: checks kernel features, in the order in which they are reported as the reason. */

#include "fallback.h"

#include <stdio.h>

static bool lacks(enum kernel_feature f, struct obstacle *ret)
{
	int r = kernel_feature_probe(f);

	if (r < 0)
		obstacle_for_feature("/proc", f, r, ret);
	return r < 0;
}

bool fallback_bpf_obstacle(const struct sampler_options *o, struct obstacle *ret)
{
	*ret = (struct obstacle){ 0 };
	if (!sampler_is_built) {
		snprintf(ret->cause, sizeof(ret->cause), "this strobe was built without its programs");
		snprintf(ret->remedy, sizeof(ret->remedy), "install clang, bpftool and libbpf-dev, and run make again");
		return true;
	}
	return lacks(KERNEL_BPF, ret) || lacks(KERNEL_RINGBUF, ret) || lacks(KERNEL_BTF, ret) || lacks(KERNEL_TP_BTF, ret) ||
	       (o->hz && lacks(KERNEL_PERF, ret));
}

bool fallback_memory_obstacle(struct obstacle *ret)
{
	*ret = (struct obstacle){ 0 };
	return lacks(KERNEL_READV, ret);
}

void fallback_put_closed(struct buf *out, size_t count, const char *why)
{
	buf_printf(out, "%zu PHP process%s may not be read, %s%s", count, count == 1 ? "" : "es", count == 1 ? "" : "for example ", why);
}
