/* clickhouse_cluster.h: checks that the shards of the URL are servers of their own, and the cluster that it names consists of them. */
#ifndef STORE_CLICKHOUSE_CLUSTER_H
#define STORE_CLICKHOUSE_CLUSTER_H

#include "clickhouse_store.h"

/* -ENOTSUP if two shards of the URL are one server by two names: it would have the samples of only one of them, and answer twice. */
int clickhouse_check_servers(struct clickhouse_store *s, struct err *err);

/* Queries a shard. -ENOTSUP with a sentence where it knows no such cluster, or is another shard of it than of the URL: two replicas of
 * one shard in the URL would count its samples twice. `*ret_replicated`: some shard has several replicas; false without a cluster. */
int clickhouse_check_cluster(struct clickhouse_store *s, unsigned shard, bool *ret_replicated, struct err *err);

/* Call after an insert into Replicated tables, before it counts as committed. -EAGAIN if ZooKeeper does not have its part, as
 * when the connection was lost at the commit: the rows can be read, with their marker, but no replica will get them, and the
 * server discards them later. Without replicas it does nothing. */
int clickhouse_check_committed(struct clickhouse_store *s, unsigned shard, const char *table, struct err *err);

/* Checks all shards of a cluster with replicas, when the tables exist: each has Replicated tables, under a path of its own in
 * ZooKeeper. With the same path, shards would copy each other's samples. */
int clickhouse_check_paths(struct clickhouse_store *s, struct err *err);

#endif
