/* stacks.h: shared by readers of stacks printed line by line.
 *
 * Frames come one by one, the leaf first, and then the stack is added with its value. Names are looked up once each; a
 * stack keeps STACKS_DEPTH_MAX frames, those at the leaf. Invalid lines are skipped and counted,
 * and `err` describes the first.
 *
 *	stacks_init -> stacks_frame … -> stacks_add or stacks_drop … -> stacks_done
 */
#ifndef FORMATS_STACKS_H
#define FORMATS_STACKS_H

#include "input.h"
#include "map.h"
#include "profile.h"

#define STACKS_DEPTH_MAX	((size_t)1 << 20)	/* frames of one stack */
#define STACKS_TEXT_MAX		((size_t)16 << 20)	/* bytes of one stack, of those read by stacks_read_counted */

struct stacks {
	struct profile *profile;
	uint32_t column;
	size_t depth;			/* depth of the current stack */
	uint64_t added, skipped;	/* stacks; lines or stacks that were left out */

	/* private */
	uint32_t *stack;
	size_t stack_capacity;
	struct map known;
	struct intern names;
	uint32_t *frames;		/* by name */
	size_t frame_capacity;
};

/* Values go to column "samples" of `p`. -E2BIG if there is no room for it; call stacks_done in any case. */
int stacks_init(struct stacks *s, struct profile *p, struct err *err);

/* Frees what it holds. Returns what a reader returns: 0, how many lines were left out, or a negative errno: -EINVAL if
 * all were, -ENODATA with `nothing` as the sentence if there was no line at all. */
int stacks_done(struct stacks *s, const char *nothing, struct err *err);

void stacks_frame(struct stacks *s, struct str name);		/* the next one towards the root, by name */
void stacks_push(struct stacks *s, uint32_t frame);		/* or by its number in the profile */
uint32_t stacks_add(struct stacks *s, int64_t value);		/* returns the node; the stack is empty again */
void stacks_drop(struct stacks *s);

/* Skips a line and, for the first one, notes why: `what` is "is no …"; `line` may be {NULL, 0} if showing it
 * is no help. */
void stacks_skip(struct stacks *s, uint64_t number, struct str line, const char *what, struct err *err);
void line_skip(uint64_t *skipped, uint64_t number, struct str line, const char *what, struct err *err);

/* Counts the current stack once; nothing if it has no frame. */
void stacks_end(struct stacks *s);

/* A whole reader: `take` gets each line of the input without its carriage return, and an open stack after the
 * last one is closed. Returns what stacks_done does, `nothing` as there. */
int stacks_read_lines(struct profile *p, struct input *in,
		      void (*take)(struct stacks *, uint64_t number, struct str line, struct err *),
		      const char *nothing, struct err *err);

/* Stacks of which each is some lines, one per frame, leaf first, and then its count alone in a line. Repeated texts
 * are found by their hash. The first `header` lines are skipped. `frame` takes the name out of a line, whose
 * spaces at the start are cut off. */
int stacks_read_counted(struct profile *p, struct input *in, uint64_t header, struct str (*frame)(struct str line),
			struct err *err);

/* --- Lines --- */

/* Without a carriage return at the end. */
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

/* For sniffing: the next whole line of `*rest`, which gets shorter; the last one may lack its newline. */
bool line_next(struct str *rest, struct str *ret);

/* Takes digits off the start of `line`: false if there are none, or more than fit into 63 bits. */
bool line_take_number(struct str *line, int64_t *ret);

/* The same for "-12.0345": `decimals` digits behind the point count, the others are rounded; 0.25 is 250 for 3. */
bool line_take_decimal(struct str *line, int decimals, int64_t *ret);

/* A line of digits alone, spaces before them: 1; 0 if it is anything else; -1 if the number is above INT64_MAX. */
int line_count(struct str line, int64_t *ret);

#endif
