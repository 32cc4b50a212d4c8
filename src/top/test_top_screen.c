/* test_top_screen.c: tests screens of every size, and malicious names. */

#include "top_screen.h"
#include "cells.h"
#include "test.h"
#include "top_plain.h"

#include <locale.h>
#include <string.h>

struct made {
	struct top_view view;
	struct top_status facts;
	struct top_rows rows;
	struct top_row items[40];
	struct top_screen screen;
};

static struct str str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static void make(struct made *m, size_t count)
{
	top_view_init(&m->view);
	top_screen_init(&m->screen);
	m->facts = (struct top_status){
		.target = "php-fpm", .frames = "PHP frames", .fallback = "", .length_ns = 5000000000, .all_ns = 95000000000,
		.summary = {
			.hz = 99, .off_cpu = true, .seconds = 5, .processes = 12, .refused = "", .first_file = "", .switch_share = 1,
			.counters[COUNTER_TICKS] = 1980, .counters[COUNTER_SAMPLES] = count,
			.kinds[SAMPLE_ON_CPU] = { count, count * 1000000000 }, .kinds[SAMPLE_BLOCKED] = { count, 2500000000 },
		},
	};
	m->rows = (struct top_rows){ .rows = m->items, .count = count, .on_cpu = 400, .off_cpu = 1000 };
	for (size_t i = 0; i < count; i++)
		m->items[i] = (struct top_row){ str_of("Cart::total"), str_of("/srv/cart.php"), 12, 100 - (int64_t)i, 200, 3000000, 4000000000 };
	m->view.rows = &m->rows;
	setlocale(LC_CTYPE, "C.UTF-8");
}

static void unmake(struct made *m)
{
	top_view_done(&m->view);
	top_screen_done(&m->screen);
}

static void lay_out(struct made *m, size_t width, size_t height)
{
	top_screen_lay_out(&m->screen, &m->view, &m->facts, width, height);
}

static const char *line(const struct made *m, size_t n)
{
	return n < m->screen.count ? m->screen.lines[n].text.data : "(no such line)";
}

TEST(a_screen_has_a_header_a_table_and_keys)
{
	struct made m;

	make(&m, 2);
	lay_out(&m, 100, 14);
	CHECK_INT(m.screen.count, 14);
	CHECK_STR(line(&m, 0), "strobe top: php-fpm | last 5.0 s of 1:35 | PHP frames, 99 Hz");
	CHECK_STR(line(&m, 1), "on CPU 0.40, blocked 0.50, waiting for a CPU 0.00 threads on average");
	CHECK_STR(line(&m, 2), "0 lost; 1,980 ticks: 2 kept, 0 idle CPU, 0 other programs; 0 switches");
	CHECK_STR(line(&m, 3), "by function, sorted by self");
	CHECK_STR(line(&m, 4), "self%* total%     self*   total  off-CPU  off total  function");
	CHECK_STR(line(&m, 5), " 25.0    50.0   100 ns   200 ns  3.00 ms     4.00 s  Cart::total  /srv/cart.php:12");
	CHECK_STR(line(&m, 6), " 24.8    50.0    99 ns   200 ns  3.00 ms     4.00 s  Cart::total  /srv/cart.php:12");
	CHECK_INT(m.screen.lines[4].style, TOP_HEADINGS);
	CHECK_INT(m.screen.lines[5].style, TOP_SELECTED);
	CHECK(strstr(line(&m, 13), "q:quit"));
	unmake(&m);
}

static struct request_row request_items[] = {
	{ { "12966", 5 }, { "www", 3 }, "waiting", 1117000000, { "GET /shop/cart", 14 }, { "sleep < Shop::wait < cart", 25 }, { "", 0 } },
	{ { "12967/12970", 11 }, { "", 0 }, "running", -1, { "\x1b[2J\n\xff", 6 }, { "\xe6\xbc\xa2::f", 6 }, { "", 0 } },
};
static const struct request_rows requests = { .rows = request_items, .count = 2, .idle = 9 };

TEST(each_request_has_a_line)
{
	struct made m;

	make(&m, 2);
	m.view.requests = true;
	m.view.request_rows = &requests;
	lay_out(&m, 110, 14);
	CHECK_STR(line(&m, 3), "requests now: 2, oldest first; 9 idle workers");
	CHECK_STR(line(&m, 4), "process         age  state     pool          request                   function < its callers");
	CHECK_STR(line(&m, 5), "12966        1.12 s  waiting   www           GET /shop/cart            sleep < Shop::wait < cart");
	CHECK_STR(line(&m, 6), "12967/12…            running                 \xef\xbf\xbd[2J \xef\xbf\xbd                    \xe6\xbc\xa2::f");
	lay_out(&m, 60, 14);
	CHECK_STR(line(&m, 5), "12966        1.12 s  waiting   GET /shop/cart");
	unmake(&m);
}

TEST(screens_fit_the_width_and_height_of_the_terminal)
{
	for (size_t width = 1; width < 130; width += width < 30 ? 1 : 9) {
		for (size_t height = 1; height < 40; height++) {
			for (int mode = 0; mode < 8; mode++) {
				struct made m;

				make(&m, mode == 5 ? 0 : 40);
				m.items[1].name = str_of("\xe6\xbc\xa2\xe5\xad\x97::\xe6\xbc\xa2\xe5\xad\x97");
				m.view.help = mode == 1;
				m.view.notes = mode == 2;
				m.view.prompt = mode == 3 ? TOP_PROMPT_FILTER : TOP_NO_PROMPT;
				strcpy(m.view.input, "some expression that is long");
				m.view.has_on_cpu = mode != 4;
				m.view.requests = mode >= 6;
				m.view.request_rows = &requests;
				m.view.stack = mode == 7 ? strdup("    sleep\n    Shop::wait  /srv/shop/cart.php:5\n") : NULL;
				lay_out(&m, width, height);
				CHECK_INT(m.screen.count, height);
				for (size_t i = 0; i < m.screen.count; i++)
					CHECK(cells_width(str_of(line(&m, i))) <= width);
				if (mode == 3)
					CHECK(m.screen.cursor < width);
				unmake(&m);
			}
		}
	}
}

TEST(an_empty_table_shows_the_reason)
{
	struct made m;

	make(&m, 0);
	m.facts.summary.kinds[SAMPLE_BLOCKED] = (struct count){ 0, 0 };
	m.facts.summary.off_cpu = false;
	m.view.has_off_cpu = false;
	lay_out(&m, 100, 14);
	CHECK_STR(line(&m, 5), "0 of 1,980 ticks found PHP on CPU: the 12 processes were idle; send traffic or add --off-cpu");
	lay_out(&m, 50, 14);
	CHECK_STR(line(&m, 5), "0 of 1,980 ticks found PHP on CPU: the 12");
	CHECK_STR(line(&m, 6), "processes were idle; send traffic or add --off-cpu");
	m.view.has_filter = true;
	m.rows.left_out = 3;
	regcomp(&m.view.regex, "x", REG_EXTENDED);
	lay_out(&m, 100, 14);
	CHECK(strstr(line(&m, 5), "hides every row"));
	unmake(&m);
}

TEST(losses_and_unsupported_processes_cause_warnings)
{
	struct made m;

	make(&m, 1);
	m.facts.summary.counters[COUNTER_LOST_TABLE] = 7;
	m.facts.summary.counters[COUNTER_FRAME_UNREADABLE] = 2;
	lay_out(&m, 100, 14);
	CHECK(strstr(line(&m, 2), "7 lost, 2 unreadable; "));
	CHECK(strstr(line(&m, 4), "samples were lost"));
	CHECK_INT(m.screen.lines[4].style, TOP_WARNING);
	m.facts.summary.refused = "php is PHP 9.9";
	lay_out(&m, 100, 14);
	CHECK_STR(line(&m, 4), "php is PHP 9.9");
	m.view.notes = true;
	lay_out(&m, 100, 20);
	CHECK(strstr(line(&m, 5), "1 sample of PHP on CPU, of 1,980 ticks"));
	unmake(&m);
}

/* No escape sequences that a terminal would interpret may remain. */
TEST(names_cannot_control_the_terminal)
{
	static const char *const names[] = {
		"\x1b[31mred\x1b]0;title\x07", "a\x9b\x33\x31m", "\xc2\x9b\x33\x31m", "line\nbreak\rreturn\ttab", "bad\xff\xfe utf8",
		"\xe2\x80\xae reversed", "e\xcc\x81\xcc\x81 combined", "zwj \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7", "\x7f",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct made m;

		make(&m, 1);
		m.items[0].name = str_of(names[i]);
		m.items[0].file = str_of(names[i]);
		m.view.by = TOP_BY_ENTRY;
		m.facts.target = names[i];
		m.view.scope = (struct live_scope){ "entry", names[i] };
		lay_out(&m, 120, 14);
		for (size_t n = 0; n < m.screen.count; n++) {
			const unsigned char *p = (const unsigned char *)line(&m, n);

			for (; *p; p++)
				CHECK(*p >= ' ' && *p != 127 && !(*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0));
			CHECK(cells_width(str_of(line(&m, n))) <= 120);
			CHECK(!strstr(line(&m, n), "\xe2\x80\xae") && !strstr(line(&m, n), "\xe2\x80\x8d"));
		}
		unmake(&m);
	}
}

TEST(long_names_are_truncated_at_the_start)
{
	struct made m;

	make(&m, 1);
	m.items[0].name = str_of("Vendor\\Package\\Component\\Subsystem\\VeryLongClassName::theMethod");
	lay_out(&m, 70, 14);
	CHECK(strstr(line(&m, 5), "…") && strstr(line(&m, 5), "::theMethod"));
	unmake(&m);
}

TEST(a_locale_without_unicode_shows_ascii)
{
	struct made m;

	make(&m, 1);
	m.items[0].name = str_of("caf\xc3\xa9");
	setlocale(LC_CTYPE, "C");
	lay_out(&m, 100, 14);
	for (size_t n = 0; n < m.screen.count; n++)
		for (const char *p = line(&m, n); *p; p++)
			CHECK((unsigned char)*p < 128);
	CHECK(strstr(line(&m, 5), "caf?"));
	unmake(&m);
}

TEST(plain_lines_have_the_same_numbers)
{
	struct made m;
	struct buf out;

	make(&m, 3);
	buf_init(&out);
	top_put_plain(&out, &m.view, &m.facts, 2, 1700000000000000000);
	CHECK_STR(out.data,
		  "2023-11-14T22:13:20Z on CPU 0.60, blocked 0.50, waiting for a CPU 0.00 threads on average; 0 lost; 1,980 ticks: 3 kept, "
		  "0 idle CPU, 0 other programs; 0 switches\n"
		  "self%* total%     self*   total  off-CPU  off total  function\n"
		  " 25.0    50.0   100 ns   200 ns  3.00 ms     4.00 s  Cart::total  /srv/cart.php:12\n"
		  " 24.8    50.0    99 ns   200 ns  3.00 ms     4.00 s  Cart::total  /srv/cart.php:12\n"
		  "1 more rows; --rows 0 prints all\n\n");
	buf_reset(&out);
	top_put_json(&out, &m.view, &m.facts, 1, 1700000000000000000);
	CHECK_STR(out.data,
		  "{\"time\":\"2023-11-14T22:13:20Z\",\"seconds\":5,\"on_cpu_ns\":400,\"off_cpu_ns\":1000,\"ticks\":1980,\"kept\":3,\"lost\":0,"
		  "\"unreadable\":0,\"counts\":{\"kept\":3,\"switches\":0,\"ticks\":1980},"
		  "\"notes\":[\"3 samples of PHP on CPU, of 1,980 ticks at 99 Hz in 5.0 s (0 found an idle CPU, 0 another "
		  "program)\",\"off CPU: 2.50 s blocked, 0.00 s runnable, in 0 switches (0 outside PHP functions and 0 below the minimum are "
		  "left out)\"],\"by\":\"function\",\"rows\":[{\"function\":\"Cart::total\",\"file\":\"/srv/cart.php\",\"line\":12,\"self_ns\":100,"
		  "\"total_ns\":200,\"off_cpu_self_ns\":3000000,\"off_cpu_total_ns\":4000000000}],\"more\":2}\n");
	buf_done(&out);
	unmake(&m);
}

TEST_MAIN()
