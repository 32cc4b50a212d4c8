/* token.h: the token of a daemon, from a file or the environment: other users can read command lines. */
#ifndef BASE_TOKEN_H
#define BASE_TOKEN_H

#include "buf.h"
#include "err.h"

#include <sys/stat.h>

/* The command that creates a token nobody else can read; the file's name follows. */
#define TOKEN_COMMAND		"openssl rand -hex 32 | install -m 600 -D /dev/stdin"

#define TOKEN_VARIABLE		"STROBE_TOKEN"
#define TOKEN_READ_VARIABLE	"STROBE_READ_TOKEN"
#define TOKEN_PROBE_VARIABLE	"STROBE_PROBE_TOKEN"

/* Puts the token into `ret`: the content of the file at `path`, or if that is NULL the environment's `variable`;
 * nothing if there is neither. */
int token_get(const char *path, const char *variable, struct buf *ret, struct err *err);

/* A process that reads a token, and the files that list accounts. */
struct token_reader {
	uid_t uid;
	const gid_t *gids;		/* includes its effective group */
	size_t gid_count;
	const char *passwd, *group;	/* "/etc/passwd" and "/etc/group"; a missing file has no accounts */
};

/* Tells whether users other than root and the reader may read a file with this status. A file owned by root and
 * readable by a group is fine if the group is the reader's or root's, and has no other members: Kubernetes' secrets,
 * always owned by root, are like that. */
bool token_is_exposed(const struct stat *st, const struct token_reader *r);

/* The same for a file and this process; false if the file does not exist. */
bool token_file_is_exposed(const char *path);

#endif
