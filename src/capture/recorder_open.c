/* recorder_open.c: chooses the best sampling method available, and configures it. */

#include "recorder_private.h"

#include "io.h"
#include "fallback.h"
#include "languages.h"
#include "mem.h"

#include <string.h>
#include <unistd.h>

#define REMOTE_HZ	99u
#define TABLE_MAX	((size_t)1 << 20)

static int read_offsets(const struct recorder_options *o, struct php_offsets *php, struct perl_offsets *perl, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	int e = 0;

	buf_init(&text);
	php_offsets_init(php);
	perl_offsets_init(perl);
	if (o->php_offsets && (e = io_read_file(o->php_offsets, &text, TABLE_MAX, err)) >= 0)
		e = php_offsets_add(php, o->php_offsets, text.data, text.size, err);
	buf_reset(&text);
	if (e >= 0 && o->perl_offsets && (e = io_read_file(o->perl_offsets, &text, TABLE_MAX, err)) >= 0)
		e = perl_offsets_add(perl, o->perl_offsets, text.data, text.size, err);
	return e;
}

static void choose(struct recorder *r)
{
	const struct recorder_options *o = &r->options;

	r->sampling = (struct sampler_options){
		.settings = {
			.target = o->fpm ? TARGET_FPM : o->pid_count || o->pattern ? TARGET_PIDS :
				  o->cgroup_count || o->container_count ? TARGET_CGROUPS : TARGET_ALL,
			.min_ns = (u64)o->min_ns,
			.kernel = o->kernel,
			.native = o->native,
			.idle = o->idle,
			.languages = o->languages,
			.requests = o->labels,
			.per_process = o->labels,
			.ask_programs = o->pattern != NULL,
		},
		.hz = o->hz,
		.off_cpu = o->off_cpu,
		.file_io = o->file_io,
		.other_kinds = o->other_kinds,
		.distribution = o->distribution,
	};
}

static int open_remote(struct recorder *r, const struct obstacle *why, struct err *err)
{
	const struct remote_options o = {
		.hz = r->options.hz ? r->options.hz : REMOTE_HZ,
		.on_cpu = r->options.hz > 0,
		.off_cpu = r->options.off_cpu,
		.idle = r->options.idle,
		.requests = r->options.labels,
		.per_process = r->options.labels,
		.min_ns = (u64)r->options.min_ns,
	};
	const struct sampler_receiver receiver = recorder_receiver(r);
	struct obstacle closed;

	if (r->options.file_io || r->options.distribution)
		return err_set(err, -EPERM, "%s require BPF: %s%s%s", r->options.file_io ? "calls and files" : "distributions (--distr)",
			       why->cause, *why->remedy ? ": " : "", why->remedy);
	if (fallback_memory_obstacle(&closed))
		return err_set(err, -EPERM, "no BPF: %s%s%s; and no access to memory: %s%s%s; " FALLBACK_EXTENSION, why->cause,
			       *why->remedy ? ": " : "", why->remedy, closed.cause, *closed.remedy ? ": " : "", closed.remedy);
	if (r->options.languages == LANGUAGE_PERL)
		return err_set(err, -EPERM, "Perl can only be sampled with BPF, which is "
					    "unavailable: %s%s%s", why->cause,
			       *why->remedy ? ": " : "", why->remedy);
	r->options.languages = LANGUAGE_PHP;
	err_set(&r->fallback, -EPERM, "%s%s%s", why->cause, *why->remedy ? ": " : "", why->remedy);
	r->remote = remote_sampler_new(&o, &r->remote_targets, &receiver);
	return 0;
}

/* Opens the best available sampling method. */
static int open_sampler(struct recorder *r, struct err *err)
{
	const struct sampler_receiver receiver = recorder_receiver(r);
	struct obstacle why;
	struct err refused = { 0 };

	if (fallback_bpf_obstacle(&r->sampling, &why))
		return open_remote(r, &why, err);
	if (sampler_open(&r->sampler, &r->sampling, &receiver, &refused) >= 0)
		return 0;
	snprintf(why.cause, sizeof(why.cause), "%.*s", (int)sizeof(why.cause) - 1, refused.text);
	return open_remote(r, &why, err);
}

static int open_all(struct recorder *r, struct err *err)
{
	struct php_offsets php_offsets;
	struct perl_offsets perl_offsets;
	struct obstacle closed;
	int e;

	if (r->options.pattern && regcomp(&r->pattern, r->options.pattern, REG_EXTENDED | REG_NOSUB))
		return err_set(err, -EINVAL, "invalid -P '%s'; use an extended regular expression", r->options.pattern);
	r->has_pattern = r->options.pattern != NULL;
	if ((e = read_offsets(&r->options, &php_offsets, &perl_offsets, err)) < 0)
		return e;
	choose(r);
	if (obstacle_for_pid_namespace("/proc", &closed))
		return err_set(err, -ENOTSUP, "%s: %s", closed.cause, closed.remedy);
	if ((e = open_sampler(r, err)) < 0)
		return e;
	r->registry = php_registry_new(r->sampler, &php_offsets, &perl_offsets, r->options.languages);
	if (r->options.open_waits && r->options.off_cpu && !r->remote)		/* the remote sampler does that itself */
		r->open_waits = open_waits_new((u64)r->options.min_ns);
	if (r->options.native && !r->remote)
		r->native = native_registry_new(r->sampler);
	if (r->remote)
		remote_targets_init(&r->remote_targets, r->registry, r->options.pid_count ? NULL : recorder_is_wanted, r);
	return recorder_add_targets(r, err);
}

int recorder_open(struct recorder **ret, const struct recorder_options *o, struct err *err)
{
	struct recorder *r = xcalloc(1, sizeof(*r));
	int e;

	r->options = *o;
	r->stacks = stack_registry_new();
	r->processes_seen = process_labels_new(o->pid_label);
	if (o->host)
		snprintf(r->host, sizeof(r->host), "%s", o->host);
	else
		gethostname(r->host, sizeof(r->host) - 1);
	e = open_all(r, err);
	if (e < 0)
		recorder_free(r);
	else
		*ret = r;
	return e;
}

struct recorder *recorder_free(struct recorder *r)
{
	if (!r)
		return NULL;
	if (r->has_pattern)
		regfree(&r->pattern);
	for (size_t i = 0; i < r->cgroup_count; i++)
		close(r->cgroups[i]);
	native_registry_free(r->native);
	if (r->remote)
		remote_targets_done(&r->remote_targets);
	remote_sampler_free(r->remote);
	sleepers_free(r->sleepers);
	php_registry_free(r->registry);
	sampler_free(r->sampler);
	stack_registry_free(r->stacks);
	open_waits_free(r->open_waits);
	process_labels_free(r->processes_seen);
	free(r->targets);
	free(r);
	return NULL;
}
