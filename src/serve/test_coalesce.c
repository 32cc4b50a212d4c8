/* test_coalesce.c: tests which queries are equal, and how long they can be coalesced. */
#include "coalesce.h"
#include "test.h"

static struct request labels(const char *query)
{
	return (struct request){ .path = "/api/v1/labels", .query = query, .accept = "*/*", .headers = { .method = "GET" },
				 .identity = { .role = ROLE_READ } };
}

/* Whether the second follows the first. */
static bool follows(struct request one, struct request other)
{
	struct waiting_query a = { .request = &one }, b = { .request = &other };
	struct coalesce c;
	bool joined;

	coalesce_init(&c);
	CHECK(!coalesce_join(&c, &a));
	joined = coalesce_join(&c, &b);
	CHECK(a.followers == (joined ? &b : NULL) && !b.followers);
	coalesce_begin(&c, &a);
	if (!joined)
		coalesce_begin(&c, &b);
	CHECK(!c.leaders);
	coalesce_done(&c);
	return joined;
}

TEST(identical_concurrent_queries_share_one_response)
{
	struct request other = labels("from=-1h");

	other.now_ns = 5;
	snprintf(other.identity.user, sizeof(other.identity.user), "anna");
	CHECK(follows(labels("from=-1h"), other));
	CHECK(follows(labels(NULL), labels(NULL)));
}

TEST(queries_that_differ_in_any_parameter_are_different)
{
	struct request one = labels("from=-1h"), other = one;

	CHECK(!follows(one, labels("from=-2h")));
	CHECK(!follows(one, labels(NULL)));
	other.path = "/api/v1/table";
	CHECK(!follows(one, other));
	other = one;
	other.headers.method = "HEAD";
	CHECK(!follows(one, other));
	other = one;
	other.accept = NULL;
	CHECK(!follows(one, other));
	other = one;
	other.accepts_gzip = true;
	CHECK(!follows(one, other));
	other = one;
	other.identity.role = ROLE_WRITE;
	CHECK(!follows(one, other));
	one.path = other.path = "/";		/* the page shows the user's name */
	other.identity = one.identity;
	CHECK(!follows(one, other));
}

TEST(no_query_joins_one_that_has_started)
{
	struct request q = labels("from=-1h");
	struct waiting_query a = { .request = &q }, b = { .request = &q }, d = { .request = &q };
	struct coalesce c;

	coalesce_init(&c);
	CHECK(!coalesce_join(&c, &a));
	coalesce_begin(&c, &a);
	CHECK(!coalesce_join(&c, &b) && coalesce_join(&c, &d));
	CHECK(!a.followers && b.followers == &d);
	coalesce_begin(&c, &a);			/* retried, as a large one */
	coalesce_begin(&c, &b);
	CHECK(!c.leaders);
	coalesce_done(&c);
}

TEST_MAIN()
