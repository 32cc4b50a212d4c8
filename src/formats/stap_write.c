/* stap_write.c: writes one stack per node with a self value. */

#include "stap_write.h"

#include "mem.h"
#include "text.h"

#include <limits.h>

struct stack {
	uint32_t node;
	int64_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Readers look for the name between " : " and "+", treat a line of digits as a count, and skip empty ones. */
static bool is_plain(struct str name)
{
	bool digits = true;

	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == '+' || (name.p[i] == ':' && i && name.p[i - 1] == ' '))
			return false;
		digits &= name.p[i] >= '0' && name.p[i] <= '9';
	}
	return !digits && name.p[0] != ' ';
}

static void put_frame(struct buf *out, struct str name)
{
	bool plain = is_plain(name);

	buf_puts(out, plain ? " " : " 0x0 : ");
	if (name.n)
		text_put_folded(out, name);
	else
		buf_puts(out, PROFILE_UNKNOWN);
	buf_puts(out, plain ? "\n" : "+0x0\n");
}

static void put_stack(const struct profile *p, const struct stack *s, struct buf *out)
{
	for (uint32_t n = s->node; n != PROFILE_ROOT; n = p->parents[n])
		put_frame(out, profile_name(p, p->node_frames[n]));
	buf_printf(out, "\t%lld\n", (long long)s->count);
}

int stap_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	_cleanup_(freep) struct stack *stacks = xcalloc(p->node_count, sizeof(*stacks));
	size_t count = 0, left_out = 0;
	int64_t scale;

	column = column == UINT32_MAX ? profile_pick_column(p, NULL) : column;
	if (column >= p->column_count)
		return err_set(err, -ENODATA, "nothing to write: the profile has no values");
	scale = profile_scale(p, column);
	for (uint32_t n = 1; n < p->node_count; n++) {
		int64_t value = p->columns[column].self[n];

		if (value >= scale)
			stacks[count++] = (struct stack){ n, value / scale };
		else if (value)
			left_out++;
	}
	qsort(stacks, count, sizeof(*stacks), by_count);
	for (size_t i = 0; i < count && !out->overflow; i++)
		put_stack(p, &stacks[i], out);
	if (out->overflow)
		return err_set(err, -EFBIG, "the stacks are larger than the %zu bytes that fit", out->limit);
	if (left_out)
		err_set(err, -ERANGE, "%zu stack%s with a value below one %s left out", left_out, left_out == 1 ? "" : "s",
			left_out == 1 ? "is" : "are");
	return left_out > INT_MAX ? INT_MAX : (int)left_out;
}
