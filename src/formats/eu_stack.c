/* eu_stack.c: stacks printed by eu-stack (elfutils), often many runs in a row.
 *
 *	PID 1234 - process
 *	TID 1235:
 *	#0  0x00007f3e5c1d04d9 poll
 *	#1  0x000055e01b2c0a10
 *
 * A frame is the text after the address, "[unknown]" if there is none. A stack ends with the next PID or TID line, or
 * where the number is 0 again, and counts 1. Options of the reader make the process and the thread the first frames,
 * "PID=1234" and "TID=1235".
 */
#include "format.h"
#include "stacks.h"
#include <stdio.h>

struct eu_stack {
	struct stacks stacks;
	bool with_pid, with_tid;
	char pid[32], tid[32];		/* "PID=1234"; without a number until one is read */
};

static void end_stack(struct eu_stack *e)
{
	if (e->stacks.depth == 0)
		return;
	if (e->with_tid)
		stacks_frame(&e->stacks, (struct str){ e->tid, strlen(e->tid) });
	if (e->with_pid)
		stacks_frame(&e->stacks, (struct str){ e->pid, strlen(e->pid) });
	stacks_add(&e->stacks, 1);
}

/* Parses "PID 1234…". */
static bool take_owner(struct str line, const char *word, char *owner, size_t size)
{
	int64_t number;

	if (!line_starts(line, word))
		return false;
	line.p += strlen(word);
	line.n -= strlen(word);
	if (line_take_number(&line, &number))
		snprintf(owner, size, "%.3s=%lld", word, (long long)number);
	else
		snprintf(owner, size, "%.3s=", word);
	return true;
}

/* Parses "#12 0x00007f3e5c1d04d9 poll": returns the text after the address. */
static bool take_frame(struct str line, int64_t *ret_number, struct str *ret_name)
{
	size_t i = 2;

	if (line.n < 2 || *line.p != '#')
		return false;
	line.p++;
	line.n--;
	if (!line_take_number(&line, ret_number))
		return false;
	line = line_trim_start(line);
	if (!line_starts(line, "0x"))
		return false;
	while (i < line.n && (line_is_digit(line.p[i]) || (line.p[i] >= 'a' && line.p[i] <= 'f')))
		i++;
	if (i < line.n && line.p[i] != ' ')
		return false;
	i += i < line.n;
	*ret_name = (struct str){ line.p + i, line.n - i };
	return true;
}

static void read_line(struct eu_stack *e, uint64_t number, struct str line, struct err *err)
{
	struct str name;
	int64_t n;

	if (line_starts(line, "PID ") || line_starts(line, "TID ")) {
		end_stack(e);
		if (!take_owner(line, "PID ", e->pid, sizeof(e->pid)))
			take_owner(line, "TID ", e->tid, sizeof(e->tid));
	} else if (take_frame(line, &n, &name)) {
		if (n == 0)
			end_stack(e);
		stacks_frame(&e->stacks, profile_given_name(name));
	} else if (line.n && *line.p == '#') {
		stacks_skip(&e->stacks, number, line, "begins with # and is no frame", err);
	}
}

static int eu_stack_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	struct eu_stack e = { .with_pid = o->pid, .with_tid = o->tid, .pid = "PID=", .tid = "TID=" };
	struct str line;

	if (stacks_init(&e.stacks, p, err) >= 0) {
		while (input_line(in, &line))
			read_line(&e, in->line, line_without_return(line), err);
		end_stack(&e);
	}
	return stacks_done(&e.stacks, "there is no stack in it", err);
}

static int eu_stack_sniff(const char *bytes, size_t n)
{
	struct str rest = { bytes, n }, line;
	unsigned threads = 0, frames = 0;

	while (line_next(&rest, &line)) {
		struct str name;
		int64_t number;

		threads += line_starts(line, "TID ") || line_starts(line, "PID ");
		/* In gdb's output, "in" follows the address. */
		frames += take_frame(line, &number, &name) && !line_starts(name, "in ");
	}
	return threads && frames ? 92 : frames > 1 ? 60 : 0;
}

const struct format format_eu_stack = {
	.name = "eu-stack", .suffixes = "eu-stack", .sniff = eu_stack_sniff, .read = eu_stack_read,
	.about = "stacks of eu-stack, elfutils",
};
