/* stap.c: stacks printed by SystemTap scripts such as sample-bt (.bt): leaf first, then the count.
 *
 *	 0xffffffff8103ce3b : native_safe_halt+0xb/0x10 [kernel]
 *	 0xffffffff81013236 : cpu_idle+0xd6/0x120 [kernel]
 *		2404
 *
 * A frame is the text after the last " : " and before the last "+", without leading spaces; "-" if nothing remains.
 * Frames may also be just names, as printed by scripts for PHP or Lua stacks. Empty lines are ignored, and a count
 * without frames before it is a stack "[unknown]".
 */
#include "format.h"
#include "stacks.h"
#include "stap_write.h"

static struct str frame_name(struct str line)
{
	const char *plus = memrchr(line.p, '+', line.n);
	size_t n = plus ? (size_t)(plus - line.p) : line.n;

	for (size_t i = n; i-- > 2;)
		if (line.p[i] == ' ' && line.p[i - 1] == ':' && line.p[i - 2] == ' ')
			return (struct str){ line.p + i + 1, n - i - 1 };
	return (struct str){ line.p, n };
}

static int stap_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	(void)o;
	return stacks_read_counted(p, in, 0, frame_name, err);
}

/* Matches " 0xffffffff8103ce3b : name…", and "0x7f… [file+0x…]" for a frame without a symbol. */
static bool is_address_line(struct str line)
{
	size_t i = 2;

	line = line_trim_start(line);
	if (!line_starts(line, "0x"))
		return false;
	while (i < line.n && (line_is_digit(line.p[i]) || (line.p[i] >= 'a' && line.p[i] <= 'f')))
		i++;
	return i > 2 && i + 3 <= line.n && (!memcmp(line.p + i, " : ", 3) || !memcmp(line.p + i, " [", 2));
}

static int stap_sniff(const char *bytes, size_t n)
{
	struct str rest = { bytes, n }, line;
	unsigned addresses = 0, counts = 0, others = 0;
	bool whole = n < FORMAT_SNIFF_MAX, stacks = n > 0 && (!whole || bytes[n - 1] == '\n');	/* nothing but stacks */
	int last = 1;

	while (line_next(&rest, &line)) {
		int64_t count;
		int kind;

		line = line_trim_start(line_without_return(line));
		if (line.n == 0 || (!rest.n && !whole))
			continue;
		kind = line_count(line, &count);
		stacks &= kind == 0 || (kind > 0 && last == 0);
		last = kind;
		if (kind > 0)
			counts++;
		else if (is_address_line(line))
			addresses++;
		else
			others++;
	}
	if (addresses > others)
		return counts || !whole ? 90 : 50;
	/* Names and counts may come from any script. */
	return stacks && counts && (last > 0 || !whole) ? 15 : 0;
}

const struct format format_stap = {
	.name = "stap", .suffixes = "bt stap", .sniff = stap_sniff, .read = stap_read, .write = stap_write,
	.about = "stacks of SystemTap, leaf first, with a count",
};
