/* top_session.c: runs intervals, handles keys, and prints tables. */

#include "top_session.h"

#include "clock.h"
#include "io.h"
#include "mem.h"
#include "profile_file.h"
#include "report.h"
#include "top_plain.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define KEYS_NS		(NS_PER_SECOND / 20)	/* between reads of the keyboard */
#define PLAIN_NS	(10 * (int64_t)NS_PER_SECOND)

static volatile sig_atomic_t interrupted;

static void interrupt(int signo)
{
	interrupted = 1;
}

/* --- the table and its data */

struct session {
	struct recorder *recorder;
	const struct top_session_options *options;
	struct live *live;
	struct live *frozen;		/* a copy while the table is paused */
	struct top_view *view;
	struct top_rows rows;
	struct php_activity_list now;	/* valid after its first use */
	struct err no_now;		/* why it is not available */
	bool has_now;
	struct request_rows requests;
	struct top_status facts;
	int64_t taken_ns;		/* since the start */
};

static void add(void *data, struct profile *p)
{
	live_add(data, p);
}

/* Ends an interval. */
static int take(struct session *t, struct err *err)
{
	struct record_summary s = { 0 };
	int e = recorder_take(t->recorder, t->options->layers, t->live, add, err);

	if (e < 0)
		return e;
	recorder_summary(t->recorder, &s);
	t->taken_ns = recorder_elapsed_ns(t->recorder);
	live_close(t->live, &s, clock_monotonic_ns());
	return 0;
}

static const struct live *shown(const struct session *t)
{
	return t->frozen ? t->frozen : t->live;
}

/* --- current requests */

static bool is_target(void *data, pid_t pid)
{
	return recorder_wants(data, pid);
}

/* A paused table keeps the requests that were read first. */
static void fill_requests(struct session *t)
{
	struct request_rows before = t->requests;
	bool first = !t->has_now;

	if (first)
		php_activity_list_init(&t->now, t->options->php_offsets, is_target, t->recorder, &t->no_now);
	t->has_now = true;
	if (!t->no_now.code && (first || !t->frozen))
		php_activity_list_read(&t->now);
	request_rows_init(&t->requests);
	request_rows_fill(&t->requests, &t->now, t->view->has_filter ? &t->view->regex : NULL);
	if (t->no_now.code)
		snprintf(t->requests.why, sizeof(t->requests.why), "%.590s", t->no_now.text);
	top_view_take_requests(t->view, &before, &t->requests);
	request_rows_done(&before);
}

static void fill(struct session *t)
{
	struct top_rows before = t->rows;

	t->view->rows = &before;
	if (t->view->requests)
		fill_requests(t);
	t->facts.length_ns = live_length_ns(shown(t), t->view->period);
	t->facts.all_ns = live_length_ns(shown(t), LIVE_ALL);
	live_summary(shown(t), t->view->period, &t->facts.summary);
	top_rows_init(&t->rows);
	top_view_fill(t->view, shown(t), &t->rows);
	top_rows_done(&before);
}

static void begin(struct session *t, int64_t window_ns)
{
	t->live = live_new(window_ns);
	top_rows_init(&t->rows);
	request_rows_init(&t->requests);
	t->facts = (struct top_status){
		.target = t->options->target, .frames = t->options->frames, .fallback = recorder_fallback(t->recorder),
	};
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	signal(SIGHUP, interrupt);
	signal(SIGQUIT, interrupt);
}

static void end(struct session *t)
{
	live_free(t->live);
	live_free(t->frozen);
	top_rows_done(&t->rows);
	request_rows_done(&t->requests);
	if (t->has_now)
		php_activity_list_done(&t->now);
}

/* --- saving a picture --- */

static struct profile *only_matching(const struct top_view *v, struct profile *p)
{
	_cleanup_(freep) bool *focus = report_no_frames(p);
	struct profile *filtered;

	for (uint32_t f = 0; f < p->frame_count; f++)
		focus[f] = top_rows_match(&v->regex, profile_name(p, f)) || top_rows_match(&v->regex, profile_file(p, f));
	filtered = report_filter(p, focus, NULL);
	profile_free(p);
	return filtered;
}

/* A picture shows the column by which the table is sorted. */
static struct profile *shown_profile(const struct session *t)
{
	const struct top_view *v = t->view;
	bool off = v->has_off_cpu && (!v->has_on_cpu || v->sort == TOP_OFF_SELF || v->sort == TOP_OFF_TOTAL);
	struct profile *p = live_profile(shown(t), v->period, &v->scope), *r = profile_new();

	if (v->has_filter && !top_by_label(v->by))
		p = only_matching(v, p);
	profile_column(r, off ? "off_cpu_ns" : "cpu_ns", "nanoseconds");
	profile_merge(r, p);
	profile_free(p);
	record_summary_label(&t->facts.summary, &r->labels);
	r->end_ns = clock_wall_ns();
	r->start_ns = r->end_ns - t->facts.length_ns;
	r->period_ns = t->options->hz ? NS_PER_SECOND / t->options->hz : 0;
	return r;
}

static int write_profile(const char *path, const struct profile *p, struct err *err)
{
	_cleanup_(buf_done) struct buf file = { 0 };
	int e = profile_file_check(path, err);

	buf_init(&file);
	if (e >= 0 && !strcmp(path, "-"))
		e = err_set(err, -EINVAL, "standard output shows the screen; give a file name");
	if (e >= 0 && !profile_has_samples(p))
		e = err_set(err, -ENODATA, "nothing to save yet");
	if (e >= 0)
		e = profile_file_put(path, p, &file, err);
	return e < 0 ? e : io_write_file(path, file.data, file.size, err);
}

static void save(struct session *t)
{
	_cleanup_(profile_freep) struct profile *p = shown_profile(t);
	struct err err = { 0 };

	if (write_profile(t->view->input, p, &err) < 0)
		snprintf(t->view->message, sizeof(t->view->message), "not saved: %.250s", err.text);
	else
		snprintf(t->view->message, sizeof(t->view->message), "wrote %s", t->view->input);
}

/* --- on a terminal */

static void suggest_name(char *ret, size_t size)
{
	char time[24];

	clock_format(clock_wall_ns(), time, sizeof(time));
	snprintf(ret, size, "strobe-top-%.4s%.2s%.2s-%.2s%.2s%.2s.svg", time, time + 5, time + 8, time + 11, time + 14, time + 17);
}

static enum top_action act(struct session *t, enum top_action action)
{
	if (action == TOP_RESET)
		live_reset(t->live);
	if (action == TOP_SAVE)
		save(t);
	if (action == TOP_REFILL || action == TOP_RESET) {
		if (t->view->paused && !t->frozen)
			t->frozen = live_copy(t->live);
		if (!t->view->paused)
			t->frozen = live_free(t->frozen);
		fill(t);
	}
	return action;
}

/* Handles all keys typed. Returns whether the screen must be redrawn; sets `ret_quit`. */
static bool take_keys(struct session *t, struct terminal *terminal, bool *ret_quit)
{
	char suggested[64];
	bool changed = false;
	uint32_t key;

	suggest_name(suggested, sizeof(suggested));
	while (!*ret_quit && (key = terminal_key(terminal)) != TOP_KEY_NONE) {
		enum top_action action = act(t, top_view_key(t->view, key, suggested));

		changed |= action != TOP_NOTHING;
		*ret_quit = action == TOP_QUIT;
	}
	*ret_quit |= !terminal_is_there(terminal);
	return changed;
}

static void draw(struct session *t, struct terminal *terminal, struct top_screen *screen)
{
	size_t width, height;

	terminal_size(terminal, &width, &height);
	top_screen_lay_out(screen, t->view, &t->facts, width, height);
	terminal_show(terminal, screen);
}

/* Runs the recorder until the next time to read keys. After the processes have ended, their table stays until a key
 * is pressed. */
static int wait_a_little(struct session *t, struct err *err)
{
	int e;

	if (t->facts.ended) {
		usleep(KEYS_NS / 1000);
		return 0;
	}
	e = recorder_run(t->recorder, KEYS_NS, err);
	t->facts.ended = e == 0;
	return e;
}

static bool has_ended(const struct session *t)
{
	return interrupted || (t->options->duration_ns && recorder_elapsed_ns(t->recorder) >= t->options->duration_ns);
}

static int run_screen(struct session *t, struct terminal *terminal, struct err *err)
{
	int64_t every = t->options->every_ns ? t->options->every_ns : NS_PER_SECOND;
	struct top_screen screen;
	bool quit = false, changed = true;
	int e = recorder_start(t->recorder, err);

	top_screen_init(&screen);
	if (e >= 0)
		fill(t);
	while (e >= 0 && !quit && !has_ended(t)) {
		if (changed)
			draw(t, terminal, &screen);
		bool ended = t->facts.ended;

		e = wait_a_little(t, err);
		changed = e >= 0 && take_keys(t, terminal, &quit);
		if (e < 0 || ended || (!t->facts.ended && recorder_elapsed_ns(t->recorder) < t->taken_ns + every))
			continue;
		e = take(t, err);
		if (e >= 0 && !t->frozen) {
			fill(t);
			changed = true;
		}
	}
	top_screen_done(&screen);
	return e;
}

/* --- as lines */

static void print(struct session *t)
{
	_cleanup_(buf_done) struct buf out = { 0 };

	buf_init(&out);
	fill(t);
	(t->options->json ? top_put_json : top_put_plain)(&out, t->view, &t->facts, t->options->rows, clock_wall_ns());
	fwrite(out.data, 1, out.size, stdout);
	fflush(stdout);
}

static int run_plain(struct session *t, struct err *err)
{
	int64_t every = t->options->every_ns ? t->options->every_ns : PLAIN_NS;
	int e = recorder_start(t->recorder, err);

	if (e >= 0)
		e = 1;
	while (e > 0 && !has_ended(t)) {
		int64_t now = recorder_elapsed_ns(t->recorder), until = t->taken_ns + every;

		if (t->options->duration_ns && until > t->options->duration_ns)
			until = t->options->duration_ns;
		e = until > now ? recorder_run(t->recorder, until - now, err) : 1;
		if (e < 0 || (e > 0 && recorder_elapsed_ns(t->recorder) < until) || has_ended(t))
			continue;
		if (take(t, err) < 0)
			return err->code;
		print(t);
	}
	if (e >= 0)
		e = recorder_stop(t->recorder, err);
	if (e >= 0)
		e = take(t, err);
	if (e >= 0)
		print(t);
	return e;
}

/* --- */

int top_session_run(struct recorder *r, struct top_view *v, struct terminal *terminal, const struct top_session_options *o,
		    struct err *err)
{
	struct session t = { .recorder = r, .options = o, .view = v };
	int e;

	begin(&t, terminal ? o->window_ns : 0);
	e = terminal ? run_screen(&t, terminal, err) : run_plain(&t, err);
	end(&t);
	return e;
}
