/* recording_run.c: runs a recording until its end, Ctrl-C or a signal. */
#include "recording_run.h"

#include "clock.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* The maximum delay before a signal is noticed while events are handled. */
#define STEP_NS NS_PER_SECOND

static volatile sig_atomic_t interrupted, is_open;

static void interrupt(int signo)
{
	if (interrupted && !is_open) {
		signal(signo, SIG_DFL);
		raise(signo);
	}
	interrupted = 1;
}

/* Handles the loss of the terminal, as when a connection breaks; with nohup it stays ignored. */
static void heed_hangup(void)
{
	if (signal(SIGHUP, interrupt) == SIG_IGN)
		signal(SIGHUP, SIG_IGN);
}

void recording_catch_signals(void)
{
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	heed_hangup();
}

/* Returns 0 once the last target is gone. */
static int run_turn(struct recorder *r, int64_t turn_ns, struct err *err)
{
	int e = 1;

	for (int64_t left = turn_ns; e > 0 && left > 0 && !interrupted; left -= STEP_NS)
		e = recorder_run(r, left < STEP_NS ? left : STEP_NS, err);
	return e;
}

int recording_run(struct recorder *r, const struct recording_run *how, struct err *err)
{
	int64_t turn_ns = how->turn_ns ? how->turn_ns : NS_PER_SECOND;
	int e;

	is_open = 1;
	if ((e = recorder_start(r, err)) < 0)
		return e;
	if (!how->quiet && !how->duration_ns && isatty(STDERR_FILENO))
		fputs("strobe: recording; Ctrl-C ends it\n", stderr);
	for (e = 1; e > 0 && !interrupted; ) {
		int64_t left = how->duration_ns ? how->duration_ns - recorder_elapsed_ns(r) : turn_ns;

		if (left <= 0)
			break;
		e = run_turn(r, left < turn_ns ? left : turn_ns, err);
		if (how->turn_ns && e >= 0 && how->turn(how->data, r, err) < 0)
			e = err->code;
	}
	return e < 0 ? e : recorder_stop(r, err);
}
