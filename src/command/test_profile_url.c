/* test_profile_url.c: URLs copied from a browser, and the requests made for them. */

#include "profile_url.h"

#include "test.h"

static const char *path_of(const char *url)
{
	static char path[2048];
	struct profile_url u;
	struct err err = { 0 };

	if (profile_url_parse(&u, url, &err) < 0)
		snprintf(path, sizeof(path), "error: %s", err.text);
	else
		snprintf(path, sizeof(path), "%s%s", u.base.data, u.path.data);
	profile_url_done(&u);
	return path;
}

TEST(file_names_are_not_taken_for_urls)
{
	CHECK(profile_url_is("http://h/"));
	CHECK(profile_url_is("https://h/"));
	CHECK(!profile_url_is("-"));
	CHECK(!profile_url_is("http.strobe"));
	CHECK(!profile_url_is("./http://h/"));
}

TEST(the_url_of_a_page_requests_the_profile_it_shows)
{
#define ASKED "http://h:8787/api/v1/profile?format=strobe"
	CHECK_STR(path_of("http://h:8787"), ASKED);
	CHECK_STR(path_of("http://h:8787/"), ASKED);
	CHECK_STR(path_of("http://h:8787?from=-1h"), ASKED "&from=-1h");
	CHECK_STR(path_of("http://h:8787/?from=-1h&entry=api*&host=a&host=!b"), ASKED "&from=-1h&entry=api*&host=a&host=!b");
	CHECK_STR(path_of("http://h:8787/?from=-1h#zoom=a;b&show=table"), ASKED "&from=-1h");
	CHECK_STR(path_of("http://h:8787/?&from=-1h&&"), ASKED "&from=-1h");
	CHECK_STR(path_of("http://h:8787/flamegraph.svg?run=shop/1&reverse=1&title=x"), ASKED "&run=shop/1");
	CHECK_STR(path_of("http://h:8787/api/v1/table?base=shop/0&run=shop/1&sort=total&by=class&limit=3"),
		  ASKED "&base=shop/0&run=shop/1&by=class");
	CHECK_STR(path_of("http://[::1]:8787/api/v1/profile?format=pprof"), "http://[::1]:8787/api/v1/profile?format=strobe");
}

TEST(a_run_is_named_by_its_path)
{
	CHECK_STR(path_of("http://h:8787/runs/shop/1"), ASKED "&run=shop/1");
	CHECK_STR(path_of("http://h:8787/runs/shop/1?by=class&function=f"), ASKED "&run=shop/1&by=class");
	CHECK_STR(path_of("http://h:8787/api/v1/runs/shop/1?format=folded"), ASKED "&run=shop/1");
	CHECK_STR(path_of("http://h:8787/api/v1/runs/shop/1/flamegraph"), ASKED "&run=shop/1");
	CHECK_STR(path_of("http://h:8787/runs/shop/a+b&c"), ASKED "&run=shop/a%2Bb%26c");
}

static const char *side_of(const char *url, bool is_before)
{
	static char name[256];
	struct profile *p = profile_new();
	struct buf b;

	buf_init(&b);
	p->start_ns = 1795925410 * INT64_C(1000000000);
	p->end_ns = p->start_ns + 50 * INT64_C(1000000000);
	profile_url_name_side(url, is_before, p, &b);
	snprintf(name, sizeof(name), "%.*s", (int)b.size, b.size ? b.data : "");
	buf_done(&b);
	profile_free(p);
	return name;
}

TEST(sides_of_a_comparison_are_named_as_on_the_page)
{
	static const char *const pages[] = { "http://h/?run=w/2&run=w/3&weights=1,3&base=w/1", "http://h/?run=w/2&base=w/1&run=w/3#show=table",
					     "http://h/runs/w/2?run=w/3&base=w/1", "http://h/runs/w/2?base=w/1", "http://h/api/v1/runs/w/2?base=w/1",
					     "http://h/?run=w/2&run=&base=w/1", "http://h/index.php?run1=1&run2=2&source=w" };

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		CHECK_STR(side_of(pages[i], true), "run w/1");
		CHECK_STR(side_of(pages[i], false), i < 3 ? "2 runs, averaged" : "run w/2");
	}
#define RANGES "http://h/?from=1795925415&to=1795925450&base_from=-1h&base_to=2026-11-29T04:10:12Z"
	CHECK_STR(side_of(RANGES, true), "2026-11-29T04:10:10Z to 2026-11-29T04:10:12Z");
	CHECK_STR(side_of(RANGES, false), "2026-11-29T04:10:15Z to 2026-11-29T04:10:50Z");
}

TEST(characters_invalid_in_requests_are_encoded)
{
	CHECK_STR(path_of("http://h:8787/?entry=a b\r\nX: y"), ASKED "&entry=a%20b%0D%0AX:%20y");
	CHECK_STR(path_of("http://h:8787/?entry=\xc3\xa9%20x"), ASKED "&entry=%C3%A9%20x");
}

TEST(old_links_are_resolved)
{
	CHECK_STR(path_of("http://h:8787/index.php?run=1&source=shop"), "http://h:8787/index.php?run=1&source=shop");
	CHECK_STR(path_of("http://h:8787/xhprof_html/?run=1"), "http://h:8787/xhprof_html/?run=1");
	CHECK_STR(path_of("http://h:8787/?run1=1&run2=2"), "http://h:8787/?run1=1&run2=2");
	CHECK_STR(path_of("http://h:8787/?run=shop%2F1"), ASKED "&run=shop%2F1");
}

TEST(the_column_is_taken_from_the_url)
{
	struct profile_url u;

	CHECK_INT(profile_url_parse(&u, "http://h/?column=cpu%5Fns&from=-1h", NULL), 0);
	CHECK_STR(u.column.data, "cpu_ns");
	CHECK_STR(u.path.data, "/api/v1/profile?format=strobe&from=-1h");
	profile_url_done(&u);

	/* The comparison is requested, since its answer has both sides of one value. */
	CHECK_STR(path_of("http://h:8787/?run=shop/2&column=memory_bytes&base=shop/1"), ASKED "&run=shop/2&base=shop/1&column=memory_bytes");
}

TEST(other_urls_are_rejected)
{
	CHECK(strstr(path_of("http://h:8787/runs"), "error: there is no profile at"));
	CHECK(strstr(path_of("http://h:8787/runs/shop"), "error: there is no profile at"));
	CHECK(strstr(path_of("http://h:8787/runs/shop/"), "error: there is no profile at"));
	CHECK(strstr(path_of("http://h:8787/api/v1/status"), "error: there is no profile at"));
	CHECK(strstr(path_of("https://h/"), "requires TLS"));
}

TEST_MAIN()
