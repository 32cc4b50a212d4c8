/* native_registry.c: answers requests for the layout of a process with its mappings and unwind tables. */
#include "native_registry.h"

#include "clock.h"
#include "handler_names.h"
#include "map.h"
#include "mem.h"
#include "process.h"

#include <string.h>
#include <sys/resource.h>

#define FORGET_FIRST_NS	NS_PER_SECOND

struct native_registry {
	struct sampler *sampler;
	const struct unwind_maps *maps;
	struct unwind_tables *tables;
	struct modules *modules;
	struct handler_names *handlers;
	int64_t next_forget_ns, forget_pause_ns;	/* monotonic */
	struct map added;		/* pid -> start time of processes added before the programs requested them */
};

static int put_page(void *arg, uint32_t number, const struct unwind_page *p)
{
	return unwind_maps_set_page(arg, number, p);
}

static int put_rule(void *arg, uint32_t number, const struct unwind_rule *r)
{
	return unwind_maps_set_rule(arg, number, r);
}

static int put_layout(void *arg, uint32_t number, const struct unwind_layout *l)
{
	return unwind_maps_set_layout(arg, number, l);
}

/* Each mapped file stays open; PHP on the command line has about 90. */
static void allow_many_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

struct native_registry *native_registry_new(struct sampler *s)
{
	struct native_registry *r = xcalloc(1, sizeof(*r));
	const struct unwind_sink sink = {
		put_page, put_rule, put_layout, (void *)(uintptr_t)sampler_unwind_maps(s), UNWIND_PAGES, UNWIND_RULES, UNWIND_LAYOUTS,
	};

	allow_many_files();
	r->sampler = s;
	r->maps = sampler_unwind_maps(s);
	r->tables = unwind_tables_new(&sink);
	r->modules = modules_new(r->tables);
	r->handlers = handler_names_new(r->modules, r->maps);
	r->forget_pause_ns = FORGET_FIRST_NS;
	map_init(&r->added);
	return r;
}

struct native_registry *native_registry_free(struct native_registry *r)
{
	if (!r)
		return NULL;
	handler_names_free(r->handlers);
	modules_free(r->modules);
	unwind_tables_free(r->tables);
	map_done(&r->added);
	free(r);
	return NULL;
}

struct modules *native_registry_modules(struct native_registry *r)
{
	return r->modules;
}

static bool mark_used(void *data, uint32_t tgid, const struct unwind_process *p)
{
	uint8_t *used = data;

	if (p->layout < UNWIND_LAYOUTS)
		used[p->layout] = 1;
	return true;
}

/* Process numbers are those of the first pid namespace, so in other namespaces no process is known to have ended. */
static bool keep_living(void *data, uint32_t tgid, const struct unwind_process *p)
{
	return process_start_ticks((pid_t)tgid) == p->start_ticks;
}

static int add_layout(struct native_registry *r, struct unwind_part *parts, size_t n, uint32_t *ret)
{
	for (unsigned round = 0; round < 3; round++) {
		uint8_t used[UNWIND_LAYOUTS] = { 0 };

		if (unwind_tables_add_layout(r->tables, parts, n, ret, NULL) >= 0)
			return 0;
		if (round == 1 && sampler_sees_all_pids(r->sampler))
			unwind_maps_each_process(r->maps, keep_living, NULL);
		unwind_maps_each_process(r->maps, mark_used, used);
		unwind_tables_drop_unused(r->tables, used);
	}
	return -ENOSPC;
}

/* Returns false if the process has ended, or cannot be inspected. */
static bool find_layout(struct native_registry *r, pid_t pid, uint64_t start_ticks, uint32_t *ret)
{
	_cleanup_(process_maps_done) struct process_maps maps = { 0 };
	_cleanup_(freep) struct unwind_part *parts = NULL;
	size_t n;

	if (process_maps_read(&maps, pid, NULL) < 0)
		return false;
	modules_add_process(r->modules, pid, start_ticks, &maps, &parts, &n);
	/* The number may have been reused in the meantime. A process without parts is about to end. */
	return n && process_start_ticks(pid) == start_ticks && add_layout(r, parts, n, ret) == 0;
}

/* If processes end before they can be inspected, the functions that they were the first to run have no names. Has the
 * programs describe all functions again, less and less often, since that is expensive. */
static void retry_names(struct native_registry *r)
{
	int64_t now = clock_monotonic_ns();

	if (now < r->next_forget_ns || !sampler_sees_all_pids(r->sampler) || !handler_names_drop_ended(r->handlers))
		return;
	sampler_forget_names(r->sampler);
	r->forget_pause_ns *= 2;
	r->next_forget_ns = now + r->forget_pause_ns;
}

void native_registry_answer(struct native_registry *r, const struct layout_event *e)
{
	struct unwind_process p = { .start_ticks = e->start_ticks, .executable_pages = e->executable_pages };

	if (!e->pid || !find_layout(r, (pid_t)e->pid, e->start_ticks, &p.layout))
		return;
	unwind_maps_set_process(r->maps, e->tgid, &p);
	handler_names_retry(r->handlers, e->tgid);
	retry_names(r);
}

void native_registry_note(struct native_registry *r, const struct function_event *e)
{
	handler_names_note(r->handlers, e);
}

bool native_registry_layout(struct native_registry *r, const struct layout_event *e, struct unwind_layout *ret)
{
	struct unwind_process p = { 0 };

	if (!unwind_maps_get_process(r->maps, e->tgid, &p) || p.start_ticks != e->start_ticks ||
	    p.executable_pages != e->executable_pages)
		native_registry_answer(r, e);
	return unwind_maps_get_process(r->maps, e->tgid, &p) && p.start_ticks == e->start_ticks &&
	       unwind_maps_get_layout(r->maps, p.layout, ret);
}

void native_registry_add_process(struct native_registry *r, pid_t pid)
{
	struct unwind_process p = { .start_ticks = process_start_ticks(pid) };
	uint32_t *then = map_slot(&r->added, (uint64_t)pid);

	if (*then == (uint32_t)p.start_ticks)
		return;
	*then = (uint32_t)p.start_ticks;
	/* Only the programs know the number of its executable pages, and will request the layout; the answer takes
	 * microseconds once the tables exist. */
	if (p.start_ticks && find_layout(r, pid, p.start_ticks, &p.layout) && sampler_sees_all_pids(r->sampler))
		unwind_maps_set_process(r->maps, (uint32_t)pid, &p);
}
