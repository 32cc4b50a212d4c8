/* unwind_maps.c: writes, reads and deletes entries of the BPF maps. */
#include "unwind_maps.h"

#include <errno.h>
#include <stddef.h>

#include <bpf/bpf.h>

static int set(int map, u32 key, const void *value)
{
	return bpf_map_update_elem(map, &key, value, BPF_ANY) < 0 ? -errno : 0;
}

static bool get(int map, u32 key, void *ret)
{
	return bpf_map_lookup_elem(map, &key, ret) == 0;
}

int unwind_maps_set_page(const struct unwind_maps *m, u32 number, const struct unwind_page *p)
{
	return set(m->pages, number, p);
}

int unwind_maps_set_rule(const struct unwind_maps *m, u32 number, const struct unwind_rule *r)
{
	return set(m->rules, number, r);
}

int unwind_maps_set_layout(const struct unwind_maps *m, u32 number, const struct unwind_layout *l)
{
	return set(m->layouts, number, l);
}

int unwind_maps_set_process(const struct unwind_maps *m, u32 tgid, const struct unwind_process *p)
{
	return set(m->processes, tgid, p);
}

bool unwind_maps_get_page(const struct unwind_maps *m, u32 number, struct unwind_page *ret)
{
	return get(m->pages, number, ret);
}

bool unwind_maps_get_rule(const struct unwind_maps *m, u32 number, struct unwind_rule *ret)
{
	return get(m->rules, number, ret);
}

bool unwind_maps_get_layout(const struct unwind_maps *m, u32 number, struct unwind_layout *ret)
{
	return get(m->layouts, number, ret);
}

bool unwind_maps_get_process(const struct unwind_maps *m, u32 tgid, struct unwind_process *ret)
{
	return get(m->processes, tgid, ret);
}

void unwind_maps_each_process(const struct unwind_maps *m, bool (*keep)(void *data, u32 tgid, const struct unwind_process *p),
			      void *data)
{
	struct unwind_process p;
	u32 tgid, next;
	bool more = bpf_map_get_next_key(m->processes, NULL, &next) == 0;

	while (more) {
		tgid = next;
		more = bpf_map_get_next_key(m->processes, &tgid, &next) == 0;
		if (get(m->processes, tgid, &p) && !keep(data, tgid, &p))
			bpf_map_delete_elem(m->processes, &tgid);
	}
}
