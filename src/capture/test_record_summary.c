/* test_record_summary.c: tests the summary of a recording, and the reasons for an empty one. */

#include "record_summary.h"
#include "test.h"

#include <stddef.h>

static const char *text_of(const struct record_summary *s)
{
	static struct buf b;

	if (b.data)
		buf_done(&b);
	buf_init(&b);
	record_summary_put(s, &b);
	return b.data;
}

TEST(idle_workers_explain_an_empty_recording)
{
	struct record_summary s = { .hz = 99, .processes = 12, .refused = "", .counters[COUNTER_TICKS] = 1980 };

	CHECK(record_summary_is_empty(&s));
	CHECK_STR(text_of(&s), "strobe: 0 of 1,980 ticks found PHP on CPU: the 12 processes were idle; send traffic or add --off-cpu\n");
}

TEST(without_an_idle_cpu_no_process_is_called_idle)
{
	struct record_summary s = { .hz = 99, .processes = 1, .refused = "", .counters[COUNTER_TICKS] = 40,
				    .counters[COUNTER_TICKS_OTHER] = 40 };

	CHECK_STR(text_of(&s), "strobe: 0 of 40 ticks found PHP on CPU: other programs had all CPUs all the time; the process was idle or "
			       "waited for one; record for longer, or add --off-cpu\n");
	s.counters[COUNTER_TICKS_OTHER] = 39;
	s.counters[COUNTER_TICKS_IDLE] = 1;
	CHECK_STR(text_of(&s), "strobe: 0 of 40 ticks found PHP on CPU: the process was idle; send traffic or add --off-cpu\n");
}

TEST(a_missing_process_explains_an_empty_recording)
{
	struct record_summary s = { .hz = 99, .refused = "", .counters[COUNTER_TICKS] = 10 };

	CHECK_STR(text_of(&s), "strobe: 0 of 10 ticks found PHP on CPU: no selected PHP process is running; start one, or record for "
			       "longer\n");
}

TEST(an_empty_recording_reports_its_losses)
{
	struct record_summary s = { .hz = 99, .processes = 1, .refused = "", .counters[COUNTER_TICKS] = 10,
				    .counters[COUNTER_LOST_TABLE] = 7 };

	CHECK(strstr(text_of(&s), "\nstrobe: 7 samples were lost: the table of counts was full\n"));
}

TEST(an_unsupported_php_is_named)
{
	struct record_summary s = { .hz = 99, .refused = "php is PHP 9.9", .counters[COUNTER_TICKS] = 10 };

	CHECK_STR(text_of(&s), "strobe: 0 of 10 ticks found PHP on CPU: php is PHP 9.9\n");
}

TEST(an_unsupported_interpreter_is_named_beside_idle_processes)
{
	struct record_summary s = { .hz = 99, .processes = 1, .language = "Perl", .refused = "perl is Perl 5.8.8",
				    .counters[COUNTER_TICKS] = 10 };

	CHECK_STR(text_of(&s), "strobe: 0 of 10 ticks found Perl on CPU: the process was idle; send traffic or add --off-cpu\n"
			       "strobe: perl is Perl 5.8.8\n");
}

TEST(a_recording_with_only_samples_excluded_by_k_is_empty)
{
	struct record_summary s = { .hz = 99, .processes = 1, .refused = "", .counters[COUNTER_TICKS] = 10, .left_out = 4,
				    .kinds[SAMPLE_ON_CPU] = { 4, 4 } };

	CHECK(record_summary_is_empty(&s));
	CHECK_STR(text_of(&s), "strobe: 0 of 10 ticks found PHP on CPU in the kernel: all of it ran in user mode; leave -k out\n");
}

TEST(each_kind_of_loss_has_its_own_line)
{
	struct record_summary s = { .hz = 99, .seconds = 2, .refused = "", .switch_share = 1,
				    .kinds[SAMPLE_ON_CPU] = { 3, 3 }, .counters[COUNTER_TICKS] = 10, .counters[COUNTER_SAMPLES] = 3,
				    .counters[COUNTER_TICKS_OTHER] = 7, .counters[COUNTER_TRUNCATED] = 1,
				    .counters[COUNTER_FRAME_UNFINISHED] = 2, .counters[COUNTER_NO_FRAMES] = 1,
				    .counters[COUNTER_LOST_TABLE] = 2 };

	CHECK_STR(text_of(&s), "strobe: 3 samples of PHP on CPU, of 10 ticks at 99 Hz in 2.0 s (0 found an idle CPU, 7 another program)\n"
			       "strobe: 2 samples were lost: the table of counts was full\n"
			       "strobe: 1 stack was deeper than 256 frames and is cut at [truncated]\n"
			       "strobe: 2 frames of Perl are left out: their subs were just being entered or left\n"
			       "strobe: 1 sample is outside of PHP functions: startup, compilation, shutdown\n");
}

TEST(an_early_end_is_reported)
{
	struct record_summary s = { .hz = 99, .seconds = 2, .refused = "", .processes = 1, .ended_early = 1, .switch_share = 1,
				    .kinds[SAMPLE_ON_CPU] = { 3, 3 }, .counters[COUNTER_TICKS] = 10, .counters[COUNTER_SAMPLES] = 3 };

	CHECK_STR(text_of(&s), "strobe: the process ended, and the recording with it, after 2.0 s\n"
			       "strobe: 3 samples of PHP on CPU, of 10 ticks at 99 Hz in 2.0 s (0 found an idle CPU, 0 another program)\n");
	s.ended_early = 3;
	CHECK(strstr(text_of(&s), "strobe: all 3 processes ended, and the recording with them, after 2.0 s\n"));
}

TEST(incomplete_native_stacks_have_their_own_lines)
{
	struct record_summary s = { .hz = 99, .seconds = 2, .refused = "", .switch_share = 1, .kinds[SAMPLE_ON_CPU] = { 3, 3 },
				    .counters[COUNTER_SAMPLES] = 3, .counters[COUNTER_NATIVE_UNKNOWN] = 1,
				    .counters[COUNTER_NATIVE_NO_REGISTERS] = 2, .counters[COUNTER_NATIVE_TRUNCATED] = 1,
				    .counters[COUNTER_NATIVE_INCOMPLETE] = 2, .unread_files = 2,
				    .first_file = "cannot open '/lib/x.so'" };

	CHECK_STR(text_of(&s), "strobe: 3 samples of PHP on CPU, of 0 ticks at 99 Hz in 2.0 s (0 found an idle CPU, 0 another program)\n"
			       "strobe: 1 sample has no native frames: its process was not known yet\n"
			       "strobe: 2 samples in the kernel have no native frames: they require Linux 5.15\n"
			       "strobe: 1 native stack was deeper than 128 frames and is cut at [truncated]\n"
			       "strobe: 2 native stacks end at code whose caller cannot be found, such as generated code (PCRE's): [unknown native]\n"
			       "strobe: 2 mapped files could not be read, and native stacks end there: cannot open '/lib/x.so'\n");
}

TEST(a_recording_without_bpf_counts_observations_by_outcome)
{
	struct record_summary s = {
		.hz = 99, .off_cpu = true, .seconds = 10, .processes = 3, .switch_share = 1, .refused = "", .is_remote = true,
		.kinds[SAMPLE_ON_CPU] = { 980, 9800000000 }, .kinds[SAMPLE_BLOCKED] = { 20, 5000000000 },
		.remote = { .ticks = 988, .late = 2, .observations = 2964, .asleep = 1900, .left_out = 50, .kept = 1000, .slept = 9, .torn = 1,
			    .ended = 1, .cpu_ns = 9900000000, .sampled_ns = 9800000000, .exact = true, .proved = true, .closed = 2,
			    .closed_why = "process 7: it is another user's; sudo" },
	};

	CHECK_STR(text_of(&s),
		  "strobe: 1,000 samples of 2,964 observations of threads in 988 ticks, 10.0 s (1,900 found it still asleep, 50 outside PHP functions)\n"
		  "strobe: 9.90 s on CPU by the kernel's account, 0.10 s of it between samples; 5.00 s blocked, 0.00 s runnable in PHP "
		  "functions\n"
		  "strobe: 1 sample is missing: its thread ran at each attempt to read it\n"
		  "strobe: 9 threads ran at a tick and slept before they were read; their time went to their next samples\n"
		  "strobe: 2 ticks were left out, as those before took too long; a lower rate (-F) or fewer processes help\n"
		  "strobe: 2 PHP processes may not be read, for example process 7: it is another user's; sudo; or sample from inside, without "
		  "privileges: strobe run -- php SCRIPT, or the extension with strobe.mode=sample\n");
}

TEST(inexact_values_are_reported)
{
	struct record_summary s = { .hz = 99, .processes = 1, .switch_share = 1, .refused = "", .is_remote = true,
				    .kinds[SAMPLE_ON_CPU] = { 1, 1 }, .remote = { .observations = 1, .kept = 1, .closed_why = "" } };
	const char *text = text_of(&s);

	CHECK(strstr(text, "\nstrobe: strobe cannot set its CPU affinity here, so stacks were only read twice and compared; some may be torn\n"));
	CHECK(strstr(text, "\nstrobe: this kernel lacks per-thread scheduler statistics (CONFIG_SCHED_INFO): times have a resolution of 10 ms, and waiting "
			   "for a CPU counts as blocked\n"));
}

TEST(a_profile_in_a_file_records_counts_and_losses)
{
	struct record_summary s = { .hz = 99, .refused = "", .counters[COUNTER_TICKS] = 10, .counters[COUNTER_SAMPLES] = 3,
				    .counters[COUNTER_LOST_TABLE] = 2, .counters[COUNTER_NAME_UNREADABLE] = 1 };
	struct labels labels;
	struct buf text;

	labels_init(&labels);
	buf_init(&text);
	record_summary_label(&s, &labels);
	labels_put(&labels, &text);
	CHECK_STR(text.data, "kept=3,lost_table_full=2,sampler=record,ticks=10,unreadable_names=1");
	labels_done(&labels);
	buf_done(&text);
}

/* A number that occurs nowhere else. */
#define ODD	4711u

static bool has_label(const struct record_summary *s)
{
	struct labels labels;
	bool found = false;

	labels_init(&labels);
	record_summary_label(s, &labels);
	for (size_t i = 0; i < labels.count; i++)
		found |= !strcmp(labels.items[i].value, "4711");
	labels_done(&labels);
	return found;
}

TEST(every_counter_is_reported_in_words_and_in_labels)
{
	for (unsigned c = 0; c < COUNTERS; c++) {
		struct record_summary s = { .hz = 99, .off_cpu = true, .seconds = 2, .refused = "", .processes = 1, .switch_share = 2,
					    .kinds[SAMPLE_ON_CPU] = { 3, 3 } };

		/* The number of walked stacks is not a reason for anything. */
		if (c == COUNTER_FRAMES || c == COUNTER_NATIVE_FRAMES)
			continue;
		if (c >= COUNTER_FILE_OTHER_KINDS && c <= COUNTER_FILE_CUT)
			s.file_io = true;
		s.counters[c] = ODD;
		if (!strstr(text_of(&s), "4,711") || !has_label(&s))
			printf("# of counter %u: %s\n", c, text_of(&s));
		CHECK(strstr(text_of(&s), "4,711"));
		CHECK(has_label(&s));
	}
}

TEST(without_bpf_every_count_is_reported_too)
{
	static const size_t counts[] = {
		offsetof(struct remote_counts, ticks), offsetof(struct remote_counts, late), offsetof(struct remote_counts, observations),
		offsetof(struct remote_counts, asleep), offsetof(struct remote_counts, kept), offsetof(struct remote_counts, slept),
		offsetof(struct remote_counts, torn),
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct record_summary s = { .hz = 99, .off_cpu = true, .seconds = 2, .refused = "", .processes = 1, .is_remote = true,
					    .kinds[SAMPLE_ON_CPU] = { 3, 3 }, .remote.closed_why = "" };

		*(u64 *)((char *)&s.remote + counts[i]) = ODD;
		if (!strstr(text_of(&s), "4,711") || !has_label(&s))
			printf("# of count %zu: %s\n", i, text_of(&s));
		CHECK(strstr(text_of(&s), "4,711"));
		CHECK(has_label(&s));
	}
}

TEST_MAIN()
