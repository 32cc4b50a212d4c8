/* token.h: the token of a daemon, from a file or the environment: other users can read what stands in a command line. */
#ifndef BASE_TOKEN_H
#define BASE_TOKEN_H

#include "buf.h"
#include "err.h"

/* The command that makes a token which nobody else can read; the file's name follows. */
#define TOKEN_COMMAND		"openssl rand -hex 32 | install -m 600 -D /dev/stdin"

#define TOKEN_VARIABLE		"STROBE_TOKEN"
#define TOKEN_READ_VARIABLE	"STROBE_READ_TOKEN"
#define TOKEN_PROBE_VARIABLE	"STROBE_PROBE_TOKEN"

/* Puts the token into `ret`: what the file at `path` holds, or where that is NULL the environment's `variable`; nothing
 * if there is neither. */
int token_get(const char *path, const char *variable, struct buf *ret, struct err *err);

#endif
