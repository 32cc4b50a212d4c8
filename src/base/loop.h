/* loop.h: an event loop over epoll, timerfd and signalfd; one thread, Linux only.
 *
 * A watch is embedded in the owner of the descriptor. Callbacks may remove any watch, including their own, and free
 * the struct around it: a watch is not accessed after its removal. */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include "err.h"
#include <stdbool.h>
#include <stdint.h>

struct loop;

struct watch {
	void (*ready)(struct watch *w, uint32_t events);	/* EPOLLIN … */
	int fd;							/* -1 while not added */
};

struct loop *loop_new(struct err *err);
struct loop *loop_free(struct loop *l);

/* Starts watching w->fd, level-triggered. The descriptor stays the caller's, who must remove the watch before closing
 * it; w->fd is -1 after the removal. */
int loop_add(struct loop *l, struct watch *w, uint32_t events, struct err *err);
void loop_remove(struct loop *l, struct watch *w);

/* Creates a timerfd that fires every `period_ns` and watches it; loop_remove_timer closes it. */
int loop_add_timer(struct loop *l, struct watch *w, int64_t period_ns, struct err *err);
void loop_remove_timer(struct loop *l, struct watch *w);
uint64_t loop_timer_read(struct watch *w);		/* expirations since the last read */

/* Blocks SIGINT, SIGTERM and (if not 0) `also` in this thread, and delivers them to `got` from the loop. Call it
 * before threads are started, so that they inherit the mask. */
int loop_on_signals(struct loop *l, void (*got)(int signo, void *data), void *data, int also, struct err *err);

/* Runs until loop_stop. Returns its status. */
int loop_run(struct loop *l, struct err *err);
void loop_stop(struct loop *l, int status);

#endif
