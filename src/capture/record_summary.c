/* record_summary.c: the summary of a recording, in sentences. */

#include "record_summary.h"

#include "file_summary.h"
#include "fallback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TO_SEE_ALL	"it takes root or CAP_SYS_PTRACE"

static void put_count(struct buf *out, u64 n, const char *one, const char *many)
{
	buf_put_grouped(out, (int64_t)n);
	buf_printf(out, " %s", n == 1 ? one : many);
}

static void put_seconds(struct buf *out, u64 ns)
{
	buf_put_fixed(out, (double)ns / 1e9, 2);
	buf_puts(out, " s");
}

bool record_summary_is_empty(const struct record_summary *s)
{
	u64 samples = file_summary_calls(s);

	for (unsigned i = 0; i < SAMPLE_KINDS; i++)
		samples += s->kinds[i].samples;
	return samples <= s->left_out;
}

u64 record_summary_lost(const struct record_summary *s)
{
	return s->counters[COUNTER_LOST_TABLE] + s->counters[COUNTER_LOST_WAITING] + s->counters[COUNTER_LOST_EVENTS] + s->remote.torn;
}

u64 record_summary_unreadable(const struct record_summary *s)
{
	const u64 *c = s->counters;

	return c[COUNTER_GLOBALS_UNREADABLE] + c[COUNTER_FRAME_UNREADABLE] + c[COUNTER_FUNCTION_UNREADABLE] + c[COUNTER_NAME_UNREADABLE];
}

static const char *language(const struct record_summary *s)
{
	return s->language ? s->language : "PHP";
}

static void put_on_cpu(const struct record_summary *s, struct buf *out)
{
	const u64 *c = s->counters;

	buf_puts(out, "strobe: ");
	put_count(out, c[COUNTER_SAMPLES], "sample", "samples");
	buf_printf(out, " of %s on CPU, of ", language(s));
	put_count(out, c[COUNTER_TICKS], "tick", "ticks");
	buf_printf(out, " at %u Hz in ", s->hz);
	buf_put_fixed(out, s->seconds, 1);
	buf_puts(out, " s (");
	buf_put_grouped(out, (int64_t)c[COUNTER_TICKS_IDLE]);
	buf_puts(out, " found an idle CPU, ");
	buf_put_grouped(out, (int64_t)c[COUNTER_TICKS_OTHER]);
	buf_puts(out, " another program)\n");
}

static void put_off_cpu(const struct record_summary *s, struct buf *out)
{
	const u64 *c = s->counters;

	buf_puts(out, "strobe: off CPU: ");
	put_seconds(out, s->kinds[SAMPLE_BLOCKED].ns);
	buf_puts(out, " blocked, ");
	put_seconds(out, s->kinds[SAMPLE_RUNNABLE].ns);
	buf_puts(out, " runnable, in ");
	put_count(out, c[COUNTER_SWITCHES], "switch", "switches");
	buf_puts(out, " (");
	buf_put_grouped(out, (int64_t)c[COUNTER_SWITCHES_IDLE]);
	buf_printf(out, " outside %s functions and ", language(s));
	buf_put_grouped(out, (int64_t)c[COUNTER_SWITCHES_SHORT]);
	buf_puts(out, " below the minimum are left out)\n");
	if (s->switch_share > 1) {
		buf_printf(out, "strobe: there were too many switches to record each: at the busiest time, 1 in %u was recorded, "
				"weighted accordingly (",
			   s->switch_share);
		buf_put_grouped(out, (int64_t)c[COUNTER_SWITCHES_SKIPPED]);
		buf_puts(out, " not recorded)\n");
	}
	if (s->blind_start)
		buf_puts(out, "strobe: waits that began before the recording are left out: this kernel has no iterator over threads (5.9)\n");
}

static void put_some(struct buf *out, u64 n, const char *one, const char *many)
{
	if (!n)
		return;
	buf_puts(out, "strobe: ");
	put_count(out, n, one, many);
	buf_putc(out, '\n');
}

/* --- by reading memory */

static void put_remote(const struct record_summary *s, struct buf *out)
{
	const struct remote_counts *c = &s->remote;

	buf_puts(out, "strobe: ");
	put_count(out, c->kept, "sample", "samples");
	buf_puts(out, " of ");
	put_count(out, c->observations, "observation of a thread", "observations of threads");
	buf_puts(out, " in ");
	put_count(out, c->ticks, "tick", "ticks");
	buf_puts(out, ", ");
	buf_put_fixed(out, s->seconds, 1);
	buf_puts(out, " s (");
	buf_put_grouped(out, (int64_t)c->asleep);
	buf_puts(out, s->off_cpu ? " found it still asleep, " : " found it asleep, ");
	buf_put_grouped(out, (int64_t)c->left_out);
	buf_puts(out, " outside PHP functions)\nstrobe: ");
	put_seconds(out, c->cpu_ns);
	buf_puts(out, " on CPU by the kernel's account, ");
	put_seconds(out, c->cpu_ns - c->sampled_ns);
	buf_puts(out, " of it between samples");
	if (s->off_cpu) {
		buf_puts(out, "; ");
		put_seconds(out, s->kinds[SAMPLE_BLOCKED].ns);
		buf_puts(out, " blocked, ");
		put_seconds(out, s->kinds[SAMPLE_RUNNABLE].ns);
		buf_puts(out, " runnable in PHP functions");
	}
	buf_putc(out, '\n');
}

static void put_remote_losses(const struct remote_counts *c, struct buf *out)
{
	put_some(out, c->torn, "sample is missing: its thread ran at each attempt to read it",
		 "samples are missing: their threads ran at each attempt to read them");
	put_some(out, c->slept, "thread ran at a tick and slept before it was read; its time went to its next sample",
		 "threads ran at a tick and slept before they were read; their time went to their next samples");
	put_some(out, c->late, "tick was left out, as the one before took too long; a lower rate (-F) or fewer processes help",
		 "ticks were left out, as those before took too long; a lower rate (-F) or fewer processes help");
	if (!c->proved)
		buf_puts(out, "strobe: strobe cannot set its CPU affinity here, so stacks were only read twice and compared; some may be torn\n");
	if (!c->exact && c->observations)
		buf_puts(out, "strobe: this kernel lacks per-thread scheduler statistics (CONFIG_SCHED_INFO): times have a "
			      "resolution of 10 ms, and waiting for a CPU counts as blocked\n");
}

static void put_closed(const struct remote_counts *c, struct buf *out)
{
	fallback_put_closed(out, c->closed, c->closed_why);
	buf_puts(out, "; " FALLBACK_EXTENSION "\n");
}

/* The same for a language, with the rest of the sentence. */
static void put_some_of(const struct record_summary *s, struct buf *out, u64 n, const char *one, const char *many,
			const char *rest)
{
	if (!n)
		return;
	buf_puts(out, "strobe: ");
	put_count(out, n, one, many);
	buf_printf(out, " %s%s\n", language(s), rest);
}

/* Losses, by reason. */
static void put_reasons(const struct record_summary *s, struct buf *out)
{
	const u64 *c = s->counters;

	put_some(out, c[COUNTER_LOST_TABLE], "sample was lost: the table of counts was full",
		 "samples were lost: the table of counts was full");
	put_some(out, c[COUNTER_LOST_WAITING], "wait was lost: too many threads", "waits were lost: too many threads");
	put_some(out, c[COUNTER_LOST_RETURNS], "wait has no end, as the kernel did not report it; it counts until the thread was woken, or is left out if that is unknown, too",
		 "waits have no end, as the kernel did not report it; each counts until its thread was woken, or is left out if that is unknown, too");
	put_some(out, c[COUNTER_LOST_EVENTS], "name arrived late: the ring buffer was full; it may be missing",
		 "names arrived late: the ring buffer was full; some may be missing");
	put_some(out, c[COUNTER_TRUNCATED], "stack was deeper than 256 frames and is cut at [truncated]",
		 "stacks were deeper than 256 frames and are cut at [truncated]");
	put_some(out, c[COUNTER_FRAME_UNREADABLE], "stack ends at a frame that could not be read, marked as unknown",
		 "stacks end at a frame that could not be read, marked as unknown");
	put_some(out, c[COUNTER_FUNCTION_UNREADABLE], "function could not be read, marked as unknown",
		 "functions could not be read, marked as unknown");
	put_some(out, c[COUNTER_NATIVE_UNKNOWN], "sample has no native frames: its process was not known yet",
		 "samples have no native frames: their processes were not known yet");
	put_some(out, c[COUNTER_NATIVE_NO_REGISTERS], "sample in the kernel has no native frames: they require Linux 5.15",
		 "samples in the kernel have no native frames: they require Linux 5.15");
	put_some(out, c[COUNTER_NATIVE_TRUNCATED], "native stack was deeper than 128 frames and is cut at [truncated]",
		 "native stacks were deeper than 128 frames and are cut at [truncated]");
	put_some(out, c[COUNTER_NATIVE_INCOMPLETE], "native stack ends at code whose caller cannot be found, such as generated code (PCRE's): [unknown native]",
		 "native stacks end at code whose caller cannot be found, such as generated code (PCRE's): [unknown native]");
	if (s->unread_files)
		buf_printf(out, "strobe: %u mapped file%s could not be read, and native stacks end there: %s\n", s->unread_files,
			   s->unread_files == 1 ? "" : "s", s->first_file);
	put_some(out, c[COUNTER_NAME_UNREADABLE], "name could not be read", "names could not be read");
	put_some(out, c[COUNTER_FRAME_UNFINISHED], "frame of Perl is left out: its sub was just being entered or left",
		 "frames of Perl are left out: their subs were just being entered or left");
	put_some_of(s, out, c[COUNTER_GLOBALS_UNREADABLE], "sample found", "samples found",
		    " before it had started, or its data unreadable");
	put_some_of(s, out, c[COUNTER_NO_FRAMES], "sample is outside of", "samples are outside of",
		    " functions: startup, compilation, shutdown");
	put_some(out, s->closed_sleepers, "thread slept when the recording began and may not be read, so that wait is missing; " TO_SEE_ALL,
		 "threads slept when the recording began and may not be read, so those waits are missing; " TO_SEE_ALL);
	put_some(out, s->unseen, "process cannot be inspected, and is sampled only if its program is in PATH; " TO_SEE_ALL,
		 "processes cannot be inspected, and are sampled only if their program is in PATH; " TO_SEE_ALL);
	if (s->is_remote)
		put_remote_losses(&s->remote, out);
}

static void put_losses(const struct record_summary *s, struct buf *out)
{
	put_reasons(s, out);
	put_some(out, s->left_out, "sample in user mode is left out by -k", "samples in user mode are left out by -k");
	if (s->is_remote && s->remote.closed) {
		buf_puts(out, "strobe: ");
		put_closed(&s->remote, out);
	}
	if (*s->refused)
		buf_printf(out, "strobe: %s\n", s->refused);
}

static void label_count(struct labels *labels, const char *key, u64 n, bool always)
{
	char text[24];

	if (n || always)
		labels_set(labels, key, strlen(key), text, (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)n));
}

/* Used when memory is read: observations instead of ticks. */
static void label_remote(const struct remote_counts *c, struct labels *labels)
{
	label_count(labels, "ticks", c->ticks, true);
	label_count(labels, "observations", c->observations, true);
	label_count(labels, "kept", c->kept, true);
	label_count(labels, "ticks_late", c->late, false);
	label_count(labels, "observations_asleep", c->asleep, false);
	label_count(labels, "observations_slept", c->slept, false);
	label_count(labels, "lost_torn", c->torn, false);
}

static void label_seen(const struct record_summary *s, struct labels *labels)
{
	if (s->is_remote) {
		label_remote(&s->remote, labels);
		return;
	}
	if (s->hz) {
		label_count(labels, "ticks", s->counters[COUNTER_TICKS], true);
		label_count(labels, "kept", s->counters[COUNTER_SAMPLES], true);
	}
	if (s->off_cpu)
		label_count(labels, "switches", s->counters[COUNTER_SWITCHES], true);
	if (s->file_io)
		label_count(labels, "calls", file_summary_calls(s), true);
}

void record_summary_label(const struct record_summary *s, struct labels *labels)
{
	static const struct { const char *key; enum counter counter;
	} reasons[] = {
		{ "ticks_idle", COUNTER_TICKS_IDLE },
		{ "ticks_other", COUNTER_TICKS_OTHER },
		{ "switches_idle", COUNTER_SWITCHES_IDLE },
		{ "switches_short", COUNTER_SWITCHES_SHORT },
		{ "switches_skipped", COUNTER_SWITCHES_SKIPPED },
		{ "calls_other_kinds", COUNTER_FILE_OTHER_KINDS },
		{ "calls_not_open", COUNTER_FILE_NOT_OPEN },
		{ "calls_begun_before", COUNTER_FILE_BEGUN_BEFORE },
		{ "calls_short", COUNTER_FILE_SHORT },
		{ "paths_cut", COUNTER_FILE_CUT },
		{ "outside_functions", COUNTER_NO_FRAMES },
		{ "truncated", COUNTER_TRUNCATED },
		{ "unreadable_globals", COUNTER_GLOBALS_UNREADABLE },
		{ "unreadable_frames", COUNTER_FRAME_UNREADABLE },
		{ "unreadable_functions", COUNTER_FUNCTION_UNREADABLE },
		{ "unreadable_names", COUNTER_NAME_UNREADABLE },
		{ "unfinished_frames", COUNTER_FRAME_UNFINISHED },
		{ "native_unknown", COUNTER_NATIVE_UNKNOWN },
		{ "native_no_registers", COUNTER_NATIVE_NO_REGISTERS },
		{ "native_truncated", COUNTER_NATIVE_TRUNCATED },
		{ "native_incomplete", COUNTER_NATIVE_INCOMPLETE },
		{ "lost_table_full", COUNTER_LOST_TABLE },
		{ "lost_waits", COUNTER_LOST_WAITING },
		{ "lost_returns", COUNTER_LOST_RETURNS },
		{ "lost_events", COUNTER_LOST_EVENTS },
	};

	labels_set(labels, "sampler", 7, "record", 6);
	label_seen(s, labels);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		label_count(labels, reasons[i].key, s->counters[reasons[i].counter], false);
	label_count(labels, "native_unread_files", s->unread_files, false);
	label_count(labels, "closed_sleepers", s->closed_sleepers, false);
	label_count(labels, "closed_processes", s->is_remote ? s->remote.closed : s->unseen, false);
	label_count(labels, "left_out_user_mode", s->left_out, false);
}

void record_summary_put_counts(const struct record_summary *s, struct json *j)
{
	struct labels labels;

	labels_init(&labels);
	record_summary_label(s, &labels);
	json_key(j, "counts");
	json_open_object(j);
	for (size_t i = 0; i < labels.count; i++)
		if (strcmp(labels.items[i].key, "sampler")) {
			json_key(j, labels.items[i].key);
			json_u64(j, strtoull(labels.items[i].value, NULL, 10));
		}
	json_end(j);
	labels_done(&labels);
}

/* A runnable thread gets an idle CPU, so the reason is only known if there were idle ticks. */
static bool may_have_been_ready(const struct record_summary *s)
{
	return !s->is_remote && s->counters[COUNTER_TICKS_OTHER] && !s->counters[COUNTER_TICKS_IDLE];
}

static void put_idle(const struct record_summary *s, struct buf *out)
{
	bool ready = may_have_been_ready(s);

	if (ready)
		buf_puts(out, ": other programs had all CPUs all the time; ");
	else
		buf_puts(out, ": ");
	if (s->processes == 1)
		buf_puts(out, "the process was ");
	else
		buf_printf(out, "the %u processes were ", s->processes);
	buf_puts(out, ready ? "idle or waited for one; record for longer, or add --off-cpu\n" : "idle; send traffic or add --off-cpu\n");
}

static void explain_empty(const struct record_summary *s, struct buf *out)
{
	const u64 *c = s->counters;

	if (s->is_remote && !s->processes && s->remote.closed) {
		buf_puts(out, "strobe: ");
		put_closed(&s->remote, out);
		return;
	}
	if (s->hz) {
		buf_puts(out, "strobe: 0 of ");
		put_count(out, s->is_remote ? s->remote.observations : c[COUNTER_TICKS], s->is_remote ? "observation" : "tick",
			  s->is_remote ? "observations" : "ticks");
		buf_printf(out, " found %s on CPU", language(s));
	} else {
		buf_printf(out, "strobe: no %s of %s was recorded", s->file_io ? "call" : "wait", language(s));
	}
	if (s->left_out) {
		buf_puts(out, s->hz ? " in the kernel: all of it ran in user mode; leave -k out\n" : "; leave -k out\n");
	} else if (!s->processes && *s->refused) {
		buf_printf(out, ": %s\n", s->refused);
	} else if (!s->processes) {
		buf_printf(out, ": no selected %s process is running; start one, or record for longer\n", language(s));
	} else if (!s->off_cpu) {
		put_idle(s, out);
	} else {
		buf_puts(out, ": ");
		put_count(out, c[COUNTER_SWITCHES_IDLE], "switch was", "switches were");
		buf_printf(out, " outside of %s functions; send traffic or add --idle\n", language(s));
	}
	put_reasons(s, out);
	if (s->processes && *s->refused)
		buf_printf(out, "strobe: %s\n", s->refused);
}

static void put_end(const struct record_summary *s, struct buf *out)
{
	if (!s->ended_early)
		return;
	if (s->ended_early == 1)
		buf_puts(out, "strobe: the process ended, and the recording with it, after ");
	else
		buf_printf(out, "strobe: all %u processes ended, and the recording with them, after ", s->ended_early);
	buf_put_fixed(out, s->seconds, 1);
	buf_puts(out, " s\n");
}

void record_summary_put(const struct record_summary *s, struct buf *out)
{
	put_end(s, out);
	if (record_summary_is_empty(s) && s->file_io && s->processes) {
		file_summary_explain_empty(s, out);
		return;
	}
	if (record_summary_is_empty(s)) {
		explain_empty(s, out);
		return;
	}
	if (s->file_io)
		file_summary_put(s, out);
	if (s->is_remote)
		put_remote(s, out);
	if (s->hz && !s->is_remote)
		put_on_cpu(s, out);
	if (s->off_cpu && !s->is_remote)
		put_off_cpu(s, out);
	put_losses(s, out);
}
