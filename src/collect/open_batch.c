/* open_batch.c: messages into profiles, by series. */

#include "open_batch.h"

#include "batch_rows.h"
#include "mem.h"
#include "wire_profile.h"

#include <string.h>

#include <assert.h>

/* Bytes of a node beside its values, of a frame and of a string, with their share of the hash maps. A message never
 * counts less than it takes once merged. */
#define NODE_BYTES	48u
#define ROW_BYTES	4u		/* a row that refers to a node */
#define FRAME_BYTES	48u
#define STRING_BYTES	64u

#define WAITING_BYTES	((size_t)2 << 20)	/* limit of waiting messages */
#define WAITING_MAX	((size_t)64 << 10)	/* largest message that waits; a larger one gains nothing */

struct open_batch *open_batch_new(uint64_t id)
{
	struct open_batch *b = xcalloc(1, sizeof(*b));

	assert(id != 0);
	b->batch.id = id;
	intern_init(&b->series);
	map_init(&b->series_entries);
	map_init(&b->stacks);
	arena_init(&b->line_bytes);
	wire_queue_init(&b->waiting);
	wire_queue_init(&b->merging);
	return b;
}

static void entry_done(const struct batch_entry *e)
{
	struct labels *labels = (struct labels *)e->labels;

	labels_done(labels);
	free(labels);
	profile_free((struct profile *)e->profile);
	batch_rows_done((struct batch_rows *)&e->rows);
}

/* Frees what is only needed while adding. */
static void free_helpers(struct open_batch *b)
{
	wire_queue_done(&b->waiting);
	wire_queue_done(&b->merging);
	for (size_t i = 0; i < b->bucket_count; i++) {
		free(b->buckets[i].entries);
		free(b->buckets[i].frames);
		free(b->buckets[i].nodes);
	}
	b->bucket_count = OPEN_BATCH_BUCKETS;
	memset(b->buckets, 0, sizeof(b->buckets));
	free(b->path);
	b->path = NULL;
	intern_done(&b->series);
	map_done(&b->series_entries);
	map_done(&b->stacks);
	free(b->seen);
	b->seen = NULL;
	b->seen_count = b->seen_capacity = b->path_capacity = 0;
}

static void merge_all_rows(struct open_batch *b)
{
	struct batch_entry *entries = (struct batch_entry *)b->batch.entries;

	for (size_t i = 0; b->batch.stacks && i < b->batch.count; i++) {
		uint32_t columns = entries[i].profile->column_count;

		b->bytes -= batch_rows_bytes(&entries[i].rows, columns);
		batch_rows_merge(&entries[i].rows, columns);
		b->bytes += batch_rows_bytes(&entries[i].rows, columns);
	}
}

void open_batch_seal(struct open_batch *b)
{
	assert(!b->closed);
	open_batch_merge(b);
	merge_all_rows(b);
	free_helpers(b);
}

struct open_batch *open_batch_free(struct open_batch *b)
{
	if (!b)
		return NULL;
	assert(!b->sinks_left && !b->runs_left);
	for (size_t i = 0; i < b->batch.count; i++)
		entry_done(&b->batch.entries[i]);
	for (size_t i = 0; i < b->share_count; i++)
		free(b->shares[i].ack_tokens);
	profile_free((struct profile *)b->batch.stacks);
	free((struct batch_entry *)b->batch.entries);
	free((struct batch_line *)b->batch.lines);
	arena_done(&b->line_bytes);
	free_helpers(b);
	free(b->shares);
	free(b->relay_ids);
	free(b);
	return NULL;
}

/* --- Shares --- */

static struct open_batch_share *share_of(struct open_batch *b, struct source *source)
{
	for (size_t i = b->share_count; i-- > 0;)
		if (b->shares[i].source == source)
			return &b->shares[i];
	GROW(&b->shares, &b->share_capacity, b->share_count + 1);
	b->shares[b->share_count] = (struct open_batch_share){ .source = source };
	source->batches++;
	return &b->shares[b->share_count++];
}

static bool same_ack_token(const struct ack_token *a, const struct ack_token *b)
{
	return a->stream == b->stream && a->high == b->high && a->low == b->low;
}

void open_batch_note(struct open_batch *b, const struct message_metadata *about, uint64_t samples)
{
	struct open_batch_share *s;

	assert(!b->closed);		/* afterwards the journal has its ack tokens */
	if (!about->source)
		return;
	s = share_of(b, about->source);
	s->samples += samples;
	/* Messages of one entry come one after another. */
	if (!about->ack_token || (s->ack_token_count && same_ack_token(&s->ack_tokens[s->ack_token_count - 1], about->ack_token)))
		return;
	GROW(&s->ack_tokens, &s->ack_token_capacity, s->ack_token_count + 1);
	s->ack_tokens[s->ack_token_count++] = *about->ack_token;
	b->bytes += sizeof(*about->ack_token);
}

/* --- Series --- */

int64_t open_batch_find(const struct open_batch *b, const struct buf *key)
{
	uint32_t i = intern_find(&b->series, key->data, key->size);

	if (i == UINT32_MAX)
		return -ENOENT;
	assert(map_get(&b->series_entries, i) < b->batch.count);
	return (int64_t)map_get(&b->series_entries, i);
}

void open_batch_set(struct open_batch *b, const struct buf *key, uint32_t entry)
{
	assert(entry < b->batch.count);
	map_set(&b->series_entries, intern_add(&b->series, key->data, key->size), entry);
}

uint32_t open_batch_entry(struct open_batch *b, struct labels *labels, int64_t bucket_ns, enum strobe_clock clock,
			  int64_t period_ns)
{
	struct batch_entry *entries = (struct batch_entry *)b->batch.entries;

	assert(bucket_ns >= 0 && bucket_ns % BATCH_BUCKET_NS == 0);
	GROW(&entries, &b->capacity, b->batch.count + 1);
	entries[b->batch.count] = (struct batch_entry){
		.bucket_ns = bucket_ns,
		.labels = labels,
		.clock = clock,
		.period_ns = period_ns,
		.profile = profile_new(),
	};
	profile_keep_lines((struct profile *)entries[b->batch.count].profile, true);
	b->bytes += OPEN_BATCH_SERIES_BYTES;
	b->batch.entries = entries;
	return (uint32_t)b->batch.count++;
}

static uint64_t cost_of_tree(const struct strobe_wire_message *m)
{
	return m->size + (uint64_t)m->nodes * (NODE_BYTES + ROW_BYTES + 8 * m->columns) + (uint64_t)m->frames * FRAME_BYTES +
	       (uint64_t)m->strings * STRING_BYTES;
}

uint64_t open_batch_cost_of(const struct strobe_wire_message *m)
{
	return cost_of_tree(m) + OPEN_BATCH_SERIES_BYTES;
}

uint64_t open_batch_profile_cost(const struct profile *p)
{
	return (uint64_t)p->node_count * (NODE_BYTES + 8 * p->column_count) + (uint64_t)p->frame_count * FRAME_BYTES +
	       (uint64_t)p->strings.count * STRING_BYTES + p->strings.bytes.bytes;
}

static void put_string(struct buf *key, const struct strobe_wire_message *m, uint64_t reference)
{
	const char *bytes;
	size_t n;

	bytes = strobe_wire_find_string(m, reference, &n);
	buf_put_varint(key, n);
	buf_put(key, bytes, n);
}

/* Leaves out ids of requests, which series do not have, so that they do not use up the limit of series. */
static void put_label(struct buf *key, const struct strobe_wire_message *m, uint64_t label, uint64_t value)
{
	const char *name;
	size_t n;

	name = strobe_wire_find_string(m, label, &n);
	if (label_is_of_runs(name, n)) {
		buf_put_varint(key, 0);
		return;
	}
	put_string(key, m, label);
	put_string(key, m, value);
}

/* The key is made of the message's own bytes, so that a known series costs no parsing of labels. A sender that
 * orders its labels differently gets an entry of its own, which adds up in the store. */
static void put_key(struct buf *key, const struct strobe_wire_message *m, const struct labels *more, int64_t bucket_ns,
		    bool folded)
{
	const uint8_t *p = m->at_labels;

	buf_put_varint(key, (uint64_t)bucket_ns);
	buf_put_varint(key, (uint64_t)m->info.clock);
	buf_put_varint(key, m->info.period_ns);
	buf_put_varint(key, folded ? UINT32_MAX : m->labels);
	for (uint32_t i = 0; i < m->labels; i++) {
		uint64_t label = strobe_wire_next(&p), value = strobe_wire_next(&p);

		if (!folded)
			put_label(key, m, label, value);
	}
	assert(p == m->at_columns);
	for (uint32_t i = 0; i < m->columns * 2; i++)
		put_string(key, m, strobe_wire_next(&p));
	if (more && !folded)
		labels_put(more, key);
}

void open_batch_folded_key(struct buf *key, const struct strobe_wire_message *m, int64_t bucket_ns)
{
	put_key(key, m, NULL, bucket_ns, true);
}

static struct labels *make_labels(const struct strobe_wire_message *m, const struct labels *more,
				  const struct open_batch_rules *rules, bool folded)
{
	struct labels *labels = xcalloc(1, sizeof(*labels));

	labels_init(labels);
	if (folded) {
		labels_set(labels, "entry", 5, "other", 5);
		return labels;
	}
	wire_profile_labels(m, labels);
	for (size_t i = 0; more && i < more->count; i++)
		if (!labels_get(labels, more->items[i].key))
			labels_set(labels, more->items[i].key, strlen(more->items[i].key), more->items[i].value,
				   strlen(more->items[i].value));
	if (rules->caps)
		label_caps_apply(rules->caps, labels);
	return labels;
}

/* Returns the number of the message's entry, adding it if it is new; -ENOSPC if there are too many. */
static int64_t find_entry(struct open_batch *b, const struct message_metadata *about, const struct strobe_wire_message *m,
			  int64_t bucket_ns, const struct open_batch_rules *rules, bool folded)
{
	size_t max = folded ? open_batch_series_limit(rules) : rules->max_series;
	_cleanup_(buf_done) struct buf key = { 0 };
	int64_t i;

	buf_init(&key);
	put_key(&key, m, about->labels, bucket_ns, folded);
	i = open_batch_find(b, &key);
	if (i >= 0)
		return i;
	if (b->batch.count >= max)
		return -ENOSPC;
	i = open_batch_entry(b, make_labels(m, about->labels, rules, folded), bucket_ns, m->info.clock,
			     (int64_t)m->info.period_ns);
	open_batch_set(b, &key, (uint32_t)i);
	return i;
}

/* --- Messages --- */

static void merge_rows(struct open_batch *b, uint32_t entry, const struct strobe_wire_message *m)
{
	struct batch_entry *e = &((struct batch_entry *)b->batch.entries)[entry];
	struct profile *p = (struct profile *)e->profile, *stacks;
	uint64_t before;
	int r;

	if (!b->batch.stacks) {
		b->batch.stacks = profile_new();
		profile_keep_lines((struct profile *)b->batch.stacks, true);
	}
	stacks = (struct profile *)b->batch.stacks;
	before = open_batch_profile_cost(stacks) + batch_rows_bytes(&e->rows, p->column_count);
	r = wire_profile_add_rows(p, stacks, &e->rows, m);
	assert(r >= 0);			/* the columns are part of the key */
	(void)r;
	b->bytes += open_batch_profile_cost(stacks) + batch_rows_bytes(&e->rows, p->column_count) - before;
}

static void merge(struct open_batch *b, uint32_t entry, const struct strobe_wire_message *m)
{
	struct profile *p = (struct profile *)b->batch.entries[entry].profile;
	uint64_t before = open_batch_profile_cost(p);
	int r;

	if (b->shares_stacks) {
		merge_rows(b, entry, m);
		return;
	}
	r = wire_profile_add(p, m);
	assert(r >= 0);			/* the columns are part of the key, and a message never has too many */
	(void)r;
	assert(open_batch_profile_cost(p) >= before);
	b->bytes += open_batch_profile_cost(p) - before;
}

static uint64_t cost_of_waiting(const struct strobe_wire_message *m)
{
	return cost_of_tree(m) + sizeof(struct wire_queue_entry);
}

/* Merges up to `bytes` of the messages set aside; returns how many bytes it merged. */
static size_t merge_set_aside(struct open_batch *b, size_t bytes)
{
	const struct wire_queue_entry *w;
	size_t merged = 0;

	while (merged < bytes && (w = wire_queue_take(&b->merging))) {
		assert(w->series < b->batch.count && b->bytes >= cost_of_waiting(&w->message));
		merge(b, w->series, &w->message);
		b->bytes -= cost_of_waiting(&w->message);
		merged += w->message.size;
	}
	return merged;
}

static void set_aside(struct open_batch *b)
{
	struct wire_queue full = b->waiting;

	merge_set_aside(b, SIZE_MAX);
	assert(wire_queue_is_empty(&b->merging));
	b->waiting = b->merging;
	b->merging = full;
}

bool open_batch_merge_some(struct open_batch *b, size_t bytes)
{
	size_t merged = merge_set_aside(b, bytes);

	if (merged < bytes && !wire_queue_is_empty(&b->waiting)) {
		set_aside(b);
		merge_set_aside(b, bytes - merged);
	}
	return !wire_queue_is_empty(&b->merging) || !wire_queue_is_empty(&b->waiting);
}

void open_batch_merge(struct open_batch *b)
{
	open_batch_merge_some(b, SIZE_MAX);
}

/* While one set fills, the other is merged, at twice the speed, so that it is empty when the first is full; and no caller
 * waits longer than it takes to merge a few messages. */
static void keep(struct open_batch *b, uint32_t entry, const struct strobe_wire_message *m)
{
	assert(m->size <= WAITING_MAX);
	if (b->waiting.bytes.bytes + m->size > WAITING_BYTES)
		set_aside(b);
	wire_queue_add(&b->waiting, entry, m);
	b->bytes += cost_of_waiting(m);
	merge_set_aside(b, 2 * (size_t)m->size);
}

int open_batch_add(struct open_batch *b, const struct message_metadata *about, const struct strobe_wire_message *m,
		   int64_t time_ns, const struct open_batch_rules *rules, uint64_t *ret_samples, bool *ret_folded)
{
	int64_t bucket_ns = time_ns - time_ns % BATCH_BUCKET_NS, i;

	assert(!b->closed && time_ns >= 0);
	*ret_folded = false;
	i = find_entry(b, about, m, bucket_ns, rules, false);
	if (i < 0) {
		*ret_folded = true;
		i = find_entry(b, about, m, bucket_ns, rules, true);
	}
	if (i < 0)
		return (int)i;

	*ret_samples = m->samples;
	b->shares_stacks = rules->share_stacks;
	if (m->size > WAITING_MAX)
		merge(b, (uint32_t)i, m);
	else
		keep(b, (uint32_t)i, m);
	b->samples += *ret_samples;
	open_batch_note(b, about, *ret_samples);
	return 0;
}
