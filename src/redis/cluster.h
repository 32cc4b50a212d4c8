/* cluster.h: maps keys to nodes of a Redis Cluster. Knows slots, but nothing about sockets.
 *
 * A cluster has 16,384 slots; a key's slot is the CRC16 of the text between its first { and the next }, or of the whole
 * key if there is none. The map comes from CLUSTER SLOTS, with updates of single slots from MOVED. A Redis without a
 * cluster is one node with all slots. The keys that a stream is split into are {0}strobe, {1}strobe, … */
#ifndef REDIS_CLUSTER_H
#define REDIS_CLUSTER_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_SLOTS	16384u
#define CLUSTER_NODES	1024u			/* known masters */
#define CLUSTER_KEYS	1024u			/* keys per stream */

struct redisReply;

struct cluster_node {
	char *host;
	unsigned port;
};

/* Node 0 is the one in the URL. */
struct cluster {
	struct cluster_node *nodes;
	size_t node_count, node_capacity;
	uint16_t slots[CLUSTER_SLOTS];		/* number of the slot's node */
};

/* Another node than the queried one has the slot: permanently (MOVED), or for this one command, after ASKING (ASK). */
struct cluster_redirect {
	bool is_ask;
	unsigned slot;
	char host[256];				/* "": the queried host */
	unsigned port;
};

/* Assigns all slots to this node until more is known. */
void cluster_init(struct cluster *c, const char *host, unsigned port);
void cluster_done(struct cluster *c);

unsigned cluster_slot(const char *key, size_t n);

/* Returns the number of the node that has the key. */
unsigned cluster_find(const struct cluster *c, const char *key);

/* Returns the number of this node, adding it if it is new; -ENOSPC above CLUSTER_NODES. If `host` is "", it is that
 * of node `sender`, or 127.0.0.1 if that was reached through a unix socket. */
int cluster_node(struct cluster *c, const char *host, unsigned port, unsigned sender);

/* Updates the map from the reply of node `sender` to CLUSTER SLOTS. Unassigned slots stay where they were. Nodes keep
 * their numbers. Returns -EINVAL with a sentence, and changes nothing, for any other reply. */
int cluster_read_slots(struct cluster *c, const struct redisReply *reply, unsigned sender, struct err *err);

/* Tells whether an error reply is MOVED or ASK. */
bool cluster_redirect_parse(const char *text, size_t n, struct cluster_redirect *ret);

/* Updates the map after a MOVED from node `sender`. Returns the number of the node. */
int cluster_moved(struct cluster *c, const struct cluster_redirect *r, unsigned sender);

/* Returns the name of key number `i` of a stream's `keys` keys; the stream's own name if `keys` is 0. The caller
 * frees it. */
char *cluster_key(const char *stream, unsigned i, unsigned keys);

#endif
