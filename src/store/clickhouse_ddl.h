/* clickhouse_ddl.h: the statements that create the tables, for a version of ClickHouse and a cluster. Pure. */
#ifndef STORE_CLICKHOUSE_DDL_H
#define STORE_CLICKHOUSE_DDL_H

#include "err.h"

#include <stdbool.h>
#include <stdint.h>

#define CLICKHOUSE_TABLES	8u		/* from clickhouse_ddl_tables */
#define CLICKHOUSE_DISTRIBUTED	6u		/* from clickhouse_ddl_distributed */

struct clickhouse_form {
	const char *database;			/* letters, digits and '_' */
	const char *cluster;			/* NULL: none; letters, digits, '_', '-' and '.' */
	bool replicated;			/* some shard of the cluster has several replicas */
	uint64_t major;				/* first number of the version: 18 for 18.16.1 */
};

/* Each calls `run` with its statements in turn, until one fails. */
typedef int clickhouse_run_ddl(void *data, const char *sql, struct err *err);

int clickhouse_ddl_database(const struct clickhouse_form *f, clickhouse_run_ddl *run, void *data, struct err *err);
int clickhouse_ddl_tables(const struct clickhouse_form *f, clickhouse_run_ddl *run, void *data, struct err *err);
/* Returns the tables' names, quoted and separated by commas. The caller frees it. */
char *clickhouse_ddl_names(void);
int clickhouse_ddl_codecs(const struct clickhouse_form *f, clickhouse_run_ddl *run, void *data, struct err *err);

/* Creates `samples_all` for `samples`, and so on: tables that read all shards of the cluster. They have no sharding
 * key, so a cluster of several shards refuses inserts through them: we insert each batch into the shards directly,
 * with its marker. */
int clickhouse_ddl_distributed(const struct clickhouse_form *f, clickhouse_run_ddl *run, void *data, struct err *err);

/* Returns -ENOTSUP for servers that do not support TTLs of tables. */
int clickhouse_ddl_check_ttl(uint64_t major, struct err *err);
int clickhouse_ddl_ttl(uint32_t days, clickhouse_run_ddl *run, void *data, struct err *err);

#endif
