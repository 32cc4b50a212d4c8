/* recorder_take.c: delivers profiles by labels during endless recordings. */

#include "recorder_private.h"

#include "clock.h"
#include "mem.h"
#include "time_namespace.h"

#include <string.h>

#define REGISTRY_MAX	100000u		/* names; beyond this they are forgotten, and described again */

static void set(struct labels *labels, const char *key, const char *value, size_t size)
{
	if (size)
		labels_set(labels, key, strlen(key), value, size);
}

struct taking {
	struct recorder *recorder;
	void *data;
	void (*take)(void *data, struct profile *p);
};

static void hand_over(void *data, struct profile *p)
{
	struct taking *t = data;

	t->take(t->data, p);
}

void recorder_labels(const struct recorder *r, struct labels *ret)
{
	set(ret, "host", r->host, strlen(r->host));
	/* So that they are not added to the extension's samples of the same processes. */
	set(ret, "sampler", "record", 6);
}

/* PHP's name for a program given by -r or on standard input, for which the extension says "-". */
#define STANDARD_INPUT	"Standard input code"

/* Scripts are named as in the extension: the file without directory and ".php"; a Perl program without ".pl". */
static size_t entry_size(const char *name)
{
	static const char *const endings[] = { ".php", ".pl" };
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (n > strlen(endings[i]) && !strcmp(name + n - strlen(endings[i]), endings[i]))
			return n - strlen(endings[i]);
	return n;
}

static void label(void *data, const struct count_key *key, struct labels *ret)
{
	const struct recorder *r = ((struct taking *)data)->recorder;
	const char *script, *method;

	process_labels_set(r->processes_seen, key->process, ret);
	if (stack_registry_request(r->stacks, key->request, &script, &method)) {
		const char *slash = strrchr(script, '/'), *name = slash && slash[1] ? slash + 1 : script;

		if (!strcmp(name, STANDARD_INPUT))
			name = "-";
		set(ret, "entry", name, entry_size(name));
		set(ret, "method", method, strlen(method));
	}
	recorder_labels(r, ret);
}

static void adopt(void *data, const struct count_key *key)
{
	struct recorder *r = data;

	stack_registry_adopt(r->next_registry, r->stacks, key);
	process_labels_adopt(r->next_processes, r->processes_seen, key->process);
}

static void adopt_wait(void *data, u32 tid, const struct waiting *w)
{
	adopt(data, &w->key);
}

/* From now on all descriptions go into the next registry, while earlier counts still go into this one. During the
 * transition, both get the descriptions. */
static void begin_next_registry(struct recorder *r)
{
	r->next_registry = stack_registry_new();
	r->next_processes = process_labels_new(r->options.pid_label);
	if (r->remote) {
		remote_sampler_forget_names(r->remote);
		remote_sampler_each_wait(r->remote, adopt, r);
		return;
	}
	sampler_forget_names(r->sampler);
	sampler_each_wait(r->sampler, adopt_wait, r);
}

static void switch_to_next_registry(struct recorder *r)
{
	stack_registry_free(r->stacks);
	if (r->native)
		modules_forget_gone(native_registry_modules(r->native));
	process_labels_free(r->processes_seen);
	r->stacks = r->next_registry;
	r->processes_seen = r->next_processes;
	r->next_registry = NULL;
	r->next_processes = NULL;
}

static void see_wait(void *data, u32 tid, const struct waiting *w)
{
	open_waits_see(data, tid, w);
}

static void count_open_waits(struct recorder *r)
{
	open_waits_begin(r->open_waits, time_namespace_kernel_ns(clock_monotonic_ns()));
	sampler_each_wait(r->sampler, see_wait, r->open_waits);
	open_waits_end(r->open_waits, r->stacks);
}

int recorder_take(struct recorder *r, const struct stack_registry_layers *layers, void *data,
		  void (*take)(void *data, struct profile *p), struct err *err)
{
	int e;

	if (stack_registry_size(r->stacks) > REGISTRY_MAX)
		begin_next_registry(r);
	e = r->ended_ns ? 0 : recorder_drain_both(r, err);
	if (e >= 0 && r->open_waits && !r->ended_ns)
		count_open_waits(r);
	for (unsigned i = 0; i < SAMPLE_KINDS; i++)
		r->taken[i] = recorder_sum(r, i);
	for (unsigned i = 0; i < FILE_OPERATIONS; i++)
		r->files_taken[i] = recorder_file_sum(r, i);
	if (e >= 0)
		stack_registry_each(r->stacks, layers, &(struct taking){ r, data, take }, label, hand_over);
	if (r->next_registry)
		switch_to_next_registry(r);
	else if (e >= 0)
		stack_registry_forget_counts(r->stacks);
	return e;
}
