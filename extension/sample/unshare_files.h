/* unshare_files.h: lets a thread open files that the rest of the process does not see, on Linux.
 *
 * Threads share one table of descriptors. A descriptor that a thread of ours opens in it, for however short a time, may take the
 * number that a script expects next (`fclose(STDIN)` and then fopen() is how PHP redirects its input), and is inherited when
 * another thread forks or calls exec. So a thread that opens files at moments unknown to the program has a table of
 * its own, without any of the program's descriptors: they must not stay open in it.
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

/* For the calling thread, in which no descriptor is open afterwards. False before Linux 5.9. */
static inline bool unshare_files(void)
{
	return syscall(SYS_close_range, 0u, ~0u, STROBE_CLOSE_RANGE_UNSHARE) == 0;
}

#endif
