/* recorder.c: receives events, and drains counts periodically. */

#include "recorder_private.h"

#include "clock.h"
#include "languages.h"
#include "process.h"
#include "time_namespace.h"

#include <signal.h>

#define DRAIN_NS	NS_PER_SECOND
#define LIVE_NS		(NS_PER_SECOND / 10)	/* interval of checks whether targets are alive */

/* --- events */

static void take_sleeper(struct recorder *r, const struct sleeper_event *e)
{
	if (r->sleepers && recorder_in_cgroups(r, (pid_t)e->pid))
		sleepers_add(r->sleepers, e);
	if (r->options.labels)
		process_labels_note(r->processes_seen, PROCESS_KEY(e->tgid, e->start_ticks), (pid_t)e->pid);
}

static void take_process(struct recorder *r, const struct process_event *e)
{
	u64 process = PROCESS_KEY(e->tgid, e->start_ticks);

	process_labels_note(r->processes_seen, process, (pid_t)e->pid);
	if (r->next_processes)
		process_labels_note(r->next_processes, process, (pid_t)e->pid);
}

static void take_event(void *data, const void *event, size_t size)
{
	struct recorder *r = data;

	switch (*(const u32 *)event) {
	case EVENT_BINARY:
		if (size >= sizeof(struct binary_event))
			php_registry_answer(r->registry, event);
		break;
	case EVENT_HOST:
		if (size >= sizeof(struct process_event))
			php_registry_answer_host(r->registry, event);
		break;
	case EVENT_PROGRAM:
		if (size >= sizeof(struct process_event))
			recorder_see_process((pid_t)((const struct process_event *)event)->pid, r);
		break;
	case EVENT_LAYOUT:
		if (size >= sizeof(struct layout_event) && r->native)
			native_registry_answer(r->native, event);
		break;
	case EVENT_SLEEPER:
		if (size >= sizeof(struct sleeper_event))
			take_sleeper(r, event);
		break;
	case EVENT_PROCESS:
		if (size >= sizeof(struct process_event))
			take_process(r, event);
		break;
	case EVENT_FUNCTION:
		if (size >= sizeof(struct function_event) && r->native)
			native_registry_note(r->native, event);
		/* fall through */
	default:
		stack_registry_note(r->stacks, event, size);
		if (r->next_registry)
			stack_registry_note(r->next_registry, event, size);
	}
}

static void take_count(void *data, const struct count_key *key, const struct count *count)
{
	struct recorder *r = data;

	stack_registry_count(r->stacks, key, count);
}

static void take_file_count(void *data, const struct file_key *key, const struct file_count *count)
{
	struct recorder *r = data;

	stack_registry_count_file(r->stacks, key, count);
}

struct sampler_receiver recorder_receiver(struct recorder *r)
{
	return (struct sampler_receiver){ r, take_event, take_count, take_file_count };
}

/* --- from start to stop */

/* Finds waits that have already begun. */
static void find_sleepers(struct recorder *r)
{
	const struct sampler_receiver receiver = recorder_receiver(r);

	r->sleepers = sleepers_new(r->sampler, r->native, &r->sampling.settings, &receiver, time_namespace_kernel_ns(r->started_ns));
	r->blind_start = sampler_find_sleepers(r->sampler, NULL) < 0;
}

int recorder_start(struct recorder *r, struct err *err)
{
	int e;

	r->started_ns = r->drained_ns = clock_monotonic_ns();
	if (r->remote)
		return 0;
	e = sampler_start(r->sampler, err);
	if (e >= 0 && r->options.off_cpu)
		find_sleepers(r);
	return e;
}

static int drain(struct recorder *r, struct err *err)
{
	r->drained_ns = clock_monotonic_ns();
	if (r->has_pattern) {
		r->processes = 0;
		process_each(recorder_see_process, r);
	}
	php_registry_check_again(r->registry);
	recorder_note_refusals(r);
	return sampler_drain(r->sampler, err);
}

static int run_programs(struct recorder *r, int64_t ns, struct err *err)
{
	int64_t now = clock_monotonic_ns(), end = now + ns;
	int e = 0;

	for (; e >= 0 && now < end; now = clock_monotonic_ns()) {
		int64_t until = r->drained_ns + DRAIN_NS < end ? r->drained_ns + DRAIN_NS : end;

		e = sampler_poll(r->sampler, until > now ? (int)((until - now + 999999) / 1000000) : 0, err);
		if (e == -EINTR)
			return 1;
		if (e >= 0 && clock_monotonic_ns() >= r->drained_ns + DRAIN_NS)
			e = drain(r, err);
		if (e >= 0 && !recorder_targets_live(r))
			return 0;
	}
	return e < 0 ? e : 1;
}

static int run_remote(struct recorder *r, int64_t ns)
{
	int64_t now = clock_monotonic_ns(), end = now + ns;

	for (; now < end; now = clock_monotonic_ns()) {
		if (remote_sampler_run(r->remote, now + LIVE_NS < end ? now + LIVE_NS : end) == -EINTR)
			return 1;
		if (!recorder_targets_live(r))
			return 0;
	}
	return 1;
}

int recorder_run(struct recorder *r, int64_t ns, struct err *err)
{
	int e = r->remote ? run_remote(r, ns) : run_programs(r, ns, err);

	r->ended_early |= e == 0;
	return e;
}

/* Drains both tables in turn. */
int recorder_drain_both(struct recorder *r, struct err *err)
{
	int e = 0;

	if (r->remote)
		remote_sampler_drain(r->remote);
	for (unsigned i = 0; i < 2 && e >= 0 && !r->remote; i++)
		e = sampler_drain(r->sampler, err);
	return e;
}

int recorder_stop(struct recorder *r, struct err *err)
{
	int e;

	if (r->remote)
		remote_sampler_stop(r->remote);
	else
		sampler_stop(r->sampler);
	r->ended_ns = clock_monotonic_ns();
	if (r->remote)
		return 0;
	e = recorder_drain_both(r, err);
	if (e < 0)
		return e;
	sampler_drain_waits(r->sampler, time_namespace_kernel_ns(r->ended_ns));
	if (r->open_waits)
		open_waits_finish(r->open_waits, r->stacks);
	return e;
}

/* --- */

const char *recorder_fallback(const struct recorder *r)
{
	return r->fallback.text;
}

int64_t recorder_elapsed_ns(const struct recorder *r)
{
	return (r->ended_ns ? r->ended_ns : clock_monotonic_ns()) - r->started_ns;
}

struct modules *recorder_modules(struct recorder *r)
{
	return r->native ? native_registry_modules(r->native) : NULL;
}

u8 recorder_languages(const struct recorder *r)
{
	return r->target_count ? r->languages : r->options.languages;
}

void recorder_distribution(const struct recorder *r, struct distribution *ret)
{
	sampler_distribution(r->sampler, ret);
}

struct stack_registry *recorder_stacks(struct recorder *r)
{
	return r->stacks;
}
