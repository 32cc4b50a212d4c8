/* clickhouse_cluster.h: checks that the shards of the URL are different servers, and that the named cluster consists
 * of them. */
#ifndef STORE_CLICKHOUSE_CLUSTER_H
#define STORE_CLICKHOUSE_CLUSTER_H

#include "clickhouse_store.h"

/* Returns -ENOTSUP if two shards of the URL are the same server under two names: it would have the samples of only
 * one of them, and answer twice. */
int clickhouse_check_servers(struct clickhouse_store *s, struct err *err);

/* Queries a shard. Returns -ENOTSUP with a sentence if the shard does not know the cluster, or its number in the
 * cluster differs from that in the URL: with two replicas of one shard in the URL, samples would count twice.
 * `*ret_replicated`: some shard has several replicas; false without a cluster. */
int clickhouse_check_cluster(struct clickhouse_store *s, unsigned shard, bool *ret_replicated, struct err *err);

/* Call after an insert into Replicated tables, before it counts as committed. Returns -EAGAIN if ZooKeeper does not
 * know the inserted part, as when the connection was lost during the commit: the rows and their marker are readable,
 * but no replica will get them, and the server discards them later. Does nothing without replicas. */
int clickhouse_check_committed(struct clickhouse_store *s, unsigned shard, const char *table, struct err *err);

/* Checks all shards of a replicated cluster once the tables exist: each must have Replicated tables, with its own
 * path in ZooKeeper. With the same path, shards would copy each other's samples. */
int clickhouse_check_paths(struct clickhouse_store *s, struct err *err);

#endif
