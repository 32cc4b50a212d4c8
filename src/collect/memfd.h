/* memfd.h: messages that are too large for a datagram and come as a sealed memfd (see wire/strobe_wire.h). */
#ifndef COLLECT_MEMFD_H
#define COLLECT_MEMFD_H

#include <stddef.h>
#include <stdint.h>

/* Reads the `size` bytes that an envelope announced. Returns NULL unless `fd` is a memfd of exactly that size that
 * can no longer be modified. The caller frees the result; `fd` stays the caller's. */
void *memfd_read(int fd, uint64_t size);

#endif
