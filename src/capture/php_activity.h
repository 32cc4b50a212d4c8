/* php_activity.h: the current activity of a PHP thread: its request and its stack. */
#ifndef CAPTURE_PHP_ACTIVITY_H
#define CAPTURE_PHP_ACTIVITY_H

#include "buf.h"
#include "remote_reading.h"
#include "remote_targets.h"

enum php_state {
	PHP_RUNNING,			/* on CPU, or waiting for one */
	PHP_WAITING,			/* asleep in a PHP function */
	PHP_STOPPED,			/* by a signal or a debugger */
	PHP_IDLE,			/* no request, and no function */
	PHP_UNREADABLE,			/* `why` says why */
	PHP_ENDED,			/* meanwhile */
};

struct php_activity {
	enum php_state doing;
	pid_t pid, tid;
	char name[96];			/* "php", "php-fpm, pool www", "apache2" */
	char pool[64];			/* php-fpm's pool, else "" */
	char method[METHOD_SIZE];	/* "" outside of requests, as are the next two */
	char uri[1024];			/* without its query */
	char script[FILE_SIZE];
	int64_t age_ns;			/* since the request was accepted, or the command began; -1: not known */
	int64_t requests;		/* requests of a worker of php-fpm; -1: not known */
	char why[256];
	struct remote_reading reading;	/* its walk is the stack, if it is running, waiting or stopped */
};

/* Looks at a thread. The caller calls php_activity_done. */
void php_activity_read(const struct remote_thread *t, struct php_activity *ret);
void php_activity_done(struct php_activity *n);

/* Appends the name of a frame of its stack, 0 being the one that runs. */
void php_activity_put_name(const struct php_activity *n, u32 frame, struct buf *out);

/* Appends the stack, the running function first: indented lines of name, file and line, fit for a terminal. */
void php_activity_put_stack(const struct php_activity *n, struct buf *out);

/* "running", "waiting", … */
const char *php_state_name(enum php_state d);

#endif
