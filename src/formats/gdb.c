/* gdb.c: backtraces of gdb, such as many runs of `gdb -batch -ex "thread apply all bt" -p PID` in a row.
 *
 *	Thread 2 (Thread 0x7f08e6ffd700 (LWP 12345)):
 *	#0  0x00007f08f1d2b4d9 in poll () from /lib/x86_64-linux-gnu/libc.so.6
 *	#1  work (n=3) at worker.c:12
 *	#2  <signal handler called>
 *	#3  0x000055d7c1a0 in main ()
 *
 * A frame is a line with # and its number: the text after "0x… in" and before the arguments, or all of "<…>". C++
 * names contain blanks and parentheses: "std::function<void (int)>::operator()(int) const (this=0x7f01)". Stacks end
 * with any other line, with "Thread …", and where the number is 0 again. Lines that begin with a space continue the
 * previous line, and lines of `bt full` with locals are ignored. Each stack counts 1.
 */
#include "format.h"
#include "stacks.h"

/* Removes and returns the word at the start of `line`, together with one space after it. */
static struct str take_word(struct str *line)
{
	const char *space = memchr(line->p, ' ', line->n);
	struct str word = { line->p, space ? (size_t)(space - line->p) : line->n };

	line->p += word.n + (space != NULL);
	line->n -= word.n + (space != NULL);
	return word;
}

/* Removes "#12  " from the start of a line. */
static bool take_frame_number(struct str *line, int64_t *ret)
{
	struct str rest = *line;

	if (rest.n < 2 || *rest.p != '#')
		return false;
	rest.p++;
	rest.n--;
	if (!line_take_number(&rest, ret) || rest.n == 0 || *rest.p != ' ')
		return false;
	while (rest.n && *rest.p == ' ') {
		rest.p++;
		rest.n--;
	}
	*line = rest;
	return true;
}

/* Returns the length of the name in "name (this=0x7f01) at a.cc:3"; 0 if there are no arguments. */
static size_t before_arguments(struct str s)
{
	int depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool of_operator = i >= 8 && !memcmp(s.p + i - 8, "operator", 8);

		if (c == '(' && depth == 0 && i && s.p[i - 1] == ' ')
			return i - 1;
		if (of_operator && (c == '<' || c == '>' || c == '-')) {
			/* operator<<, operator->* and similar ones have no closing bracket */
			while (i + 1 < s.n && memchr("<>=*", s.p[i + 1], 4))
				i++;
			continue;
		}
		depth += c == '(' || c == '<';
		depth -= (c == ')' || c == '>') && depth > 0;
	}
	return 0;
}

/* Returns the name in the text after the number: "0x… in name (…) …", "name (…) …" or "<signal handler called>". */
static struct str frame_name(struct str rest)
{
	const char *end = rest.n && *rest.p == '<' ? memchr(rest.p, '>', rest.n) : NULL;
	struct str first, second, name = rest;

	if (end && rest.p + rest.n == end + 1)
		return rest;
	first = take_word(&rest);
	if (line_starts(first, "0x") && line_starts(rest, "in "))
		name = (struct str){ rest.p + 3, rest.n - 3 };
	name.n = before_arguments(name);
	if (name.n)
		return name;
	if (!line_has(first, "0x"))
		return first;
	second = take_word(&rest);
	return second.n == 0 && rest.n == 0 ? first : take_word(&rest);
}

static bool is_continuation(struct str line)
{
	return (line.n && line_is_space(*line.p)) || line_starts(line, "No locals") ||
	       line_starts(line, "No symbol table info");
}

static void read_line(struct stacks *s, uint64_t number, struct str line, struct err *err)
{
	struct str rest = line, name;
	int64_t n;

	if (!take_frame_number(&rest, &n)) {
		if (line.n && *line.p == '#')
			stacks_skip(s, number, line, "begins with # and is no frame", err);
		else if (!is_continuation(line))
			stacks_end(s);
		return;
	}
	if (n == 0)
		stacks_end(s);
	name = frame_name(rest);
	stacks_frame(s, name.n ? name : (struct str){ "??", 2 });
}

static int gdb_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	(void)o;
	return stacks_read_lines(p, in, read_line, "it has no backtrace; perhaps gdb could not attach", err);
}

static int gdb_sniff(const char *bytes, size_t n)
{
	struct str rest = { bytes, n }, line;
	unsigned threads = 0, frames = 0;

	while (line_next(&rest, &line)) {
		struct str after = line;
		int64_t number;

		threads += line_starts(line, "Thread ") && line_has(line, "(");
		if (take_frame_number(&after, &number))
			frames += line_has(after, " (") || (after.n && *after.p == '<');
	}
	return frames == 0 ? 0 : threads ? 90 : 75;
}

const struct format format_gdb = {
	.name = "gdb", .suffixes = "gdb", .sniff = gdb_sniff, .read = gdb_read,
	.about = "backtraces of gdb, thread apply all bt",
};
