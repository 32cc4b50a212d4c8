/* sampler.c: begins and ends the sampling of requests and units. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "sampler.h"

#include "delivery.h"
#include "sampler_private.h"
#include "strobe_assert.h"
#include "watch.h"

#include "SAPI.h"

/* The first sample is taken after a random part of a period, so that short requests are sampled in proportion to
 * their time. */
static int64_t first_sample(struct sampler *s)
{
	return (int64_t)(random_share(&s->random) * (double)s->period_ns);
}

void sampler_begin(struct sampler *s)
{
	int64_t first = first_sample(s);
	bool began = sampler_changing(s);

	STROBE_ASSERT(s == THREAD_SAMPLER && s->period_ns > 0);
	s->start_ns = realtime_ns();
	s->flush_ns = sampler_next_flush();
	s->active = timer_start(&s->timer, sampler_clock(s), first, s->period_ns) == 0;
	sampler_changed(s, began);
	if (s->active)
		sampler_watch(s);
	else
		sampler_count(&s->counters.no_thread, 1);
}

/* --- requests that cannot be sampled */

const char *sampler_prevented(void)
{
	return delivery_reason();
}

/* Lost samples of this request are counted at its end, when their number is known. */
static void begin_prevented(struct sampler *s)
{
	s->prevented = true;
	sampler_count(&s->counters.prevented, 1);
	s->began_ns = timer_now(sampler_clock(s)) + first_sample(s) - s->period_ns;
}

static void end_prevented(struct sampler *s)
{
	int64_t ns = timer_now(sampler_clock(s)) - s->began_ns;

	STROBE_ASSERT(s->prevented && !s->active && s->period_ns > 0);
	s->prevented = false;
	if (ns >= s->period_ns)
		sender_lost(&s->sender, STROBE_DROP_JIT, (uint64_t)(ns / s->period_ns));
	sampler_publish(s);
}

/* --- requests */

/* opcache.preload also runs as a request, in FPM's master: no request follows, and there must be no thread. */
static bool is_preloading(void)
{
	return SG(server_context) == NULL && strcmp(sapi_module.name, "fpm-fcgi") == 0;
}

/* One per thread, even without a sampler. */
ZEND_TLS enum sampler_state state;

/* Decides whether work that begins now is sampled (SAMPLER_SAMPLED), or why not. */
static enum sampler_state draw(void)
{
	if (is_preloading())
		return SAMPLER_PRELOADING;
	if (!STROBE_G(sample))
		return SAMPLER_OFF;
	if (!sampler_get())
		return SAMPLER_NO_MEMORY;
	if (STROBE_G(request_rate) < 1 && random_share(&THREAD_SAMPLER->random) >= STROBE_G(request_rate))
		return SAMPLER_NOT_CHOSEN;
	return SAMPLER_SAMPLED;
}

void sampler_catch_up(void)
{
	if (THREAD_SAMPLER && THREAD_SAMPLER->active)
		timer_catch_up(&THREAD_SAMPLER->timer);
}

void sampler_request_ending(void)
{
	if (THREAD_SAMPLER && THREAD_SAMPLER->active)
		timer_deliver_rest(&THREAD_SAMPLER->timer);
}

/* If other work is sampled as well, a sample that is slightly late may go to that: on average both lose as much as
 * they gain. */
void sampler_releasing(void)
{
	if (THREAD_SAMPLER && THREAD_SAMPLER->holders == 1)
		sampler_request_ending();
	else
		sampler_catch_up();
}

bool sampler_draw(void)
{
	return draw() == SAMPLER_SAMPLED;
}

static enum sampler_state start(struct sampler *s)
{
	STROBE_ASSERT(!s->active && !s->prevented && !s->timer.running);
	s->root = LABEL_SETS;
	s->holders = 0;
	s->cpu = STROBE_G(cpu_clock);
	s->period_ns = (int64_t)(STROBE_G(period) * 1e9);
	s->max_depth = (size_t)STROBE_G(max_depth);
	s->lines = s->timer.lines = STROBE_G(lines);
	s->before = s->counters.samples;
	s->began_wall_ns = timer_now(TIMER_WALL);
	request_labels_collect(&s->labels);
	if (sampler_prevented()) {
		begin_prevented(s);
		return SAMPLER_PREVENTED;
	}
	if (!sampler_map(s)) {
		sampler_no_memory();
		return SAMPLER_NO_MEMORY;
	}
	s->trie.lines = s->lines;
	sampler_begin(s);
	return s->active ? SAMPLER_SAMPLED : SAMPLER_NO_THREAD;
}

static enum sampler_state hold(void)
{
	enum sampler_state r = SAMPLER_SAMPLED;
	struct sampler *s;

	if (!STROBE_G(sample))
		return SAMPLER_OFF;
	if (is_preloading())
		return SAMPLER_PRELOADING;
	if (!(s = sampler_get()))
		return SAMPLER_NO_MEMORY;
	if (s->prevented)
		return SAMPLER_PREVENTED;
	if (!s->active)
		r = start(s);
	if (r != SAMPLER_SAMPLED)
		return r;
	s->holders++;
	sampler_count(&s->counters.requests, 1);
	return r;
}

bool sampler_hold(void)
{
	return hold() == SAMPLER_SAMPLED;
}

void sampler_release(void)
{
	struct sampler *s = THREAD_SAMPLER;

	if (!s || !s->active)
		return;
	STROBE_ASSERT(s->holders > 0);
	if (--s->holders == 0) {
		s->active = false;
		timer_stop(&s->timer);
		watch_end(WATCH_SAMPLES);
	}
	sampler_flush();
}

void sampler_flush(void)
{
	struct sampler *s = THREAD_SAMPLER;

	if (!s)
		return;
	if (sampler_is_child(s))
		sampler_become_child(s);
	sampler_catch_up();
	sampler_send(s);
}

void sampler_request_start(void)
{
	state = draw();
	if (state == SAMPLER_SAMPLED)
		state = hold();
	STROBE_G(unsampled) = state != SAMPLER_SAMPLED;
}

void sampler_request_end(void)
{
	struct sampler *s = THREAD_SAMPLER;
	bool had_samples;

	state = SAMPLER_NO_REQUEST;
	if (!s || (!s->active && !s->prevented && !sender_waits(&s->sender)))
		return;
	if (sampler_is_child(s))
		sampler_become_child(s);
	if (s->prevented)
		end_prevented(s);
	had_samples = s->trie.samples > 0;
	if (s->active) {
		s->holders = 1;
		sampler_release();
	}
	if (!had_samples)
		sampler_report_losses(s, false);
	sender_drain(&s->sender, true);
	sampler_publish(s);
}

/* --- for people */

/* The timer is stopped when a program enables the JIT. */
static bool was_stopped(void)
{
	return THREAD_SAMPLER && THREAD_SAMPLER->active && !THREAD_SAMPLER->timer.running;
}

bool sampler_active(void)
{
	return THREAD_SAMPLER && THREAD_SAMPLER->active && !was_stopped() && !STROBE_G(unsampled);
}

enum sampler_state sampler_state(void)
{
	if (was_stopped())
		return SAMPLER_PREVENTED;
	if (sampler_active())
		return SAMPLER_SAMPLED;
	if (state != SAMPLER_SAMPLED)
		return state;
	return STROBE_G(unsampled) ? SAMPLER_NOT_CHOSEN : SAMPLER_NO_THREAD;
}

const struct sender *sampler_sender(void)
{
	return THREAD_SAMPLER ? &THREAD_SAMPLER->sender : NULL;
}

uint64_t sampler_request_samples(double *ret_seconds)
{
	*ret_seconds = sampler_active() ? (double)(timer_now(TIMER_WALL) - THREAD_SAMPLER->began_wall_ns) / 1e9 : 0;
	return sampler_active() ? THREAD_SAMPLER->counters.samples - THREAD_SAMPLER->before : 0;
}
