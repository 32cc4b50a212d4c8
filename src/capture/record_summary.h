/* record_summary.h: the summary of a recording: how much it saw and kept, what it lost, and why. Pure: numbers in,
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
	unsigned processes;			/* targets that run the language at the end */
	unsigned switch_share;			/* see bpf_sampler.h */
	unsigned ended_early;			/* number of processes of -p if all have ended, which ends the recording */
	bool blind_start;			/* waits that began before the recording are unknown */
	unsigned unseen;			/* processes of -p that may not be inspected */
	unsigned closed_sleepers;		/* threads that slept at the start and may not be read */
	u64 left_out;				/* samples in user mode, left out if only the kernel's layer is shown */
	unsigned unread_files;			/* files of native code that could not be read: stacks end there */
	const char *first_file;			/* the error for the first one; "" */
	bool is_remote;				/* memory was read, without BPF */
	struct remote_counts remote;		/* valid if is_remote */
	const char *language;			/* "PHP", "Perl", "PHP or Perl"; NULL: PHP */
	const char *refused;			/* why one could not be sampled; "" if there was none */
};

/* Tells whether the profile is empty. */
bool record_summary_is_empty(const struct record_summary *s);

/* Returns the amount of missing data, and of data that could not be read. */
u64 record_summary_lost(const struct record_summary *s);
u64 record_summary_unreadable(const struct record_summary *s);

/* Sets the label sampler=record, and as labels the counts of ticks and samples, and of missing or unreadable data, if
 * any: the description of a profile in a file. */
void record_summary_label(const struct record_summary *s, struct labels *labels);

/* Writes the same as an object "counts". */
void record_summary_put_counts(const struct record_summary *s, struct json *j);

/* Appends lines that begin with "strobe: ". For an empty recording, the first one has the reason and the remedy. */
void record_summary_put(const struct record_summary *s, struct buf *out);

#endif
