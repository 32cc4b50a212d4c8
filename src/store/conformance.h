/* conformance.h: a store for the tests of the guarantees of every store.
 *
 * Every test gets a new, empty store: a directory with SQLite files, or, with STORE_URL, a ClickHouse database: in
 * "clickhouse://127.0.0.1:8123/NEW" NEW is replaced by a unique name. */
#ifndef STORE_CONFORMANCE_H
#define STORE_CONFORMANCE_H

#include "store_fixture.h"

struct fixture {
	char *directory;
	char *url;
	struct store *store;
};

static inline char *fixture_new_url(const char *pattern)
{
	static unsigned number;
	const char *at = strstr(pattern, "NEW");

	if (!at) {
		printf("not ok - STORE_URL has the word NEW\n");
		exit(1);
	}
	return xasprintf("%.*stest_%ld_%u%s", (int)(at - pattern), pattern, (long)getpid(), ++number, at + 3);
}

/* Some guarantees concern files that only SQLite has, or work differently: docs/clickhouse.md. */
static inline bool is_sqlite(const struct fixture *f)
{
	return !strncmp(f->url, "sqlite:", 7);
}

/* A query of ClickHouse takes a hundred times as long as one of SQLite: tests that ask hundreds ask fewer there, but in the
 * suite "long". */
static inline bool is_in_full(const struct fixture *f)
{
	return is_sqlite(f) || getenv("STROBE_TEST_IN_FULL");
}

/* A batch is one transaction only if it is all on one server. */
static inline bool is_one_server(const struct fixture *f)
{
	return !strstr(f->url, "shards=");
}

static inline struct fixture open_store(void)
{
	struct fixture f = { 0 };
	struct err err = { 0 };

	if (getenv("STORE_URL")) {
		f.url = fixture_new_url(getenv("STORE_URL"));
	} else {
		f.directory = fixture_fast_directory();
		f.url = xasprintf("sqlite:%s", f.directory);
	}
	/* Tests run both with the memory that queries share, and without. */
	if (getenv("STROBE_TEST_ROWS"))
		store_before_fork(f.url);
	if (store_open(f.url, false, &f.store, &err) < 0) {
		printf("not ok - the store opens\n# %s\n", err.text);
		exit(1);
	}
	return f;
}

static inline void reopen(struct fixture *f)
{
	struct err err = { 0 };

	f->store = store_close(f->store);
	if (store_open(f->url, false, &f->store, &err) < 0) {
		printf("not ok - the store opens again\n# %s\n", err.text);
		exit(1);
	}
}

static inline void done(struct fixture *f)
{
	store_close(f->store);
	if (f->directory)
		fixture_remove(f->directory);
	free(f->url);
}

static inline int maintain(struct store *s, int64_t now_ns, int64_t max_age_ns, uint64_t max_bytes)
{
	struct store_limits l = { max_age_ns, max_bytes };
	struct err err = { 0 };
	int rc = store_maintain(s, &l, now_ns, &err);

	if (rc < 0)
		printf("# %s\n", err.text);
	return rc;
}

#endif
