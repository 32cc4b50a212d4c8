/* status_text.h: the answer of /api/v1/status for people. Pure: bytes in, bytes out. */
#ifndef CLI_STATUS_TEXT_H
#define CLI_STATUS_TEXT_H

#include "buf.h"
#include "err.h"

/* Appends the text for the answer `json` of the daemon at `url`. -EBADMSG if it is not such an answer. */
int status_text_put(const char *url, const struct buf *json, struct buf *out, struct err *err);

#endif
