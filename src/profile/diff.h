/* diff.h: compares two profiles stack by stack.
 *
 * The result is a profile with the stacks of both and two columns of self values, "before" and "after", so that
 * removed stacks are as visible as new ones. If the two cover different amounts (an hour and a day), `before` is
 * scaled to `after`, by a fraction of integers, and rounded while walking the tree, so that every subtree is accurate
 * to one unit, and the self deltas always add up to the delta of the totals.
 *
 * Two samples of the same program are never equal. diff_noise estimates how much of a change may be noise.
 */
#ifndef PROFILE_DIFF_H
#define PROFILE_DIFF_H

#include "err.h"
#include "profile.h"

enum diff_scale {
	DIFF_AS_IT_IS,
	DIFF_BY_TOTAL,		/* as if both had the same total: compares shares */
	DIFF_BY_RATE,		/* as if both covered the same time */
	DIFF_BY_REQUESTS,	/* as if both had the same number of requests */
};

struct diff_options {
	enum diff_scale scale;
	const struct profile *whole_a, *whole_b;	/* both sides before their stacks were filtered, or their
							 * outlines, which determine the scale; NULL: the sides
							 * themselves */
	const char *scale_key;		/* how errors name the option for the scale: "scale="; NULL: "--normalize " */
	bool strip_hex;			/* 0x… in names becomes 0x..., so that addresses do not separate stacks */
	bool as_written;		/* compare paths and lines in names, too, like difffolded.pl */
	bool truncate;			/* truncate each scaled value to an integer, like difffolded.pl: sums become
					 * inaccurate */
};

struct diff {
	struct profile *profile;
	uint32_t before, after;		/* its columns: self values, both in the scale of `after` */
	uint32_t measured;		/* `before` as measured; the same column if nothing is scaled */
	struct profile_scaling scaling;	/* from `measured` to `before`, for sums: a function, an arrow, everything */
	uint32_t *files_before;		/* by frame: its file before, a string of `profile`; unchanged if it has not moved */
	double factor;			/* the same as a number */
	double unfiltered_after;		/* the total of `after` before its stacks were filtered; 0: they are not */
	double before_weight, after_weight;	/* value of one sample here; 0: measured, not sampled */
	bool shares;			/* scaled by total */
	bool truncated;			/* scaled values are cut, as requested */
};

/* Compares a column of `a` (before) with one of `b` (after), function by function, paired by pair_frames.h. Returns
 * -EINVAL if it cannot be scaled as requested: times or requests are unknown, or a total is not above zero. The
 * caller frees `ret` with diff_done. */
int profile_diff(const struct profile *a, uint32_t column_a, const struct profile *b, uint32_t column_b,
		 const struct diff_options *o, struct diff *ret, struct err *err);
void diff_done(struct diff *d);

/* Reduces a profile to three nodes with everything that scales and noise depend on: the total, those of the outermost
 * functions, times and labels. So a filter of stacks need not keep its input. */
struct profile *diff_outline(const struct profile *p);

/* Tells whether the profiles can be scaled that way. */
bool diff_can_scale(const struct profile *a, uint32_t column_a, const struct profile *b, uint32_t column_b, enum diff_scale scale);

/* Finds the columns to compare: `wanted` if it is not NULL, else the default column of `a`, or of `b`, or the first
 * that both have. Without a common column, each side's own default, which diff_check refuses. UINT32_MAX: missing. */
void diff_columns(const struct profile *a, const struct profile *b, const char *wanted, uint32_t *ret_a,
		  uint32_t *ret_b);

/* Makes both columns have parts of counts (PROFILE_MILLIONTHS), or neither: a column of whole counts is converted if
 * the other one has parts. */
void diff_align(struct profile *a, uint32_t column_a, struct profile *b, uint32_t column_b);

/* Returns the standard error of the difference between two values, in the scale of `after`; 0 if both were measured.
 * `whole_after` is the total that shares refer to; if stacks were filtered, shares refer to all stacks. */
double diff_error(const struct diff *d, double before, double after, double whole_after);

/* Returns the smallest significant difference: `sigma` standard errors plus half a sample. */
double diff_noise(const struct diff *d, double sigma, double before, double after, double whole_after);

/* Returns the number of standard errors that one of `count` values exceeds by chance in fewer than one in twenty
 * comparisons. */
double diff_sigma(size_t count);

/* The number of standard errors for the functions of a difference, and the total that its shares refer to. */
double diff_usual_sigma(const struct diff *d);
double diff_total_after(const struct diff *d);

/* Returns the value of one sample in a column, 0 if its values are not samples. */
double diff_sample_weight(const struct profile *p, uint32_t column);

/* A reason why a comparison is of little use, or of none. */
struct diff_warnings {
	struct diff_warning {
		bool fatal;		/* the comparison makes no sense */
		char text[320];		/* a sentence without a full stop */
	} items[8];
	size_t count;
};

/* `name_a` and `name_b` are used in the sentences. */
void diff_check(const struct profile *a, uint32_t column_a, const char *name_a, const struct profile *b,
		uint32_t column_b, const char *name_b, enum diff_scale scale, struct diff_warnings *ret);

#endif
