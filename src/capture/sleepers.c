/* sleepers.c: reads a thread, and adds its wait to those that the programs see. */

#include "sleepers.h"

#include "mem.h"
#include "native_walk.h"
#include "process.h"
#include "remote_memory.h"
#include "remote_notes.h"

#include <stddef.h>
#include <stdlib.h>

struct sleepers {
	struct sampler *sampler;
	struct native_registry *native;
	const struct sampler_settings *settings;
	u64 since_ns;
	struct remote_notes notes;
	struct remote_reading reading;
	struct native_walk *walk;
	struct unwind_layout layout;
	unsigned closed;
};

struct sleepers *sleepers_new(struct sampler *s, struct native_registry *native, const struct sampler_settings *settings,
			      const struct sampler_receiver *r, u64 since_ns)
{
	struct sleepers *all = xcalloc(1, sizeof(*all));

	all->sampler = s;
	all->native = native;
	all->settings = settings;
	all->since_ns = since_ns;
	remote_notes_init(&all->notes, r);
	all->reading.known = &all->notes.functions;
	all->reading.with_request = settings->requests;
	if (native)
		all->walk = native_walk_new(sampler_unwind_maps(s));
	return all;
}

struct sleepers *sleepers_free(struct sleepers *s)
{
	if (!s)
		return NULL;
	native_walk_free(s->walk);
	remote_reading_done(&s->reading);
	remote_notes_done(&s->notes);
	free(s);
	return NULL;
}

u64 sleepers_counter(const struct sleepers *s, enum counter c)
{
	return s->notes.counters[c];
}

unsigned sleepers_closed(const struct sleepers *s)
{
	return s->closed;
}

static bool has_slept_since(const struct sleeper_event *e)
{
	uint64_t switches;

	return thread_switches((pid_t)e->pid, (pid_t)e->visible_tid, &switches) && switches == e->switches &&
	       thread_is_asleep((pid_t)e->pid, (pid_t)e->visible_tid) && process_start_ticks((pid_t)e->pid) == e->start_ticks;
}

static u64 note_native(struct sleepers *s, const struct sleeper_event *e)
{
	const struct layout_event ask = {
		.pid = e->pid, .tgid = e->tgid, .start_ticks = e->start_ticks, .executable_pages = e->executable_pages,
	};
	const struct native_registers r = { e->ip, e->sp, e->fp, e->bx, e->link };
	const struct native_stack_event *stack;
	enum counter cut;

	if (!e->ip) {
		s->notes.counters[COUNTER_NATIVE_NO_REGISTERS]++;
		return 0;
	}
	if (!native_registry_layout(s->native, &ask, &s->layout)) {
		s->notes.counters[COUNTER_NATIVE_UNKNOWN]++;
		return 0;
	}
	stack = native_walk(s->walk, &s->layout, &r, s->reading.walk.fibers, &cut);
	s->notes.counters[COUNTER_NATIVE_FRAMES] += stack->count;
	if (cut < COUNTERS)
		s->notes.counters[cut]++;
	remote_notes_event(&s->notes, stack->id, stack, offsetof(struct native_stack_event, frames) + stack->count * sizeof(stack->frames[0]));
	return stack->id;
}

/* Reads the stack of the thread. Returns whether its wait should be kept. */
static bool read_thread(struct sleepers *s, const struct sleeper_event *e, struct count_key *key)
{
	s->reading.walk.fibers = 0;
	if (!e->runs_interpreter)
		return s->settings->idle;
	s->reading.php = (struct remote_php){ (pid_t)e->pid, &e->binary, e->bias, e->thread };
	s->reading.tgid = e->tgid;
	s->reading.start_ticks = e->start_ticks;
	remote_reading_take(&s->reading);
	if (!s->reading.readable && !remote_memory_is_open()) {
		s->closed++;
		return false;
	}
	if (!s->reading.readable || (!s->reading.walk.count && !s->settings->idle))
		return false;
	key->php = remote_notes_stack(&s->notes, &s->reading);
	key->request = remote_notes_request(&s->notes, &s->reading);
	return true;
}

void sleepers_add(struct sleepers *s, const struct sleeper_event *e)
{
	struct waiting wait = { .key = { .kind = SAMPLE_BLOCKED, .kernel = e->kernel }, .since_ns = s->since_ns, .weight = 1 };

	if (!e->pid || !e->visible_tid || !has_slept_since(e) || !read_thread(s, e, &wait.key))
		return;
	wait.key.process = s->settings->per_process ? PROCESS_KEY(e->tgid, e->start_ticks) : 0;
	wait.key.native = s->native ? note_native(s, e) : 0;
	/* Added before it is read: the programs see everything that the thread does afterwards. */
	if (sampler_add_wait(s->sampler, e->tid, &wait) && !has_slept_since(e))
		sampler_remove_wait(s->sampler, e->tid, &wait);
}
