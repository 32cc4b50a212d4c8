/* unwind_maps.h: the BPF maps with the tables for native stacks (bpf/unwind_layout.h): written when files and
 * processes are found, and read by walkers in user space.
 */
#ifndef CAPTURE_UNWIND_MAPS_H
#define CAPTURE_UNWIND_MAPS_H

#include "bpf/unwind_layout.h"
#include <stdbool.h>

/* Their descriptors, which belong to the sampler. */
struct unwind_maps {
	int pages, rules, layouts, processes;
};

/* Each returns 0 or a negative errno. */
int unwind_maps_set_page(const struct unwind_maps *m, u32 number, const struct unwind_page *p);
int unwind_maps_set_rule(const struct unwind_maps *m, u32 number, const struct unwind_rule *r);
int unwind_maps_set_layout(const struct unwind_maps *m, u32 number, const struct unwind_layout *l);
int unwind_maps_set_process(const struct unwind_maps *m, u32 tgid, const struct unwind_process *p);

/* Returns false if the page does not exist. */
bool unwind_maps_get_page(const struct unwind_maps *m, u32 number, struct unwind_page *ret);
bool unwind_maps_get_rule(const struct unwind_maps *m, u32 number, struct unwind_rule *ret);
bool unwind_maps_get_layout(const struct unwind_maps *m, u32 number, struct unwind_layout *ret);
bool unwind_maps_get_process(const struct unwind_maps *m, u32 tgid, struct unwind_process *ret);

/* Calls `keep` for each process that has a layout, including inherited ones; if it returns false, the process loses
 * its layout. */
void unwind_maps_each_process(const struct unwind_maps *m, bool (*keep)(void *data, u32 tgid, const struct unwind_process *p),
			      void *data);

#endif
