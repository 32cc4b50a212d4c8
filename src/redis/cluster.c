/* cluster.c: the CRC of keys, the map of slots, and redirects. */
#include "cluster.h"

#include "redis_address.h"
#include "mem.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX	(2 * CLUSTER_SLOTS)	/* ranges per reply */

/* CRC16/XMODEM: polynomial 0x1021, initial value 0. Keys are short, so bit by bit is fast enough. */
static unsigned crc16(const char *p, size_t n)
{
	unsigned crc = 0;

	for (size_t i = 0; i < n; i++) {
		crc ^= (unsigned)(unsigned char)p[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
	}
	return crc & 0xffff;
}

unsigned cluster_slot(const char *key, size_t n)
{
	const char *open = memchr(key, '{', n), *close;

	if (open) {
		open++;
		close = memchr(open, '}', n - (size_t)(open - key));
		if (close && close > open)
			return crc16(open, (size_t)(close - open)) % CLUSTER_SLOTS;
	}
	return crc16(key, n) % CLUSTER_SLOTS;
}

void cluster_init(struct cluster *c, const char *host, unsigned port)
{
	memset(c, 0, sizeof(*c));
	cluster_node(c, host, port, 0);
}

void cluster_done(struct cluster *c)
{
	for (size_t i = 0; i < c->node_count; i++)
		free(c->nodes[i].host);
	free(c->nodes);
	memset(c, 0, sizeof(*c));
}

unsigned cluster_find(const struct cluster *c, const char *key)
{
	return c->slots[cluster_slot(key, strlen(key))];
}

int cluster_node(struct cluster *c, const char *host, unsigned port, unsigned sender)
{
	if (!*host && sender < c->node_count)
		host = address_machine(c->nodes[sender].host);
	for (size_t i = 0; i < c->node_count; i++)
		if (c->nodes[i].port == port && !strcmp(c->nodes[i].host, host))
			return (int)i;
	if (c->node_count == CLUSTER_NODES)
		return -ENOSPC;
	GROW(&c->nodes, &c->node_capacity, c->node_count + 1);
	c->nodes[c->node_count] = (struct cluster_node){ xstrdup(host), port };
	return (int)c->node_count++;
}

/* --- CLUSTER SLOTS --- */

static bool is_slot(const redisReply *r)
{
	return r->type == REDIS_REPLY_INTEGER && r->integer >= 0 && r->integer < CLUSTER_SLOTS;
}

/* A range is first slot, last slot, master {host, port, …}, replicas …; an unknown host is nil or empty. */
static bool is_range(const redisReply *r)
{
	const redisReply *master;

	if (r->type != REDIS_REPLY_ARRAY || r->elements < 3 || !is_slot(r->element[0]) || !is_slot(r->element[1]) ||
	    r->element[0]->integer > r->element[1]->integer)
		return false;
	master = r->element[2];
	return master->type == REDIS_REPLY_ARRAY && master->elements >= 2 &&
	       ((master->element[0]->type == REDIS_REPLY_STRING && master->element[0]->str[0] != '/') ||
		master->element[0]->type == REDIS_REPLY_NIL) &&
	       master->element[1]->type == REDIS_REPLY_INTEGER && master->element[1]->integer > 0 &&
	       master->element[1]->integer <= 65535;
}

static int read_range(struct cluster *c, const redisReply *r, unsigned sender)
{
	const redisReply *master = r->element[2], *host = master->element[0];
	const char *name = host->type == REDIS_REPLY_STRING && strcmp(host->str, "?") ? host->str : "";
	int node = cluster_node(c, name, (unsigned)master->element[1]->integer, sender);

	for (long long slot = r->element[0]->integer; node >= 0 && slot <= r->element[1]->integer; slot++)
		c->slots[slot] = (uint16_t)node;
	return node;
}

int cluster_read_slots(struct cluster *c, const redisReply *reply, unsigned sender, struct err *err)
{
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements > RANGES_MAX)
		return err_set(err, -EINVAL, "the answer to CLUSTER SLOTS is not a list of slots");
	for (size_t i = 0; i < reply->elements; i++)
		if (!is_range(reply->element[i]))
			return err_set(err, -EINVAL, "the answer to CLUSTER SLOTS has an invalid range");
	for (size_t i = 0; i < reply->elements; i++)
		if (read_range(c, reply->element[i], sender) < 0)
			return err_set(err, -EINVAL, "the cluster has over %u nodes", CLUSTER_NODES);
	return 0;
}

/* --- Redirects --- */

static bool take_number(const char **p, const char *end, unsigned max, unsigned *ret)
{
	const char *start = *p;
	unsigned v = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
		v = v * 10 + (unsigned)(**p - '0');
		if (v > max)
			return false;
	}
	*ret = v;
	return *p > start;
}

/* Parses "MOVED 3999 127.0.0.1:6381", "ASK 3999 ::1:6381", "MOVED 3999 :6381". Servers never redirect to a unix
 * socket. */
bool cluster_redirect_parse(const char *text, size_t n, struct cluster_redirect *ret)
{
	const char *p = text, *end = text + n, *colon;

	memset(ret, 0, sizeof(*ret));
	if (n > 6 && !memcmp(p, "MOVED ", 6))
		p += 6;
	else if (n > 4 && !memcmp(p, "ASK ", 4))
		p += 4, ret->is_ask = true;
	else
		return false;
	if (!take_number(&p, end, CLUSTER_SLOTS - 1, &ret->slot) || p == end || *p++ != ' ')
		return false;
	colon = memrchr(p, ':', (size_t)(end - p));
	if (!colon || *p == '/' || (size_t)(colon - p) >= sizeof(ret->host))
		return false;
	memcpy(ret->host, p, (size_t)(colon - p));
	p = colon + 1;
	return take_number(&p, end, 65535, &ret->port) && ret->port && p == end;
}

int cluster_moved(struct cluster *c, const struct cluster_redirect *r, unsigned sender)
{
	int node = cluster_node(c, r->host, r->port, sender);

	if (node >= 0 && !r->is_ask)
		c->slots[r->slot] = (uint16_t)node;
	return node;
}

char *cluster_key(const char *stream, unsigned i, unsigned keys)
{
	assert(keys == 0 || i < keys);
	return keys ? xasprintf("{%u}%s", i, stream) : xstrdup(stream);
}
