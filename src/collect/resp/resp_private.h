/* resp_private.h: shared by the parts of the listener: its options, its clients, and their commands. */
#ifndef COLLECT_RESP_PRIVATE_H
#define COLLECT_RESP_PRIVATE_H

#include "resp.h"
#include "resp_source.h"
#include "source_url.h"

#include <stdbool.h>

#define RESP_LISTENERS		8u			/* addresses of one name */
#define RESP_READ_BYTES		((size_t)128 << 10)	/* at once; then other clients get their turn */
#define RESP_OUT_MAX		((size_t)1 << 20)	/* replies that a client has not read */
#define RESP_HELD_MAX		((size_t)256 << 20)	/* for all clients: incomplete commands and unread replies */
#define RESP_NAME_MAX		256u			/* longest name of a client */

/* Options from the URL. */
struct resp_options {
	char *host;					/* NULL: all addresses */
	unsigned port;
	char *user, *password;				/* NULL: no login is needed */
	char **channels;				/* none: all channels */
	size_t channel_count, channel_capacity;
	struct source_hints hints;			/* for received lines */
	int64_t idle_ns;				/* after which an idle client is closed */
	unsigned clients_max;
	char *parameters;				/* without secrets, to be shown: "?channel=a" or "" */
};

/* Frees with resp_options_done, also after an error. */
int resp_options_parse(const char *url, struct resp_options *ret, struct err *err);
void resp_options_done(struct resp_options *o);

struct resp_client {
	struct watch watch;
	struct resp_source *source;
	struct resp_parser parser;
	struct resp_bytes {
		char *bytes;
		size_t size, capacity;
	} in, out;					/* an incomplete command; unread
										 * replies */
	bool may_publish;				/* no password is needed, or the right one was sent */
	bool is_closing;				/* closed once its replies are sent */
	uint32_t events;				/* events being watched */
	bool answers_off, skip_next, skip_this;		/* CLIENT REPLY */
	int version;					/* protocol version, 2 or 3 */
	unsigned failed_logins;
	uint64_t id;
	char *name;
	int64_t active_ns;				/* when it last sent or read something, monotonic */
	struct resp_client *next, **link;
};

struct resp_source {
	struct source base;
	struct resp_options options;
	struct resp_listener { struct watch watch; struct resp_source *source; } listeners[RESP_LISTENERS];
	size_t listener_count;
	unsigned port;					/* the port in use */
	int spare;					/* released to accept and refuse when descriptors have run
							 * out */
	struct watch timer;				/* closes idle clients */
	struct resp_client *clients;
	unsigned client_count;
	uint64_t next_id;
	size_t held;					/* bytes of all clients */
	bool logged_full, logged_attack, logged_login;

	struct message_metadata about;			/* defaults for each line, from the URL */
	char *channel;					/* channel of the last PUBLISH, */
	size_t channel_size;
	bool takes_channel;				/* and whether it is accepted */
	uint64_t last_ms, last_sequence;		/* last id returned by XADD */

	struct buf out;					/* replies to the current client */
	char read[RESP_READ_BYTES];
};

/* --- Clients --- */

/* Takes a connection over. -errno if it cannot be watched; the descriptor then stays the caller's. */
int resp_client_open(struct resp_source *s, int fd);
void resp_client_close(struct resp_client *c);

/* Reads once and runs the commands. Returns 1, 0 if nothing has arrived, -1 if the client was closed and freed. */
int resp_client_read(struct resp_client *c);

/* Closes clients that have been idle for too long. */
void resp_clients_tidy(struct resp_source *s, int64_t now_ns);

/* --- Commands --- */

/* Runs the command that the parser of `c` has found, and appends the reply to `s->out`. */
void resp_command(struct resp_client *c);

#endif
