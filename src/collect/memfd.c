/* memfd.c: validates a descriptor from another process before it is read. */

#include "memfd.h"

#include "mem.h"
#include "strobe_wire.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* Only memfds (and files of tmpfs and hugetlbfs) support seals, so this also rejects descriptors whose read could
 * block, such as pipes and FUSE files. */
static int is_sealed(int fd, uint64_t size)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size >= 0 && (uint64_t)st.st_size == size;
}

/* Copied instead of mapped: touching a hole in the memfd allocates a page, and without free memory that would be a
 * SIGBUS in the daemon. */
void *memfd_read(int fd, uint64_t size)
{
	char *bytes;

	if (size < STROBE_WIRE_HEADER || size > STROBE_WIRE_MAX || !is_sealed(fd, size))
		return NULL;
	bytes = xmalloc(size);
	for (uint64_t done = 0; done < size;) {
		ssize_t n = pread(fd, bytes + done, size - done, (off_t)done);

		if (n <= 0) {
			free(bytes);
			return NULL;
		}
		done += (uint64_t)n;
	}
	return bytes;
}
