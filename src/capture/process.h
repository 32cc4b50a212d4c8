/* process.h: facts about processes, from /proc.
 *
 * A process is identified by its number and start time, since numbers are reused. Numbers are those of the caller's
 * pid namespace, as in its /proc.
 */
#ifndef CAPTURE_PROCESS_H
#define CAPTURE_PROCESS_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the start time, in clock ticks after boot; 0 if the process does not exist. */
uint64_t process_start_ticks(pid_t pid);

/* Sets the error -ESRCH: the process does not exist, or the caller may not see it. */
int process_absent(pid_t pid, struct err *err);

/* Tells whether the process with that start time is still running. A zombie is not. */
bool process_lives(pid_t pid, uint64_t start_ticks);

/* Tells whether it is a kernel thread. */
bool process_is_of_kernel(pid_t pid);

/* Returns its parent; 0 if it has ended, or the parent is outside this namespace. */
pid_t process_parent(pid_t pid);

/* Returns its command line with blanks between the words, or "[comm]" if it has none; false if it has ended. */
bool process_command_line(pid_t pid, struct buf *ret);

/* Returns the pool of a php-fpm worker, from its title; false for other processes. */
bool process_fpm_pool(pid_t pid, char *ret, size_t size);
bool process_is_fpm_master(pid_t pid);

/* Returns the id of its container (64 hexadecimal digits in the path of its cgroup); false outside containers. */
bool process_container(pid_t pid, char *ret, size_t size);

/* Returns the number of a thread in its own pid namespace, as the process itself sees it. */
pid_t thread_own_number(pid_t pid, pid_t tid);

/* Returns how many times the thread has left the CPU, to detect whether it ran in between; false if the thread has
 * ended. */
bool thread_switches(pid_t pid, pid_t tid, uint64_t *ret);

/* Tells whether the thread waits for something, or is stopped. */
bool thread_is_asleep(pid_t pid, pid_t tid);

/* Calls `each` for every process, or with the numbers of every thread of one. */
void process_each(void (*each)(pid_t pid, void *data), void *data);
void process_each_thread(pid_t pid, void (*each)(pid_t tid, void *data), void *data);

#endif
