/* test_large_query_cache.c: tests which queries count as equal, and for how long. */
#include "clock.h"
#include "http.h"
#include "test.h"

static struct request ask(const char *query, const char *body)
{
	return (struct request){ .path = "/api/v1/table", .query = query, .body = body, .body_size = body ? strlen(body) : 0 };
}

static bool is_known(struct request one, struct request other)
{
	struct large_query_cache k;
	bool known;

	large_query_cache_init(&k);
	CHECK(!large_query_cache_has(&k, &other, 5));
	large_query_cache_add(&k, &one, 5);
	known = large_query_cache_has(&k, &other, 6);
	CHECK(!large_query_cache_has(&k, &other, 5 + LARGE_QUERY_NS));
	large_query_cache_done(&k);
	return known;
}

TEST(a_query_is_recognized_with_other_times)
{
	CHECK(is_known(ask("from=-1d", NULL), ask("from=-1d", NULL)));
	CHECK(is_known(ask(NULL, NULL), ask(NULL, NULL)));
	CHECK(is_known(ask("from=1763683200&to=1763769600&by=class", NULL), ask("from=1763683210&to=1763769610&by=class", NULL)));
	CHECK(is_known(ask(NULL, "{\"start\":1763683200000}"), ask(NULL, "{\"start\":1763683210000}")));
}

TEST(other_queries_are_not_recognized)
{
	CHECK(!is_known(ask("from=-1d", NULL), ask("from=-2d", NULL)));
	CHECK(!is_known(ask("from=-1d", NULL), ask(NULL, NULL)));
	CHECK(!is_known(ask("pixels=1440", NULL), ask("pixels=3840", NULL)));
	CHECK(!is_known(ask(NULL, "{\"maxNodes\":16384}"), ask(NULL, "{\"maxNodes\":1024}")));
	CHECK(!is_known(ask("ab", "c"), ask("a", "bc")));
}

TEST(the_oldest_query_is_evicted)
{
	struct request first = ask("first", NULL), others[LARGE_QUERY];
	char names[LARGE_QUERY][16];
	struct large_query_cache k;

	large_query_cache_init(&k);
	large_query_cache_add(&k, &first, 5);
	for (unsigned i = 0; i < LARGE_QUERY; i++) {
		CHECK(large_query_cache_has(&k, &first, 5));
		snprintf(names[i], sizeof(names[i]), "n=%u", i);
		others[i] = ask(names[i], NULL);
		large_query_cache_add(&k, &others[i], 5);
	}
	CHECK(!large_query_cache_has(&k, &first, 5));
	CHECK(large_query_cache_has(&k, &others[0], 5) && large_query_cache_has(&k, &others[LARGE_QUERY - 1], 5));
	large_query_cache_done(&k);
}

TEST_MAIN()
