/* test_router.c: paths and methods, errors in the client's format, and explanations of empty answers. */

#include "test_site.h"
#include "web_assets.h"

TEST(all_routes_respond_and_unknown_paths_are_not_found)
{
	CHECK_INT(ask_path("/"), 200);
	CHECK_INT(ask_path("/flamegraph.svg"), 200);
	CHECK_INT(ask_path("/api/v1/status"), 200);
	CHECK_INT(ask_path("/api/v1/labels"), 200);
	CHECK_INT(ask_path("/api/v1/timeline"), 200);
	CHECK_INT(ask_path("/api/v1/profile"), 200);
	CHECK_INT(ask_path("/api/v1/functions"), 200);
	CHECK_INT(ask_path("/api/v1/table"), 200);
	CHECK_INT(ask_path("/api/v1/function"), 400);
	CHECK_INT(ask_path("/healthz"), 200);
	CHECK_INT(ask_path("/readyz"), 200);
	CHECK_INT(ask_path("/metrics"), 200);
	CHECK_INT(ask_path("/favicon.ico"), 200);
	CHECK_INT(ask_path("/login"), 303);
	CHECK_INT(ask_path("/runs"), 200);
	CHECK_INT(ask_path("/filters"), 200);
	CHECK_INT(ask_path("/api/v1/filters"), 200);
	CHECK_INT(ask_path("/runs/shop/1"), 200);
	CHECK_INT(ask_path("/runs/shop/1/flamegraph.svg"), 200);
	CHECK_INT(ask_path("/api/v1/runs"), 200);
	CHECK_INT(ask_path("/api/v1/runs/shop/1"), 200);
	CHECK_INT(ask_path("/api/v1/runs/shop/1/flamegraph"), 200);
	CHECK_INT(ask_path("/api/v1/runs/shop/1/report"), 200);
	CHECK_INT(ask_path("/api/v1/runs/shop/2"), 404);
	CHECK_INT(ask_path("/api/v1/runs/shop/1/nothing"), 404);
	CHECK_INT(ask_path("/api/v1/runs/shop/"), 404);
	CHECK_INT(ask_path("/api/v1/runs/shop"), 404);
	CHECK_INT(ask_path("/api/v1/runs/"), 404);
	CHECK_INT(ask_path("/api/v1/runs/../1"), 404);
	CHECK_INT(ask_path("/runs/shop/2"), 404);
	CHECK_INT(ask_path("/runs/shop/1/nothing"), 404);
	CHECK_INT(ask_path("/runs/<script>/1"), 404);
	CHECK_INT(ask_path("/runs/"), 404);
	CHECK_INT(ask_path("/nothing"), 404);
	CHECK_INT(ask_path("/api/v1/statusx"), 404);
	CHECK_INT(ask_path("/api/v1/status/"), 404);
	CHECK_INT(ask_path("//"), 404);
	CHECK_INT(ask_path("/assets/../../etc/passwd"), 404);
	CHECK_INT(ask_path("/assets/app.js"), 404);
}

static int post_json(const char *path, const char *body, struct response *r)
{
	struct request q = request_of(path, NULL);

	q.headers.method = "POST";
	q.content_type = "application/json; charset=utf-8";
	q.body = body;
	q.body_size = strlen(body);
	q.has_body = true;
	return ask(q, r);
}

TEST(rpcs_of_grafana_work_behind_any_prefix)
{
	static const char *const paths[] = { "/querier.v1.QuerierService/ProfileTypes", "/a/b/querier.v1.QuerierService/ProfileTypes",
		"/settings.v1.SettingsService/Get" };
	_cleanup_(response_done) struct response missing, wrong;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_(response_done) struct response r;

		CHECK_INT(post_json(paths[i], "{\"start\":1000,\"end\":4000}", &r), 200);
		CHECK_STR(r.type, "application/json");
	}
	CHECK_INT(post_json("/vcs.v1.VCSService/GithubApp", "{}", &missing), 501);
	CHECK(strncmp(missing.body.data, "{\"code\":\"unimplemented\",", 24) == 0);
	CHECK_INT(ask(request_of("/querier.v1.QuerierService/ProfileTypes", NULL), &wrong), 405);
	CHECK_STR(wrong.allow, "POST");
	CHECK_INT(ask_path("/pyroscope/label-values"), 400);
	CHECK_INT(ask_path("/runs/querier.v1.QuerierService/1"), 404);
}

TEST(a_response_lists_the_days_missing_from_it)
{
	static const char *const paths[] = { "/", "/flamegraph.svg", "/api/v1/profile", "/api/v1/functions" };
	static const char sentence[] = "2 of the selected days are damaged, and unreadable data is missing here";
	_cleanup_(response_done) struct response whole, metrics;

	CHECK_INT(ask(request_of("/api/v1/profile", NULL), &whole), 200);
	CHECK(whole.warning == NULL && strstr(whole.body.data, "\"warning\"") == NULL);
	fake_store_damaged_days = 2;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_(response_done) struct response r;

		CHECK_INT(ask(request_of(paths[i], NULL), &r), 200);
		CHECK(r.warning && strncmp(r.warning, sentence, strlen(sentence)) == 0);
		CHECK(strcmp(paths[i], "/flamegraph.svg") == 0 || strstr(r.body.data, sentence) != NULL);
	}
	CHECK_INT(ask(request_of("/metrics", NULL), &metrics), 200);
	CHECK(strstr(metrics.body.data, "\nstrobe_store_days_damaged 2\n") != NULL);
	fake_store_damaged_days = 0;
}

TEST(errors_are_json_for_the_api_and_text_otherwise)
{
	_cleanup_(response_done) struct response api, page;

	CHECK_INT(ask(request_of("/api/v1/nothing", NULL), &api), 404);
	CHECK_STR(api.type, "application/json");
	CHECK(strncmp(api.body.data, "{\"error\":\"not found; the", 23) == 0);
	CHECK_INT(ask(request_of("/nothing", NULL), &page), 404);
	CHECK_STR(page.type, "text/plain; charset=utf-8");
}

TEST(browsers_get_errors_as_pages_and_programs_do_not)
{
	static const char *const pages[] = { "/nothing", "/runs/shop/1/nothing", "/index.html" };
	static const char *const others[] = { "/api/v1/nothing", "/assets/0/none.css", "/nothing" };

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		_cleanup_(response_done) struct response r;
		struct request q = request_of(pages[i], NULL);

		q.accepts_html = q.shows_pages = true;
		CHECK_INT(ask(q, &r), 404);
		CHECK_STR(r.type, "text/html; charset=utf-8");
		CHECK(strstr(r.body.data, "<html lang=\"en\">") && strstr(r.body.data, "<title>Not found – Strobe</title>") &&
		      strstr(r.body.data, "<a href=\"/\">Start again</a>"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		_cleanup_(response_done) struct response r;
		struct request q = request_of(others[i], NULL);

		q.accepts_html = q.shows_pages = i < 2;
		CHECK(ask(q, &r) >= 400);
		CHECK(strcmp(r.type, "text/html; charset=utf-8") != 0);
	}
}

TEST(other_methods_are_rejected_with_a_list_of_the_allowed_ones)
{
	_cleanup_(response_done) struct response r;
	struct request q = request_of("/api/v1/status", NULL);

	q.headers.method = "DELETE";
	q.headers.fetch_site = "same-origin";
	CHECK_INT(ask(q, &r), 405);
	CHECK_STR(r.allow, "GET, HEAD");
}

TEST(a_body_of_a_get_request_is_rejected)
{
	_cleanup_(response_done) struct response r;
	struct request q = request_of("/api/v1/status", NULL);

	q.has_body = true;
	CHECK_INT(ask(q, &r), 413);
}

static int post(const char *query, const char *body, struct response *r)
{
	struct request q = request_of("/api/v1/runs", query);

	q.headers.method = "POST";
	q.body = body;
	q.body_size = body ? strlen(body) : 0;
	q.has_body = body != NULL;
	return ask(q, r);
}

static int post_status(const char *query, const char *body)
{
	_cleanup_(response_done) struct response r;

	return post(query, body, &r);
}

TEST(runs_can_be_posted_in_any_format_and_each_rejection_has_its_status)
{
	_cleanup_(response_done) struct response made, refused, other;

	CHECK_INT(post("source=shop&id=7&label.host=web1&name=a+b", "main;f 3\n", &made), 201);
	CHECK_STR(made.location, "/api/v1/runs/shop/7");
	CHECK_STR(made.body.data, "{\"source\":\"shop\",\"id\":\"7\",\"stored\":true,\"page\":\"/runs/shop/7\"}\n");
	CHECK_INT(post_status(NULL, "main;f 3\n"), 201);
	CHECK_INT(post_status("id=known", "main;f 3\n"), 200);
	CHECK_INT(post_status("id=other", "main;f 3\n"), 409);
	CHECK_INT(post_status("id=7", NULL), 400);
	CHECK_INT(post_status("id=7", "main;f 0\n"), 400);
	CHECK_INT(post_status("id=7", "STRB"), 415);
	CHECK_INT(post_status("id=7", "STRB\1\2 and so on"), 400);
	CHECK_INT(post_status("id=7&id", "%PDF"), 415);
	CHECK_INT(post("id=7", "\x89PNG and so on", &refused), 415);
	CHECK(strstr(refused.body.data, "it looks like a PNG image") != NULL);
	CHECK_INT(post("id=7&host=web1", "main;f 3\n", &other), 400);
	CHECK(strstr(other.body.data, "label.NAME") != NULL);
	CHECK_INT(post_status("id=%00", "main;f 3\n"), 400);
	fake_store_fails = 1;
	CHECK_INT(post_status("id=7", "main;f 3\n"), 500);
	fake_store_fails = 0;
}

TEST(bodies_are_accepted_only_on_their_routes_and_from_permitted_senders)
{
	struct server_context s = site_new();
	struct request q = request_of("/api/v1/runs", NULL);
	_cleanup_(response_done) struct response large, busy;

	CHECK(!router_body_max(&s, &q));
	q.headers.method = "POST";
	CHECK_INT(router_body_max(&s, &q), HTTP_BODY_MAX);
	q.path = "/api/v1/status";
	CHECK(!router_body_max(&s, &q));
	q.path = "/api/v1/runs/shop/1";
	CHECK(!router_body_max(&s, &q));
	q.path = "/api/v1/runs";
	q.headers.origin = "http://evil.example";
	CHECK(!router_body_max(&s, &q));
	q.headers.origin = NULL;
	s.auth.roles.options.token = "0123456789abcdef";
	CHECK(!router_body_max(&s, &q));
	q.headers.roles.authorization = "Bearer 0123456789abcdef";
	CHECK_INT(router_body_max(&s, &q), HTTP_BODY_MAX);
	s.auth.roles.options.token = NULL;
	q.has_body = true;
	CHECK_INT(ask(q, &busy), 503);
	q.body_too_large = true;
	CHECK_INT(ask(q, &large), 413);
	CHECK(strstr(large.body.data, "gzip") != NULL);
}

TEST(a_body_for_a_route_that_is_not_served_is_not_found)
{
	_cleanup_(response_done) struct response missing, probes, push;
	struct request q = request_of("/api/v1/runs", NULL);
	struct server_context s = site_new();

	q.headers.method = "POST";
	q.has_body = true;
	s.options.only_counters = true;
	CHECK(!router_body_max(&s, &q));
	CHECK_INT(answer(&s, q, &missing), 404);
	CHECK(strstr(missing.body.data, "has counters only") != NULL);
	q.path = "/ingest";
	CHECK_INT(answer(&s, q, &push), 503);
	s.options.only_counters = false;
	q.path = "/api/v1/runs";
	q.only_probes = true;
	CHECK_INT(answer(&s, q, &probes), 404);
	CHECK(strstr(probes.body.data, "serves only /healthz") != NULL);
}

TEST(an_upload_waits_for_memory_held_by_queries)
{
	_cleanup_(response_done) struct response busy, stored;
	struct request q = request_of("/api/v1/runs", "source=web&id=7");
	struct server_context s = site_new();

	q.headers.method = "POST";
	q.has_body = true;
	q.body = "main;f 3\n";
	q.body_size = strlen(q.body);
	s.memory.most = 64 << 20;
	CHECK(memory_cap_reserve(&s.memory, 61 << 20));
	CHECK_INT(answer(&s, q, &busy), 503);
	CHECK_STR(busy.body.data, "{\"error\":\"too busy: queries, uploads and pending responses use 61 of the 64 MB of "
		  "--query-memory; send it again\"}\n");
	CHECK_INT(s.http.uploads_busy, 1);
	CHECK_INT(s.memory.used, 61 << 20);
	memory_cap_release(&s.memory, 61 << 20);
	CHECK_INT(answer(&s, q, &stored), 201);
	CHECK_INT(s.memory.used, 0);
}

TEST(rejected_pushes_are_counted)
{
	_cleanup_(response_done) struct response busy, large;
	struct request q = request_of("/ingest", "name=shop");
	struct server_context s = site_new();
	struct source pushes = { 0 };

	s.options.pushes = &pushes;
	q.headers.method = "POST";
	q.has_body = true;
	CHECK_INT(answer(&s, q, &busy), 503);
	CHECK_INT(pushes.counters.rejected_pushes[SOURCE_PUSH_BUSY], 1);
	q.body_too_large = true;
	CHECK_INT(answer(&s, q, &large), 413);
	CHECK_INT(pushes.counters.rejected_pushes[SOURCE_PUSH_LARGE], 1);
}

TEST(a_pruned_run_is_marked_as_such_in_every_format)
{
	static const char *const paths[] = { "/api/v1/runs/shop/1", "/api/v1/runs/shop/1/report", "/runs/shop/1" };
	static const char sentence[] = "the smallest stacks, with 25.00 % of wall_ns, are cut short at [pruned]: the whole run takes "
				       "more memory than --query-memory allows";
	_cleanup_(response_done) struct response picture, folded, table;
	struct server_context s = site_new();

	s.max_nodes = 2;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_(response_done) struct response r;

		CHECK_INT(answer(&s, request_of(paths[i], NULL), &r), 200);
		CHECK_STR(r.warning, sentence);
		CHECK(r.pruned && strstr(r.body.data, sentence));
	}
	CHECK_INT(answer(&s, request_of("/api/v1/table", "run=shop/1&column=off_cpu_ns"), &table), 200);
	CHECK(table.pruned && strstr(table.warning, "with 25.00 % of off_cpu_ns, are cut short"));
	CHECK_INT(answer(&s, request_of("/runs/shop/1/flamegraph.svg", NULL), &picture), 200);
	CHECK_STR(picture.warning, sentence);
	CHECK_INT(answer(&s, request_of("/api/v1/runs/shop/1", "format=folded"), &folded), 200);
	CHECK_STR(folded.warning, sentence);
	CHECK_STR(folded.body.data, "<main> 1500000\n<main>;[pruned] 500000\n");
}

TEST(a_run_can_be_removed_only_once)
{
	_cleanup_(response_done) struct response gone, none, list;
	struct request q = request_of("/api/v1/runs/shop/1", NULL);

	q.headers.method = "DELETE";
	CHECK_INT(ask(q, &gone), 204);
	CHECK_INT(gone.body.size, 0);
	q.path = "/api/v1/runs/shop/2";
	CHECK_INT(ask(q, &none), 404);
	q.path = "/api/v1/runs";
	CHECK_INT(ask(q, &list), 405);
	CHECK_STR(list.allow, "GET, HEAD, POST");
}

TEST(runs_are_listed_as_json_and_page_and_an_empty_list_gives_the_reason)
{
	_cleanup_(response_done) struct response json, page, none, bad, one, picture, folded;
	struct request q = request_of("/api/v1/runs/shop/1", NULL);

	CHECK_INT(ask(request_of("/api/v1/runs", "source=shop&since=-1h&label.host=web*"), &json), 200);
	CHECK(strstr(json.body.data, "\"url\":\"/cart?\\u003cx\\u003e=1\"") != NULL);
	CHECK(strstr(json.body.data, "\"totals\":{\"wall_ns\":2000000}") != NULL);
	CHECK(strstr(json.body.data, "\"next\":\"5.6\"") != NULL);
	CHECK_INT(ask(request_of("/runs", "source=shop&entry=a%26b"), &page), 200);
	CHECK(strstr(page.body.data, "<a href=\"/runs/shop/1\">/cart?&lt;x&gt;=1</a>") != NULL);
	CHECK(strstr(page.body.data, "href=\"/runs?source=shop&amp;entry=a%26b&amp;after=5.6\"") != NULL);
	CHECK(strstr(page.body.data, "<x>") == NULL);
	CHECK_INT(ask(request_of("/api/v1/runs", "source=none"), &none), 200);
	CHECK(strstr(none.body.data,
		     "\"empty\":\"no run of source none matches; the store holds 1 run "
		     "of the source shop\"") != NULL);
	CHECK_INT(ask(request_of("/runs", "since=yesterday"), &bad), 400);
	CHECK_INT(ask(request_of("/runs/shop/1", NULL), &one), 200);
	CHECK(strstr(one.body.data, "<a class=\"function-link\" title=\"&lt;main&gt;\" href=\"/runs/shop/1?function=%3Cmain%3E\">"
				       "<span class=\"method\">&lt;main&gt;</span></a>") != NULL);
	CHECK(strstr(one.body.data, "href=\"/runs/shop/1?column=off_cpu_ns\">off-CPU</a>") != NULL);
	CHECK(strstr(one.body.data, "src=\"/flamegraph.svg?run=shop/1\"") != NULL);
	CHECK(strstr(one.body.data, "href=\"/callgraph.svg?run=shop/1\"") != NULL);
	q.accept = "image/svg+xml";
	CHECK_INT(ask(q, &picture), 200);
	CHECK_STR(picture.type, "image/svg+xml");
	q.query = "format=folded&column=wall_ns";
	CHECK_INT(ask(q, &folded), 200);
	CHECK_STR(folded.body.data, "<main> 2000000\n");
	CHECK_STR(folded.disposition, "inline; filename=\"shop-1.folded\"");
}

static void check_answer(const char *path, const char *query, int status, const char *part)
{
	_cleanup_(response_done) struct response r;

	CHECK_INT(ask(request_of(path, query), &r), status);
	if (!strstr(r.body.data, part))
		CHECK_STR(r.body.data, part);
}

TEST(a_run_can_be_requested_wherever_a_range_can)
{
	check_answer("/", "run=shop/1", 200, "&lt;main&gt;");
	check_answer("/api/v1/functions", "run=shop/1", 200, "\"self\":2000000,\"total\":2000000");
	check_answer("/api/v1/table", "run=shop/1", 200, "\"self\":[[2000000],[0],[2000000]]");
	check_answer("/api/v1/profile", "run=shop/1&format=folded", 200, "<main> 2000000\n");
	check_answer("/api/v1/profile", "run=shop/1&run=shop/1&weights=2,1&format=folded", 200, "<main> 2000000\n");
	check_answer("/flamegraph.svg", "run=shop/1", 200, "&lt;main&gt;");
	check_answer("/api/v1/table", "run=shop/2", 404, "there is no run '2' of source 'shop'");
	check_answer("/", "entry=a&entry=b&host=c", 200, "<input type=\"hidden\" name=\"entry\" value=\"b\">");
	check_answer("/", "run=shop/2", 404, "there is no run &#39;2&#39; of source &#39;shop&#39;");
	check_answer("/api/v1/table", "run=shop/1&column=loss", 400, "it has wall_ns, cpu_ns, off_cpu_ns");
}

TEST(stacks_are_kept_and_removed_by_patterns_that_take_linear_time)
{
	check_answer("/api/v1/profile", "run=shop/1&keep=main&format=folded", 200, "<main> 2000000\n");
	check_answer("/api/v1/profile", "run=shop/1&keep-i=^.MAIN&format=folded", 200, "<main> 2000000\n");
	check_answer("/api/v1/table", "run=shop/1&keep=MAIN", 200, "no stack passes all stack filters: with MAIN\"");
	check_answer("/api/v1/table", "run=shop/1&base=shop/1&keep=x", 200, "no stack passes all stack filters: with x");
	check_answer("/api/v1/table", "run=shop/1&base=shop/1&keep=x&scale=total", 200, "no stack passes all stack filters: with x");
	check_answer("/api/v1/table", "run=shop/1&keep=main&column=cpu_ns", 200, "nothing of run shop/1, stacks with main has a value of cpu_ns above zero");
	check_answer("/api/v1/table", "deploy=99&keep=main", 200, "\"empty\":\"the store is empty");
	check_answer("/api/v1/table", "run=shop/1&by=class&keep=^.no+class.$", 200, "\"self\":[[2000000],[0],[2000000]]");
	check_answer("/api/v1/table", "run=shop/1&by=file&remove=no.file", 200, "no stack passes all stack filters");
	check_answer("/api/v1/table", "run=shop/1&by=class&keep=main", 200, "\"self\":[[2000000],[0],[2000000]]");
	check_answer("/api/v1/table", "run=shop/1&keep=\\bmain\\b", 200, "\"self\":[[2000000],[0],[2000000]]");
	check_answer("/api/v1/table", "run=shop/1&keep=(", 400, "the filter keep=(: the regular expression '(' has an unmatched ( at character 1");
	check_answer("/api/v1/table", "run=shop/1&remove=main", 200, "no stack passes all stack filters");
	check_answer("/api/v1/table", "run=shop/1&remove=(a%2B)%2Bb", 200, "\"self\":[[2000000],[0],[2000000]]");
	check_answer("/api/v1/table", "run=shop/1&remove-i=(", 400, "remove-i=(: ");
	check_answer("/flamegraph.svg", "run=shop/1&keep=main&remove=x", 200, "run shop/1, stacks with main, without x");
	check_answer("/api/v1/profile", "run=shop/1&width=x", 400, "width=x: give maximum, after, before or difference");
	check_answer("/api/v1/table", "run=shop/1&keep-x=1", 400, "invalid parameter name");
	check_answer("/", "from=-6h&label.keep=b&keep=b", 200, ">keep is b ×</a>");
}

/* Checks the target of a form on a page without scripts. */
static void check_leads(const char *query, const char *address)
{
	_cleanup_(response_done) struct response r;

	CHECK_INT(ask(request_of("/", query), &r), 303);
	CHECK_STR(r.location, address);
}

TEST(a_form_filters_by_any_label_without_scripts)
{
	check_leads("filter_label=deploy&filter_is=&filter_value=6&from=-6h&host=", "/?from=-6h&deploy=6");
	check_leads("deploy=6&filter_label=deploy&filter_is=&filter_value=7", "/?deploy=6&deploy=7");
	check_leads("filter_label=host&filter_is=not&filter_value=a%26b", "/?host=%21a%26b");
	check_leads("filter_label=host&filter_is=prefix&filter_value=web", "/?host=web%2A");
	check_leads("filter_label=host&filter_is=not-prefix&filter_value=web", "/?host=%21web%2A");
	check_leads("filter_label=host&filter_is=not&filter_value=web*", "/?host=%21%3Dweb%2A");
	check_leads("filter_label=host&filter_is=not&filter_value=", "/?host=%21");
	check_leads("filter_label=host&filter_is=not-prefix&filter_value=", "/");
	check_leads("filter_label=host&filter_is=&filter_value=web*", "/?host=%3Dweb%2A");
	check_leads("filter_label=host&filter_is=&filter_value=", "/?host=%3D");
	check_leads("filter_label=from&filter_is=&filter_value=x", "/?label.from=x");
	check_leads("entry=a&filter_label=&filter_is=&filter_value=", "/?entry=a");
	check_answer("/", "entry=a&filter_label=&filter_is=&filter_value=%3Cx", 400, "no label was chosen for the value &#39;&lt;x&#39;");
	check_answer("/", "filter_label=host&filter_is=prefix&filter_value=!b", 400, "values that begin with &#39;!b&#39;");
	check_answer("/", "filter_label=host&filter_is=not-prefix&filter_value=%3Db", 400, "values that begin with &#39;=b&#39;");
	check_leads("filter_label=host&filter_is=&filter_value=!b", "/?host=%3D%21b");
	check_leads("from=-1h&filter_from=&to=now&filter_functions=", "/?from=-1h&to=now");
	check_leads("from=-1h&filter_from=2026-11-21T07:30&to=now&filter_stacks=keep-i&filter_functions=", "/?to=now&from=2026-11-21T07%3A30");
	check_leads("from=-1h&filter_stacks=keep-i&filter_functions=a|b", "/?from=-1h&keep-i=a%7Cb");
	check_leads("keep-i=a&filter_stacks=remove-i&filter_functions=c", "/?keep-i=a&remove-i=c");
	check_answer("/", "from=-1h", 200, "<input name=\"filter_from\"");
	check_answer("/", "from=-1h", 200, "<select name=\"filter_stacks\">");
	check_answer("/", "run=shop/1&from=-6h&host=!b&entry=a*", 200, "Flame graph");
	check_answer("/", "from=-6h&host=!b&entry=a*", 200, "href=\"/?from=-6h&amp;entry=a%2A\">host is not b ×</a>");
	check_answer("/", "from=-6h&host=!b&entry=a*", 200, "href=\"/?from=-6h&amp;host=%21b\">entry begins with a ×</a>");
	check_answer("/", "entry=!a*", 200, ">entry does not begin with a ×</a>");
}

TEST(the_form_shows_unix_seconds_as_a_time)
{
	check_answer("/", "from=1795244400&to=1795248000", 200, "<option value=\"1795244400\" selected>2026-11-21T07:00:00Z</option>");
	check_answer("/", "from=1795244400&to=1795248000", 200, "value=\"2026-11-21T08:00:00Z\"></label>");
	check_answer("/", "from=-3h", 200, "<option value=\"-3h\" selected>-3h</option>");
	check_answer("/", "from=2026-11-21T07:00", 200, "<option value=\"2026-11-21T07:00\" selected>2026-11-21T07:00</option>");
}

TEST(a_function_is_shown_with_its_callers_and_an_unknown_one_is_an_error)
{
	check_answer("/api/v1/function", "run=shop/1&function=%3Cmain%3E", 200,
		     "\"callers\":[{\"name\":null,\"values\":[2000000,0,2000000],\"at_most\":false,\"itself\":false}],\"callees\":[]");
	check_answer("/runs/shop/1", "function=%3Cmain%3E", 200, "[none: it is the root]");
	check_answer("/runs/shop/1", "function=no%3Cwhere", 404, "there is no function &#39;no&lt;where&#39; in the selected profile");
	check_answer("/api/v1/function", "run=shop/1", 400, "function= is missing");
}

TEST(runs_are_compared)
{
	check_answer("/api/v1/table", "run=shop/1&base=shop/1", 200, "\"before\":\"run shop/1\"");
	check_answer("/api/v1/table", "run=shop/1&base=shop/1", 200, "\"self\":[[2000000],[2000000]]");
	check_answer("/", "run=shop/1&base=shop/1", 200, "run shop/1 compared with run shop/1");
	check_answer("/api/v1/table", "base_from=-2h&base_to=-1h", 400, "nothing to compare: no samples in ");
	check_answer("/api/v1/table", "base_from=-2h&base_to=-1h&entry=x&host=a*", 400, "nothing to compare: no samples of entry=x, host beginning with a in ");
	check_answer("/api/v1/table", "run=shop/1&base=shop/2", 404, "there is no run '2'");
	check_answer("/api/v1/table", "run=shop/1&base=nowhere", 400, "base=nowhere: a run is given as its source and its id");
}

TEST(labels_and_timelines_are_not_available_for_runs)
{
	static const char *const paths[] = { "/api/v1/labels", "/api/v1/timeline" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_(response_done) struct response r;

		CHECK_INT(ask(request_of(paths[i], "run=shop/a"), &r), 400);
		CHECK(strstr(r.body.data, "run= does not apply to this address") != NULL);
	}
}

TEST(an_invalid_parameter_is_a_400_with_its_message_on_the_page_too)
{
	_cleanup_(response_done) struct response api, page;

	CHECK_INT(ask(request_of("/api/v1/profile", "from=now&to=-1h"), &api), 400);
	CHECK_STR(api.body.data, "{\"error\":\"from=now is not before to=-1h, so the range is empty\"}\n");
	CHECK_INT(ask(request_of("/", "limit=<script>"), &page), 400);
	CHECK(strstr(page.body.data, "limit=&lt;script&gt;: give a number") != NULL);
	CHECK(strstr(page.body.data, "<script>") == NULL);
}

TEST(unknown_formats_are_named)
{
	_cleanup_(response_done) struct response r;

	CHECK_INT(ask(request_of("/api/v1/profile", "format=xml"), &r), 400);
	CHECK(strstr(r.body.data, "json, folded, strobe, svg, flame, chart, pprof, speedscope, callgrind") != NULL);
}

TEST(profiles_and_runs_are_available_in_formats_of_other_tools)
{
	static const struct { const char *format, *type, *start, *file; } all[] = {
		{ "pprof", "application/octet-stream", "\x1f\x8b", "pb.gz" },
		{ "speedscope", "application/json", "{\"$schema\":", "speedscope.json" },
		{ "callgrind", "text/plain; charset=utf-8", "# callgrind format\n", "callgrind" },
		{ "xhprof", "application/octet-stream", "a:", "xhprof" },
		{ "xhprof-json", "application/json", "{\n\"main()\":", "xhprof.json" },
		{ "chrome", "application/json", "{\"traceEvents\":[", "trace.json" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		_cleanup_(response_done) struct response profile, run;
		char query[64], file[64];

		snprintf(query, sizeof(query), "format=%s", all[i].format);
		snprintf(file, sizeof(file), ".%s\"", all[i].file);
		CHECK_INT(ask(request_of("/api/v1/profile", query), &profile), 200);
		CHECK_INT(ask(request_of("/api/v1/runs/shop/1", query), &run), 200);
		CHECK_STR(profile.type, all[i].type);
		CHECK_STR(run.type, all[i].type);
		CHECK(!strncmp(profile.body.data, all[i].start, strlen(all[i].start)));
		CHECK(!strncmp(run.body.data, all[i].start, strlen(all[i].start)));
		CHECK(strstr(profile.disposition, file) && strstr(run.disposition, "\"shop-1."));
	}
}

TEST(the_format_follows_accept_unless_a_parameter_overrides_it)
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

TEST(an_empty_store_shows_how_to_begin)
{
	_cleanup_(response_done) struct response api, page;

	CHECK_INT(ask(request_of("/api/v1/functions", NULL), &api), 200);
	CHECK(strstr(api.body.data, "\"empty\":\"the store is empty") != NULL);
	CHECK_INT(ask(request_of("/", NULL), &page), 200);
	CHECK(strstr(page.body.data, "strobe run -- php script.php") != NULL);
	CHECK(strstr(page.body.data, "extension=strobe.so\nstrobe.mode=sample") != NULL);
}

TEST(a_failing_store_causes_500_and_not_ready)
{
	_cleanup_(response_done) struct response profile, ready, alive;

	fake_store_fails = 1;
	CHECK_INT(ask(request_of("/api/v1/profile", NULL), &profile), 500);
	CHECK_STR(profile.body.data, "{\"error\":\"the disk is gone\"}\n");
	CHECK_INT(ask(request_of("/readyz", NULL), &ready), 503);
	CHECK_STR(ready.body.data, "the store is not ready: the disk is gone\n");
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

static int send_filters(struct server_context *s, const char *method, const char *query, struct response *r)
{
	struct request q = request_of("/api/v1/filters", query);

	q.headers.method = method;
	return answer(s, q, r);
}

static int post_filters(struct server_context *s, const char *body, struct response *r)
{
	struct request q = request_of("/filters", NULL);

	q.headers.method = "POST";
	q.has_body = true;
	q.body = body;
	q.body_size = strlen(body);
	return answer(s, q, r);
}

TEST(filters_are_named_listed_and_deleted)
{
	char dir[] = "/tmp/strobe-filters-XXXXXX", path[64];
	_cleanup_(response_done) struct response added, again, listed, page, gone, none, empty, bad, blank;
	struct server_context s = site_new();

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/named-filters", dir);
	s.options.filters_path = path;
	CHECK_INT(send_filters(&s, "POST", "name=%3Cb%3E%22../x&query=from%3D-1h%26entry%3Dapi*", &added), 201);
	CHECK_INT(send_filters(&s, "POST", "name=%3Cb%3E%22../x&query=from%3D-2h", &again), 409);
	CHECK_INT(send_filters(&s, "POST", "name=y&query=a%0Ab", &bad), 400);
	CHECK_INT(send_filters(&s, "POST", "name=+%20&query=from%3D-1h", &blank), 400);
	CHECK_INT(send_filters(&s, "GET", NULL, &listed), 200);
	CHECK(strstr(listed.body.data, "\"query\":\"from=-1h\\u0026entry=api*\"") != NULL);
	CHECK_INT(answer(&s, request_of("/filters", "from=-5m"), &page), 200);
	CHECK(strstr(page.body.data, "<a href=\"/?from=-1h&amp;entry=api*\">") && !strstr(page.body.data, "<b>"));
	CHECK_INT(send_filters(&s, "DELETE", "name=%3Cb%3E%22../x", &gone), 204);
	CHECK_INT(send_filters(&s, "DELETE", "name=%3Cb%3E%22../x", &none), 404);
	CHECK_INT(send_filters(&s, "GET", NULL, &empty), 200);
	CHECK_STR(empty.body.data, "{\"filters\":[]}\n");
	unlink(path);
	rmdir(dir);
}

#define FILTERS_TOKEN "form_token=0123456789abcdef0123456789abcdef"

TEST(a_named_filter_is_deleted_after_confirmation)
{
	char dir[] = "/tmp/strobe-filters-XXXXXX", path[64];
	_cleanup_(response_done) struct response added, asked, still, foreign, done, gone, none;
	struct server_context s = site_new();

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/named-filters", dir);
	s.options.filters_path = path;
	snprintf(s.form_token, sizeof(s.form_token), "0123456789abcdef0123456789abcdef");
	CHECK_INT(post_filters(&s, "name=%3Cb%3E&query=from%3D-1h&" FILTERS_TOKEN, &added), 303);
	CHECK_INT(post_filters(&s, "delete=%3Cb%3E&" FILTERS_TOKEN, &asked), 200);
	CHECK(strstr(asked.body.data, "Delete the filter \"&lt;b&gt;\"?") && strstr(asked.body.data, "name=\"confirmed\" value=\"1\""));
	CHECK_INT(send_filters(&s, "GET", NULL, &still), 200);
	CHECK(strstr(still.body.data, "from=-1h") != NULL);
	CHECK_INT(post_filters(&s, "delete=%3Cb%3E&confirmed=1", &foreign), 403);
	CHECK_INT(post_filters(&s, "delete=%3Cb%3E&confirmed=1&" FILTERS_TOKEN, &done), 303);
	CHECK_INT(send_filters(&s, "GET", NULL, &gone), 200);
	CHECK_STR(gone.body.data, "{\"filters\":[]}\n");
	CHECK_INT(post_filters(&s, "delete=%3Cb%3E&" FILTERS_TOKEN, &none), 404);
	unlink(path);
	rmdir(dir);
}

TEST(named_filters_are_limited_in_number_and_their_forms_need_a_token)
{
	char dir[] = "/tmp/strobe-filters-XXXXXX", path[64], text[256];
	_cleanup_(response_done) struct response old, fits, full, absent;
	struct server_context s = site_new();

	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/named-filters", dir);
	s.options.filters_path = path;
	snprintf(s.form_token, sizeof(s.form_token), "0123456789abcdef0123456789abcdef");
	CHECK_INT(post_filters(&s, "name=a&query=from%3D-1h&form_token=00000000000000000000000000000000", &old), 403);
	CHECK_INT(access(path, F_OK), -1);
	CHECK_INT(post_filters(&s, "name=a&query=from%3D-1h&form_token=0123456789abcdef0123456789abcdef", &fits), 303);
	for (unsigned i = 1; i < 100; i++) {
		_cleanup_(response_done) struct response r;

		snprintf(text, sizeof(text), "name=n%u&query=from%%3D-1h", i);
		CHECK_INT(send_filters(&s, "POST", text, &r), 201);
	}
	CHECK_INT(send_filters(&s, "POST", "name=more&query=from%3D-1h", &full), 409);
	s.options.filters_path = NULL;
	CHECK_INT(send_filters(&s, "POST", "name=more&query=from%3D-1h", &absent), 503);
	unlink(path);
	rmdir(dir);
}

TEST_MAIN()
