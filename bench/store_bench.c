/* store_bench.c: what the store does with a day of a large site, and with a day of one server.
 *
 * The day is made up, the same every time: call trees over 28,000 method names, 50,000 different stacks about 23 frames deep,
 * chosen by Zipf's law, 3 million samples spread over 24 hours. It is committed in one batch per `-w` seconds (10 unless
 * given), each durable before the next begins, then compacted, then asked about. The fleet's day comes once more with the lines
 * that ran: of each sample one of eight lines of the leaf, by Zipf's law, and of each caller mostly the one line from which it
 * calls that callee, in one of twenty stacks another one. A real site had 1.9 times as many nodes by line as by function
 * (DokuWiki, 8,700 samples); this has more.
 *
 *	store_bench [-n SAMPLES] [-w SECONDS] [-d DIRECTORY]
 *	store_bench [-n SAMPLES] [-w SECONDS] -u URL	the fleet's day in a store that is new, such as a ClickHouse
 *	store_bench [-n SAMPLES] [-w SECONDS] [-l] -k STORE	writes the fleet's day into a store that stays, with -l with lines, and ends
 *
 * Prints lines of name, value and unit, with tabs between them. */
#include "clock.h"
#include "io.h"
#include "mem.h"
#include "store.h"
#include <assert.h>
#include <ftw.h>
#include <string.h>

#define NAMES		28000u
#define STACKS		50000u
#define ENTRIES		5u
#define DAY_START	(1763683200LL * NS_PER_SECOND)	/* 2025-11-21 00:00 UTC */
#define LEAF_LINES	8u
#define PERIOD_NS	(60LL * NS_PER_SECOND)		/* one sample per process and minute */

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static double next_share(void)
{
	return (double)(next_random() >> 11) / 9007199254740992.0;
}

/* --- The day --- */

struct stack {
	uint32_t depth;
	uint32_t frames[64];		/* numbers of names, root first */
	unsigned entry;
};

struct day {
	char *names[NAMES];
	struct stack *stacks;
	double *sums;			/* of the weights up to each stack */
};

static void make_names(struct day *d)
{
	static const char *const words[] = {
		"Parser", "Page", "User", "Title", "Database", "Query", "Cache", "Output", "Link", "Revision", "Message",
		"Language", "Hook", "Request", "Session", "Storage", "Content", "Handler", "Builder", "Factory",
		"Formatter", "Store", "Renderer", "Service", "Backend", "Config", "Context", "Block", "Search", "Job",
	};
	static const char *const verbs[] = { "get", "set", "load", "make", "run", "find", "parse", "render", "fetch", "is" };
	size_t w = ARRAY_SIZE(words);

	for (size_t i = 0; i < NAMES; i++)
		d->names[i] = xasprintf("Site\\%s\\%s%s::%s%s%zu", words[i % w], words[i / w % w], words[i / 7 % w],
					verbs[i % 10], words[i / 3 % w], i % 97);
}

/* A new stack shares its upper part with one that exists, as stacks of one program do. */
static void make_stack(struct day *d, uint32_t i)
{
	struct stack *s = &d->stacks[i];
	const struct stack *like;
	uint32_t depth = 12 + (uint32_t)(next_random() % 23), shared;

	if (i < ENTRIES) {
		s->entry = i;
		s->frames[0] = i;
		s->depth = 1;
		shared = 1;
	} else {
		like = &d->stacks[next_random() % i];
		shared = 1 + (uint32_t)(next_random() % like->depth);
		if (shared > depth)
			shared = depth;
		*s = *like;
	}
	/* Callees are drawn from few that the caller knows, so that trees branch like code and not like noise. */
	for (uint32_t k = shared; k < depth; k++)
		s->frames[k] = (s->frames[k - 1] * 31 + (uint32_t)(next_random() % 9) * 1237 + k) % NAMES;
	s->depth = depth;
}

static void day_make(struct day *d)
{
	double sum = 0;

	make_names(d);
	d->stacks = xcalloc(STACKS, sizeof(*d->stacks));
	d->sums = xcalloc(STACKS, sizeof(*d->sums));
	for (uint32_t i = 0; i < STACKS; i++)
		make_stack(d, i);
	for (uint32_t i = 0; i < STACKS; i++)
		d->sums[i] = sum += 1.0 / (i + 1);
}

static void day_done(struct day *d)
{
	for (size_t i = 0; i < NAMES; i++)
		free(d->names[i]);
	free(d->stacks);
	free(d->sums);
}

static const struct stack *draw_stack(const struct day *d)
{
	double at = next_share() * d->sums[STACKS - 1];
	size_t low = 0, high = STACKS - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d->sums[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	/* Weight does not follow the order of creation, or frequent stacks would all be shallow ancestors. */
	return &d->stacks[low * 7919 % STACKS];
}

/* --- Batches --- */

struct window {
	bool lines;
	struct batch batch;
	struct batch_entry *entries;
	struct profile **profiles;	/* by series; NULL while it has no sample in this window */
	struct labels *labels;		/* by series */
	uint32_t series;
};

static void window_init(struct window *w, unsigned hosts)
{
	w->series = hosts * ENTRIES;
	w->entries = xcalloc(w->series, sizeof(*w->entries));
	w->profiles = xcalloc(w->series, sizeof(struct profile *));
	w->labels = xcalloc(w->series, sizeof(*w->labels));
	w->batch = (struct batch){ .entries = w->entries };
	for (uint32_t i = 0; i < w->series; i++) {
		static const char *const entries[ENTRIES] = { "index", "api", "load", "rest", "jobs" };
		char host[16];

		snprintf(host, sizeof(host), "web%u", i / ENTRIES);
		labels_init(&w->labels[i]);
		labels_set(&w->labels[i], "entry", 5, entries[i % ENTRIES], strlen(entries[i % ENTRIES]));
		labels_set(&w->labels[i], "host", 4, host, strlen(host));
	}
}

static void window_empty(struct window *w)
{
	for (uint32_t i = 0; i < w->series; i++)
		w->profiles[i] = profile_free(w->profiles[i]);
	w->batch.count = 0;
}

static void window_done(struct window *w)
{
	window_empty(w);
	for (uint32_t i = 0; i < w->series; i++)
		labels_done(&w->labels[i]);
	free(w->entries);
	free(w->profiles);
	free(w->labels);
}

/* The line that runs in frame `i` of the stack, relative to the first line of its function. */
static uint32_t line_of(const struct stack *s, uint32_t number, uint32_t i)
{
	double share = next_share() * 2.717857142857143;	/* 1 + 1/2 + … + 1/8 */
	uint32_t line = 0;

	if (i + 1 < s->depth)
		return 1 + (s->frames[i] * 7 + s->frames[i + 1] * 13) % 40 + ((number * 31 + i) % 20 == 0);
	while (line + 1 < LEAF_LINES && (share -= 1.0 / (line + 1)) > 0)
		line++;
	return 1 + (s->frames[i] % 17 + line * 3) % 60;
}

static void window_add(struct window *w, const struct day *d, const struct stack *s, uint32_t series)
{
	struct profile *p = w->profiles[series];
	uint32_t node = PROFILE_ROOT;

	if (!p) {
		p = w->profiles[series] = profile_new();
		profile_keep_lines(p, w->lines);
		profile_column(p, "samples", "count");
	}
	for (uint32_t i = 0; i < s->depth; i++) {
		const char *name = d->names[s->frames[i]];
		uint32_t start = s->frames[i] % 900 + 1, line = w->lines ? start + line_of(s, (uint32_t)(s - d->stacks), i) : 0;
		char file[64];

		snprintf(file, sizeof(file), "/srv/site/includes/%.12s%u.php", name + 5, s->frames[i] % 1500);
		node = profile_child_at(p, node, profile_frame(p, (struct str){ name, strlen(name) },
							       (struct str){ file, strlen(file) }, start), line);
	}
	profile_add(p, node, 0, 1);
}

/* --- Measuring --- */

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void print(const char *what, const char *name, double value, const char *unit)
{
	printf("%s_%s\t%.4g\t%s\n", what, name, value, unit);
	fflush(stdout);
}

static void fail(const struct err *err)
{
	fprintf(stderr, "store_bench: %s\n", err->text);
	exit(2);
}

/* Appends the whole day; prints throughput and the times of commits. */
static void write_day(const char *what, struct store *s, const struct day *d, unsigned hosts, size_t samples,
		      unsigned seconds, bool lines)
{
	size_t windows = 86400 / seconds, done = 0, n = 0;
	_cleanup_(freep) int64_t *times = xcalloc(windows, sizeof(*times));
	struct err err = { 0 };
	int64_t total = 0;
	struct window w;

	window_init(&w, hosts);
	w.lines = lines;
	for (size_t i = 0; i < windows; i++) {
		int64_t bucket = DAY_START + (int64_t)i * seconds * NS_PER_SECOND, started;
		size_t until = samples * (i + 1) / windows;

		for (; done < until; done++) {
			const struct stack *stack = draw_stack(d);

			window_add(&w, d, stack, (uint32_t)(next_random() % hosts) * ENTRIES + stack->entry);
		}
		for (uint32_t k = 0; k < w.series; k++)
			if (w.profiles[k])
				w.entries[w.batch.count++] = (struct batch_entry){
					bucket - bucket % BATCH_BUCKET_NS, &w.labels[k], STROBE_CLOCK_WALL, PERIOD_NS,
					w.profiles[k],
				};
		w.batch.id = i + 1;
		started = clock_monotonic_ns();
		if (store_append(s, &w.batch, &err) < 0)
			fail(&err);
		times[n] = clock_monotonic_ns() - started;
		total += times[n++];
		window_empty(&w);
	}
	window_done(&w);
	qsort(times, n, sizeof(*times), compare_times);
	print(what, "write", (double)samples / ((double)total / 1e9), "samples/s");
	print(what, "commit_p50", (double)times[n / 2] / 1e6, "ms");
	print(what, "commit_p99", (double)times[n * 99 / 100] / 1e6, "ms");
	print(what, "commit_max", (double)times[n - 1] / 1e6, "ms");
}

static void ask(const char *what, const char *name, struct store *s, int64_t from, int64_t to,
		const struct label_filter *filter, double expected)
{
	const struct store_query q = { from, to, filter, filter ? 1 : 0 };
	int64_t times[5];
	struct err err = { 0 };
	double found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		int64_t started = clock_monotonic_ns();
		struct profile *p;

		if (store_query(s, &q, &p, NULL, &err) < 0)
			fail(&err);
		times[i] = clock_monotonic_ns() - started;
		found = (double)profile_sum(p, 0);
		if (i == 0 && expected > 0)
			print(what, "nodes", p->node_count, "nodes");
		profile_free(p);
	}
	if (expected > 0 && found != expected) {
		fprintf(stderr, "store_bench: %.0f samples were found, not %.0f\n", found, expected);
		exit(2);
	}
	qsort(times, ARRAY_SIZE(times), sizeof(*times), compare_times);
	print(what, name, (double)times[ARRAY_SIZE(times) / 2] / 1e6, "ms");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static double bytes_per_sample(struct store *s, size_t samples)
{
	struct store_stats stats;

	store_stats(s, &stats);
	return (double)stats.bytes / (double)samples;
}

static void run_in(const char *what, const char *url, const struct day *d, unsigned hosts, size_t samples,
		   unsigned seconds, bool lines)
{
	static const struct label_filter host = { "host", "web0", LABEL_IS };
	static const struct store_limits none = { 0, 0 };
	struct store_query whole = { DAY_START, DAY_START + NS_PER_DAY, NULL, 0 };
	uint64_t *steps = xcalloc(288, sizeof(*steps));
	struct store_labels labels;
	struct err err = { 0 };
	struct store *s;
	int64_t started;

	if (store_open(url, false, &s, &err) < 0)
		fail(&err);
	write_day(what, s, d, hosts, samples, seconds, lines);
	print(what, "bytes_per_sample_written", bytes_per_sample(s, samples), "bytes");
	ask(what, "query_day_not_compacted", s, DAY_START, DAY_START + NS_PER_DAY, NULL, 0);

	started = clock_monotonic_ns();
	if (store_maintain(s, &none, DAY_START + NS_PER_DAY + 3600 * NS_PER_SECOND, &err) < 0)
		fail(&err);
	print(what, "compaction_of_day", (double)(clock_monotonic_ns() - started) / 1e6, "ms");
	print(what, "bytes_per_sample_compacted", bytes_per_sample(s, samples), "bytes");
	ask(what, "query_day", s, DAY_START, DAY_START + NS_PER_DAY, NULL, (double)samples);
	ask(what, "query_hour", s, DAY_START + NS_PER_DAY / 2, DAY_START + NS_PER_DAY / 2 + 3600 * NS_PER_SECOND, NULL, 0);
	ask(what, "query_one_label", s, DAY_START, DAY_START + NS_PER_DAY, &host, 0);
	started = clock_monotonic_ns();
	if (store_timeline(s, &whole, 300 * NS_PER_SECOND, steps, 288, &err) < 0)
		fail(&err);
	print(what, "timeline_day", (double)(clock_monotonic_ns() - started) / 1e6, "ms");
	started = clock_monotonic_ns();
	if (store_labels(s, &whole, &labels, &err) < 0)
		fail(&err);
	print(what, "labels_day", (double)(clock_monotonic_ns() - started) / 1e6, "ms");
	store_labels_done(&labels);
	free(steps);
	store_close(s);
}

static void run(const char *what, const char *base, const struct day *d, unsigned hosts, size_t samples,
		unsigned seconds, bool lines)
{
	_cleanup_(freep) char *directory = xasprintf("%s/strobe-bench-XXXXXX", base), *url = NULL;

	if (!mkdtemp(directory)) {
		perror(directory);
		exit(2);
	}
	url = xasprintf("sqlite:%s", directory);
	run_in(what, url, d, hosts, samples, seconds, lines);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void keep(const char *directory, const struct day *d, size_t samples, unsigned seconds, bool lines)
{
	static const struct store_limits none = { 0, 0 };
	_cleanup_(freep) char *url = xasprintf("sqlite:%s", directory);
	struct err err = { 0 };
	struct store *s;

	if (store_open(url, false, &s, &err) < 0)
		fail(&err);
	write_day("store_kept", s, d, 150, samples, seconds, lines);
	if (store_maintain(s, &none, DAY_START + NS_PER_DAY + 3600 * NS_PER_SECOND, &err) < 0)
		fail(&err);
	store_close(s);
}

int main(int argc, char **argv)
{
	const char *base = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", *kept = NULL, *url = NULL;
	unsigned seconds = 10;
	size_t samples = 3000000;
	bool lines = false;
	struct day d = { 0 };
	int option;

	while ((option = getopt(argc, argv, "n:w:d:k:u:l")) != -1) {
		if (option == 'n')
			samples = strtoul(optarg, NULL, 10);
		else if (option == 'w')
			seconds = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'd')
			base = optarg;
		else if (option == 'k')
			kept = optarg;
		else if (option == 'u')
			url = optarg;
		else if (option == 'l')
			lines = true;
		else
			return 1;
	}
	if (samples == 0 || seconds == 0 || seconds > 86400) {
		fprintf(stderr, "usage: store_bench [-n SAMPLES] [-w SECONDS] [-d DIRECTORY | -u URL | [-l] -k STORE]\n");
		return 1;
	}
	day_make(&d);
	if (kept) {
		keep(kept, &d, samples, seconds, lines);
		day_done(&d);
		return 0;
	}
	if (url) {
		run_in("clickhouse_fleet", url, &d, 150, samples, seconds, false);
		day_done(&d);
		return 0;
	}
	run("store_fleet", base, &d, 150, samples, seconds, false);
	run("store_fleet_lines", base, &d, 150, samples, seconds, true);
	run("store_one_host", base, &d, 1, samples, seconds, false);
	day_done(&d);
	return 0;
}
