/* clickhouse_url.h: parses clickhouse:// URLs: servers, credentials, and options.
 *
 *	clickhouse://[user[:password]@]host[:port]/database[?name=value&…]
 *
 *	shards=HOST:PORT,…	all servers that share the samples, instead of the one before the database
 *	timeout=30s		the longest that a query may run
 *	memory=4g		the most memory that a query may take on a server
 *	cluster=NAME		the cluster in the servers' configuration whose shards they are
 *	ttl=90d			the servers drop samples of this age themselves, in whole days
 *
 * and the parameters of http_options_from_url. */
#ifndef STORE_CLICKHOUSE_URL_H
#define STORE_CLICKHOUSE_URL_H

#include "http_client.h"
#include "url.h"

#define CLICKHOUSE_SHARDS	64u

struct clickhouse_url {
	struct url url;
	char *database;				/* letters, digits and _, not first a digit */
	struct clickhouse_server {
		char *name;			/* "db1:8123", as in the URL */
		char *host;
		unsigned port;
	} servers[CLICKHOUSE_SHARDS];
	unsigned server_count;
	struct http_options http;		/* all but host and port; points into `url` */
	int64_t timeout_ns;
	uint64_t memory_bytes;
	char *cluster;				/* letters, digits, '_', '-' and '.'; NULL: none */
	uint32_t ttl_days;			/* 0: none */
};

/* Returns -EINVAL with a sentence for an invalid URL. The caller frees with clickhouse_url_done, also after an
 * error. */
int clickhouse_url_parse(const char *text, struct clickhouse_url *ret, struct err *err);
void clickhouse_url_done(struct clickhouse_url *u);

#endif
