/* perf_sched.c: measures how long and where threads slept, from the scheduler's events in the output of `perf script`.
 *
 *	perf record -a -g -e sched:sched_switch -e sched:sched_waking …
 *	perf script -F comm,pid,tid,time,event,ip,sym,dso,trace
 *
 *	php 24636/24640 4796.863: sched:sched_switch: prev_comm=php prev_pid=24640 … prev_state=S ==> next_comm=cat next_pid=7 …
 *	cat     7/7     4796.864: sched:sched_waking: comm=php pid=24640 …
 *	cat     7/7     4796.864: sched:sched_stat_sleep: comm=php pid=24640 delay=1000432 [ns]
 *
 * Each is followed by the stack of the running thread. A thread falls asleep at sched_switch, and sleeps until it is
 * woken (sched_waking, sched_wakeup) or runs again (next_pid); a runnable one (state R) does not sleep. Kernels with
 * sched_stat_sleep and sched_stat_blocked report the duration themselves: if there is any of these events, nothing
 * else is counted.
 *
 * The value of a stack is in whole microseconds; stacks with less are left out. Names are not changed, and include
 * parameters.
 */
#include "format.h"
#include "mem.h"
#include "perf_line.h"
#include <limits.h>
#include <string.h>

#define WAKE_FRAMES	((size_t)512)	/* frames of a chain of threads that wake each other, which may be endless */
#define TIME_MAX_NS	((uint64_t)INT64_MAX)

struct stack {
	uint32_t *frames;
	size_t count, capacity;
};

struct thread {
	bool is_off;			/* switched out, and no sched_stat_… event since then */
	bool is_asleep;			/* switched out, and neither woken nor running since then */
	bool was_woken;
	uint64_t since_ns;
	struct stack stack;		/* when it was switched out, root first */
	struct stack wake;		/* its stack and those of its wakers, until it is switched out again */
};

enum measure { BY_KERNEL, BY_TIMES, MEASURES };

struct sched_reader {
	struct profile *profile;
	const struct format_options *options;
	struct input *in;

	struct map threads_by_id;
	struct thread *threads;
	size_t thread_count, thread_capacity;

	uint64_t *ns[MEASURES];		/* by node */
	size_t node_capacity[MEASURES];
	uint64_t events[MEASURES];	/* events that reported how long a thread slept */

	struct stack running, path;	/* scratch */
	struct buf text;
	uint64_t switches;
};

/* --- Events --- */

/* Returns the text after `key`, such as " prev_pid=", up to `until` or the next space. */
static struct str field(struct str line, const char *key, const char *until)
{
	const char *p = memmem(line.p, line.n, key, strlen(key)), *end = line.p + line.n, *stop = NULL;

	if (!p)
		return (struct str){ "", 0 };
	p += strlen(key);
	if (until)
		stop = memmem(p, (size_t)(end - p), until, strlen(until));
	if (!stop)
		for (stop = p; stop < end && !perf_is_space(*stop); stop++)
			;
	return (struct str){ p, (size_t)(stop - p) };
}

static uint64_t number(struct str s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(s.p[i] - '0'), &n))
			return UINT64_MAX;
	return n;
}

/* Parses "4796.862830". */
static uint64_t time_ns(struct str s)
{
	const char *point = memchr(s.p, '.', s.n);
	uint64_t seconds = number(s), ns = 0, scale = 100000000;

	for (const char *p = point ? point + 1 : s.p + s.n; p < s.p + s.n && *p >= '0' && *p <= '9'; p++, scale /= 10)
		ns += (uint64_t)(*p - '0') * scale;
	return seconds > TIME_MAX_NS / 1000000000 - 1 ? TIME_MAX_NS : seconds * 1000000000 + ns;
}

/* Finds the thread by its number; idle threads, 0, are ignored. */
static struct thread *thread_of(struct sched_reader *r, struct str id)
{
	uint64_t tid = number(id);
	uint32_t *slot;

	if (!tid)
		return NULL;
	slot = map_slot(&r->threads_by_id, tid);
	if (*slot == MAP_NONE) {
		*slot = (uint32_t)r->thread_count;
		GROW(&r->threads, &r->thread_capacity, r->thread_count + 1);
		r->threads[r->thread_count++] = (struct thread){ 0 };
	}
	return &r->threads[*slot];
}

/* --- Stacks --- */

static void push(struct stack *s, uint32_t frame)
{
	GROW(&s->frames, &s->capacity, s->count + 1);
	s->frames[s->count++] = frame;
}

static void push_all(struct stack *s, const struct stack *from)
{
	for (size_t i = 0; i < from->count; i++)
		push(s, from->frames[i]);
}

static void push_name(struct sched_reader *r, struct stack *s, struct str name, struct str module)
{
	push(s, profile_frame(r->profile, name, module, 0));
}

/* Pushes "comm", or "comm-ID". */
static void push_process(struct sched_reader *r, struct stack *s, struct str comm, struct str id)
{
	buf_reset(&r->text);
	buf_put(&r->text, comm.p, comm.n);
	for (size_t i = 0; i < r->text.size; i++)
		if (r->text.data[i] == ' ')
			r->text.data[i] = '_';
	if (r->options->record_tid) {
		buf_putc(&r->text, '-');
		buf_put(&r->text, id.p, id.n);
	}
	push_name(r, s, (struct str){ r->text.data, r->text.size }, (struct str){ "", 0 });
}

static struct str without_offset(struct str symbol)
{
	const char *plus = memrchr(symbol.p, '+', symbol.n);
	size_t left = plus ? (size_t)(symbol.p + symbol.n - plus) : 0;

	if (left > 3 && plus[1] == '0' && plus[2] == 'x' && strspn(plus + 3, "0123456789abcdef") >= left - 3)
		symbol.n -= left;
	return symbol;
}

/* Sets `running` to the frames of `chain`, leaf first. */
static void read_chain(struct sched_reader *r, struct str chain)
{
	const char *p = chain.p, *end = chain.p + chain.n, *newline;
	struct perf_frame f;

	r->running.count = 0;
	for (; p < end; p = newline ? newline + 1 : end) {
		newline = memchr(p, '\n', (size_t)(end - p));
		if (*p == '#' || !perf_frame_parse((struct str){ p, (size_t)((newline ? newline : end) - p) }, &f))
			continue;
		if (f.module.n == 9 && !memcmp(f.module.p, "[unknown]", 9))
			f.module = (struct str){ "", 0 };
		push_name(r, &r->running, without_offset(f.symbol), f.module);
	}
}

static void copy_reversed(struct stack *to, const struct stack *from)
{
	to->count = 0;
	for (size_t i = from->count; i-- > 0;)
		push(to, from->frames[i]);
}

/* --- Sleeps --- */

/* Adds the sleep of the thread `comm` and `id`, with the threads that woke it below its stack, if requested. `waker`
 * is NULL if unknown. */
static void add_sleep(struct sched_reader *r, enum measure m, struct str comm, struct str id, struct thread *t,
		      const struct perf_event *waker, uint64_t ns)
{
	const struct format_options *o = r->options;
	uint32_t node;

	r->path.count = 0;
	push_process(r, &r->path, comm, id);
	push_all(&r->path, &t->stack);
	if (waker && (o->record_wake_stack || o->recurse)) {
		struct str who = waker->pid;

		push_all(&r->path, &r->running);
		if (waker->tid.n)
			who.n = (size_t)(waker->tid.p + waker->tid.n - waker->pid.p);
		push_process(r, &r->path, waker->comm, who);
	}
	if (waker && o->recurse) {
		const struct thread *w = thread_of(r, waker->tid.n ? waker->tid : waker->pid);

		t = thread_of(r, id);
		if (w && w->was_woken) {
			push_name(r, &r->path, (struct str){ "-", 1 }, (struct str){ "", 0 });
			push_all(&r->path, &w->wake);
		}
		t->wake.count = 0;
		for (size_t i = 1; i < r->path.count && i <= WAKE_FRAMES; i++)
			push(&t->wake, r->path.frames[i]);
	}
	node = profile_stack(r->profile, r->path.frames, r->path.count);
	if (node >= r->node_capacity[m]) {
		size_t had = r->node_capacity[m];

		GROW(&r->ns[m], &r->node_capacity[m], (size_t)node + 1);
		memset(r->ns[m] + had, 0, (r->node_capacity[m] - had) * sizeof(*r->ns[m]));
	}
	if (__builtin_add_overflow(r->ns[m][node], ns, &r->ns[m][node]))
		r->ns[m][node] = UINT64_MAX;
}

/* Ends a thread's sleep, because it was woken or runs. */
static void end_sleep(struct sched_reader *r, struct str comm, struct str id, const struct perf_event *waker,
		      uint64_t now)
{
	struct thread *t = thread_of(r, id);

	if (!t || !t->is_asleep)
		return;
	t->is_asleep = false;
	t->was_woken |= waker != NULL;
	r->events[BY_TIMES]++;
	add_sleep(r, BY_TIMES, comm, id, t, waker, now > t->since_ns ? now - t->since_ns : 0);
}

static void on_switch(struct sched_reader *r, const struct perf_event *e)
{
	struct str state = field(e->rest, " prev_state=", NULL), id = field(e->rest, " prev_pid=", NULL);
	struct thread *t = thread_of(r, id);

	r->switches++;
	if (t) {
		copy_reversed(&t->stack, &r->running);
		t->wake.count = 0;
		t->is_off = true;
		t->is_asleep = state.n && state.p[0] != 'R';
		t->since_ns = time_ns(e->time);
	}
	end_sleep(r, field(e->rest, " next_comm=", " next_pid="), field(e->rest, " next_pid=", NULL), NULL,
		  time_ns(e->time));
}

static void on_stat(struct sched_reader *r, const struct perf_event *e)
{
	struct str comm = field(e->rest, " comm=", " pid="), id = field(e->rest, " pid=", NULL);
	struct thread *t = thread_of(r, id);

	/* Perf writes some of these events twice. */
	if (!t || !t->is_off)
		return;
	t->is_off = false;
	t->was_woken = true;
	r->events[BY_KERNEL]++;
	add_sleep(r, BY_KERNEL, comm, id, t, e, number(field(e->rest, " delay=", NULL)));
}

static bool is_of(const struct perf_event *e, const char *name)
{
	return memmem(e->rest.p, e->rest.n, name, strlen(name)) != NULL;
}

static void on_event(struct sched_reader *r, const struct perf_event *e, struct str chain)
{
	read_chain(r, chain);
	if (is_of(e, "sched:sched_switch"))
		on_switch(r, e);
	else if (is_of(e, "sched:sched_stat_sleep") || is_of(e, "sched:sched_stat_blocked"))
		on_stat(r, e);
	else if (is_of(e, "sched:sched_waking") || is_of(e, "sched:sched_wakeup"))
		end_sleep(r, field(e->rest, " comm=", " pid="), field(e->rest, " pid=", NULL), e, time_ns(e->time));
}

/* --- Top level --- */

static int read_events(struct sched_reader *r, struct err *err)
{
	_cleanup_(buf_done) struct buf copy = { 0 };
	struct str line, chain;

	buf_init(&copy);
	while (input_line(r->in, &line)) {
		uint64_t number = r->in->line;
		struct perf_event e;

		buf_reset(&copy);
		buf_put(&copy, line.p, line.n);
		if (line.n && line.p[0] == '#')
			continue;
		if (!perf_event_parse((struct str){ copy.data, copy.size }, &e))
			continue;
		if (!perf_chain_take(r->in, &chain))
			return err_set(err, -E2BIG, "the stack below line %llu exceeds the limit of %zu bytes",
				       (unsigned long long)number, PERF_CHAIN_BYTES);
		on_event(r, &e, chain);
	}
	return r->in->err.code;
}

static int finish(struct sched_reader *r, struct err *err)
{
	enum measure m = r->events[BY_KERNEL] ? BY_KERNEL : BY_TIMES;
	uint32_t column;

	if (!r->switches)
		return err_set(err, -EINVAL, "it has no event sched:sched_switch in %llu lines; print one with `perf script` "
			       "after `perf record -a -g -e sched:sched_switch -e sched:sched_waking`",
			       (unsigned long long)r->in->line);
	column = profile_column(r->profile, "off_cpu_us", "microseconds");
	if (column == UINT32_MAX)
		return err_set(err, -E2BIG, "there is no room for a column 'off_cpu_us' beside the existing %u",
			       PROFILE_COLUMNS);
	for (uint32_t n = 1; n < r->profile->node_count && n < r->node_capacity[m]; n++)
		if (r->ns[m][n] / 1000)
			profile_add(r->profile, n, column, (int64_t)(r->ns[m][n] / 1000));
	return 0;
}

static void done(struct sched_reader *r)
{
	for (size_t i = 0; i < r->thread_count; i++) {
		free(r->threads[i].stack.frames);
		free(r->threads[i].wake.frames);
	}
	free(r->threads);
	map_done(&r->threads_by_id);
	free(r->ns[BY_KERNEL]);
	free(r->ns[BY_TIMES]);
	free(r->running.frames);
	free(r->path.frames);
	buf_done(&r->text);
}

static int perf_sched_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	const struct labels none = { 0 };
	struct sched_reader r = { .profile = p, .options = o, .in = in };
	int code;

	profile_describe(p, 0, false, &none);
	map_init(&r.threads_by_id);
	buf_init(&r.text);
	code = read_events(&r, err);
	if (!code)
		code = finish(&r, err);
	done(&r);
	return code;
}

/* It looks like any other text of perf script, so it is only used if selected explicitly. */
const struct format format_perf_sched = {
	"perf-sched", "", NULL, perf_sched_read, NULL,
	.about = "scheduler events of perf script, time that threads sleep"
};
