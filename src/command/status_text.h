/* status_text.h: the answer of /api/v1/status for people. Pure: bytes in, bytes out. */
#ifndef COMMAND_STATUS_TEXT_H
#define COMMAND_STATUS_TEXT_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

struct php_group;

/* The path of the socket on which the daemon listens for PHP; the caller frees. NULL: it has none. */
char *status_text_socket(const struct buf *json);

/* Whether no sample has arrived since the daemon started. */
bool status_text_is_waiting(const struct buf *json);

/* Appends a line for each group of processes that cannot hand over samples, with what to do. */
void status_text_put_unreached(const struct php_group *groups, size_t count, const char *socket_path, struct buf *out);

/* Appends the text for the answer `json` of the daemon at `url`. -EBADMSG if it is not such an answer. */
int status_text_put(const char *url, const struct buf *json, struct buf *out, struct err *err);

#endif
