/* test_view.c: parsing query strings into views, and errors for invalid ones. */

#include "clock.h"
#include "test.h"
#include "view.h"

#define NOW (1795248000LL * NS_PER_SECOND)	/* 2026-11-21T08:00:00Z */

struct parsed {
	struct params params;
	struct view view;
	struct err err;
	int code;
};

static void parse(struct parsed *p, const char *query)
{
	memset(p, 0, sizeof(*p));
	arena_init(&p->view.bytes);
	p->code = params_parse(&p->params, query, &p->err);
	if (p->code >= 0)
		p->code = view_parse(&p->view, &p->params, NOW, &p->err);
}

static void parsed_done(struct parsed *p)
{
	view_done(&p->view);
	params_done(&p->params);
}

static void check_bad(const char *query, const char *part)
{
	_cleanup_(parsed_done) struct parsed p;

	parse(&p, query);
	CHECK_INT(p.code, -EINVAL);
	if (!strstr(p.err.text, part))
		CHECK_STR(p.err.text, part);
}

TEST(the_default_range_is_the_last_hour)
{
	_cleanup_(parsed_done) struct parsed p;

	parse(&p, NULL);
	CHECK_INT(p.code, 0);
	CHECK_INT(p.view.to_ns, NOW);
	CHECK_INT(p.view.from_ns, NOW - 3600 * NS_PER_SECOND);
	CHECK_INT(p.view.filter_count, 0);
	CHECK_INT(p.view.step_ns, 20 * NS_PER_SECOND);
	CHECK_INT(p.view.steps, 180);
}

TEST(reserved_parameters_set_options_and_all_others_are_labels)
{
	_cleanup_(parsed_done) struct parsed p;

	parse(&p, "from=2026-11-21T07:00&to=2026-11-21T07%3A30&entry=index&limit=5&reverse=1&column=wall_ns&pool=a%20b+c&&");
	CHECK_INT(p.code, 0);
	CHECK_INT(p.view.from_ns, NOW - 3600 * NS_PER_SECOND);
	CHECK_INT(p.view.to_ns, NOW - 1800 * NS_PER_SECOND);
	CHECK_INT(p.view.limit, 5);
	CHECK(p.view.reverse && !p.view.inverted);
	CHECK_STR(p.view.column, "wall_ns");
	CHECK_INT(p.view.filter_count, 2);
	CHECK_STR(p.view.filters[0].key, "entry");
	CHECK_STR(p.view.filters[1].value, "a b c");
	CHECK_STR(view_label(&p.view, "entry"), "index");
	CHECK(view_label(&p.view, "host") == NULL);
}

TEST(filters_support_equality_negation_and_prefixes)
{
	_cleanup_(parsed_done) struct parsed p;

	parse(&p, "a=x&b=!x&c=x*&d==!x*&e=&f=*&g=!&h=!x*&i=!=x*&j=!!x");
	CHECK_INT(p.code, 0);
	CHECK_INT(p.view.filter_count, 9);
	CHECK(p.view.filters[0].match == LABEL_IS);
	CHECK(p.view.filters[1].match == LABEL_IS_NOT);
	CHECK_STR(p.view.filters[1].value, "x");
	CHECK(p.view.filters[2].match == LABEL_IS_PREFIX);
	CHECK_STR(p.view.filters[2].value, "x");
	CHECK(p.view.filters[3].match == LABEL_IS);
	CHECK_STR(p.view.filters[3].value, "!x*");
	CHECK(p.view.filters[4].match == LABEL_IS_PREFIX);
	CHECK_STR(p.view.filters[4].value, "");
	CHECK(p.view.filters[5].match == LABEL_IS_NOT);
	CHECK_STR(p.view.filters[5].value, "");
	CHECK(p.view.filters[6].match == LABEL_IS_NOT_PREFIX);
	CHECK_STR(p.view.filters[6].value, "x");
	CHECK(p.view.filters[7].match == LABEL_IS_NOT);
	CHECK_STR(p.view.filters[7].value, "x*");
	CHECK(p.view.filters[8].match == LABEL_IS_NOT);
	CHECK_STR(p.view.filters[8].value, "!x");
}

TEST(a_view_has_a_textual_description)
{
	_cleanup_(parsed_done) struct parsed p;
	_cleanup_(buf_done) struct buf out;

	buf_init(&out);
	parse(&p, "entry=foo&host=!w\x01&sapi=!cl*");
	view_describe(&p.view, &out);
	CHECK_STR(out.data, "samples of entry=foo, host not w\xef\xbf\xbd, sapi not beginning with cl between 2026-11-21T07:00:00Z and 2026-11-21T08:00:00Z");
}

TEST(invalid_parameters_are_rejected_with_an_error)
{
	check_bad("from=yesterday", "from: ");
	check_bad("to=x", "to: ");
	check_bad("from=now&to=-1h", "is not before");
	check_bad("limit=-1", "limit=-1");
	check_bad("limit=99999999999999999999999", "limit=");
	check_bad("reverse=yes", "reverse=yes");
	check_bad("step=7s", "multiple of 10 seconds");
	check_bad("step=0", "multiple of 10 seconds");
	check_bad("step=abc", "step: ");
	check_bad("step=10s&from=-365d", "more than 10000 steps");
	check_bad("a=%", "hexadecimal");
	check_bad("a=%4", "hexadecimal");
	check_bad("a=%zz", "hexadecimal");
	check_bad("a=%00b", "NUL");
	check_bad("%00=b", "NUL");
	check_bad("1a=b", "invalid parameter name");
	check_bad("=b", "invalid parameter name");
	check_bad("a-b=c", "invalid parameter name");
}

TEST(the_name_of_a_push_may_be_as_long_as_the_url)
{
	static char query[PARAMS_QUERY_MAX + 1];
	_cleanup_(parsed_done) struct parsed p;

	memset(query, 'a', sizeof(query) - 1);
	memcpy(query, "name=", 5);
	parse(&p, query);
	CHECK_INT(p.code, 0);
}

TEST(sizes_of_parameters_are_capped)
{
	static char query[PARAMS_QUERY_MAX + 2];
	_cleanup_(parsed_done) struct parsed p;

	memset(query, 'a', sizeof(query) - 1);
	check_bad(query, "longer than 8192");
	query[1100] = '\0';
	query[1] = '=';
	check_bad(query, "longer than 1024");
	memcpy(query, "function=", 9);
	parse(&p, query);
	CHECK(p.code == 0 && strlen(p.view.function) == 1091);
	memcpy(query, "aaaaaaaaa", 9);
	query[65] = '\0';
	check_bad(query, "invalid parameter name");
	for (size_t i = 0; i + 2 < 200; i += 2)
		memcpy(query + i, "a&", 3);
	check_bad(query, "more than 64");
}

TEST(long_ranges_get_a_step_that_yields_a_few_hundred_points)
{
	_cleanup_(parsed_done) struct parsed p;

	parse(&p, "from=-7d");
	CHECK_INT(p.view.step_ns, 3600 * NS_PER_SECOND);
	CHECK_INT(p.view.steps, 168);
	parsed_done(&p);
	parse(&p, "from=1970-01-01");
	CHECK_INT(p.code, 0);
	CHECK(p.view.steps <= VIEW_STEPS + 1 && p.view.steps > 100);
	CHECK_INT(p.view.step_ns % BATCH_BUCKET_NS, 0);
}

TEST(runs_weights_and_bases_are_parsed)
{
	_cleanup_(parsed_done) struct parsed p;

	parse(&p, "run=shop/1&run=shop/2.b&weights=2,30&base=blog/x_1&by=class&scale=rate&threshold=0.25&function=a%3A%3Ab");
	CHECK_INT(p.code, 0);
	CHECK_INT(p.view.run_count, 2);
	CHECK_STR(p.view.runs[1].source, "shop");
	CHECK_STR(p.view.runs[1].id, "2.b");
	CHECK_INT(p.view.runs[0].weight, 2);
	CHECK_INT(p.view.runs[1].weight, 30);
	CHECK(p.view.has_base);
	CHECK_STR(p.view.base_run.id, "x_1");
	CHECK_INT(p.view.by, REPORT_BY_CLASS);
	CHECK(p.view.has_scale && p.view.scale == DIFF_BY_RATE);
	CHECK(p.view.threshold == 0.25);
	CHECK_STR(p.view.function, "a::b");
	CHECK_INT(p.view.filter_count, 0);
}

TEST(a_base_may_have_its_own_labels)
{
	_cleanup_(parsed_done) struct parsed p;
	struct store_query base;

	parse(&p, "entry=api*&deploy=7&base.deploy=6&base.host=!web9&base.host=!web8");
	CHECK_INT(p.code, 0);
	CHECK(p.view.has_base && p.view.has_base_labels);
	CHECK_INT(p.view.filter_count, 2);
	base = view_base_query(&p.view);
	CHECK_INT(base.filter_count, 4);
	CHECK_STR(base.filters[0].key, "deploy");
	CHECK_STR(base.filters[0].value, "6");
	CHECK_STR(base.filters[2].value, "web8");
	CHECK_INT(base.filters[2].match, LABEL_IS_NOT);
	CHECK_STR(base.filters[3].key, "entry");
	CHECK(base.from_ns == p.view.from_ns && base.to_ns == p.view.to_ns);
	parsed_done(&p);
	parse(&p, "base_from=-2h&base_to=-1h&entry=a");
	base = view_base_query(&p.view);
	CHECK(!p.view.has_base_labels && base.filter_count == 1 && base.from_ns < p.view.from_ns);
	parsed_done(&p);
	parse(&p, "base.deploy=");
	CHECK(!p.view.has_base);
}

TEST(a_base_may_be_a_range)
{
	_cleanup_(parsed_done) struct parsed p;

	parse(&p, "base_from=-2h&base_to=-1h&entry=index");
	CHECK_INT(p.code, 0);
	CHECK(p.view.has_base && !*p.view.base_run.id);
	CHECK_INT(p.view.base_from_ns, NOW - 7200 * NS_PER_SECOND);
	CHECK_INT(p.view.base_to_ns, NOW - 3600 * NS_PER_SECOND);
	CHECK_INT(p.view.filter_count, 1);
}

TEST(invalid_parameters_of_runs_are_named)
{
	check_bad("run=shop", "a run is given as its source and its id");
	check_bad("run=shop/..%2F1", "a run is given as its source and its id");
	check_bad("run=a/1&run=a/2&weights=1", "give 2 whole numbers, one for each run");
	check_bad("run=a/1&weights=1,2", "give 1 whole number, one for each run");
	check_bad("run=a/1&weights=0", "not all 0");
	check_bad("run=a/1&weights=99999999999999999999", "a weight is at most");
	check_bad("base_from=-1h&base_to=-2h", "is not before base_to");
	check_bad("by=shape", "give function, line, file, class, namespace, package or own");
	check_bad("sort=number", "give self, total or name");
	check_bad("scale=more", "give total, rate, requests or none");
	check_bad("threshold=nan", "give a percentage");
	check_bad("threshold=101", "give a percentage");
}

TEST_MAIN()
