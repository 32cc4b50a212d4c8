/* recorder_summary.c: counts since the start: ticks seen, samples kept and lost. */

#include "recorder_private.h"

#include "file_registry.h"
#include "languages.h"

struct count recorder_sum(const struct recorder *r, enum sample_kind kind)
{
	struct count sum = stack_registry_sum(r->stacks, kind);

	sum.samples += r->taken[kind].samples;
	sum.ns += r->taken[kind].ns;
	return sum;
}

struct file_count recorder_file_sum(const struct recorder *r, enum file_operation operation)
{
	struct file_count sum = stack_registry_file_sum(r->stacks, operation);

	file_count_add(&sum, &r->files_taken[operation]);
	return sum;
}

uint64_t recorder_lost(const struct recorder *r, enum strobe_drop *ret_reason)
{
	struct remote_counts c;

	*ret_reason = r->remote ? STROBE_DROP_TORN : STROBE_DROP_TABLE_FULL;
	if (!r->remote)
		return sampler_counter(r->sampler, COUNTER_LOST_TABLE) + sampler_counter(r->sampler, COUNTER_LOST_WAITING);
	remote_sampler_counts(r->remote, &c);
	return c.torn;
}

static u64 counter_of(const struct recorder *r, enum counter c)
{
	if (r->remote)
		return remote_sampler_counter(r->remote, c);
	return sampler_counter(r->sampler, c) + (r->sleepers ? sleepers_counter(r->sleepers, c) : 0);
}

void recorder_summary(const struct recorder *r, struct record_summary *ret)
{
	for (unsigned i = 0; i < COUNTERS; i++)
		ret->counters[i] = counter_of(r, i);
	for (unsigned i = 0; i < SAMPLE_KINDS; i++)
		ret->kinds[i] = recorder_sum(r, i);
	ret->language = languages_name(recorder_languages(r));
	for (unsigned i = 0; i < FILE_OPERATIONS; i++)
		ret->files[i] = recorder_file_sum(r, i);
	ret->file_io = r->options.file_io;
	ret->other_kinds = r->options.other_kinds;
	ret->hz = r->options.hz;
	ret->off_cpu = r->options.off_cpu;
	ret->seconds = (double)recorder_elapsed_ns(r) / 1e9;
	ret->processes = r->remote ? (unsigned)r->remote_targets.max : r->processes;
	ret->switch_share = r->remote ? 1 : sampler_switch_share(r->sampler);
	ret->is_remote = r->remote;
	if (r->remote)
		remote_sampler_counts(r->remote, &ret->remote);
	ret->refused = r->target_count ? r->refused.text : php_registry_refused(r->registry);
	ret->first_file = "";
	if (r->native) {
		const struct modules_failures *f = modules_failures(native_registry_modules(r->native));

		ret->unread_files = f->unread;
		ret->first_file = f->first;
	}
	ret->blind_start = r->blind_start;
	ret->unseen = r->unseen;
	ret->closed_sleepers = r->sleepers ? sleepers_closed(r->sleepers) : 0;
	ret->ended_early = r->ended_early ? (unsigned)r->target_count : 0;
}
