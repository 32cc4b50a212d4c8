/* token.c: reads a token from a file, or else from the environment. */
#include "token.h"

#include "io.h"

#include <stdlib.h>

int token_get(const char *path, const char *variable, struct buf *ret, struct err *err)
{
	const char *value = getenv(variable);
	int r;

	buf_reset(ret);
	if (!path) {
		buf_puts(ret, value ? value : "");
		return 0;
	}
	r = io_read_secret(path, "token", ret, err);
	return r != -ENOMSG ? r : err_set(err, r, "'%s' contains no token; create one with: " TOKEN_COMMAND " '%s'", path, path);
}
