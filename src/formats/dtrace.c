/* dtrace.c: aggregated stacks printed by DTrace, leaf first, then the count.
 *
 *	CPU     ID                    FUNCTION:NAME
 *	  0  64091                        :tick-60s
 *
 *	              unix`i86_mwait+0xd
 *	              unix`idle+0x114
 *	             1641
 *
 * The first three lines are the header. A frame is the text before the last "+", without leading spaces; C++ names
 * ("::") are also cut at the last "(" or "<". If nothing remains, it is "-". Empty lines are ignored, and a count
 * without frames before it is a stack "[unknown]".
 *
 * `dtrace -q` prints no header: if a frame with an offset (module`function+0x…) is among the first three lines, there
 * is no header.
 */
#include "format.h"
#include "stacks.h"

#define HEADER_LINES 3

static struct str frame_name(struct str line)
{
	const char *plus = memrchr(line.p, '+', line.n);
	size_t n = plus ? (size_t)(plus - line.p) : line.n;
	const char *scope = memmem(line.p, n, "::", 2);

	for (size_t i = n; scope && i-- > (size_t)(scope - line.p) + 2;)
		if (line.p[i] == '(' || line.p[i] == '<')
			return (struct str){ line.p, i };
	return (struct str){ line.p, n };
}

/* Matches module`function+0x12. */
static bool has_offset(struct str line)
{
	const char *tick = memchr(line.p, '`', line.n);

	return tick && memmem(tick, (size_t)(line.p + line.n - tick), "+0x", 3);
}

static uint64_t header_lines(struct input *in)
{
	struct str rest = input_peek(in, FORMAT_SNIFF_MAX), line;

	for (int i = 0; i < HEADER_LINES && line_next(&rest, &line); i++)
		if (has_offset(line))
			return 0;
	return HEADER_LINES;
}

static int dtrace_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	(void)o;
	return stacks_read_counted(p, in, header_lines(in), frame_name, err);
}

static int dtrace_sniff(const char *bytes, size_t n)
{
	struct str rest = { bytes, n }, line;
	unsigned frames = 0, counts = 0, others = 0;
	bool header = false;

	for (unsigned i = 1; line_next(&rest, &line); i++) {
		int64_t count;

		line = line_without_return(line);
		if (i <= HEADER_LINES && line_has(line, "CPU") && line_has(line, "FUNCTION:NAME"))
			header = true;
		else if (line_count(line, &count) > 0)
			counts++;
		else if (memchr(line.p, '`', line.n))
			frames++;
		else if (i > HEADER_LINES && line_trim_start(line).n && (rest.n || n < FORMAT_SNIFF_MAX))
			others++;
	}
	if (header)
		return 95;
	return frames > others && counts ? 85 : 0;
}

const struct format format_dtrace = {
	.name = "dtrace", .suffixes = "dtrace", .sniff = dtrace_sniff, .read = dtrace_read,
	.about = "aggregated stacks of DTrace",
};
