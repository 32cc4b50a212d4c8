/* futex.h: Linux' futex: waits for a number to change, between threads of one process. */
#ifndef STROBE_FUTEX_H
#define STROBE_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Waits while *word is `value`, until it is woken, interrupted or CLOCK_MONOTONIC reaches `until` (NULL: no end). */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *until)
{
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Wakes at most `count` waiters. */
static inline void futex_wake(_Atomic uint32_t *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#endif
