/* recording_options.c: validates options, and configures the recorder. */

#include "recording_options.h"

#include "languages.h"
#include "obstacles.h"

#include <stdio.h>
#include <string.h>

int target_options_check(const struct target_options *t, const struct command_spec *spec, int operands)
{
	if (operands)
		return command_usage(spec,
		  "unexpected argument; select processes with -p, -P, --fpm, --cgroup or --container");
	if ((t->pids.count > 0) + (t->pattern != NULL) + t->fpm + (t->cgroups.count || t->containers.count) + t->all > 1)
		return command_usage(spec, "-p, -P, --fpm, -a, and --cgroup or --container exclude each other");
	return 0;
}

void target_options_fill(const struct target_options *t, struct recorder_options *o)
{
	o->pids = t->pids.items;
	o->pid_count = t->pids.count;
	o->pattern = t->pattern;
	o->fpm = t->fpm;
	o->cgroups = t->cgroups.items;
	o->cgroup_count = t->cgroups.count;
	o->containers = t->containers.items;
	o->container_count = t->containers.count;
}

bool frame_options_any(const struct frame_options *f)
{
	return f->user || f->native || f->kernel || f->language;
}

int frame_options_check(struct frame_options *f, const struct target_options *t, const struct command_spec *spec)
{
	if (f->language && strcmp(f->language, "native") && !languages_parse(f->language, &f->languages))
		return command_usage(spec, "invalid --lang '%s'; use php, perl or native", f->language);
	if (f->language && (f->user || f->native))
		return command_usage(spec, "--lang excludes -u and -n: it selects the user frames");
	if (t->fpm && f->languages == LANGUAGE_PERL)
		return command_usage(spec, "--fpm and --lang perl exclude each other: php-fpm runs no Perl");
	return 0;
}

void frame_options_fill(const struct frame_options *f, struct stack_registry_layers *ret)
{
	ret->php = f->user || f->languages;
	ret->native = f->user || f->native || (f->language && !f->languages);
	ret->kernel = f->kernel;
}

u8 recording_languages(const struct frame_options *f, const struct target_options *t)
{
	if (f->languages)
		return f->languages;
	return t->pids.count || t->pattern || t->cgroups.count || t->containers.count || t->all ? LANGUAGE_PHP | LANGUAGE_PERL :
	       LANGUAGE_PHP;
}

void recording_layers(const struct recorder_options *o, struct recorder *r, struct stack_registry_layers *layers)
{
	u8 shown = recorder_languages(r);

	layers->modules = recorder_modules(r);
	layers->on_cpu = o->hz > 0;
	layers->off_cpu = o->off_cpu;
	layers->outside = shown == LANGUAGE_PHP ? STACK_REGISTRY_OUTSIDE : shown == LANGUAGE_PERL ? STACK_REGISTRY_OUTSIDE_PERL :
			  STACK_REGISTRY_OUTSIDE_BOTH;
}

int recording_warn_fallback(const struct recorder_options *o, const struct recorder *r, const struct stack_registry_layers *layers,
			    struct err *err)
{
	const char *why = recorder_fallback(r);
	struct obstacle hides;

	if (*why && !layers->php)
		return err_set(err, -ENOTSUP, "native and kernel frames require BPF: %s", why);
	if (*why && !o->pid_count && obstacle_for_hidepid("/proc", &hides))
		fprintf(stderr, "strobe: %s; %s\n", hides.cause, hides.remedy);
	if (*why)
		fprintf(stderr, "strobe: no BPF: %s; reading the memory of processes instead, without native and kernel frames\n", why);
	return 0;
}
