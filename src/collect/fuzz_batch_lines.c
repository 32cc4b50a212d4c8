/* fuzz_batch_lines.c: any bytes as lines: with a dictionary of earlier batches they add up to the same as without
 * one. */
#include "open_batch.h"

#include "folded_line.h"
#include "line_dict.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MAX_SERIES	6
#define BATCHES		3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same number for the same samples of the same stacks in the same series, in any order. */
static uint64_t sum_of(const struct batch *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->count; i++) {
		const struct profile *p = b->entries[i].profile;
		uint64_t *paths = xcalloc(p->node_count, sizeof(*paths));
		struct buf labels;

		buf_init(&labels);
		labels_put(b->entries[i].labels, &labels);
		paths[0] = XXH3_64bits_withSeed(labels.data, labels.size, (uint64_t)b->entries[i].bucket_ns);
		for (uint32_t n = 1; n < p->node_count; n++) {
			struct str name = profile_name(p, p->node_frames[n]);

			paths[n] = XXH3_64bits_withSeed(name.p, name.n, paths[p->parents[n]]);
			sum += paths[n] * (uint64_t)p->columns[0].self[n];
		}
		buf_done(&labels);
		free(paths);
	}
	return sum;
}

/* Adds a line to both; what it comes with depends on where it stands. */
static void add(struct open_batch *fast, struct open_batch *slow, struct line_dict *dict, struct str line, unsigned i)
{
	const struct open_batch_rules with = { .max_series = MAX_SERIES, .dict = dict },
		without = { .max_series = MAX_SERIES };
	struct label host = { (char *)"host", (char *)"web1" };
	struct labels labels = { &host, 1, 1 };
	const struct message_metadata about = {
		.channel = i % 5 == 1 ? "wall" : i % 5 == 2 ? NULL : "cpu",
		.labels = i % 7 == 3 ? &labels : NULL,
	};
	int64_t time_ns = (int64_t)(i % 11 == 4 ? i % 8 + 1 : 1) * BATCH_BUCKET_NS;
	bool fast_folded = false, slow_folded = false;
	struct folded_line l;
	int a, b;

	if (folded_line_parse(line.p, line.n, false, &l) != FOLDED_STACK || l.count.whole < 1 ||
	    l.count.whole > INT32_MAX)
		return;
	a = open_batch_add_line(fast, &about, l.stack, l.count.whole, line, time_ns, &with, &fast_folded);
	b = open_batch_add_line(slow, &about, l.stack, l.count.whole, line, time_ns, &without, &slow_folded);
	if (a != b || fast_folded != slow_folded)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *end = (const char *)data + size;
	struct line_dict *dict;

	if (size > 1 << 16)
		return 0;
	dict = line_dict_new();
	/* The later ones know all stacks, and have them in another order. */
	for (unsigned batch = 0; batch < BATCHES; batch++) {
		struct open_batch *fast = open_batch_new(1), *slow = open_batch_new(1);
		unsigned i = batch;

		for (const char *p = (const char *)data, *newline; p < end; p = newline + 1, i++) {
			newline = memchr(p, '\n', (size_t)(end - p));
			newline = newline ? newline : end;
			add(fast, slow, dict, (struct str){ p, (size_t)(newline - p) }, i);
		}
		if (fast->samples != slow->samples || fast->batch.count != slow->batch.count ||
		    sum_of(&fast->batch) != sum_of(&slow->batch))
			abort();
		open_batch_free(fast);
		open_batch_free(slow);
	}
	line_dict_free(dict);
	return 0;
}
