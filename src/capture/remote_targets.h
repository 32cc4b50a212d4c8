/* remote_targets.h: the processes and threads whose memory is read: found by polling /proc.
 *
 * New processes are detected by the last number that the kernel has assigned, which takes one small read, so they are
 * found within one tick; all of /proc is scanned once a second.
 */
#ifndef CAPTURE_REMOTE_TARGETS_H
#define CAPTURE_REMOTE_TARGETS_H

#include "map.h"
#include "php_registry.h"
#include "remote_walk.h"
#include "thread_watch.h"

struct remote_process {
	pid_t pid;
	struct hosted_php php;		/* in its program or a library, and the start time of the process */
	bool fresh;			/* it started during the recording */
};

struct remote_thread {
	struct remote_process *process;
	struct thread_watch watch;
	u64 pointer;			/* in a thread-safe build; 0: not found */
	bool ended;			/* set when detected; the next poll removes it */

	/* For the sampler; zeroed at first. */
	struct thread_snapshot last;
	int64_t last_ns;		/* 0: never observed */
	bool asleep;			/* and has not run since `last` */
	bool waits;			/* its wait will be counted under `wait` when it ends */
	bool counted;			/* part of it has already been counted */
	struct count_key wait;
	u64 wait_ns;
	u64 owed_cpu_ns, owed_delay_ns, owed_blocked_ns;	/* measured, but not attributed to a stack yet */
};

/* A process without PHP that may start one by exec. */
struct young_process {
	pid_t pid;
	int64_t since_ns, due_ns;	/* when it was found, and when it is next checked */
};

struct remote_targets {
	struct php_registry *registry;
	bool (*wanted)(void *data, pid_t pid);	/* whether a process with PHP is a target; NULL: only added processes are */
	void *data;
	struct remote_process **processes;
	struct remote_thread **threads;
	struct young_process *young;
	size_t count, capacity, thread_count, thread_capacity, young_count, young_capacity;
	size_t max;			/* maximum number of processes at a time */
	struct map others;		/* processes without PHP -> when to check them again */
	struct map closed;		/* PHP processes that may not be inspected */
	char closed_why[640];		/* the first one's number, the reason, and the remedy; "" if there are none */
	pid_t last_number;		/* assigned by the kernel */
	int64_t scanned_ns;		/* when /proc was last scanned as a whole, and how often */
	u32 turn;
};

/* `registry` stays the caller's. */
void remote_targets_init(struct remote_targets *t, struct php_registry *registry, bool (*wanted)(void *data, pid_t pid), void *data);
void remote_targets_done(struct remote_targets *t);

/* Adds a process. Returns LANGUAGE_PHP, 0 if it runs no PHP, or an error with a sentence: it has ended, its PHP is
 * unsupported, or its memory may not be read (-EACCES, -EPERM). */
int remote_targets_add(struct remote_targets *t, pid_t pid, struct err *err);

/* Finds new processes and threads, and removes those that have ended. */
void remote_targets_poll(struct remote_targets *t, int64_t now_ns);

/* Returns the location of a thread's PHP, for remote_walk. */
struct remote_php remote_thread_php(const struct remote_thread *t);

#endif
