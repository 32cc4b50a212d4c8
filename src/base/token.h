/* token.h: the token of a daemon, from a file or the environment: other users can read what stands in a command line. */
#ifndef BASE_TOKEN_H
#define BASE_TOKEN_H

#include "buf.h"
#include "err.h"

#include <sys/stat.h>

/* The command that makes a token which nobody else can read; the file's name follows. */
#define TOKEN_COMMAND		"openssl rand -hex 32 | install -m 600 -D /dev/stdin"

#define TOKEN_VARIABLE		"STROBE_TOKEN"
#define TOKEN_READ_VARIABLE	"STROBE_READ_TOKEN"
#define TOKEN_PROBE_VARIABLE	"STROBE_PROBE_TOKEN"

/* Puts the token into `ret`: what the file at `path` holds, or where that is NULL the environment's `variable`; nothing
 * if there is neither. */
int token_get(const char *path, const char *variable, struct buf *ret, struct err *err);

/* A process that reads a token, and the files that name the accounts beside it. */
struct token_reader {
	uid_t uid;
	const gid_t *gids;		/* its effective group among them */
	size_t gid_count;
	const char *passwd, *group;	/* "/etc/passwd" and "/etc/group"; a file that is missing has no accounts */
};

/* Whether users other than root and the reader may read a file with this status. A file of root's that a group may read is fine if
 * the group is the reader's or root's, and no other account belongs to it: so are secrets of Kubernetes, which root always owns. */
bool token_is_exposed(const struct stat *st, const struct token_reader *r);

/* The same of a file, for this process; false if there is no such file. */
bool token_file_is_exposed(const char *path);

#endif
