/* batch_lines.c: folded lines into profiles.
 *
 * Most lines have occurred before, so a line is first looked up as a whole, by a hash of 64 bits with a secret seed: of a
 * million stacks two share one with a chance of 3 in 100 million.
 *
 * There are two ways. The fast one goes by line_dict.h, which knows stacks of earlier batches; the profiles that it
 * makes are its own. The slow one takes what has no place there: without a dictionary, lines of more than a few
 * buckets, and series above the limit, which share a profile. Both may have an entry of one series and bucket; they add
 * up. */

#include "open_batch.h"

#include "hash.h"
#include "line_dict.h"
#include "mem.h"

#include <assert.h>
#include <string.h>
#include <sys/random.h>

#define CHANNEL_MAX	STROBE_WIRE_LABEL_VALUE
#define LINE_BYTES	64u		/* overhead of a line */

/* "/srv/w/index.php" is "index": up to the first ';', behind the last '/', without ".php". */
static struct str entry_point(struct str stack)
{
	const char *end = memchr(stack.p, ';', stack.n), *slash;
	struct str s = { stack.p, end ? (size_t)(end - stack.p) : stack.n };

	slash = memrchr(s.p, '/', s.n);
	if (slash) {
		s.n -= (size_t)(slash + 1 - s.p);
		s.p = slash + 1;
	}
	if (s.n > 4 && !memcmp(s.p + s.n - 4, ".php", 4))
		s.n -= 4;
	if (s.n > STROBE_WIRE_LABEL_VALUE)
		s.n = STROBE_WIRE_LABEL_VALUE;
	return s;
}

static void put_key(struct buf *key, const struct message_metadata *about, struct str entry, int64_t bucket_ns)
{
	size_t channel = about->channel ? strlen(about->channel) : 0;

	/* No message has this many labels, so the key cannot equal that of a message. */
	buf_put_varint(key, (uint64_t)bucket_ns);
	buf_put_varint(key, (uint64_t)about->clock);
	buf_put_varint(key, (uint64_t)about->period_ns);
	buf_put_varint(key, UINT32_MAX - 1);
	buf_put_varint(key, entry.n);
	buf_put(key, entry.p, entry.n);
	buf_put_varint(key, channel);
	buf_put(key, about->channel, channel);
	if (about->labels)
		labels_put(about->labels, key);
}

/* Labels end at a NUL, so a name that contains one must not become equal to the part before it. */
static void set_entry(struct labels *labels, struct str entry)
{
	char name[STROBE_WIRE_LABEL_VALUE];

	assert(entry.n <= sizeof(name));
	for (size_t i = 0; i < entry.n; i++)
		name[i] = entry.p[i] ? entry.p[i] : '?';
	labels_set(labels, "entry", 5, name, entry.n);
}

static struct labels *make_labels(const struct message_metadata *about, struct str entry,
				  const struct open_batch_rules *rules)
{
	struct labels *labels = xcalloc(1, sizeof(*labels));

	labels_init(labels);
	if (about->labels)
		labels_copy(labels, about->labels);
	if (entry.n && !labels_get(labels, "entry"))
		set_entry(labels, entry);
	if (about->channel && *about->channel && !labels_get(labels, "profiler"))
		labels_set(labels, "profiler", 8, about->channel, strnlen(about->channel, CHANNEL_MAX));
	if (rules->caps)
		label_caps_apply(rules->caps, labels);
	return labels;
}

/* Returns the entry that all series above the limit share. */
static int64_t folded_entry(struct open_batch *b, const struct message_metadata *about, int64_t bucket_ns,
			    const struct open_batch_rules *rules)
{
	static const struct str other = { "other", 5 };
	struct message_metadata bare = { .clock = about->clock, .period_ns = about->period_ns };
	_cleanup_(buf_done) struct buf key = { 0 };
	int64_t i;

	buf_init(&key);
	put_key(&key, &bare, other, bucket_ns);
	i = open_batch_find(b, &key);
	if (i >= 0)
		return i;
	if (b->batch.count >= open_batch_series_limit(rules))
		return -ENOSPC;
	i = open_batch_entry(b, make_labels(&bare, other, rules), bucket_ns, about->clock, about->period_ns);
	open_batch_set(b, &key, (uint32_t)i);
	return i;
}

static int64_t find_entry(struct open_batch *b, const struct message_metadata *about, struct str stack, int64_t bucket_ns,
			  const struct open_batch_rules *rules, bool *ret_folded)
{
	struct str entry = entry_point(stack);
	_cleanup_(buf_done) struct buf key = { 0 };
	int64_t i;

	buf_init(&key);
	put_key(&key, about, entry, bucket_ns);
	i = open_batch_find(b, &key);
	if (i >= 0)
		return i;
	if (b->batch.count >= rules->max_series) {
		*ret_folded = true;
		return folded_entry(b, about, bucket_ns, rules);
	}
	i = open_batch_entry(b, make_labels(about, entry, rules), bucket_ns, about->clock, about->period_ns);
	open_batch_set(b, &key, (uint32_t)i);
	return i;
}

static struct profile *profile_of(struct open_batch *b, uint32_t entry)
{
	struct batch_entry *e = &((struct batch_entry *)b->batch.entries)[entry];
	struct profile *p = (struct profile *)e->profile;

	assert(entry < b->batch.count);
	if (p->column_count == 0)
		profile_column(p, "samples", "count");
	assert(p->column_count == 1);		/* the profile of lines has one column */
	e->from_lines = true;
	return p;
}

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return XXH3_64bits_withSeed(text, strlen(text), seed);
}

/* Hashes the line and everything that identifies its series. */
static uint64_t hash_line(uint64_t seed, const struct message_metadata *about, struct str stack)
{
	seed += (uint64_t)about->period_ns * 31 + about->clock;
	if (about->channel)
		seed = hash_text(about->channel, seed ^ 1);
	for (size_t i = 0; about->labels && i < about->labels->count; i++)
		seed = hash_text(about->labels->items[i].value, hash_text(about->labels->items[i].key, seed ^ 2));
	return XXH3_64bits_withSeed(stack.p, stack.n, seed);
}

/* --- The general case --- */

static uint32_t add_stack(struct profile *p, struct str stack)
{
	const char *at = stack.p, *end = stack.p + stack.n;
	uint32_t node = PROFILE_ROOT;
	struct str name;

	while (line_dict_next_name(&at, end, &name))
		node = profile_child(p, node, profile_frame(p, name, (struct str){ "", 0 }, 0));
	return node;
}

/* Finds the stack in the batch, adding it if it is new. */
static struct open_batch_stack find_stack(struct open_batch *b, const struct message_metadata *about, struct str stack,
					  int64_t bucket_ns, const struct open_batch_rules *rules)
{
	struct open_batch_stack at = { .entry = UINT32_MAX };
	uint32_t *slot;
	int64_t entry;

	if (!b->hash_seed && getrandom(&b->hash_seed, sizeof(b->hash_seed), 0) != sizeof(b->hash_seed))
		b->hash_seed = (uintptr_t)b;
	b->hash_seed |= 1;
	slot = map_slot(&b->stacks, hash_line(b->hash_seed + (uint64_t)bucket_ns, about, stack));
	if (*slot != MAP_NONE) {
		assert(*slot < b->seen_count);
		return b->seen[*slot];
	}
	*slot = (uint32_t)b->seen_count;
	entry = find_entry(b, about, stack, bucket_ns, rules, &at.folded);
	if (entry >= 0) {
		struct profile *p = profile_of(b, (uint32_t)entry);
		uint64_t before = open_batch_profile_cost(p);

		at.entry = (uint32_t)entry;
		at.node = add_stack(p, stack);
		b->bytes += open_batch_profile_cost(p) - before + LINE_BYTES;
	}
	GROW(&b->seen, &b->seen_capacity, b->seen_count + 1);
	b->seen[b->seen_count++] = at;
	return at;
}

/* --- The common case --- */

#define SLOW_ENTRY UINT32_MAX			/* entry of a series above the limit */

/* Grows an array to the size of the dictionary's; new elements are 0. */
static void lengthen(uint32_t **array, size_t *capacity, size_t need)
{
	size_t n = *capacity * 2 > need ? *capacity * 2 : need + need / 2 + 64;
	uint32_t *longer;

	if (need <= *capacity)
		return;
	/* Untouched zero pages cost nothing. */
	longer = xcalloc(n, sizeof(*longer));
	if (*capacity)
		memcpy(longer, *array, *capacity * sizeof(*longer));
	free(*array);
	*array = longer;
	*capacity = n;
}

/* Returns the batch's data for a time bucket; NULL if that would be one bucket too many. */
static struct open_batch_bucket *find_bucket(struct open_batch *b, const struct line_dict *d, int64_t bucket_ns)
{
	struct open_batch_bucket *k;

	assert(bucket_ns % BATCH_BUCKET_NS == 0);
	for (size_t i = 0; i < b->bucket_count; i++)
		if (b->buckets[i].bucket_ns == bucket_ns && b->buckets[i].generation == d->generation)
			return &b->buckets[i];
	if (b->bucket_count == OPEN_BATCH_BUCKETS)
		return NULL;
	k = &b->buckets[b->bucket_count++];
	*k = (struct open_batch_bucket){ .bucket_ns = bucket_ns, .generation = d->generation };
	return k;
}

/* Returns the entry of a stack's series; SLOW_ENTRY if there are too many series. */
static uint32_t series_entry(struct open_batch *b, struct open_batch_bucket *k, uint32_t series,
			     const struct message_metadata *about, struct str stack, const struct open_batch_rules *rules)
{
	lengthen(&k->entries, &k->entry_capacity, series + 1);
	if (k->entries[series] == 0 && b->batch.count >= rules->max_series)
		k->entries[series] = SLOW_ENTRY;
	if (k->entries[series] == 0)
		k->entries[series] = 1 + open_batch_entry(b, make_labels(about, entry_point(stack), rules),
							  k->bucket_ns, about->clock, about->period_ns);
	assert(k->entries[series] == SLOW_ENTRY || k->entries[series] <= b->batch.count);
	return k->entries[series] == SLOW_ENTRY ? SLOW_ENTRY : k->entries[series] - 1;
}

static uint32_t make_frame(struct open_batch_bucket *k, const struct line_dict *d, struct profile *p, uint32_t frame)
{
	uint32_t *known = &k->frames[frame];

	assert(frame < d->frame_count && d->frame_count <= k->frame_capacity);
	if (!*known)
		*known = 1 + profile_frame(p, intern_get(&d->names, d->frame_names[frame]), (struct str){ "", 0 }, 0);
	return *known - 1;
}

/* Adds the nodes on the path from the root to the leaf that the profile lacks. */
static void make_nodes(struct open_batch *b, struct open_batch_bucket *k, const struct line_dict *d, struct profile *p,
		       uint32_t leaf)
{
	uint64_t before = open_batch_profile_cost(p);
	uint32_t node = leaf, at;
	size_t n = 0;

	lengthen(&k->nodes, &k->node_capacity, d->node_count);
	lengthen(&k->frames, &k->frame_capacity, d->frame_count);
	for (; node && !k->nodes[node]; node = d->nodes[node].parent) {
		assert(d->nodes[node].parent < node);
		GROW(&b->path, &b->path_capacity, n + 1);
		b->path[n++] = node;
	}
	at = node ? k->nodes[node] : PROFILE_ROOT;
	while (n--) {
		node = b->path[n];
		at = k->nodes[node] = profile_append(p, at, make_frame(k, d, p, d->nodes[node].frame));
	}
	b->bytes += open_batch_profile_cost(p) - before + LINE_BYTES;
}

static struct line_dict_stack learn(struct line_dict *d, uint64_t hash, const struct message_metadata *about,
				    struct str stack)
{
	_cleanup_(buf_done) struct buf key = { 0 };

	buf_init(&key);
	put_key(&key, about, entry_point(stack), 0);
	return line_dict_add(d, hash, &key, stack);
}

/* Does the same as find_stack, by the dictionary. False if the line has to take the slow path. */
static bool find_fast(struct open_batch *b, const struct message_metadata *about, struct str stack, int64_t bucket_ns,
		      const struct open_batch_rules *rules, struct open_batch_stack *ret)
{
	struct line_dict *d = rules->dict;
	uint64_t hash = hash_line(d->seed, about, stack);
	const struct line_dict_stack *known = line_dict_find(d, hash);
	struct line_dict_stack s = known ? *known : learn(d, hash, about, stack);
	struct open_batch_bucket *k = find_bucket(b, d, bucket_ns);

	assert(s.leaf < d->node_count && s.series < d->series.count);
	if (!k)
		return false;
	ret->entry = series_entry(b, k, s.series, about, stack, rules);
	if (ret->entry == SLOW_ENTRY)
		return false;
	if (s.leaf >= k->node_capacity || !k->nodes[s.leaf])
		make_nodes(b, k, d, profile_of(b, ret->entry), s.leaf);
	ret->node = k->nodes[s.leaf];
	ret->folded = false;
	return true;
}

/* --- Lines --- */

static void keep_line(struct open_batch *b, uint32_t entry, struct str line, int64_t time_ns)
{
	struct batch_line *lines = (struct batch_line *)b->batch.lines;
	char *bytes = arena_alloc(&b->line_bytes, line.n + 1);

	assert(entry < b->batch.count && line.n <= SOURCE_LINE_MAX);
	memcpy(bytes, line.p, line.n);
	GROW(&lines, &b->line_capacity, b->batch.line_count + 1);
	lines[b->batch.line_count++] = (struct batch_line){ bytes, (uint32_t)line.n, entry, time_ns };
	b->batch.lines = lines;
	b->bytes += line.n + sizeof(*lines);
}

int open_batch_add_line(struct open_batch *b, const struct message_metadata *about, struct str stack, int64_t samples,
			struct str line, int64_t time_ns, const struct open_batch_rules *rules, bool *ret_folded)
{
	int64_t bucket_ns = time_ns - time_ns % BATCH_BUCKET_NS;
	struct open_batch_stack at;

	assert(!b->closed && time_ns >= 0 && samples > 0);
	if (!rules->dict || !find_fast(b, about, stack, bucket_ns, rules, &at))
		at = find_stack(b, about, stack, bucket_ns, rules);
	*ret_folded = at.folded;
	if (at.entry == UINT32_MAX)
		return -ENOSPC;
	profile_add((struct profile *)b->batch.entries[at.entry].profile, at.node, 0, samples);
	if (rules->keep_lines)
		keep_line(b, at.entry, line, time_ns);
	b->samples += (uint64_t)samples;
	open_batch_note(b, about, (uint64_t)samples);
	return 0;
}
