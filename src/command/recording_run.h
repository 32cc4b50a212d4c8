/* recording_run.h: a recording from start to stop, as commands do it: for a time, or until Ctrl-C. */
#ifndef COMMAND_RECORDING_RUN_H
#define COMMAND_RECORDING_RUN_H

#include "recorder.h"

struct recording_run {
	int64_t duration_ns;		/* 0: until a signal comes */
	bool quiet;			/* do not say on a terminal how it ends */
	int64_t turn_ns;		/* `turn` is called so often; 0: never */
	int (*turn)(void *data, struct recorder *r, struct err *err);
	void *data;
};

/* Call it before the recorder is opened, which may take seconds: from then on SIGINT, SIGTERM and SIGHUP end the recording in an
 * orderly way, even one that has not started. While the recorder is being opened, a second signal ends the program at once. */
void recording_catch_signals(void);

/* Starts, and stops after the time, at SIGINT, SIGTERM or SIGHUP, or with the last process of -p; an error of `turn` ends it too. */
int recording_run(struct recorder *r, const struct recording_run *how, struct err *err);

#endif
