/* store_bench.c: measures the store with a day of a large site, and with a day of one server.
 *
 * The day is made up, the same every time: call trees over 28,000 method names, 50,000 different stacks about 23 frames deep,
 * chosen by Zipf's law, 3 million samples spread over 24 hours. It is committed in one batch per `-w` seconds (10 unless
 * given), each durable before the next begins, then compacted, then asked about. The fleet's day comes once more with the lines
 * that ran: of each sample one of eight lines of the leaf, by Zipf's law, and of each caller mostly the one line from which it
 * calls that callee, in one of twenty stacks another one. A real site had 1.9 times as many nodes by line as by function
 * (DokuWiki, 8,700 samples); this has more.
 *
 * The others only write. "catch_up" commits the fleet's day ten minutes at a time, as after an outage: nearly each sample
 * is an entry of its own still, as hosts, entry points and buckets keep them apart. "relays" commits once a second for 10,000 hosts, each of
 * which sends what 14 workers had in 10 seconds, one sample per worker and minute: 2,300 samples of 1,000 hosts. "relays_catch_up" commits
 * 10 seconds of them at a time.
 *
 * "burst" is what fills a store: 250,000 samples a second of 2,000 hosts, each second one batch.
 *
 * A sample is one drawn stack, about 23 frames deep, that the store finds in its dictionary by the names in the batch. "write" is by the
 * clock, with syncs; "write_cpu" is the processor time of the same calls, which other programs disturb less. "merge_cpu" is that of what
 * comes before: the messages of PHP processes, one per series and bucket, become the batch.
 *
 *	store_bench [-n SAMPLES] [-w SECONDS] [-d DIRECTORY] [-o NAME]	NAME: only this measurement, such as store_relays
 *	store_bench [-n SAMPLES] [-w SECONDS] -u URL	the fleet's day in a store that is new, such as a ClickHouse
 *	store_bench [-n SAMPLES] -o burst -u URL	the burst in such a store
 *	store_bench [-n SAMPLES] [-w SECONDS] [-l] [-r RUNS] -k STORE	writes the fleet's day into a store that stays, with -l with lines, with
 *								-r also runs, spread over the day, and ends
 *
 * The series of a batch share their stacks, as where all sinks are stores; with -p each has a profile of its own.
 *
 * Prints lines of name, value and unit, with tabs between them. */
#include "clock.h"
#include "io.h"
#include "mem.h"
#include "open_batch.h"
#include "store.h"
#include "wire_profile.h"
#include <assert.h>
#include <ftw.h>
#include <string.h>
#include <time.h>

#define NAMES		28000u
#define STACKS		50000u
#define ENTRIES		5u
#define DAY_START	(1763683200LL * NS_PER_SECOND)	/* 2025-11-21 00:00 UTC */
#define LEAF_LINES	8u
#define PERIOD_NS	(60LL * NS_PER_SECOND)		/* one sample per process and minute */
#define RELAYS		10000u
#define RELAYS_RATE	2300u				/* samples per second of all of them */
#define RELAY_SECONDS	10u				/* length of one window of a relay */
#define CATCH_UP	600u				/* seconds in one batch */
#define RELAYS_CATCH_UP	10u
#define BURST_HOSTS	2000u
#define BURST_RATE	250000u				/* samples per second, each second a batch */
#define RUN_STACKS	6u				/* in each run */
#define RUNS_AT_ONCE	500u				/* committed together */

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
	uint32_t frames[64];		/* indices of names, root first */
	unsigned entry;
};

struct day {
	char *names[NAMES];
	struct stack *stacks;
	double *sums;			/* cumulative weights */
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

/* A new stack shares its upper part with an existing one, like stacks of one program. */
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
	/* Callees are drawn from the few that the caller knows, so that trees branch like those of real code. */
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
	/* Weights do not follow the order of creation, since otherwise frequent stacks would all be shallow
	 * ancestors. */
	return &d->stacks[low * 7919 % STACKS];
}

/* --- Batches --- */

struct window {
	bool lines;
	struct open_batch *batch;
	struct buf messages;
	struct profile **profiles;	/* by bucket and series; NULL if it has no sample in this window */
	struct labels *labels;		/* by series */
	uint32_t series, buckets;
};

static void window_init(struct window *w, unsigned hosts, unsigned seconds)
{
	w->series = hosts * ENTRIES;
	w->buckets = (uint32_t)((seconds * NS_PER_SECOND + BATCH_BUCKET_NS - 1) / BATCH_BUCKET_NS);
	w->profiles = xcalloc((size_t)w->series * w->buckets, sizeof(struct profile *));
	w->labels = xcalloc(w->series, sizeof(*w->labels));
	buf_init(&w->messages);
	for (uint32_t i = 0; i < w->series; i++) {
		static const char *const entries[ENTRIES] = { "index", "api", "load", "rest", "jobs" };
		char host[24];

		snprintf(host, sizeof(host), "web%u", i / ENTRIES);
		labels_init(&w->labels[i]);
		labels_set(&w->labels[i], "entry", 5, entries[i % ENTRIES], strlen(entries[i % ENTRIES]));
		labels_set(&w->labels[i], "host", 4, host, strlen(host));
	}
}

static void window_empty(struct window *w)
{
	for (uint32_t i = 0; i < w->series * w->buckets; i++)
		w->profiles[i] = profile_free(w->profiles[i]);
	w->batch = open_batch_free(w->batch);
	buf_reset(&w->messages);
}

static void window_done(struct window *w)
{
	window_empty(w);
	for (uint32_t i = 0; i < w->series; i++)
		labels_done(&w->labels[i]);
	buf_done(&w->messages);
	free(w->profiles);
	free(w->labels);
}

/* Returns the line executed in frame `i` of the stack, relative to the first line of its function. */
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

static void window_add(struct window *w, const struct day *d, const struct stack *s, uint32_t place)
{
	struct profile *p = w->profiles[place];
	uint32_t node = PROFILE_ROOT;

	if (!p) {
		p = w->profiles[place] = profile_new();
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

/* A load to write. */
struct load {
	const char *what;
	unsigned hosts, seconds;	/* size of one batch */
	size_t samples, windows;
	bool lines, in_turn;		/* in_turn: every tenth window of each host, like relays send */
	bool apart;			/* each entry has its own profile */
};

static uint32_t draw_host(const struct load *l, size_t window)
{
	if (l->in_turn && l->seconds < RELAY_SECONDS)
		return (uint32_t)(next_random() % (l->hosts / RELAY_SECONDS) * RELAY_SECONDS + window % RELAY_SECONDS);
	return (uint32_t)(next_random() % l->hosts);
}

static void fail(const struct err *err)
{
	fprintf(stderr, "store_bench: %s\n", err->text);
	exit(2);
}

/* Same as a PHP process sends it. */
static void put_message(struct window *w, struct profile *p, const struct labels *labels, int64_t start_ns)
{
	struct err err = { 0 };

	labels_copy(&p->labels, labels);
	labels_set(&p->labels, "clock", 5, "wall", 4);		/* goes into the header */
	p->period_ns = PERIOD_NS;
	p->start_ns = p->end_ns = start_ns;
	if (wire_profile_write(p, &w->messages, &err) < 0)
		fail(&err);
}

/* Makes a batch of the messages of the window. */
static void merge(struct window *w, bool apart)
{
	const struct open_batch_rules rules = { .max_series = UINT32_MAX / 2, .share_stacks = !apart };
	const struct message_metadata about = { 0 };

	for (size_t at = 0; at < w->messages.size; ) {
		struct strobe_wire_message m;
		uint64_t samples;
		bool folded;

		strobe_wire_parse(w->messages.data + at, strobe_wire_first(w->messages.data + at, w->messages.size - at), &m);
		open_batch_add(w->batch, &about, &m, (int64_t)m.info.end_ns, &rules, &samples, &folded);
		at += m.size;
	}
	open_batch_seal(w->batch);
}

/* Makes window `i` of the load, which ends with sample `until`. */
static void window_fill(struct window *w, const struct day *d, const struct load *l, size_t i, size_t done, size_t until)
{
	int64_t start = DAY_START + (int64_t)(i * l->seconds) * NS_PER_SECOND;
	size_t first = done, count = until - done;

	start -= start % BATCH_BUCKET_NS;
	for (; done < until; done++) {
		const struct stack *stack = draw_stack(d);
		uint32_t bucket = (uint32_t)((done - first) * w->buckets / count);

		window_add(w, d, stack, bucket * w->series + draw_host(l, i) * ENTRIES + stack->entry);
	}
	for (uint32_t k = 0; k < w->series * w->buckets; k++)
		if (w->profiles[k])
			put_message(w, w->profiles[k], &w->labels[k % w->series], start + k / w->series * BATCH_BUCKET_NS);
	w->batch = open_batch_new(i + 1);
}

static int64_t processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

/* Appends everything; prints throughput and the times of commits. */
static void write_load(struct store *s, const struct day *d, const struct load *l)
{
	_cleanup_(freep) int64_t *times = xcalloc(l->windows, sizeof(*times));
	int64_t total = 0, processor = 0, merging = 0;
	struct window w = { .lines = l->lines };
	struct err err = { 0 };
	size_t done = 0, entries = 0;

	window_init(&w, l->hosts, l->seconds);
	for (size_t i = 0; i < l->windows; i++) {
		size_t until = l->samples * (i + 1) / l->windows;
		int64_t started, processor_started;

		window_fill(&w, d, l, i, done, until);
		done = until;
		processor_started = processor_ns();
		merge(&w, l->apart);
		merging += processor_ns() - processor_started;
		entries += w.batch->batch.count;
		processor_started = processor_ns();
		started = clock_monotonic_ns();
		if (store_append(s, &w.batch->batch, &err) < 0)
			fail(&err);
		times[i] = clock_monotonic_ns() - started;
		processor += processor_ns() - processor_started;
		total += times[i];
		window_empty(&w);
	}
	window_done(&w);
	qsort(times, l->windows, sizeof(*times), compare_times);
	print(l->what, "write", (double)l->samples / ((double)total / 1e9), "samples/s");
	print(l->what, "write_cpu", (double)processor / (double)l->samples, "ns/sample");
	print(l->what, "merge_cpu", (double)merging / (double)l->samples, "ns/sample");
	print(l->what, "write_cpu_per_batch", (double)processor / (double)l->windows / 1e6, "ms");
	print(l->what, "samples_per_entry", (double)l->samples / (double)entries, "samples");
	print(l->what, "commit_p50", (double)times[l->windows / 2] / 1e6, "ms");
	print(l->what, "commit_p99", (double)times[l->windows * 99 / 100] / 1e6, "ms");
	print(l->what, "commit_max", (double)times[l->windows - 1] / 1e6, "ms");
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

/* Creates a directory, and the URL of a store in it. The caller frees both. */
static char *directory_new(const char *base, char **ret_url)
{
	_cleanup_(freep) char *directory = xasprintf("%s/strobe-bench-XXXXXX", base);

	if (!mkdtemp(directory)) {
		perror(directory);
		exit(2);
	}
	*ret_url = xasprintf("sqlite:%s", directory);
	return TAKE_PTR(directory);
}

/* Measures writing to a new store. */
static void write_only(const char *url, const struct day *d, const struct load *l)
{
	struct err err = { 0 };
	struct store *s;

	if (store_open(url, false, &s, &err) < 0)
		fail(&err);
	write_load(s, d, l);
	store_close(s);
}

static void run_writing(const char *base, const struct day *d, const struct load *l)
{
	_cleanup_(freep) char *url = NULL, *directory = directory_new(base, &url);

	write_only(url, d, l);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void run_in(const char *url, const struct day *d, const struct load *l)
{
	static const struct label_filter host = { "host", "web0", LABEL_IS };
	static const struct store_limits none = { 0, 0 };
	struct store_query whole = { DAY_START, DAY_START + NS_PER_DAY, NULL, 0 };
	uint64_t *steps = xcalloc(288, sizeof(*steps));
	struct store_labels labels;
	struct err err = { 0 };
	const char *what = l->what;
	size_t samples = l->samples;
	int64_t started;
	struct store *s;

	store_before_fork(url);				/* as for a daemon's queries */
	if (store_open(url, false, &s, &err) < 0)
		fail(&err);
	write_load(s, d, l);
	print(what, "bytes_per_sample_written", bytes_per_sample(s, samples), "bytes");
	mem_prefer_huge_pages((size_t)1 << 30);		/* like a daemon's queries */
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

static void run(const char *base, const struct day *d, const struct load *l)
{
	_cleanup_(freep) char *url = NULL, *directory = directory_new(base, &url);

	run_in(url, d, l);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- Runs --- */

/* A traced request: its labels are those of a host and an entry point, and ids of its own. The caller frees. */
static struct profile *make_run(const struct day *d, unsigned hosts, size_t i, size_t count)
{
	static const char *const columns[][2] = { { "calls", "count" }, { "wall_ns", "nanoseconds" }, { "cpu_ns", "nanoseconds" }, { "memory_bytes", "bytes" }, { "peak_memory_bytes", "bytes" } };
	const struct stack *first = draw_stack(d);
	struct profile *p = profile_new();
	char labels[256];

	snprintf(labels, sizeof(labels), "source=site,id=%zu,url=/page/%llu,entry=entry%u,host=web%llu,method=%s,sapi=fpm-fcgi,span_id=%016llx,"
					 "trace_id=%032llx",
		 i, (unsigned long long)next_random() % 5000, first->entry, (unsigned long long)next_random() % hosts,
		 next_random() % 10 ? "GET" : "POST", (unsigned long long)next_random(), (unsigned long long)next_random());
	if (labels_parse(labels, &p->labels, NULL) < 0)
		abort();
	for (size_t k = 0; k < RUN_STACKS; k++) {
		const struct stack *s = k ? draw_stack(d) : first;
		uint32_t node = PROFILE_ROOT;

		for (uint32_t f = 0; f < s->depth; f++)
			node = profile_child(p, node, profile_frame(p, (struct str){ d->names[s->frames[f]], strlen(d->names[s->frames[f]]) }, (struct str){ "", 0 }, 0));
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
			profile_add(p, node, profile_column(p, columns[c][0], columns[c][1]), (int64_t)(next_random() % 30000000));
	}
	p->start_ns = DAY_START + (int64_t)((double)i / (double)count * (double)NS_PER_DAY);
	p->end_ns = p->start_ns + (int64_t)(next_random() % NS_PER_SECOND);
	return p;
}

static void write_runs(struct store *s, const struct day *d, unsigned hosts, size_t count)
{
	struct store_new_run runs[RUNS_AT_ONCE];
	struct err err = { 0 };

	for (size_t done = 0, n; done < count; done += n) {
		n = count - done < RUNS_AT_ONCE ? count - done : RUNS_AT_ONCE;
		for (size_t i = 0; i < n; i++)
			runs[i] = (struct store_new_run){ .profile = make_run(d, hosts, done + i, count) };
		if (store_add_runs(s, runs, n, DAY_START + NS_PER_DAY, &err) < 0)
			fail(&err);
		for (size_t i = 0; i < n; i++)
			profile_free((struct profile *)runs[i].profile);
	}
}

static void keep(const char *directory, const struct day *d, const struct load *l, size_t runs)
{
	static const struct store_limits none = { 0, 0 };
	_cleanup_(freep) char *url = xasprintf("sqlite:%s", directory);
	struct err err = { 0 };
	struct store *s;

	if (store_open(url, false, &s, &err) < 0)
		fail(&err);
	write_load(s, d, l);
	write_runs(s, d, l->hosts, runs);
	if (store_maintain(s, &none, DAY_START + NS_PER_DAY + 3600 * NS_PER_SECOND, &err) < 0)
		fail(&err);
	store_close(s);
}

static struct load burst(const char *what, size_t samples, bool apart)
{
	return (struct load){ .what = what, .hosts = BURST_HOSTS, .seconds = 1, .samples = samples, .windows = samples / BURST_RATE + 1, .apart = apart };
}

/* `only` names one of them; NULL: all. */
static void run_all(const char *base, const struct day *d, unsigned seconds, size_t samples, bool apart, const char *only)
{
	size_t windows = 86400 / seconds, catch_ups = samples / 10 / (RELAYS_RATE * RELAYS_CATCH_UP) + 1;
	const struct load loads[] = {
		{ "store_fleet", 150, seconds, samples, windows, false, false, apart },
		{ "store_fleet_lines", 150, seconds, samples, windows, true, false, apart },
		{ "store_one_host", 1, seconds, samples, windows, false, false, apart },
		{ "store_catch_up", 150, CATCH_UP, samples, 86400 / CATCH_UP, false, false, apart },
		burst("store_burst", samples, apart),
		{ "store_relays", RELAYS, 1, samples / 10, samples / 10 / RELAYS_RATE + 1, false, true, apart },
		{ "store_relays_catch_up", RELAYS, RELAYS_CATCH_UP, catch_ups * RELAYS_RATE * RELAYS_CATCH_UP, catch_ups, false, true, apart },
	};

	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		if (only && strcmp(only, loads[i].what))
			continue;
		if (i < 3)
			run(base, d, &loads[i]);
		else
			run_writing(base, d, &loads[i]);
	}
}

int main(int argc, char **argv)
{
	const char *base = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", *kept = NULL, *only = NULL, *url = NULL;
	unsigned seconds = 10;
	size_t samples = 3000000, runs = 0, windows;
	bool lines = false, apart = false;
	struct day d = { 0 };
	int option;

	while ((option = getopt(argc, argv, "n:w:d:k:lpo:r:u:")) != -1) {
		if (option == 'n')
			samples = strtoul(optarg, NULL, 10);
		else if (option == 'w')
			seconds = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'd')
			base = optarg;
		else if (option == 'k')
			kept = optarg;
		else if (option == 'o')
			only = optarg;
		else if (option == 'r')
			runs = strtoul(optarg, NULL, 10);
		else if (option == 'u')
			url = optarg;
		else if (option == 'l')
			lines = true;
		else if (option == 'p')
			apart = true;
		else
			return 1;
	}
	if (samples == 0 || seconds == 0 || seconds > 86400) {
		fprintf(stderr, "usage: store_bench [-n SAMPLES] [-w SECONDS] [-d DIRECTORY] [-p] [-o NAME | -u URL | [-l] [-r RUNS] -k STORE]\n");
		return 1;
	}
	day_make(&d);
	windows = 86400 / seconds;
	if (kept)
		keep(kept, &d, &(struct load){ "store_kept", 150, seconds, samples, windows, lines, false, apart }, runs);
	else if (url && only) {
		const struct load l = burst("clickhouse_burst", samples, apart);

		write_only(url, &d, &l);
	} else if (url)
		run_in(url, &d, &(struct load){ "clickhouse_fleet", 150, seconds, samples, windows, false, false, apart });
	else
		run_all(base, &d, seconds, samples, apart, only);
	day_done(&d);
	return 0;
}
