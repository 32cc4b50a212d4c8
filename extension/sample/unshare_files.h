/* unshare_files.h: a thread that opens files without the rest of the process noticing, as Linux has it.
 *
 * Threads share one table of descriptors. A descriptor that a thread of ours opens in it, for however short a time, may take the
 * number that a script expects next (`fclose(STDIN)` and then fopen() is how PHP redirects its input), and goes along with a
 * fork() or an exec of another thread. So a thread that opens anything at moments that the program knows nothing of has a table of
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
