/* conformance.h: a store for the tests of what every store promises.
 *
 * STORE_URL names the store to test (it must be empty; each test uses times of its own); without it every test gets
 * a new directory with SQLite files. */
#ifndef STORE_CONFORMANCE_H
#define STORE_CONFORMANCE_H

#include "store_fixture.h"

struct fixture {
	char *directory;
	char *url;
	struct store *store;
};

static inline struct fixture open_store(void)
{
	struct fixture f = { 0 };
	struct err err = { 0 };

	if (getenv("STORE_URL")) {
		f.url = xstrdup(getenv("STORE_URL"));
	} else {
		f.directory = fixture_fast_directory();
		f.url = xasprintf("sqlite:%s", f.directory);
	}
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
