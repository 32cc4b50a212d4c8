/* bpf_sampler_none.c: replaces bpf_sampler.c if the BPF programs could not be built. */

#include "bpf_sampler.h"

const bool sampler_is_built = false;

int sampler_open(struct sampler **ret, const struct sampler_options *o, const struct sampler_receiver *r, struct err *err)
{
	return err_set(err, -ENOTSUP, "this strobe was built without the system sampler; install clang, bpftool and libbpf-dev, and "
		       "run make again");
}

struct sampler *sampler_free(struct sampler *s)
{
	return NULL;
}

int sampler_start(struct sampler *s, struct err *err)
{
	return -ENOTSUP;
}

void sampler_stop(struct sampler *s)
{
}

void sampler_set_binary(struct sampler *s, const struct binary_key *key, const struct binary *b)
{
}

void sampler_forget_binary(struct sampler *s, const struct binary_key *key)
{
}

void sampler_add_target(struct sampler *s, u32 pid, u64 start_ticks)
{
}

bool sampler_add_wait(struct sampler *s, u32 tid, const struct waiting *w)
{
	return false;
}

void sampler_remove_wait(struct sampler *s, u32 tid, const struct waiting *w)
{
}

void sampler_set_hosted(struct sampler *s, u32 tgid, const struct hosted_php *php)
{
}

bool sampler_sees_all_pids(const struct sampler *s)
{
	return false;
}

int sampler_add_cgroup(struct sampler *s, int directory, struct err *err)
{
	return -ENOTSUP;
}

int sampler_find_sleepers(struct sampler *s, struct err *err)
{
	return -ENOTSUP;
}

const struct unwind_maps *sampler_unwind_maps(const struct sampler *s)
{
	return NULL;
}

int unwind_maps_set_page(const struct unwind_maps *m, u32 number, const struct unwind_page *p)
{
	return -ENOTSUP;
}

int unwind_maps_set_rule(const struct unwind_maps *m, u32 number, const struct unwind_rule *r)
{
	return -ENOTSUP;
}

int unwind_maps_set_layout(const struct unwind_maps *m, u32 number, const struct unwind_layout *l)
{
	return -ENOTSUP;
}

int unwind_maps_set_process(const struct unwind_maps *m, u32 tgid, const struct unwind_process *p)
{
	return -ENOTSUP;
}

bool unwind_maps_get_page(const struct unwind_maps *m, u32 number, struct unwind_page *ret)
{
	return false;
}

bool unwind_maps_get_rule(const struct unwind_maps *m, u32 number, struct unwind_rule *ret)
{
	return false;
}

bool unwind_maps_get_layout(const struct unwind_maps *m, u32 number, struct unwind_layout *ret)
{
	return false;
}

bool unwind_maps_get_process(const struct unwind_maps *m, u32 tgid, struct unwind_process *ret)
{
	return false;
}

void unwind_maps_each_process(const struct unwind_maps *m, bool (*keep)(void *data, u32 tgid, const struct unwind_process *p),
			      void *data)
{
}

int sampler_poll(struct sampler *s, int timeout_ms, struct err *err)
{
	return -ENOTSUP;
}

int sampler_drain(struct sampler *s, struct err *err)
{
	return -ENOTSUP;
}

void sampler_drain_waits(struct sampler *s, u64 until_ns)
{
}

void sampler_forget_names(struct sampler *s)
{
}

void sampler_each_wait(struct sampler *s, void (*each)(void *data, u32 tid, const struct waiting *w), void *data)
{
}

void sampler_distribution(const struct sampler *s, struct distribution *ret)
{
	*ret = (struct distribution){ 0 };
}

u64 sampler_counter(const struct sampler *s, enum counter c)
{
	return 0;
}

unsigned sampler_switch_share(const struct sampler *s)
{
	return 1;
}
