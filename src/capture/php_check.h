/* php_check.h: checks that the table of offsets fits a running PHP.
 *
 * A PHP built with other options, or a wrong entry in the table, would give stacks that look right but are wrong.
 */
#ifndef CAPTURE_PHP_CHECK_H
#define CAPTURE_PHP_CHECK_H

#include "php_image.h"
#include <stdbool.h>
#include <sys/types.h>

enum php_check {
	PHP_CHECK_UNKNOWN,		/* too little to check yet, or no permission; try again later */
	PHP_CHECK_FITS,
	PHP_CHECK_WRONG,
};

/* Inspects the memory of a process that runs the binary (remote_memory_select); `bias` is added to the file's
 * addresses, `thread` is the thread pointer of one of its threads (thread_pointer.h) if PHP is thread-safe; 0:
 * unknown. Returns FITS only if the running code used each field, so an idle process is UNKNOWN. `ret_why`, of at
 * least 128 bytes, explains the mismatch if the result is WRONG. A running process may change between two reads, so
 * WRONG counts only if it persists for a while. */
enum php_check php_check(const struct php_image *b, u64 bias, u64 thread, char *ret_why, size_t size);

/* Returns the difference between a process' addresses and those in its program; false if it cannot be read. */
bool php_check_bias(const struct php_image *b, pid_t pid, u64 *ret);

#endif
