/* record_summary.h: the summary of a recording: how much it saw and kept, and what it lost and why. Pure: numbers in,
 * text out. */
#ifndef CAPTURE_RECORD_SUMMARY_H
#define CAPTURE_RECORD_SUMMARY_H

#include "bpf/file_event.h"
#include "buf.h"
#include "json.h"
#include "labels.h"
#include "remote_counts.h"
#include <stdbool.h>

struct record_summary {
	u64 counters[COUNTERS];
	struct count kinds[SAMPLE_KINDS];	/* in the profile */
	unsigned hz;				/* 0: no on-CPU samples */
	bool off_cpu;
	bool file_io, other_kinds;
	struct file_count files[FILE_OPERATIONS];	/* in the profile, with file_io */
	double seconds;
	unsigned processes;			/* that run it, among the targets at the end */
	unsigned switch_share;			/* see bpf_sampler.h */
	unsigned ended_early;			/* so many processes of -p have all ended, and the recording with them; or 0 */
	bool blind_start;			/* waits that began before the recording are not known */
	unsigned unseen;			/* processes of -p without permission */
	unsigned closed_sleepers;		/* threads that slept at the start and may not be read */
	u64 left_out;				/* samples in user mode, with the kernel's layer alone */
	unsigned unread_files;			/* files of native code that could not be read: stacks end there */
	const char *first_file;			/* the error of the first one of them; "" */
	bool is_remote;				/* memory was read, without BPF */
	struct remote_counts remote;		/* then */
	const char *language;			/* "PHP", "Perl", "PHP or Perl"; NULL: PHP */
	const char *refused;			/* one that could not be sampled; "" if there was none */
};

/* Whether there is anything in the profile. */
bool record_summary_is_empty(const struct record_summary *s);

/* Counts of missing data, and of data that could not be read. */
u64 record_summary_lost(const struct record_summary *s);
u64 record_summary_unreadable(const struct record_summary *s);

/* Sets the label sampler=record, and as labels the counts of ticks, samples and what is missing or unreadable, if
 * there were any: the description of a profile in a file. */
void record_summary_label(const struct record_summary *s, struct labels *labels);

/* The same as an object "counts". */
void record_summary_put_counts(const struct record_summary *s, struct json *j);

/* Appends lines that begin with "strobe: ". For an empty recording the first one gives the reason and the remedy. */
void record_summary_put(const struct record_summary *s, struct buf *out);

#endif
