/* daemon.h: `strobe serve` as one thing: sources → collector → store, and the server that shows it. */
#ifndef CLI_DAEMON_H
#define CLI_DAEMON_H

#include "store.h"

struct daemon_options {
	const char *store_url;
	const char *const *sources;		/* URLs, at least one */
	size_t source_count;
	struct store_limits limits;
	const char *listen, *token;		/* as server.h has them; NULL is the default or none */
	const char *const *allow_hosts;
	size_t allow_host_count;
};

/* Opens everything, says on standard error that it listens, and runs until SIGTERM or SIGINT. Then it reads what
 * has been sent, commits it, and returns 0; -EIO if some of it could not be committed in a few seconds. */
int daemon_run(const struct daemon_options *o, struct err *err);

#endif
