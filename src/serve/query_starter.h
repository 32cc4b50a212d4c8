/* query_starter.h: a helper process that forks one child per query, each with resource limits.
 *
 * A query may need any amount of memory and time, and must not affect the daemon. The daemon itself cannot fork per
 * query, because it has threads, and SQLite's connections and locks do not survive a fork. So the helper is forked
 * before the first thread starts; it stays small, and forks in a fraction of a millisecond. The child opens the
 * store, makes the answer and exits, so its memory is always freed.
 */
#ifndef SERVE_QUERY_STARTER_H
#define SERVE_QUERY_STARTER_H

#include "query_message.h"

struct query_starter;

/* The initial state of each query's process, fixed when the starter is created. */
struct query_start {
	int (*open)(void *data, int64_t until_ns, struct store **ret, struct err *err);	/* a store to be read, as store_open_until does */
	void *data;
	void (*before_fork)(void *data);	/* called in the helper before each fork; NULL: none */
	const char *const *source_dirs;		/* same as in server.h */
	size_t source_dir_count;
	const char *const *service_labels;
	size_t service_label_count;
};

/* Forks the helper: call it before creating threads and before opening a store. */
int query_starter_new(const struct query_start *start, struct query_starter **ret, struct err *err);

pid_t query_starter_pid(const struct query_starter *s);
bool query_starter_is_up(const struct query_starter *s);		/* false once the helper has exited */

/* Stops the helper and all queries. NULL is fine; returns NULL. */
struct query_starter *query_starter_free(struct query_starter *s);

enum query_result {
	QUERY_DONE,
	QUERY_OUT_OF_MEMORY,		/* exceeded the memory limit, or that of the answer */
	QUERY_OUT_OF_TIME,
	QUERY_CRASHED,			/* a bug */
	QUERY_NOT_STARTED,
};

/* Runs one query and waits for it. Damage found by it is recorded in `store`. With QUERY_DONE `r` is filled in except
 * the body, which is in the file `body` with *ret_size bytes; otherwise `err` has the reason. Any thread. */
enum query_result query_starter_run(struct query_starter *s, const struct query_limits *l, const struct request *q,
				    const char *php_socket, struct store *store, int body, struct response *r,
				    uint64_t *ret_size, struct err *err);

#endif
