/* run_result.c: writes summary, table, file, and the reasons for an empty profile. */

#include "run_result.h"

#include "clock.h"
#include "command.h"
#include "format.h"
#include "io.h"
#include "profile_file.h"
#include "report.h"
#include "text.h"
#include "wire_profile.h"

#include <string.h>
#include <sys/stat.h>

int run_result_check(const char *path, struct err *err)
{
	if (!strcmp(path, "-"))
		return err_set(err, -EINVAL, "standard output belongs to the command; give -o a file");
	return profile_file_check(path, err);
}

static int encode(const char *path, const struct profile *p, bool trace, struct buf *out, struct err *err)
{
	if (trace && !profile_file_is_picture(path) && format_by_path(path) == &format_strobe)
		return wire_profile_write_run(p, out, err);
	return profile_file_put(path, p, out, err);
}

static bool is_empty(const struct run_result *r)
{
	return r->trace ? !profile_has_samples(r->recording->profile) : r->recording->samples == 0;
}

/* Tells whether `path` has more content than an empty profile of this size. */
static bool is_larger(const char *path, size_t empty_size)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size > empty_size;
}

/* An empty profile only replaces another empty one: `ret_kept` is set if an earlier one was kept. */
static int write_profile(const struct run_result *r, bool *ret_kept, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	int e;

	*ret_kept = false;

	buf_init(&b);
	e = encode(r->output, r->recording->profile, r->trace, &b, err);
	if (e > 0)
		fprintf(stderr, "strobe: %s\n", err->text);
	*ret_kept = is_empty(r) && is_larger(r->output, e < 0 ? 0 : b.size);	/* some formats have no empty one */
	if (*ret_kept || e < 0)
		return *ret_kept ? 0 : e;
	return io_write_file(r->output, b.data, b.size, err);
}

static void put_duration(struct buf *b, int64_t ns)
{
	bool long_enough = ns >= NS_PER_SECOND;

	buf_put_fixed(b, (double)ns / (long_enough ? 1e9 : 1e6), long_enough ? 2 : ns < 10000000 ? 1 : 0);
	buf_puts(b, long_enough ? " s" : " ms");
}

static void put_rate(struct buf *b, const struct run_result *r)
{
	double hz = r->rate;

	buf_put_fixed(b, hz, hz == (double)(long)hz ? 0 : 2);
	buf_printf(b, " Hz%s", strcmp(r->clock, "cpu") ? "" : " of CPU time");
}

static void put_summary(struct buf *b, const struct run_result *r)
{
	buf_puts(b, "strobe: ");
	put_duration(b, r->wall_ns);
	buf_puts(b, " wall, ");
	put_duration(b, r->cpu_ns);
	buf_puts(b, " CPU, ");
	if (r->trace) {
		uint32_t calls = profile_find_column(r->recording->profile, "calls");

		buf_put_grouped(b, calls == UINT32_MAX ? 0 : profile_sum(r->recording->profile, calls));
		buf_printf(b, " calls in %llu trace%s (php %s)\n", (unsigned long long)r->recording->runs,
			   r->recording->runs == 1 ? "" : "s", r->php_version);
		return;
	}
	buf_put_u64(b, r->recording->samples);
	buf_puts(b, r->recording->samples == 1 ? " sample (" : " samples (");
	put_rate(b, r);
	buf_printf(b, ", php %s)\n", r->php_version);
}

#define JIT_REMEDY \
	"run it with `php -d strobe.instrument=1`, which samples at function calls, or `php -d opcache.jit=disable`"

/* Puts losses on the way; nothing if there were none. */
static void put_losses(struct buf *b, const struct recording *r, bool trace)
{
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		if (r->lost[i])
			buf_printf(b, "strobe: %llu more %s%s lost: %s\n", (unsigned long long)r->lost[i],
				   trace ? "trace" : "sample", r->lost[i] == 1 ? " was" : "s were", strobe_drop_name(i));
	if (r->lost[STROBE_DROP_JIT])
		buf_puts(b, "strobe: jit: interrupting code of PHP's JIT compiler is unsafe; " JIT_REMEDY "\n");
	if (r->cut)
		buf_printf(b, "strobe: %llu trace%s did not end, because of a process that was killed or still runs: up to "
			   "the last second of it is missing\n", (unsigned long long)r->cut, r->cut == 1 ? "" : "s");
	if (r->profile->chart && r->uncharted)
		buf_printf(b, "strobe: the flame chart lacks %llu call%s%s\n", (unsigned long long)r->uncharted, r->uncharted == 1 ? "" : "s",
			   r->charted_less ? ", for which strobe.trace_chart_calls has no room" : "");
	if (r->runs > 1 && r->profile->chart)
		buf_printf(b, "strobe: it shows the first of %llu traces\n", (unsigned long long)r->runs);
	if (r->unfit)
		buf_printf(b, "strobe: %llu message%s did not fit: too many different columns\n",
			   (unsigned long long)r->unfit, r->unfit == 1 ? "" : "s");
}

/* A killed process does not report its losses. */
static bool has_losses(const struct recording *r)
{
	for (unsigned i = 0; i < STROBE_DROP_REASONS; i++)
		if (r->lost[i] && i != STROBE_DROP_KILLED)
			return true;
	return r->unfit > 0;
}

/* PHP sends nothing before its first sample, so "no message" may mean a short script or no PHP at all. */
static void explain_empty(struct buf *b, const struct run_result *r)
{
	int64_t period = (int64_t)(1e9 / r->rate);

	buf_puts(b, r->trace ? "strobe: no trace arrived within " : "strobe: no samples in ");
	put_duration(b, r->wall_ns);
	if (has_losses(r->recording)) {
		buf_puts(b, ": all were lost, see below\n");
		put_losses(b, r->recording, r->trace);
	} else if (r->jit) {
		buf_printf(b, ": PHP's JIT compiler is on, whose code must not be interrupted, and the command was ended by signal %d "
			   "(%s); " JIT_REMEDY "\n", r->signal, strsignal(r->signal));
	} else if (r->signal) {
		buf_printf(b, ": the command was ended by signal %d (%s) before PHP had anything to send\n", r->signal,
			   strsignal(r->signal));
	} else if (r->settings_ignored) {
		buf_puts(b, ": `php -n` reads no settings, so the extension was not loaded; leave -n out\n");
	} else if (r->trace) {
		buf_puts(b, ": no PHP with the extension reported; the command ran no PHP, one with a cleared "
			 "environment or "
			    "-n, one that still runs or was killed, or one whose strobe.so is too old to trace\n");
	} else if (!strcmp(r->clock, "cpu") && r->cpu_ns < 10 * period) {
		buf_puts(b, ": only ");
		put_duration(b, r->cpu_ns);
		buf_puts(b, " of CPU time were used; try --clock wall, or a higher rate with -F 1000\n");
	} else if (r->wall_ns < 20 * period) {
		buf_puts(b, ", part of which PHP needs to start: the script was shorter than the sampling period of ");
		put_duration(b, period);
		buf_puts(b, r->rate < 1000 ? "; try -F 1000\n" : "; try a higher rate with -F\n");
	} else {
		buf_puts(b, ": no PHP with the extension reported; the command ran no PHP, one with a cleared environment or -n, "
			    "or one that ended within the sampling period of ");
		put_duration(b, period);
		buf_putc(b, '\n');
	}
}

static int put_table(struct buf *b, const struct run_result *r, struct err *err)
{
	const struct profile *p = r->recording->profile;
	_cleanup_(profile_freep) struct profile *plain = p->node_lines ? profile_without_lines(p) : NULL;
	struct report_options o = {
		.column = profile_pick_column(p, NULL),
		.limit = r->rows,
		.width = command_terminal_width(STDERR_FILENO),
		.color = command_wants_color(STDERR_FILENO),
	};

	return r->trace ? report_wide_table(plain ? plain : p, &o, b, err) : report_flat_table(plain ? plain : p, &o, b, err);
}

int run_result_show(const struct run_result *r, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	bool kept;
	int e = write_profile(r, &kept, err);

	buf_init(&b);
	if (is_empty(r)) {
		explain_empty(&b, r);
		if (kept)
			buf_printf(&b, "strobe: left %s as it was: it is not the profile of this run, but an earlier one\n",
				   r->output);
	} else if (!r->quiet) {
		put_summary(&b, r);
		put_losses(&b, r->recording, r->trace);
		if (put_table(&b, r, err) < 0)
			e = err->code;
		if (e >= 0)
			profile_file_put_next_step(r->output, &b);
	}
	fwrite(b.data, 1, b.size, stderr);
	return e;
}
