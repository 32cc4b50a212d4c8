/* test_router.c: paths and methods, errors in the form that the asker reads, and sentences for empty answers. */

#include "web_assets.h"
#include "clock.h"
#include "fake_store.h"
#include "router.h"
#include "test.h"

static struct collector_counters counters;
static struct source source = { .url = (char *)"unix:/run/test.sock" };
static struct source *sources[] = { &source };

static struct site site_new(void)
{
	struct site s = { .options = { .store = &fake_store, .collector = &counters, .sources = sources, .source_count = 1 } };

	CHECK(address_parse("127.0.0.1:8787", &s.auth.listen) == 0);
	return s;
}

static struct request request_of(const char *path, const char *query)
{
	return (struct request){ .path = path, .query = query, .now_ns = 1795248000LL * NS_PER_SECOND,
				 .headers = { .method = "GET", .host = "127.0.0.1:8787" } };
}

static int ask(struct request q, struct response *r)
{
	struct site s = site_new();

	response_init(r);
	router_answer(&s, &q, r);
	return r->status;
}

static int ask_path(const char *path)
{
	_cleanup_(response_done) struct response r;

	return ask(request_of(path, NULL), &r);
}

TEST(every_path_answers_and_no_other_does)
{
	CHECK_INT(ask_path("/"), 200);
	CHECK_INT(ask_path("/flamegraph.svg"), 200);
	CHECK_INT(ask_path("/api/v1/status"), 200);
	CHECK_INT(ask_path("/api/v1/labels"), 200);
	CHECK_INT(ask_path("/api/v1/timeline"), 200);
	CHECK_INT(ask_path("/api/v1/profile"), 200);
	CHECK_INT(ask_path("/api/v1/functions"), 200);
	CHECK_INT(ask_path("/healthz"), 200);
	CHECK_INT(ask_path("/readyz"), 200);
	CHECK_INT(ask_path("/metrics"), 200);
	CHECK_INT(ask_path("/favicon.ico"), 200);
	CHECK_INT(ask_path("/login"), 303);
	CHECK_INT(ask_path("/nothing"), 404);
	CHECK_INT(ask_path("/api/v1/statusx"), 404);
	CHECK_INT(ask_path("/api/v1/status/"), 404);
	CHECK_INT(ask_path("//"), 404);
	CHECK_INT(ask_path("/assets/../../etc/passwd"), 404);
	CHECK_INT(ask_path("/assets/app.js"), 404);
}

TEST(errors_of_the_api_are_json_and_of_all_else_text)
{
	_cleanup_(response_done) struct response api, page;

	CHECK_INT(ask(request_of("/api/v1/nothing", NULL), &api), 404);
	CHECK_STR(api.type, "application/json");
	CHECK(strncmp(api.body.data, "{\"error\":\"there is nothing", 26) == 0);
	CHECK_INT(ask(request_of("/nothing", NULL), &page), 404);
	CHECK_STR(page.type, "text/plain; charset=utf-8");
}

TEST(other_methods_are_told_which_ones_work)
{
	_cleanup_(response_done) struct response r;
	struct request q = request_of("/api/v1/status", NULL);

	q.headers.method = "DELETE";
	q.headers.fetch_site = "same-origin";
	CHECK_INT(ask(q, &r), 405);
	CHECK_STR(r.allow, "GET, HEAD");
}

TEST(bodies_are_not_taken)
{
	_cleanup_(response_done) struct response r;
	struct request q = request_of("/api/v1/status", NULL);

	q.has_body = true;
	CHECK_INT(ask(q, &r), 413);
}

TEST(a_bad_parameter_is_a_400_with_its_sentence_also_on_the_page)
{
	_cleanup_(response_done) struct response api, page;

	CHECK_INT(ask(request_of("/api/v1/profile", "from=now&to=-1h"), &api), 400);
	CHECK_STR(api.body.data, "{\"error\":\"from=now is not before to=-1h, so the range holds nothing\"}\n");
	CHECK_INT(ask(request_of("/", "limit=<script>"), &page), 400);
	CHECK(strstr(page.body.data, "limit=&lt;script&gt;: give a number") != NULL);
	CHECK(strstr(page.body.data, "<script>") == NULL);
}

TEST(unknown_formats_are_named)
{
	_cleanup_(response_done) struct response r;

	CHECK_INT(ask(request_of("/api/v1/profile", "format=xml"), &r), 400);
	CHECK(strstr(r.body.data, "json, folded, strobe, svg or flame") != NULL);
}

TEST(the_format_follows_accept_and_the_parameter_wins)
{
	_cleanup_(response_done) struct response a, b, c;
	struct request q = request_of("/api/v1/profile", NULL);

	q.accept = "text/html, image/svg+xml, application/json";
	CHECK_INT(ask(q, &a), 200);
	CHECK_STR(a.type, "image/svg+xml");
	q.query = "format=folded";
	CHECK_INT(ask(q, &b), 200);
	CHECK_STR(b.type, "text/plain; charset=utf-8");
	q.query = NULL;
	q.accept = "*/*";
	CHECK_INT(ask(q, &c), 200);
	CHECK_STR(c.type, "application/json");
}

TEST(an_empty_store_says_how_to_begin)
{
	_cleanup_(response_done) struct response api, page;

	CHECK_INT(ask(request_of("/api/v1/functions", NULL), &api), 200);
	CHECK(strstr(api.body.data, "\"empty\":\"the store is empty") != NULL);
	CHECK_INT(ask(request_of("/", NULL), &page), 200);
	CHECK(strstr(page.body.data, "strobe run -- php script.php") != NULL);
	CHECK(strstr(page.body.data, "extension=strobe.so\nstrobe.mode=sample") != NULL);
}

TEST(a_store_that_fails_is_a_500_and_not_ready)
{
	_cleanup_(response_done) struct response profile, ready, alive;

	fake_store_fails = 1;
	CHECK_INT(ask(request_of("/api/v1/profile", NULL), &profile), 500);
	CHECK_STR(profile.body.data, "{\"error\":\"the disk is gone\"}\n");
	CHECK_INT(ask(request_of("/readyz", NULL), &ready), 503);
	CHECK_STR(ready.body.data, "the store does not answer: the disk is gone\n");
	CHECK_INT(ask(request_of("/healthz", NULL), &alive), 200);
	fake_store_fails = 0;
}

TEST(assets_are_cached_by_their_hash)
{
	_cleanup_(response_done) struct response packed, plain, known;
	char path[64];
	struct request q;

	snprintf(path, sizeof(path), "/assets/%s/app.js", assets_hash);
	q = request_of(path, NULL);
	CHECK_INT(ask(q, &plain), 200);
	CHECK(!plain.gzipped && plain.etag);
	q.accepts_gzip = true;
	CHECK_INT(ask(q, &packed), 200);
	CHECK(packed.gzipped && packed.body.size < plain.body.size);
	q.if_none_match = packed.etag;
	CHECK_INT(ask(q, &known), 304);
	CHECK_INT(known.body.size, 0);
}

TEST(a_token_is_traded_for_a_cookie)
{
	_cleanup_(response_done) struct response right, wrong, page;
	struct site s = site_new();
	struct request q = request_of("/login", "token=0123456789abcdef");

	s.auth.token = "0123456789abcdef";
	response_init(&right);
	router_answer(&s, &q, &right);
	CHECK_INT(right.status, 303);
	CHECK_STR(right.set_cookie, "strobe_token=0123456789abcdef; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000");

	q.query = "token=0123456789abcdeX";
	response_init(&wrong);
	router_answer(&s, &q, &wrong);
	CHECK_INT(wrong.status, 401);
	CHECK(wrong.set_cookie == NULL);

	q = request_of("/", NULL);
	q.accepts_html = true;
	response_init(&page);
	router_answer(&s, &q, &page);
	CHECK_INT(page.status, 401);
	CHECK(strstr(page.body.data, "action=\"/login\"") != NULL);
}

TEST_MAIN()
