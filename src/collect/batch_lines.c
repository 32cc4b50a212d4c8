/* batch_lines.c: folded lines into profiles.
 *
 * Most lines of a second were there before in the same second, so a line is first looked up as a whole, by a hash of 64
 * bits with a seed of its own: in a batch of a million stacks two of them share one with a chance of 3 in 100 million. */

#include "open_batch.h"

#include "mem.h"

#include <assert.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#define CHANNEL_MAX	STROBE_WIRE_LABEL_VALUE
#define LINE_BYTES	64u		/* of a line beside its bytes */

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

static void put_key(struct buf *key, const struct source_about *about, struct str entry, int64_t bucket_ns)
{
	size_t channel = about->channel ? strlen(about->channel) : 0;

	/* No message has so many labels, so that this is no key of one. */
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

static struct labels *make_labels(const struct source_about *about, struct str entry, const struct open_batch_rules *rules)
{
	struct labels *labels = xcalloc(1, sizeof(*labels));

	labels_init(labels);
	if (about->labels)
		labels_copy(labels, about->labels);
	if (entry.n && !labels_get(labels, "entry"))
		labels_set(labels, "entry", 5, entry.p, entry.n);
	if (about->channel && *about->channel && !labels_get(labels, "profiler"))
		labels_set(labels, "profiler", 8, about->channel, strnlen(about->channel, CHANNEL_MAX));
	if (rules->caps)
		label_caps_apply(rules->caps, labels);
	return labels;
}

/* The entry of all series above the limit. */
static int64_t folded_entry(struct open_batch *b, const struct source_about *about, int64_t bucket_ns,
			    const struct open_batch_rules *rules)
{
	static const struct str other = { "other", 5 };
	struct source_about bare = { .clock = about->clock, .period_ns = about->period_ns };
	_cleanup_(buf_done) struct buf key = { 0 };
	int64_t i;

	buf_init(&key);
	put_key(&key, &bare, other, bucket_ns);
	i = open_batch_find(b, &key);
	if (i >= 0)
		return i;
	if (b->batch.count >= 2 * (size_t)rules->max_series)
		return -ENOSPC;
	i = open_batch_entry(b, make_labels(&bare, other, rules), bucket_ns, about->clock, about->period_ns);
	open_batch_set(b, &key, (uint32_t)i);
	return i;
}

static int64_t find_entry(struct open_batch *b, const struct source_about *about, struct str stack, int64_t bucket_ns,
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

static uint32_t add_stack(struct profile *p, struct str stack)
{
	const char *at = stack.p, *end = stack.p + stack.n;
	uint32_t node = PROFILE_ROOT;

	for (;;) {
		const char *next = memchr(at, ';', (size_t)(end - at));
		struct str name = { at, (size_t)((next ? next : end) - at) };

		if (name.n > STROBE_WIRE_STRING)
			name.n = STROBE_WIRE_STRING;
		if (name.n)
			node = profile_child(p, node, profile_frame(p, name, (struct str){ "", 0 }, 0));
		if (!next)
			return node;
		at = next + 1;
	}
}

static uint64_t hash_line(struct open_batch *b, const struct source_about *about, struct str stack, int64_t bucket_ns)
{
	uint64_t seed;

	if (!b->hash_seed && getrandom(&b->hash_seed, sizeof(b->hash_seed), 0) != sizeof(b->hash_seed))
		b->hash_seed = (uintptr_t)b;
	b->hash_seed |= 1;
	seed = b->hash_seed + (uint64_t)bucket_ns + (uint64_t)about->period_ns * 31 + about->clock;
	if (about->channel)
		seed = XXH3_64bits_withSeed(about->channel, strlen(about->channel), seed);
	return XXH3_64bits_withSeed(stack.p, stack.n, seed);
}

/* Where the stack is in the batch, made if it is new. */
static void find_stack(struct open_batch *b, const struct source_about *about, struct str stack, int64_t bucket_ns,
		       const struct open_batch_rules *rules, struct open_batch_stack *ret)
{
	/* Labels that come with each line are few and seldom: those lines are taken apart each time. */
	uint32_t *slot = about->labels ? NULL : map_slot(&b->stacks, hash_line(b, about, stack, bucket_ns));
	struct profile *p;
	uint64_t before;
	int64_t entry;

	if (slot && *slot != MAP_NONE) {
		*ret = b->seen[*slot];
		return;
	}
	if (slot)
		*slot = (uint32_t)b->seen_count;
	ret->folded = false;
	entry = find_entry(b, about, stack, bucket_ns, rules, &ret->folded);
	p = entry < 0 ? NULL : (struct profile *)b->batch.entries[entry].profile;
	if (p) {
		if (p->column_count == 0)
			profile_column(p, "samples", "count");
		before = open_batch_profile_cost(p);
		ret->entry = (uint32_t)entry;
		ret->node = add_stack(p, stack);
		b->bytes += open_batch_profile_cost(p) - before + LINE_BYTES;
		((struct batch_entry *)b->batch.entries)[entry].from_lines = true;
	} else {
		ret->entry = UINT32_MAX;
	}
	if (slot) {
		GROW(&b->seen, &b->seen_capacity, b->seen_count + 1);
		b->seen[b->seen_count++] = *ret;
	}
}

static void keep_line(struct open_batch *b, uint32_t entry, struct str line, int64_t time_ns)
{
	struct batch_line *lines = (struct batch_line *)b->batch.lines;
	char *bytes = arena_alloc(&b->line_bytes, line.n + 1);

	memcpy(bytes, line.p, line.n);
	GROW(&lines, &b->line_capacity, b->batch.line_count + 1);
	lines[b->batch.line_count++] = (struct batch_line){ bytes, (uint32_t)line.n, entry, time_ns };
	b->batch.lines = lines;
	b->bytes += line.n + sizeof(*lines);
}

int open_batch_add_line(struct open_batch *b, const struct source_about *about, struct str stack, int64_t samples,
			struct str line, int64_t time_ns, const struct open_batch_rules *rules, bool *ret_folded)
{
	int64_t bucket_ns = time_ns - time_ns % BATCH_BUCKET_NS;
	struct open_batch_stack at;

	assert(time_ns >= 0 && samples > 0);
	find_stack(b, about, stack, bucket_ns, rules, &at);
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
