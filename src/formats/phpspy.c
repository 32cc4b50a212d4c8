/* phpspy.c: traces printed by phpspy: a line for each frame, leaf first, and an empty line or a comment after each
 * trace.
 *
 *	0 sleep <internal>:-1
 *	1 Shop\Cart::total /srv/shop/src/Cart.php:12
 *	2 <main> /srv/shop/public/index.php:25
 *	# uri = /cart
 *	# - - -
 *
 * A frame consists of its depth, the function up to the next space, and its file and line; the line is dropped. A
 * trace ends where the depth is 0 again, with an empty line, or with the comment "# - - -"; other lines with # are
 * about the trace and do not end it. Each trace counts 1.
 */
#include "format.h"
#include "stacks.h"

/* Returns the file in "/srv/shop/index.php:25", or "" for "<internal>:-1". */
static struct str file_of(struct str where)
{
	const char *colon = memrchr(where.p, ':', where.n);

	if (!colon || line_starts(where, "<internal>"))
		return (struct str){ "", 0 };
	return (struct str){ where.p, (size_t)(colon - where.p) };
}

/* Parses "1 Shop\Cart::total /srv/shop/src/Cart.php:12". */
static bool take_frame(struct str line, int64_t *ret_depth, struct str *ret_name, struct str *ret_where)
{
	const char *space;

	if (!line_take_number(&line, ret_depth) || line.n < 2 || *line.p != ' ' || line_is_space(line.p[1]))
		return false;
	line.p++;
	line.n--;
	space = memchr(line.p, ' ', line.n);
	*ret_name = (struct str){ line.p, space ? (size_t)(space - line.p) : line.n };
	*ret_where = space ? (struct str){ space + 1, line.n - ret_name->n - 1 } : (struct str){ "", 0 };
	return true;
}

static void read_line(struct stacks *s, uint64_t number, struct str line, struct err *err)
{
	struct str name, where;
	int64_t depth;

	if (line_trim_start(line).n == 0 || line_starts(line, "# - - -")) {
		stacks_end(s);
	} else if (*line.p == '#') {
		return;
	} else if (!take_frame(line, &depth, &name, &where)) {
		stacks_skip(s, number, line, "is not a frame (depth, function and file)", err);
	} else {
		if (depth == 0)
			stacks_end(s);
		stacks_push(s, profile_frame(s->profile, name, file_of(where), 0));
	}
}

static int phpspy_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	(void)o;
	return stacks_read_lines(p, in, read_line, "there is no trace in it", err);
}

/* Detects traces whose depths count up from 0. */
static int phpspy_sniff(const char *bytes, size_t n)
{
	struct str rest = { bytes, n }, line;
	unsigned frames = 0, others = 0, files = 0;
	int64_t next = 0;

	for (int i = 0; i < 200 && line_next(&rest, &line); i++) {
		struct str name, where;
		int64_t depth;

		line = line_without_return(line);
		if (line_trim_start(line).n == 0 || *line.p == '#')
			continue;
		if (!take_frame(line, &depth, &name, &where) || (depth != 0 && depth != next)) {
			others += rest.n || n < FORMAT_SNIFF_MAX;
			continue;
		}
		next = depth + 1;
		frames++;
		files += memrchr(where.p, ':', where.n) != NULL;
	}
	return frames > others && files == frames ? 85 : 0;
}

const struct format format_phpspy = {
	.name = "phpspy", .suffixes = "phpspy", .sniff = phpspy_sniff, .read = phpspy_read, .about = "traces of phpspy",
};
