/* store_fixture.h: batches and answers in a form that tests can write and compare. Only tests include it. */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include "batch_rows.h"
#include "buf.h"
#include "mem.h"
#include "store.h"
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND	1000000000LL
#define HOUR	(3600 * SECOND)
#define DAY	(24 * HOUR)
#define NOON	(1763726400LL * SECOND)		/* 2025-11-21 12:00 UTC */
#define PERIOD	(10LL * 1000 * 1000)

static int fixture_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static inline void fixture_remove(char *directory)
{
	nftw(directory, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(directory);
}

static inline char *fixture_directory_in(const char *base)
{
	char *path = xasprintf("%s/strobe-store-XXXXXX", base);

	if (!mkdtemp(path)) {
		perror(path);
		exit(1);
	}
	return path;
}

static inline char *fixture_directory(void)
{
	const char *base = getenv("TMPDIR");

	return fixture_directory_in(base && *base ? base : "/tmp");
}

/* Creates a directory in memory if possible, for tests with thousands of commits that would each wait for the
 * disk. */
static inline char *fixture_fast_directory(void)
{
	return access("/dev/shm", W_OK) == 0 ? fixture_directory_in("/dev/shm") : fixture_directory();
}

/* --- Rows --- */

static inline void fixture_share_entry(struct batch_entry *e, struct profile *stacks)
{
	const struct profile *p = e->profile;
	uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes)), columns = p->column_count;

	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t frame = p->node_frames[i];

		nodes[i] = profile_child_at(stacks, nodes[p->parents[i]], profile_frame(stacks, profile_name(p, frame), profile_file(p, frame),
											  p->frames[frame].line), profile_line(p, i));
		if (!profile_has_values(p, i))
			continue;
		for (uint32_t c = 0; c < columns; c++)
			batch_rows_add(&e->rows, columns, nodes[i])[c] = p->columns[c].self[i];
	}
	free(nodes);
	batch_rows_merge(&e->rows, columns);
	e->profile = profile_new();
	for (uint32_t c = 0; c < columns; c++) {
		profile_column_like((struct profile *)e->profile, &p->columns[c]);
		profile_add((struct profile *)e->profile, PROFILE_ROOT, c, p->columns[c].self[PROFILE_ROOT]);
	}
}

/* Appends the same batch with rows (batch_rows.h) instead of profiles, in every second entry or in all. */
static inline int fixture_append_rows(struct store *s, const struct batch *b, struct err *err)
{
	struct batch_entry *entries = xcalloc(b->count + 1, sizeof(*entries));
	struct batch shared = *b;
	bool all = b->id % 2;
	int rc;

	shared.stacks = profile_new();
	shared.entries = entries;
	profile_keep_lines((struct profile *)shared.stacks, true);
	for (size_t i = 0; i < b->count; i++) {
		entries[i] = b->entries[i];
		if ((all || i % 2) && entries[i].profile->column_count)
			fixture_share_entry(&entries[i], (struct profile *)shared.stacks);
	}
	rc = store_append(s, &shared, err);
	for (size_t i = 0; i < b->count; i++)
		if (entries[i].profile != b->entries[i].profile) {
			profile_free((struct profile *)entries[i].profile);
			batch_rows_done(&entries[i].rows);
		}
	profile_free((struct profile *)shared.stacks);
	free(entries);
	return rc;
}

/* All tests run with profiles, and again with STROBE_TEST_ROWS=1. */
static inline int fixture_append(struct store *s, const struct batch *b, struct err *err)
{
	return getenv("STROBE_TEST_ROWS") ? fixture_append_rows(s, b, err) : store_append(s, b, err);
}

#define store_append fixture_append

/* A batch under construction; maker_done frees everything in it. */
struct maker {
	struct batch batch;
	struct batch_entry entries[256];
	struct labels labels[256];
	struct profile *profiles[256];
};

static inline struct maker *maker_new(uint64_t id)
{
	struct maker *m = xcalloc(1, sizeof(*m));

	m->batch.id = id;
	m->batch.entries = m->entries;
	return m;
}

static inline void maker_free(struct maker *m)
{
	for (size_t i = 0; i < m->batch.count; i++) {
		labels_done(&m->labels[i]);
		profile_free(m->profiles[i]);
	}
	free(m);
}

/* Adds an entry without stacks; follow with maker_stack. */
static inline void maker_series(struct maker *m, int64_t ns, const char *labels, enum strobe_clock clock,
				int64_t period_ns)
{
	size_t i = m->batch.count++;

	labels_init(&m->labels[i]);
	if (labels_parse(labels, &m->labels[i], NULL) < 0)
		abort();
	m->profiles[i] = profile_new();
	profile_keep_lines(m->profiles[i], true);
	m->entries[i] = (struct batch_entry){
		.bucket_ns = ns - ns % BATCH_BUCKET_NS, .labels = &m->labels[i], .clock = clock,
		.period_ns = period_ns, .profile = m->profiles[i],
	};
}

/* Adds a value to the entry added last. `stack` is root first, as in "main;f@12;g"; 12 is the executed line. */
static inline void maker_value(struct maker *m, const char *stack, const char *column, const char *unit, int64_t value)
{
	struct profile *p = m->profiles[m->batch.count - 1];
	uint32_t c = profile_column(p, column, unit), node = PROFILE_ROOT;

	while (*stack) {
		size_t n = strcspn(stack, ";"), name = strcspn(stack, ";@");

		node = profile_child_at(p, node, profile_frame(p, (struct str){ stack, name },
							       (struct str){ "/srv/index.php", 14 }, 7),
					name < n ? (uint32_t)strtoul(stack + name + 1, NULL, 10) : 0);
		stack += n + (stack[n] == ';');
	}
	profile_add(p, node, c, value);
}

static inline void maker_stack(struct maker *m, const char *stack, int64_t samples)
{
	maker_value(m, stack, "samples", "count", samples);
}

static inline void maker_add(struct maker *m, int64_t ns, const char *labels, const char *stack, int64_t samples)
{
	maker_series(m, ns, labels, STROBE_CLOCK_WALL, PERIOD);
	maker_stack(m, stack, samples);
}

/* Appends one stack of one series as a separate batch. */
static inline int append_one(struct store *s, uint64_t id, int64_t ns, const char *labels, const char *stack,
			     int64_t samples)
{
	struct maker *m = maker_new(id);
	struct err err = { 0 };
	int rc;

	maker_add(m, ns, labels, stack, samples);
	rc = store_append(s, &m->batch, &err);
	if (rc < 0)
		printf("# %s\n", err.text);
	maker_free(m);
	return rc;
}

static int fixture_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void fixture_path(const struct profile *p, uint32_t node, struct buf *out)
{
	uint32_t *path = xcalloc(p->node_count, sizeof(*path)), depth = 0;

	for (; node != PROFILE_ROOT; node = p->parents[node])
		path[depth++] = node;
	while (depth--) {
		struct str name = profile_name(p, p->node_frames[path[depth]]);

		buf_put(out, name.p, name.n);
		if (profile_line(p, path[depth]))
			buf_printf(out, "@%u", profile_line(p, path[depth]));
		if (depth)
			buf_putc(out, ';');
	}
	free(path);
}

/* Returns the stacks with values of one column, sorted: "main;f 3,main;g 1". The caller frees. */
static inline char *folded(const struct profile *p, const char *column)
{
	uint32_t c = profile_find_column(p, column);
	char **lines = xcalloc(p->node_count, sizeof(*lines)), *text;
	struct buf all;
	size_t n = 0;

	buf_init(&all);
	for (uint32_t i = 0; c != UINT32_MAX && i < p->node_count; i++) {
		struct buf line;

		if (!p->columns[c].self[i])
			continue;
		buf_init(&line);
		fixture_path(p, i, &line);
		buf_printf(&line, " %lld", (long long)p->columns[c].self[i]);
		lines[n++] = buf_take(&line, NULL);
	}
	qsort(lines, n, sizeof(*lines), fixture_compare);
	for (size_t i = 0; i < n; i++) {
		buf_printf(&all, "%s%s", i ? "," : "", lines[i]);
		free(lines[i]);
	}
	free(lines);
	text = buf_take(&all, NULL);
	return text;
}

static inline struct profile *ask(struct store *s, int64_t from_ns, int64_t to_ns, const struct label_filter *filters,
				  size_t count, struct store_query_stats *stats)
{
	struct store_query q = { from_ns, to_ns, filters, count };
	struct profile *p = NULL;
	struct err err = { 0 };

	if (store_query(s, &q, &p, stats, &err) < 0) {
		printf("# %s\n", err.text);
		return NULL;
	}
	return p;
}

/* Returns the samples of everything in a range, folded. */
static inline char *ask_folded(struct store *s, int64_t from_ns, int64_t to_ns)
{
	struct profile *p = ask(s, from_ns, to_ns, NULL, 0, NULL);
	char *text = p ? folded(p, "samples") : xstrdup("(failed)");

	profile_free(p);
	return text;
}

static inline int64_t ask_sum(struct store *s, int64_t from_ns, int64_t to_ns)
{
	struct profile *p = ask(s, from_ns, to_ns, NULL, 0, NULL);
	uint32_t c = p ? profile_find_column(p, "samples") : UINT32_MAX;
	int64_t sum = !p ? -1 : c == UINT32_MAX ? 0 : profile_sum(p, c);

	profile_free(p);
	return sum;
}

#define CHECK_FOLDED_OF(profile, column, expected)			\
	do {								\
		char *folded_ = folded(profile, column);		\
									\
		CHECK_STR(folded_, expected);				\
		free(folded_);						\
	} while (0)

#define CHECK_FOLDED(s, from, to, expected)				\
	do {								\
		char *folded_ = ask_folded(s, from, to);		\
									\
		CHECK_STR(folded_, expected);				\
		free(folded_);						\
	} while (0)

#endif
