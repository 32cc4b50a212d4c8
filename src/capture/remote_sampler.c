/* remote_sampler.c: ticks, and the handling of each thread. */

#include "remote_sampler.h"

#include "clock.h"
#include "mem.h"
#include "remote_notes.h"
#include "consistent_read.h"

#include <string.h>
#include <time.h>

struct remote_sampler {
	struct remote_options options;
	struct remote_targets *targets;
	struct remote_notes notes;
	struct remote_reading reading;
	struct remote_counts counts;
	int64_t next_ns;
};

struct remote_sampler *remote_sampler_new(const struct remote_options *o, struct remote_targets *targets,
					  const struct sampler_receiver *r)
{
	struct remote_sampler *s = xcalloc(1, sizeof(*s));

	s->options = *o;
	s->targets = targets;
	remote_notes_init(&s->notes, r);
	s->reading.known = &s->notes.functions;
	s->reading.with_request = o->requests;
	return s;
}

struct remote_sampler *remote_sampler_free(struct remote_sampler *s)
{
	if (!s)
		return NULL;
	remote_notes_done(&s->notes);
	remote_reading_done(&s->reading);
	free(s);
	return NULL;
}

/* --- time */

/* Adds the time since the last check, by the kernel's accounting. */
static void account(struct remote_sampler *s, struct remote_thread *t, const struct thread_snapshot *l)
{
	int64_t now = clock_monotonic_ns();
	u64 cpu, delay, all;

	if (!t->last_ns && !t->process->fresh) {
		t->last = *l;
		t->last_ns = now;
		return;
	}
	cpu = l->cpu_ns - t->last.cpu_ns;
	delay = l->delay_ns - t->last.delay_ns;
	all = t->last_ns ? (u64)(now - t->last_ns) : cpu + delay;
	t->owed_cpu_ns += cpu;
	t->owed_delay_ns += delay;
	t->owed_blocked_ns += all > cpu + delay ? all - cpu - delay : 0;
	t->last = *l;
	t->last_ns = now;
	s->counts.cpu_ns += cpu;
	s->counts.exact = l->exact;
}

static void count(struct remote_sampler *s, struct count_key key, enum sample_kind kind, u64 ns)
{
	struct count c = { 1, ns };

	key.kind = kind;
	s->notes.receiver.count(s->notes.receiver.data, &key, &c);
}

/* Delivers a wait up to now; returns false if it is still too short. */
static bool count_wait(struct remote_sampler *s, struct remote_thread *t)
{
	if (!t->counted && t->wait_ns < s->options.min_ns)
		return false;
	if (t->wait_ns)
		count(s, t->wait, SAMPLE_BLOCKED, t->wait_ns);
	t->counted = true;
	t->wait_ns = 0;
	return true;
}

static void end_wait(struct remote_sampler *s, struct remote_thread *t)
{
	if (t->waits && !count_wait(s, t))
		s->notes.counters[COUNTER_SWITCHES_SHORT]++;
	t->waits = t->counted = false;
	t->wait_ns = 0;
}

static void end_thread(struct remote_sampler *s, struct remote_thread *t)
{
	end_wait(s, t);
	t->ended = true;
	s->counts.ended++;
}

/* --- one observation of a thread */

static void note_process(struct remote_sampler *s, const struct remote_process *p, u64 key)
{
	struct process_event e = { .type = EVENT_PROCESS, .pid = (u32)p->pid, .tgid = (u32)p->pid, .start_ticks = p->php.start_ticks };

	remote_notes_event(&s->notes, key, &e, sizeof(e));
}

static struct count_key key_of(struct remote_sampler *s, const struct remote_thread *t)
{
	struct count_key key = {
		.php = remote_notes_stack(&s->notes, &s->reading), .request = remote_notes_request(&s->notes, &s->reading),
	};

	if (s->options.per_process) {
		key.process = PROCESS_KEY((u32)t->process->pid, t->process->php.start_ticks);
		note_process(s, t->process, key.process);
	}
	return key;
}

static void keep_running(struct remote_sampler *s, struct remote_thread *t)
{
	struct count_key key = key_of(s, t);

	if (s->options.on_cpu) {
		count(s, key, SAMPLE_ON_CPU, t->owed_cpu_ns);
		s->notes.counters[COUNTER_SAMPLES]++;
		s->notes.counters[COUNTER_NO_FRAMES] += !key.php;
	}
	if (s->options.off_cpu && (key.php || s->options.idle) && t->owed_delay_ns)
		count(s, key, SAMPLE_RUNNABLE, t->owed_delay_ns);
	s->counts.sampled_ns += t->owed_cpu_ns;
	t->owed_cpu_ns = t->owed_delay_ns = 0;
	s->counts.kept++;
}

static void keep_asleep(struct remote_sampler *s, struct remote_thread *t)
{
	t->asleep = true;
	t->waits = s->reading.walk.count || s->options.idle;
	if (t->waits)
		t->wait = key_of(s, t);
	t->wait_ns = t->waits ? t->owed_blocked_ns : 0;
	t->owed_blocked_ns = 0;
	s->counts.kept += t->waits;
	s->counts.left_out += !t->waits;
	s->notes.counters[COUNTER_SWITCHES]++;
	s->notes.counters[COUNTER_SWITCHES_IDLE] += !t->waits;
}

static void read_thread(struct remote_sampler *s, struct remote_thread *t)
{
	struct thread_snapshot l = t->last;		/* the current snapshot */
	uint64_t torn = 0;
	enum consistent_read r;

	s->reading.php = remote_thread_php(t);
	r = consistent_read(&t->watch, !s->options.off_cpu, remote_reading_take, &s->reading, &l, &torn);
	s->counts.torn_attempts += torn;
	if (r == CONSISTENT_READ_ENDED) {
		end_thread(s, t);
		return;
	}
	account(s, t, &l);
	if (r == CONSISTENT_READ_TORN) {
		s->counts.torn++;
	} else if (r == CONSISTENT_READ_ASLEEP) {
		t->asleep = true;
		s->counts.slept++;
	} else if (!s->reading.readable) {
		s->notes.counters[COUNTER_GLOBALS_UNREADABLE]++;
		s->counts.unreadable++;
	} else if (thread_state_is_asleep(l.state)) {
		keep_asleep(s, t);
	} else {
		keep_running(s, t);
	}
}

/* A thread that was asleep at the last observation and has not run since still has the same stack. */
static bool is_still_asleep(struct remote_sampler *s, struct remote_thread *t)
{
	struct thread_snapshot l = t->last;

	if (!t->asleep || !thread_watch_account(&t->watch, &l) || l.runs != t->last.runs)
		return false;
	account(s, t, &l);
	if (t->waits)
		t->wait_ns += t->owed_blocked_ns;
	t->owed_blocked_ns = 0;
	s->counts.asleep++;
	return true;
}

static void snapshot(struct remote_sampler *s, struct remote_thread *t)
{
	struct thread_snapshot l = t->last;

	s->counts.observations++;
	if (is_still_asleep(s, t))
		return;
	end_wait(s, t);
	t->asleep = false;
	if (!thread_watch_read(&t->watch, &l)) {
		end_thread(s, t);
		return;
	}
	account(s, t, &l);
	if (s->options.off_cpu || !thread_state_is_asleep(l.state)) {
		read_thread(s, t);
		return;
	}
	t->asleep = true;
	t->owed_blocked_ns = 0;
	s->counts.asleep++;
}

/* --- the clock */

/* Returns -EINTR after a signal. */
static int sleep_until(int64_t ns)
{
	struct timespec t = { ns / NS_PER_SECOND, ns % NS_PER_SECOND };

	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void set_next_tick(struct remote_sampler *s)
{
	int64_t period = NS_PER_SECOND / s->options.hz, now = clock_monotonic_ns();

	s->next_ns += period;
	if (now >= s->next_ns + period) {
		u64 late = (u64)((now - s->next_ns) / period);

		s->counts.late += late;
		s->next_ns += (int64_t)late * period;
	}
}

int remote_sampler_run(struct remote_sampler *s, int64_t until_ns)
{
	int e = 0;

	if (!s->next_ns)
		s->next_ns = clock_monotonic_ns();
	while (e == 0 && s->next_ns <= until_ns) {
		e = sleep_until(s->next_ns);
		if (e < 0)
			break;
		remote_targets_poll(s->targets, s->next_ns);
		for (size_t i = 0; i < s->targets->thread_count; i++)
			if (!s->targets->threads[i]->ended)
				snapshot(s, s->targets->threads[i]);
		s->counts.ticks++;
		s->notes.counters[COUNTER_TICKS]++;
		set_next_tick(s);
	}
	return e < 0 ? e : sleep_until(until_ns);
}

/* --- results */

void remote_sampler_drain(struct remote_sampler *s)
{
	for (size_t i = 0; i < s->targets->thread_count; i++)
		if (s->targets->threads[i]->waits)
			count_wait(s, s->targets->threads[i]);
}

void remote_sampler_forget_names(struct remote_sampler *s)
{
	remote_notes_forget(&s->notes);
}

void remote_sampler_each_wait(struct remote_sampler *s, void (*each)(void *data, const struct count_key *key), void *data)
{
	for (size_t i = 0; i < s->targets->thread_count; i++)
		if (s->targets->threads[i]->waits)
			each(data, &s->targets->threads[i]->wait);
}

void remote_sampler_stop(struct remote_sampler *s)
{
	for (size_t i = 0; i < s->targets->thread_count; i++)
		if (!s->targets->threads[i]->ended)
			is_still_asleep(s, s->targets->threads[i]);
	remote_sampler_drain(s);
	s->counts.proved = consistent_read_is_proven();
	consistent_read_end();
}

void remote_sampler_counts(const struct remote_sampler *s, struct remote_counts *ret)
{
	*ret = s->counts;
	ret->closed = (unsigned)s->targets->closed.count;
	ret->closed_why = s->targets->closed_why;
}

u64 remote_sampler_counter(const struct remote_sampler *s, enum counter c)
{
	return s->notes.counters[c];
}
