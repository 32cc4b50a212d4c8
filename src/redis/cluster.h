/* cluster.h: maps keys to nodes of a Redis Cluster. Knows slots and nothing of sockets.
 *
 * A cluster has 16,384 slots; a key's slot is the CRC16 of the text between its first { and the next }, or of the whole
 * key if there is none. The map comes from CLUSTER SLOTS, and single slots of it from MOVED. A Redis that is no cluster
 * is one node with all slots. Keys that share the load of one stream are {0}strobe, {1}strobe, … */
#ifndef REDIS_CLUSTER_H
#define REDIS_CLUSTER_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_SLOTS	16384u
#define CLUSTER_NODES	1024u			/* masters that are remembered */
#define CLUSTER_KEYS	1024u			/* keys of one stream */

struct redisReply;

struct cluster_node {
	char *host;
	unsigned port;
};

/* Node 0 is the one of the URL. */
struct cluster {
	struct cluster_node *nodes;
	size_t node_count, node_capacity;
	uint16_t slots[CLUSTER_SLOTS];		/* to the number of a node */
};

/* Another node than the queried one has the slot: for good (MOVED), or for this one command, after ASKING (ASK). */
struct cluster_redirect {
	bool is_ask;
	unsigned slot;
	char host[256];				/* "": the queried host */
	unsigned port;
};

/* All slots are of this node until more is known. */
void cluster_init(struct cluster *c, const char *host, unsigned port);
void cluster_done(struct cluster *c);

unsigned cluster_slot(const char *key, size_t n);

/* Returns the number of the node that has the key. */
unsigned cluster_find(const struct cluster *c, const char *key);

/* Returns the number of this node, added if it is new; -ENOSPC above CLUSTER_NODES. `host` "" is that of node `asked`,
 * or 127.0.0.1 if that one was reached by a unix socket. */
int cluster_node(struct cluster *c, const char *host, unsigned port, unsigned asked);

/* Takes the reply of node `asked` to CLUSTER SLOTS as the map. Unassigned slots stay where they were. Nodes keep their
 * numbers. -EINVAL with a sentence, and nothing changed, for any other reply. */
int cluster_read_slots(struct cluster *c, const struct redisReply *reply, unsigned asked, struct err *err);

/* Whether an error reply is MOVED or ASK. */
bool cluster_redirect_parse(const char *text, size_t n, struct cluster_redirect *ret);

/* Enters a MOVED from node `asked` into the map. Returns the number of the node. */
int cluster_moved(struct cluster *c, const struct cluster_redirect *r, unsigned asked);

/* The name of key number `i` of `keys` of a stream: the stream's own with `keys` 0. The caller frees it. */
char *cluster_key(const char *stream, unsigned i, unsigned keys);

#endif
