/* platform.h: the Linux-specific part of sending: message sockets, and memory sent as sealed files.
 *
 * Descriptors are closed on exec and moved out of the way of small numbers.
 */
#ifndef STROBE_PLATFORM_H
#define STROBE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Connects to a SOCK_SEQPACKET socket, without waiting. Returns the descriptor or a negative errno. */
int platform_connect(const char *path);

/* Sends one message, without waiting and without SIGPIPE. Returns 0 or an errno. */
int platform_send(int fd, const struct msghdr *message);

/* Whether less than a quarter of a socket's buffer is in use. */
bool platform_has_room(int fd);

/* Whether everything sent has been received. */
bool platform_is_read(int fd);

/* Sends one small message beyond the buffer's limit. Returns 0 or an errno. */
int platform_send_beyond(int fd, const struct msghdr *message);

/* Creates a memfd of `size` bytes and maps it for writing. Returns the descriptor, or -1. */
int platform_memfd(size_t size, void **ret_map);

/* Creates a memfd with a copy of `bytes`. Returns the descriptor, or -1. For existing bytes this is cheaper than a
 * mapping, whose pages are cleared and faulted in one by one. */
int platform_memfd_of(const void *bytes, size_t size);

/* Maps a sealed memfd for reading; NULL on failure. The caller unmaps it. */
const void *platform_memfd_map(int fd, size_t size);

/* Seals content and size of a memfd, and unmaps what platform_memfd mapped (NULL: nothing). False on failure. */
bool platform_seal(int fd, void *map, size_t size);

#endif
