/* stream_maintenance.c: work beside reading: the lease, the group's lag, dead consumers, and trimming behind
 * the slowest group.
 *
 * How many entries wait for the group is not taken from `lag`: Redis 7.0 counts entries in it that were trimmed before
 * they were read, for ever (measured with 7.0.15), and older ones have none. Where nothing is read, or all is, the
 * number of entries ever added says how many were lost. */
#include "redis_stream_private.h"

#include "clock.h"
#include "log.h"
#include "mem.h"

#include <assert.h>
#include <string.h>

#define POLL_NS		(1 * NS_PER_SECOND)
#define RECORDS_NS	(60 * NS_PER_SECOND)
#define TRIM_AT_ONCE	20000u
#define GROUPS_MAX	1000u

/* --- Lists of names and values --- */

const redisReply *stream_value_of(const redisReply *list, const char *name)
{
	for (size_t i = 0; list->type == REDIS_REPLY_ARRAY && i + 1 < list->elements; i += 2)
		if (list->element[i]->type == REDIS_REPLY_STRING && !strcmp(list->element[i]->str, name))
			return list->element[i + 1];
	return NULL;
}

static bool number_of(const redisReply *list, const char *name, uint64_t *ret)
{
	const redisReply *v = stream_value_of(list, name);

	if (!v || v->type != REDIS_REPLY_INTEGER || v->integer < 0)
		return false;
	*ret = (uint64_t)v->integer;
	return true;
}

static bool id_of(const redisReply *list, const char *name, struct stream_id *ret)
{
	const redisReply *v = stream_value_of(list, name);

	return v && v->type == REDIS_REPLY_STRING && stream_id_parse(v->str, v->len, ret);
}

static const char *text_of(const redisReply *list, const char *name)
{
	const redisReply *v = stream_value_of(list, name);

	return v && v->type == REDIS_REPLY_STRING ? v->str : "";
}

/* --- Trimming --- */

static void trim(struct stream_key *k);

static void trimmed(struct stream_key *k, const redisReply *reply)
{
	struct redis_stream *s = k->source;

	if (reply->type == REDIS_REPLY_INTEGER && reply->integer >= TRIM_AT_ONCE / 2) {
		trim(k);
	} else if (redis_problem(reply) == REDIS_OTHER || redis_problem(reply) == REDIS_NOPERM) {
		if (!s->logged_trim)
			log_warning("the stream '%s' is not trimmed: Redis refuses XTRIM with MINID (it needs version "
				    "6.2): %s", k->name, reply->str);
		s->logged_trim = true;
	}
}

/* Whole nodes only (~): removing single entries from one means rewriting it. */
static void trim(struct stream_key *k)
{
	char id[STREAM_ID_TEXT];

	stream_id_format(k->trim_to, id);
	stream_sendf(k, trimmed, "XTRIM %s MINID ~ %s LIMIT %u", k->name, id, TRIM_AT_ONCE);
}

static void note_floor(struct stream_key *k, struct stream_id id)
{
	if (stream_id_compare(id, k->trim_to) < 0)
		k->trim_to = id;
}

static void group_answered(struct stream_key *k)
{
	assert(k->trim_left > 0);
	if (--k->trim_left == 0 && (k->trim_to.ms || k->trim_to.seq) &&
	    stream_id_compare(k->seen.first, k->trim_to) < 0)
		trim(k);
}

/* Receives [count, smallest id, largest id, consumers]. The ids are nil if nothing is pending any more; then
 * everything delivered to the group until last-delivered-id, which is the floor already, is acknowledged. */
static void on_pending_of_group(struct stream_key *k, const redisReply *reply)
{
	struct stream_id id;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2 ||
	    (reply->element[1]->type != REDIS_REPLY_NIL && reply->element[1]->type != REDIS_REPLY_STRING)) {
		k->trim_to = (struct stream_id){ 0 };
	} else if (reply->element[1]->type == REDIS_REPLY_STRING) {
		if (!stream_id_parse(reply->element[1]->str, reply->element[1]->len, &id))
			id = (struct stream_id){ 0 };
		note_floor(k, id);
	}
	group_answered(k);
}

static struct stream_id behind(struct stream_id id)
{
	if (++id.seq == 0)
		id.ms++;
	return id;
}

/* Finds the id below which every group has acknowledged all entries. Groups only move forward, so their replies stay
 * valid until all have arrived. */
static void find_trimmed(struct stream_key *k, const redisReply *groups)
{
	int64_t now = clock_monotonic_ns();

	if (!k->source->options.trim || k->source->logged_trim || k->trim_left || now < k->trim_ns || !groups->elements ||
	    groups->elements > GROUPS_MAX)
		return;
	k->trim_ns = now + POLL_NS;
	k->trim_to = (struct stream_id){ UINT64_MAX, UINT64_MAX };
	k->trim_left = 1;
	for (size_t i = 0; i < groups->elements; i++) {
		const redisReply *g = groups->element[i];
		struct stream_id last;
		uint64_t pending;

		if (!id_of(g, "last-delivered-id", &last) || !number_of(g, "pending", &pending) ||
		    !stream_value_of(g, "name")) {
			k->trim_to = (struct stream_id){ 0 };
			continue;
		}
		note_floor(k, behind(last));
		if (pending) {
			const redisReply *name = stream_value_of(g, "name");

			k->trim_left++;
			stream_sendf(k, on_pending_of_group, "XPENDING %s %b", k->name, name->str, name->len);
			if (k->phase == KEY_AWAY)	/* the query failed, so the needs of a group are unknown */
				return;
		}
	}
	group_answered(k);
}

/* --- Lag --- */

static void sum_up(struct redis_stream *s)
{
	uint64_t lag = 0;

	for (unsigned i = 0; i < s->key_count; i++)
		lag += s->keys[i].lag;
	s->base.counters.lag = lag;
}

/* Counts increases of `lost` only. It may also decrease: later versions of Redis count skipped entries as read. */
static void note_lost(struct stream_key *k, uint64_t lost)
{
	if (lost > k->lost) {
		k->source->base.counters.lost_to_trimming += lost - k->lost;
		k->lost_unlogged += lost - k->lost;
	}
	if (k->lost_unlogged && log_is_due(&k->next_lost_log_ns)) {
		log_warning("%llu %s of the stream '%s' %s trimmed before the group '%s' read %s; raise or remove MAXLEN",
			    (unsigned long long)k->lost_unlogged, k->lost_unlogged == 1 ? "entry" : "entries", k->name,
			    k->lost_unlogged == 1 ? "was" : "were", k->source->options.group, k->lost_unlogged == 1 ? "it" : "them");
		k->lost_unlogged = 0;
	}
	k->lost = lost;
}

static uint64_t saturating_difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void read_group(struct stream_key *k, const redisReply *group)
{
	const struct stream_seen *seen = &k->seen;
	bool counted = seen->added > 0, none, all;
	struct stream_id last;
	uint64_t read = 0, pending = 0;

	if (!id_of(group, "last-delivered-id", &last) || !number_of(group, "pending", &pending))
		return;
	all = stream_id_compare(last, seen->last) >= 0;
	none = seen->length && stream_id_compare(last, seen->first) < 0;
	if (!number_of(group, "entries-read", &read) && (last.ms || last.seq))
		counted = false;
	if (all)
		k->lag = 0;
	else if (none)
		k->lag = seen->length;
	else if (counted)
		k->lag = saturating_difference(saturating_difference(seen->added, read), k->lost);
	else
		k->lag = saturating_difference(seen->length, pending);		/* upper bound */
	if (counted && all)
		note_lost(k, saturating_difference(seen->added, read));
	else if (counted && none)
		note_lost(k, saturating_difference(saturating_difference(seen->added, seen->length), read));
}

static void on_groups(struct stream_key *k, const redisReply *reply)
{
	if (reply->type != REDIS_REPLY_ARRAY || !k->seen.known)
		return;
	for (size_t i = 0; i < reply->elements; i++)
		if (!strcmp(text_of(reply->element[i], "name"), k->source->options.group))
			read_group(k, reply->element[i]);
	sum_up(k->source);
	find_trimmed(k, reply);
}

static void on_stream(struct stream_key *k, const redisReply *reply)
{
	const redisReply *first = stream_value_of(reply, "first-entry"), *fields;
	struct stream_seen seen = { 0 };

	seen.known = number_of(reply, "length", &seen.length) && id_of(reply, "last-generated-id", &seen.last);
	number_of(reply, "entries-added", &seen.added);
	if (first && first->type == REDIS_REPLY_ARRAY)
		stream_entry_of(first, &seen.first, &fields);
	k->seen = seen;
}

/* --- Consumers that are gone --- */

/* Claims from one dead consumer at a time; the next one follows at the next check. XAUTOCLAIM is not used: it also
 * takes entries from live consumers that are slow. */
static void on_consumers(struct stream_key *k, const redisReply *reply)
{
	for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements && !k->is_claiming; i++) {
		const redisReply *c = reply->element[i], *name = stream_value_of(c, "name");
		uint64_t pending, idle;

		if (!name || name->type != REDIS_REPLY_STRING || strlen(name->str) != name->len ||
		    !strcmp(name->str, k->source->options.consumer) || !number_of(c, "pending", &pending) || !pending ||
		    !number_of(c, "idle", &idle) || (int64_t)idle < k->source->options.claim_idle_ns / 1000000)
			continue;
		stream_claim(k, name->str);
	}
}

/* --- The schedule --- */

static int64_t claim_period(const struct stream_key *k)
{
	int64_t ns = k->source->options.claim_idle_ns / 4;

	return ns < NS_PER_SECOND ? NS_PER_SECOND : ns > 15 * NS_PER_SECOND ? 15 * NS_PER_SECOND : ns;
}

void stream_check_lag(struct stream_key *k, int64_t now)
{
	k->lag_ns = now + POLL_NS;
	stream_sendf(k, on_stream, "XINFO STREAM %s", k->name);
	stream_sendf(k, on_groups, "XINFO GROUPS %s", k->name);
}

void stream_maintenance(struct stream_key *k, int64_t now)
{
	const struct stream_options *o = &k->source->options;

	assert(k->phase == KEY_READING);
	if (now >= k->lease_ns && !k->asking)
		stream_key_send_lease(k);
	if (now >= k->lag_ns)
		stream_check_lag(k, now);
	if (now >= k->claim_ns && !k->is_claiming) {
		k->claim_ns = now + claim_period(k);
		stream_sendf(k, on_consumers, "XINFO CONSUMERS %s %s", k->name, o->group);
	}
	if (now >= k->records_ns && !k->is_claiming && k->phase == KEY_READING) {
		k->records_ns = now + RECORDS_NS;
		stream_records_check(k);
	}
}
