/* stacks.h: shared by readers of stacks printed line by line.
 *
 * Frames are passed one by one, leaf first, and then the stack is added with its value. Each name is looked up once;
 * a stack keeps only the STACKS_DEPTH_MAX frames at the leaf. Invalid lines are skipped and counted,
 * and `err` describes the first.
 *
 *	stacks_init -> stacks_frame … -> stacks_add or stacks_drop … -> stacks_done
 */
#ifndef FORMATS_STACKS_H
#define FORMATS_STACKS_H

#include "input.h"
#include "map.h"
#include "profile.h"

#define STACKS_DEPTH_MAX	((size_t)1 << 20)	/* frames per stack */
#define STACKS_TEXT_MAX		((size_t)16 << 20)	/* bytes per stack, for those read by stacks_read_counted */

struct stacks {
	struct profile *profile;
	uint32_t column;
	size_t depth;			/* depth of the current stack */
	uint64_t added, skipped;	/* stacks added; lines or stacks left out */

	/* private */
	uint32_t *stack;
	size_t stack_capacity;
	struct map known;
	struct intern names;
	uint32_t *frames;		/* by name */
	size_t frame_capacity;
};

/* Values go to the column "samples" of `p`. Returns -E2BIG if there is no room for it; call stacks_done in any case. */
int stacks_init(struct stacks *s, struct profile *p, struct err *err);

/* Frees everything. Returns the result of a reader: 0, the number of lines left out, or a negative errno: -EINVAL if
 * all were left out, -ENODATA with the sentence `nothing` if there was no line at all. */
int stacks_done(struct stacks *s, const char *nothing, struct err *err);

void stacks_frame(struct stacks *s, struct str name);		/* adds the next frame towards the root, by name */
void stacks_push(struct stacks *s, uint32_t frame);		/* or by its number in the profile */
uint32_t stacks_add(struct stacks *s, int64_t value);		/* returns the node, and resets the stack */
void stacks_drop(struct stacks *s);

/* Skips a line and notes the reason for the first one: `what` is "is no …"; `line` may be {NULL, 0} if showing it
 * would not help. */
void stacks_skip(struct stacks *s, uint64_t number, struct str line, const char *what, struct err *err);
void line_skip(uint64_t *skipped, uint64_t number, struct str line, const char *what, struct err *err);

/* Counts the current stack once, unless it has no frames. */
void stacks_end(struct stacks *s);

/* A complete reader: `take` gets each line of the input without its carriage return, and a stack left open at the end
 * is closed. Returns the same as stacks_done. */
int stacks_read_lines(struct profile *p, struct input *in,
		      void (*take)(struct stacks *, uint64_t number, struct str line, struct err *),
		      const char *nothing, struct err *err);

/* Reads stacks that consist of several lines, one per frame, leaf first, followed by a line with only the count.
 * Repeated texts are found by their hash. The first `header` lines are skipped. `frame` extracts the name from a
 * line, whose leading spaces are removed. */
int stacks_read_counted(struct profile *p, struct input *in, uint64_t header, struct str (*frame)(struct str line),
			struct err *err);

/* --- Lines --- */

/* Returns the line without a trailing carriage return. */
static inline struct str line_without_return(struct str line)
{
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

static inline bool line_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool line_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline struct str line_trim_start(struct str line)
{
	while (line.n && line_is_space(*line.p)) {
		line.p++;
		line.n--;
	}
	return line;
}

static inline bool line_starts(struct str line, const char *word)
{
	size_t n = strlen(word);

	return line.n >= n && !memcmp(line.p, word, n);
}

static inline bool line_has(struct str line, const char *word)
{
	return memmem(line.p, line.n, word, strlen(word)) != NULL;
}

/* For sniffing: returns the next complete line and removes it from `*rest`; the last one may lack its newline. */
bool line_next(struct str *rest, struct str *ret);

/* Removes leading digits from `line`; returns false if there are none, or more than fit into 63 bits. */
bool line_take_number(struct str *line, int64_t *ret);

/* The same for "-12.0345", rounded to `decimals` digits; 0.25 is 250 with 3. */
bool line_take_decimal(struct str *line, int decimals, int64_t *ret);

/* Returns 1 for a line that only has digits, possibly after spaces; 0 for anything else; -1 if the number is above
 * INT64_MAX. */
int line_count(struct str line, int64_t *ret);

#endif
