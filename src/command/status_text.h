/* status_text.h: formats the answer of /api/v1/status for people. Pure: bytes in, bytes out. */
#ifndef COMMAND_STATUS_TEXT_H
#define COMMAND_STATUS_TEXT_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

struct php_group;

/* Returns the path of the daemon's socket for PHP; NULL if it has none. The caller frees. */
char *status_text_socket(const struct buf *json);

/* Whether no sample has arrived since the daemon started. */
bool status_text_is_waiting(const struct buf *json);

/* Appends a line with a remedy for each group of processes that cannot send samples. */
void status_text_put_unreached(const struct php_group *groups, size_t count, const char *socket_path, struct buf *out);

/* Appends the text for the answer `json` of the daemon at `url`. -EBADMSG if it is not a status. */
int status_text_put(const char *url, const struct buf *json, struct buf *out, struct err *err);

#endif
