/* top_header.c: the lines above the table: target, averages, ticks and losses. */

#include "top_header.h"

#include "fallback.h"
#include "request_table.h"

#include <string.h>

static void put_length(struct buf *out, int64_t ns)
{
	int64_t s = ns / 1000000000;

	if (s >= 3600)
		buf_printf(out, "%lld:%02lld:%02lld", (long long)(s / 3600), (long long)(s / 60 % 60), (long long)(s % 60));
	else
		buf_printf(out, "%lld:%02lld", (long long)(s / 60), (long long)(s % 60));
}

void top_put_period(struct buf *out, const struct top_view *v, const struct top_status *f)
{
	if (v->period == LIVE_ALL) {
		buf_puts(out, "all ");
		put_length(out, f->length_ns);
		return;
	}
	buf_puts(out, "last ");
	buf_put_fixed(out, (double)f->length_ns / 1e9, 1);
	buf_puts(out, " s of ");
	put_length(out, f->all_ns);
}

void top_put_title(struct buf *out, const struct top_view *v, const struct top_status *f)
{
	buf_printf(out, "strobe top: %s | ", f->target);
	top_put_period(out, v, f);
	if (v->paused)
		buf_puts(out, " | PAUSED");
	if (f->ended)
		buf_puts(out, " | ENDED");
	buf_printf(out, " | %s", f->frames);
	if (f->summary.hz)
		buf_printf(out, ", %u Hz", f->summary.hz);
}

static void put_load(struct buf *out, const char *name, int64_t ns, int64_t length_ns)
{
	buf_printf(out, "%s ", name);
	buf_put_fixed(out, length_ns ? (double)ns / (double)length_ns : 0, 2);
}

void top_put_load(struct buf *out, const struct top_view *v, const struct top_status *f)
{
	const struct count *kinds = f->summary.kinds;

	if (v->has_on_cpu)
		put_load(out, "on CPU", (int64_t)kinds[SAMPLE_ON_CPU].ns, f->length_ns);
	if (v->has_on_cpu && v->has_off_cpu)
		buf_puts(out, ", ");
	if (v->has_off_cpu) {
		put_load(out, "blocked", (int64_t)kinds[SAMPLE_BLOCKED].ns, f->length_ns);
		put_load(out, ", waiting for a CPU", (int64_t)kinds[SAMPLE_RUNNABLE].ns, f->length_ns);
	}
	buf_puts(out, " threads on average");
}

static void put_number(struct buf *out, u64 n, const char *what)
{
	buf_put_grouped(out, (int64_t)n);
	buf_printf(out, " %s", what);
}

void top_put_counts(struct buf *out, const struct top_view *v, const struct top_status *f)
{
	const struct record_summary *s = &f->summary;
	const u64 *c = s->counters;

	if (!f->all_ns) {
		buf_puts(out, "starting");
		return;
	}
	put_number(out, record_summary_lost(s), "lost");
	if (record_summary_unreadable(s)) {
		buf_puts(out, ", ");
		put_number(out, record_summary_unreadable(s), "unreadable");
	}
	buf_puts(out, "; ");
	if (s->is_remote) {
		put_number(out, s->remote.observations, "observations: ");
		put_number(out, s->remote.kept, "kept, ");
		put_number(out, s->remote.asleep, "asleep, ");
		put_number(out, s->remote.left_out, "outside functions");
	} else if (s->hz) {
		put_number(out, c[COUNTER_TICKS], "ticks: ");
		put_number(out, c[COUNTER_SAMPLES], "kept, ");
		put_number(out, c[COUNTER_TICKS_IDLE], "idle CPU, ");
		put_number(out, c[COUNTER_TICKS_OTHER], "other programs");
	}
	if (s->off_cpu && !s->is_remote) {
		buf_puts(out, s->hz ? "; " : "");
		put_number(out, c[COUNTER_SWITCHES], "switches");
	}
}

void top_put_choice(struct buf *out, const struct top_view *v, const struct top_status *f)
{
	if (v->requests && v->request_rows) {
		request_table_put_choice(v->request_rows, out);
		return;
	}
	buf_printf(out, "by %s, sorted by %s", top_by_name(v->by), top_sort_name(v->sort));
	if (v->scope.key)
		buf_printf(out, ", %s=%s", v->scope.key, *v->scope.value ? v->scope.value : "(none)");
	if (v->has_filter)
		buf_printf(out, ", filter /%s/ hides %zu", v->filter, v->rows ? v->rows->left_out : 0);
}

bool top_put_warning(struct buf *out, const struct top_status *f)
{
	const struct record_summary *s = &f->summary;

	if (*s->refused)
		buf_puts(out, s->refused);
	else if (s->is_remote && s->remote.closed)
		fallback_put_closed(out, s->remote.closed, s->remote.closed_why);
	else if (record_summary_lost(s))
		buf_puts(out, "samples were lost; press i for details");
	else if (s->switch_share > 1)
		buf_printf(out, "many switches: only 1 in %u is recorded, weighted accordingly", s->switch_share);
	else if (*f->fallback)
		buf_printf(out, "no BPF, so memory is read instead: %s", f->fallback);
	else
		return false;
	return true;
}

void top_put_notes(struct buf *out, const struct top_status *f)
{
	static const char mark[] = "strobe: ";
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	record_summary_put(&f->summary, &text);
	for (const char *at = text.data; *at; ) {
		size_t n = strcspn(at, "\n");

		if (!strncmp(at, mark, strlen(mark))) {
			at += strlen(mark);
			n -= strlen(mark);
		}
		buf_put(out, at, n);
		buf_putc(out, '\n');
		at += n + (at[n] == '\n');
	}
}
