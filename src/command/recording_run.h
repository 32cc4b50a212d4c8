/* recording_run.h: runs a recording from start to stop: for a given time, or until Ctrl-C. */
#ifndef COMMAND_RECORDING_RUN_H
#define COMMAND_RECORDING_RUN_H

#include "recorder.h"

struct recording_run {
	int64_t duration_ns;		/* 0: until a signal arrives */
	bool quiet;			/* do not print to a terminal how it ends */
	int64_t turn_ns;		/* interval between calls of `turn`; 0: never */
	int (*turn)(void *data, struct recorder *r, struct err *err);
	void *data;
};

/* Call this before opening the recorder, which may take seconds: from then on SIGINT, SIGTERM and SIGHUP end the
 * recording in an orderly way, even one that has not started. While the recorder is being opened, a second signal
 * ends the program immediately. */
void recording_catch_signals(void);

/* Runs until the time is over, SIGINT, SIGTERM or SIGHUP arrives, the last process of -p exits, or `turn` fails. */
int recording_run(struct recorder *r, const struct recording_run *how, struct err *err);

#endif
