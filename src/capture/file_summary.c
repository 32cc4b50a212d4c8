/* file_summary.c: the summary of a recording of calls, in sentences. */

#include "file_summary.h"

#include "file_registry.h"

u64 file_summary_calls(const struct record_summary *s)
{
	u64 calls = 0;

	for (unsigned i = 0; i < FILE_OPERATIONS; i++)
		calls += s->files[i].calls;
	return calls;
}

static void put_count(struct buf *out, u64 n, const char *noun)
{
	buf_put_grouped(out, (int64_t)n);
	buf_printf(out, " %s%s", noun, n == 1 ? "" : "s");
}

static void put_operation(const struct record_summary *s, enum file_operation o, struct buf *out)
{
	buf_puts(out, o ? ", " : " (");
	buf_put_grouped(out, (int64_t)s->files[o].calls);
	buf_printf(out, " %s", file_operation_names[o]);
	if (o != FILE_READ && o != FILE_WRITE)
		return;
	buf_puts(out, " of ");
	put_count(out, s->files[o].bytes, "byte");
}

static void put_left_out(struct buf *out, u64 n, const char *why)
{
	if (!n)
		return;
	buf_puts(out, "strobe: ");
	put_count(out, n, "call");
	buf_printf(out, " %s left out: %s\n", n == 1 ? "is" : "are", why);
}

/* The number of missing calls, by reason. */
static void put_all_left_out(const struct record_summary *s, struct buf *out)
{
	const u64 *c = s->counters;

	put_left_out(out, c[COUNTER_FILE_OTHER_KINDS], "of sockets, pipes and anonymous files; add --all-files");
	put_left_out(out, c[COUNTER_FILE_SHORT], "below the minimum");
	put_left_out(out, c[COUNTER_FILE_BEGUN_BEFORE], "begun before the recording");
	put_left_out(out, c[COUNTER_FILE_NOT_OPEN], "on invalid file descriptors (EBADF)");
}

void file_summary_put(const struct record_summary *s, struct buf *out)
{
	u64 ns = 0, failed = 0;

	for (unsigned i = 0; i < FILE_OPERATIONS; i++) {
		ns += s->files[i].ns;
		failed += s->files[i].failed;
	}
	buf_puts(out, "strobe: ");
	put_count(out, file_summary_calls(s), "call");
	buf_puts(out, " of PHP in ");
	buf_put_fixed(out, s->seconds, 1);
	buf_puts(out, " s");
	for (unsigned i = 0; i < FILE_OPERATIONS; i++)
		put_operation(s, i, out);
	buf_puts(out, "), took ");
	buf_put_fixed(out, (double)ns / 1e9, 3);
	buf_puts(out, " s, ");
	buf_put_grouped(out, (int64_t)failed);
	buf_puts(out, " failed\n");
	put_all_left_out(s, out);
	if (s->counters[COUNTER_FILE_CUT]) {
		buf_puts(out, "strobe: ");
		put_count(out, s->counters[COUNTER_FILE_CUT], "name");
		buf_puts(out, " longer than 4,096 bytes begin with [...]\n");
	}
}

void file_summary_explain_empty(const struct record_summary *s, struct buf *out)
{
	buf_puts(out, "strobe: ");
	if (s->processes == 1)
		buf_puts(out, "the process made");
	else
		buf_printf(out, "the %u processes made", s->processes);
	buf_puts(out, " no calls that are recorded; send traffic, or record for longer\n");
	put_all_left_out(s, out);
}
