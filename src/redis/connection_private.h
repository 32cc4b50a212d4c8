/* connection_private.h: shared by the files of a connection: phases (connection.c), sending (connection_send.c),
 * receiving (connection_read.c), and TLS (connection_tls.c). */
#ifndef REDIS_CONNECTION_PRIVATE_H
#define REDIS_CONNECTION_PRIVATE_H

#include "buf.h"
#include "connection.h"
#include "redis_login.h"
#include "redis_tls.h"
#include "read_ahead.h"
#include "reply_reader.h"
#include "resolve.h"

enum phase { WAITING, RESOLVING, CONNECTING, TLS_HANDSHAKE, LOGIN, READY };

struct command {
	struct command *next;
	redis_reply_fn *fn;
	void *data;
	int64_t timeout_ns;
	int step;				/* login step; -1: none */
	char name[24];				/* "XADD", for errors */
};

struct redis_connection {
	struct loop *loop;
	struct redis_connection_options o;
	struct redis_login login;
	struct redis_connection_counters counters;
	enum phase phase;
	unsigned generation;			/* changes with the socket: check it after callbacks */
	unsigned entered;			/* number of calls from the loop in progress */
	bool dead;				/* to be freed when the last of them returns */
	bool paused;
	bool reads, wants_write;		/* events that the loop watches for; writing also to get another turn
						 * for data that was read ahead */

	struct watch timer, watch;
	int fd;
	struct redis_tls *tls;			/* NULL: plain */
	struct resolve *resolve;
	struct addrinfo *addresses, *address;	/* all addresses; the one being tried */
	char *last_failure;			/* failure of an address, reported after the last one */

	struct reply_reader *reader;
	struct read_ahead input;
	struct buf out;
	size_t out_at;
	struct command *first, **last;

	int64_t deadline_ns;			/* when the phase ends: the next attempt, or the end of this one */
	int64_t backoff_ns, backoff_before_ns;	/* the next wait; its value before the connection became ready */
	int64_t ready_ns;			/* since when it has been ready */
	int64_t last_in_ns;			/* when the last byte arrived */
	int64_t head_ns;			/* since when the first command has been the first */
	int64_t last_tick_ns;

	bool logged_up;
	char *logged;
	char problem_of[24];			/* the command that the server refuses in its current state; "" */
};

/* --- connection.c --- */

/* Reports a change of state to the owner of the connection. */
void connection_report(struct redis_connection *c, bool is_up, const char *text);
void connection_report_connected(struct redis_connection *c);

/* Ends this attempt or connection, and reports it; with `passes` it is retried soon. */
void connection_fail(struct redis_connection *c, bool passes, const char *sentence);
void connection_failf(struct redis_connection *c, const char *format, ...) _printf_(2, 3);

/* Wrap calls from the loop: the last one to return frees the connection if that was requested in the meantime. */
void connection_enter(struct redis_connection *c);
void connection_leave(struct redis_connection *c);

struct command *connection_take_first(struct redis_connection *c);
void connection_free_addresses(struct redis_connection *c);

void connection_log_in(struct redis_connection *c);

/* --- connection_tls.c --- */

/* Starts the handshake with the connected peer; the login follows. */
void connection_start_tls(struct redis_connection *c);
void connection_continue_tls(struct redis_connection *c);

/* --- connection_send.c --- */

/* `step` is the step of the login, or -1. */
void connection_queue(struct redis_connection *c, int64_t timeout_ns, redis_reply_fn *fn, void *data, int step,
		      const char *bytes, size_t n);
void connection_flush(struct redis_connection *c);	/* sends what it can */
void connection_watch(struct redis_connection *c);
void connection_update_watch(struct redis_connection *c);
bool connection_is_paused(const struct redis_connection *c);
bool connection_has_input(const struct redis_connection *c);

/* --- connection_read.c --- */

/* Empties the socket, and parses some of the data. */
void connection_read(struct redis_connection *c, bool readable);

#endif
