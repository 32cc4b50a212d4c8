/* logs_fixture.h: batches and trees for the tests of this folder. */
#ifndef ARCLAMP_LOGS_FIXTURE_H
#define ARCLAMP_LOGS_FIXTURE_H

#include "clock.h"
#include "io.h"
#include "logs.h"
#include "mem.h"
#include "open_batch.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#define FIXTURE_TIME	(1795284622LL * NS_PER_SECOND)	/* 2026-11-21T18:10:22Z */

static struct source fixture_source;

/* A line as passed on by sources: the count comes after the last space. */
static inline void fixture_bytes(struct open_batch *b, const char *line, size_t n, const char *channel, int64_t time_ns)
{
	static const struct open_batch_rules rules = { .max_series = 10000, .keep_lines = true };
	const struct message_metadata about = { .source = &fixture_source, .channel = channel };
	const char *space = memrchr(line, ' ', n);
	bool folded;

	open_batch_add_line(b, &about, (struct str){ line, (size_t)(space - line) }, strtoll(space, NULL, 10),
			    (struct str){ line, n }, time_ns, &rules, &folded);
}

static inline void fixture_line(struct open_batch *b, const char *line, int64_t time_ns)
{
	fixture_bytes(b, line, strlen(line), NULL, time_ns);
}

/* An entry that arrived as messages; its profile belongs to the batch. */
static inline struct profile *fixture_message(struct open_batch *b, const char *entry, int64_t time_ns)
{
	struct labels *labels = xcalloc(1, sizeof(*labels));
	uint32_t i;

	labels_init(labels);
	if (entry)
		labels_set(labels, "entry", 5, entry, strlen(entry));
	i = open_batch_entry(b, labels, time_ns - time_ns % BATCH_BUCKET_NS, STROBE_CLOCK_WALL, 0);
	profile_column((struct profile *)b->batch.entries[i].profile, "samples", "count");
	return (struct profile *)b->batch.entries[i].profile;
}

/* "a;b;c" */
static inline void fixture_stack(struct profile *p, const char *stack, int64_t samples)
{
	_cleanup_(freep) char *copy = xstrdup(stack);
	uint32_t node = PROFILE_ROOT;
	char *save;

	for (char *name = strtok_r(copy, ";", &save); name; name = strtok_r(NULL, ";", &save))
		node = profile_child(p, node, profile_frame(p, (struct str){ name, strlen(name) },
							    (struct str){ "", 0 }, 0));
	profile_add(p, node, 0, samples);
}

static inline int fixture_commit(struct logs *l, const struct open_batch *b, struct err *err)
{
	struct collector_sink s = logs_sink(l);

	return s.commit(s.data, &b->batch, err);
}

/* Commits the batch and frees it. */
static inline int fixture_give(struct logs *l, struct open_batch *b, struct err *err)
{
	int r = fixture_commit(l, b, err);

	open_batch_free(b);
	return r;
}

static inline int fixture_remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

static inline void fixture_remove(const char *base)
{
	nftw(base, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline char *fixture_directory(void)
{
	char *base = xstrdup("/tmp/strobe-logs-XXXXXX");

	return mkdtemp(base);
}

/* In memory, so that tests do not wait for a disk. */
static inline char *fixture_fast_directory(void)
{
	char *base = xstrdup("/dev/shm/strobe-logs-XXXXXX");

	if (mkdtemp(base))
		return base;
	free(base);
	return fixture_directory();
}

/* Returns the content of a file, "(none)" if it is missing; the caller frees. */
static inline char *fixture_read(const char *base, const char *name, size_t *ret_size)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", base, name);
	struct buf b;

	buf_init(&b);
	if (io_read_file(path, &b, (size_t)1 << 30, NULL) < 0)
		buf_puts(&b, "(none)");
	return buf_take(&b, ret_size);
}

#endif
