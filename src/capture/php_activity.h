/* php_activity.h: the current activity of a PHP thread: its request and its stack. */
#ifndef CAPTURE_PHP_ACTIVITY_H
#define CAPTURE_PHP_ACTIVITY_H

#include "buf.h"
#include "remote_reading.h"
#include "remote_targets.h"

enum php_state {
	PHP_RUNNING,			/* on CPU, or waiting for one */
	PHP_WAITING,			/* asleep in a PHP function */
	PHP_STOPPED,			/* stopped by a signal or a debugger */
	PHP_IDLE,			/* no request, and no function */
	PHP_UNREADABLE,			/* `why` has the reason */
	PHP_ENDED,			/* ended while it was read */
};

struct php_activity {
	enum php_state doing;
	pid_t pid, tid;
	char name[96];			/* "php", "php-fpm, pool www", "apache2" */
	char pool[64];			/* php-fpm's pool, else "" */
	char method[METHOD_SIZE];	/* "" outside of requests, as are the next two */
	char uri[1024];			/* without its query */
	char script[FILE_SIZE];
	int64_t age_ns;			/* since the request was accepted, or the command started; -1: unknown */
	int64_t requests;		/* requests served by a php-fpm worker; -1: unknown */
	char why[256];
	struct remote_reading reading;	/* its walk is the stack, if it is running, waiting or stopped */
};

/* Inspects a thread. The caller must call php_activity_done. */
void php_activity_read(const struct remote_thread *t, struct php_activity *ret);
void php_activity_done(struct php_activity *n);

/* Appends the name of a frame of its stack; frame 0 is the running one. */
void php_activity_put_name(const struct php_activity *n, u32 frame, struct buf *out);

/* Appends the stack, running function first: indented lines of name, file and line, escaped for a terminal. */
void php_activity_put_stack(const struct php_activity *n, struct buf *out);

/* Returns "running", "waiting", … */
const char *php_state_name(enum php_state d);

#endif
