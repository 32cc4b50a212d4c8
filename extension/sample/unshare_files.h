/* unshare_files.h: lets a thread open files that the rest of the process does not see, on Linux.
 *
 * Threads share one table of descriptors. A descriptor opened by a thread of ours, however briefly, may take the
 * number that a script expects next (PHP redirects its input by `fclose(STDIN)` and then fopen()), and is inherited
 * when another thread forks or calls exec. So a thread that opens files at times unknown to the program has its own
 * table, without any of the program's descriptors, which must not stay open in it.
 */
#ifndef STROBE_UNSHARE_FILES_H
#define STROBE_UNSHARE_FILES_H

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define STROBE_CLOSE_RANGE_UNSHARE 2u

/* Applies to the calling thread, which then has no open descriptors. False before Linux 5.9. */
static inline bool unshare_files(void)
{
	return syscall(SYS_close_range, 0u, ~0u, STROBE_CLOSE_RANGE_UNSHARE) == 0;
}

#endif
