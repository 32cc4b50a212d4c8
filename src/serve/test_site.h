/* test_site.h: a server without sockets, on the store of fake_store.h, for tests of its answers. */
#ifndef SERVE_TEST_SITE_H
#define SERVE_TEST_SITE_H

#include "clock.h"
#include "fake_store.h"
#include "router.h"
#include "test.h"

static struct collector_counters counters;
static struct source source = { .url = (char *)"unix:/run/test.sock", .is_up = true };
static struct source *sources[] = { &source };

static inline struct server_context site_new(void)
{
	struct server_context s = { .options = { .store = &fake_store, .collector = &counters, .sources = sources,
				       .source_count = 1 } };

	CHECK(address_parse("127.0.0.1:8787", &s.auth.listen) == 0);
	return s;
}

static inline struct request request_of(const char *path, const char *query)
{
	return (struct request){ .path = path, .query = query, .now_ns = 1795248000LL * NS_PER_SECOND,
				 .headers = { .method = "GET", .host = "127.0.0.1:8787" } };
}

static inline int answer(struct server_context *s, struct request q, struct response *r)
{
	response_init(r);
	router_answer(s, &q, r);
	return r->status;
}

static inline int ask(struct request q, struct response *r)
{
	struct server_context s = site_new();

	return answer(&s, q, r);
}

static inline int ask_path(const char *path)
{
	_cleanup_(response_done) struct response r;

	return ask(request_of(path, NULL), &r);
}

#endif
