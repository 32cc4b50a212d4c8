/* recorder_targets.c: selects the processes to record, by number, pattern, pool and control group. */

#include "recorder_private.h"

#include "fallback.h"
#include "languages.h"
#include "mem.h"
#include "process.h"

#include <ctype.h>
#include <unistd.h>

#define GENERATIONS	32u		/* between a program and its descendants */

static bool matches(const struct recorder *r, pid_t pid)
{
	_cleanup_(buf_done) struct buf line = { 0 };

	buf_init(&line);
	return pid != getpid() && process_command_line(pid, &line) && regexec(&r->pattern, line.data, 0, NULL, 0) == 0;
}

bool recorder_in_cgroups(const struct recorder *r, pid_t pid)
{
	for (size_t i = 0; i < r->cgroup_count; i++)
		if (cgroup_has_process(r->cgroups[i], pid))
			return true;
	return !r->cgroup_count;
}

static bool is_fpm(pid_t pid)
{
	return process_is_fpm_master(pid) || process_fpm_pool(pid, (char[64]){ 0 }, 64);
}

static void add_process(struct recorder *r, pid_t pid)
{
	if (r->native)
		native_registry_add_process(r->native, pid);
	r->processes++;
}

void recorder_see_process(pid_t pid, void *data)
{
	struct recorder *r = data;

	if (r->has_pattern && !matches(r, pid))
		return;
	if (r->has_pattern)
		sampler_add_target(r->sampler, (u32)pid, process_start_ticks(pid));
	if (php_registry_add_process(r->registry, pid, NULL) > 0 && recorder_in_cgroups(r, pid) &&
	    (!r->options.fpm || is_fpm(pid)))
		add_process(r, pid);
}

/* Appends the whole fallback chain: why BPF is not available, why memory cannot be read, and the remaining
 * alternative. */
static int add_other_ways(const struct recorder *r, int e, struct err *err)
{
	struct err why = *err;

	return e == -EPERM || e == -EACCES ? err_set(err, e, "no BPF: %s; and %s; " FALLBACK_EXTENSION, r->fallback.text, why.text) : e;
}

struct search {
	struct recorder *recorder;
	pid_t ancestor, found;
};

static bool descends_from(pid_t pid, pid_t ancestor)
{
	for (unsigned i = 0; i < GENERATIONS && pid > 1; i++)
		if ((pid = process_parent(pid)) == ancestor)
			return true;
	return false;
}

static void find_descendant(pid_t pid, void *data)
{
	struct search *s = data;

	if (!s->found && descends_from(pid, s->ancestor) && php_registry_add_process(s->recorder->registry, pid, NULL) > 0)
		s->found = pid;
}

/* Users who name a program that starts another one, such as sudo or timeout, mean the other one. */
static int refuse_other_program(struct recorder *r, pid_t pid, struct err *err)
{
	struct search s = { .recorder = r, .ancestor = pid };
	struct err why = { 0 };

	err_set(&why, -ENOTSUP, "process %d runs no %s that can be sampled: neither its program nor a library of it exports %s%s",
		(int)pid, languages_name(r->options.languages), languages_symbols(r->options.languages),
		r->remote ? "; Perl requires BPF" : "");
	process_each(find_descendant, &s);
	return s.found ? err_set(err, -ENOTSUP, "%s; its child process %d "
						"does: use -p %d", why.text, (int)s.found, (int)s.found) :
	       err_set(err, -ENOTSUP, "%s", why.text);
}

static int add_pid(struct recorder *r, const char *text, struct err *err)
{
	char *end;
	long pid = strtol(text, &end, 10);
	struct target t;
	int e;

	if (!isdigit((unsigned char)*text) || *end || pid < 1 || pid > INT32_MAX)
		return err_set(err, -EINVAL, "invalid -p '%s'; use the number of a process", text);
	t = (struct target){ (pid_t)pid, process_start_ticks((pid_t)pid) };
	e = r->remote ? remote_targets_add(&r->remote_targets, t.pid, err) : php_registry_add_process(r->registry, t.pid, err);
	if (e == -EACCES && !r->remote) {
		/* The BPF programs know all programs in PATH, in any process. */
		r->unseen++;
		e = r->options.languages;
	}
	if (e < 0)
		return r->remote ? add_other_ways(r, e, err) : e;
	if (e == 0)
		return refuse_other_program(r, t.pid, err);
	if (!t.start_ticks)
		return process_absent(t.pid, err);
	if (!r->remote)
		sampler_add_target(r->sampler, (u32)pid, t.start_ticks);
	GROW(&r->targets, &r->target_capacity, r->target_count + 1);
	r->targets[r->target_count++] = t;
	r->languages |= (u8)e;
	add_process(r, t.pid);
	return 0;
}

static int add_cgroup(struct recorder *r, int directory, struct err *err)
{
	int e = directory;

	if (directory < 0)
		return e;
	e = r->remote ? 0 : sampler_add_cgroup(r->sampler, directory, err);
	if (e < 0)
		close(directory);
	else
		r->cgroups[r->cgroup_count++] = directory;
	return e;
}

int recorder_add_targets(struct recorder *r, struct err *err)
{
	const struct recorder_options *o = &r->options;
	int e = 0;

	for (size_t i = 0; e >= 0 && i < o->cgroup_count; i++)
		e = add_cgroup(r, cgroup_open(o->cgroups[i], err), err);
	for (size_t i = 0; e >= 0 && i < o->container_count; i++)
		e = add_cgroup(r, cgroup_open_container(o->containers[i], err), err);
	for (size_t i = 0; e >= 0 && i < o->pid_count; i++)
		e = add_pid(r, o->pids[i], err);
	if (e < 0)
		return e;
	php_registry_add_path(r->registry);
	/* Only the targets given by number need to be checked. */
	if (!r->remote && !r->target_count)
		process_each(recorder_see_process, r);
	return 0;
}

bool recorder_targets_live(const struct recorder *r)
{
	for (size_t i = 0; i < r->target_count; i++)
		if (process_lives(r->targets[i].pid, r->targets[i].start_ticks))
			return true;
	return !r->target_count;
}

bool recorder_is_wanted(void *data, pid_t pid)
{
	const struct recorder *r = data;

	return (!r->has_pattern || matches(r, pid)) && (!r->options.fpm || is_fpm(pid)) && recorder_in_cgroups(r, pid);
}

bool recorder_wants(const struct recorder *r, pid_t pid)
{
	for (size_t i = 0; i < r->target_count; i++)
		if (r->targets[i].pid == pid)
			return process_lives(pid, r->targets[i].start_ticks);
	return !r->options.pid_count && recorder_is_wanted((void *)r, pid);
}

void recorder_note_refusals(struct recorder *r)
{
	struct err err = { 0 };

	if (php_registry_refusals(r->registry) == r->refusals)
		return;
	r->refusals = php_registry_refusals(r->registry);
	for (size_t i = 0; i < r->target_count; i++)
		if (php_registry_add_process(r->registry, r->targets[i].pid, &err) == -ENOTSUP)
			r->refused = err;
}
