/* diff.h: compares two profiles stack by stack.
 *
 * The result is a profile with the stacks of both and two columns of self values, "before" and "after", so that
 * removed stacks are as visible as new ones. Where the two cover different amounts (one hour against one day), `before` is
 * scaled to `after`: by a fraction of whole numbers and rounded along the walk of the
 * tree, so that every subtree is right to one unit and the sum of all self deltas is the delta of the totals, always.
 *
 * Two samples of one thing are never equal. diff_noise tells how much of a change may be noise.
 */
#ifndef PROFILE_DIFF_H
#define PROFILE_DIFF_H

#include "err.h"
#include "profile.h"

enum diff_scale {
	DIFF_AS_IT_IS,
	DIFF_BY_TOTAL,		/* as if both had the same total: shares are compared */
	DIFF_BY_RATE,		/* as if both covered the same time */
	DIFF_BY_REQUESTS,	/* as if both had as many requests */
};

struct diff_options {
	enum diff_scale scale;
	const struct profile *whole_a, *whole_b;	/* both sides before their stacks were filtered, or their outlines, which give the scale;
							 * NULL: the sides themselves */
	const char *scale_key;		/* names the choice of the scale in sentences: "scale="; NULL: "--normalize " */
	bool strip_hex;			/* 0x… in names becomes 0x..., so that addresses do not keep stacks apart */
	bool as_written;		/* paths and lines in names are compared too, as difffolded.pl does */
	bool truncate;			/* scaled values are cut to whole numbers each, as difffolded.pl does: loses
					 * sums */
};

struct diff {
	struct profile *profile;
	uint32_t before, after;		/* its columns, self values, both in the scale of `after` */
	uint32_t measured;		/* `before` as it was measured; the same column if nothing is scaled */
	struct profile_scaling scaling;	/* measured to before, of what is taken together: a function, an arrow, everything */
	uint32_t *files_before;		/* by frame: its file before, a string of `profile`; that of the frame itself if it has not moved */
	double factor;			/* the same as a number */
	double unfiltered_after;		/* the total of `after` before its stacks were filtered; 0: they are not */
	double before_weight, after_weight;	/* value of one sample here; 0: not sampled but measured */
	bool shares;			/* scaled by total */
	bool truncated;			/* scaled values are cut, as requested */
};

/* Compares a column of `a` (before) with one of `b` (after), function by function as pair_frames.h pairs them. Returns -EINVAL when it cannot be scaled as requested:
 * nothing is known of times or requests, or a total is not above zero. diff_done frees what is in `ret`. */
int profile_diff(const struct profile *a, uint32_t column_a, const struct profile *b, uint32_t column_b,
		 const struct diff_options *o, struct diff *ret, struct err *err);
void diff_done(struct diff *d);

/* Everything that scales and noise depend on, in three nodes: the totals, those of the outermost functions, times and
 * labels. So a filter of stacks
 * need not keep the profile that it was given. */
struct profile *diff_outline(const struct profile *p);

/* Whether they can be scaled that way. */
bool diff_can_scale(const struct profile *a, uint32_t column_a, const struct profile *b, uint32_t column_b, enum diff_scale scale);

/* The columns to compare: `wanted` if it is not NULL, else the one that is shown of `a`, or of `b`, or the first that
 * both have. Without such a column, each side's own shown one, which diff_check refuses. UINT32_MAX: missing. */
void diff_columns(const struct profile *a, const struct profile *b, const char *wanted, uint32_t *ret_a,
		  uint32_t *ret_b);

/* Parts of counts (PROFILE_MILLIONTHS) are in both columns, or in none: a column of whole counts becomes one with parts where the other
 * one has them. */
void diff_align(struct profile *a, uint32_t column_a, struct profile *b, uint32_t column_b);

/* Standard error of the difference between two values, in the scale of `after`; 0 if both were measured. `whole_after`
 * is what shares are of, unless stacks were filtered: then they are of all stacks. */
double diff_error(const struct diff *d, double before, double after, double whole_after);

/* The least significant difference: `sigma` standard errors, and half a sample more. */
double diff_noise(const struct diff *d, double sigma, double before, double after, double whole_after);

/* The number of standard errors above which chance alone shows one of `count` values as changed in less than
 * one of twenty comparisons. */
double diff_sigma(size_t count);

/* The number of standard errors for the functions of a difference, and the total that its shares refer to. */
double diff_usual_sigma(const struct diff *d);
double diff_total_after(const struct diff *d);

/* The value of one sample in a column, 0 if its values are not samples. */
double diff_sample_weight(const struct profile *p, uint32_t column);

/* Why a comparison says little, or nothing at all. */
struct diff_doubts {
	struct diff_doubt {
		bool fatal;		/* it makes no sense */
		char text[320];		/* a sentence without a full stop */
	} items[8];
	size_t count;
};

/* `name_a` and `name_b` are for the sentences. */
void diff_check(const struct profile *a, uint32_t column_a, const char *name_a, const struct profile *b,
		uint32_t column_b, const char *name_b, enum diff_scale scale, struct diff_doubts *ret);

#endif
