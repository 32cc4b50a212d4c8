/* test_log_name.c: names follow the operator's format, and only our own are recognized. */
#include "log_name.h"

#include "test.h"
#include <time.h>

static struct err problem;

/* Returns the time part of a name, or the error. */
static const char *made(const char *format, int64_t seconds)
{
	static char text[1024];
	struct log_name n;

	if (log_name_init(&n, format, &problem) < 0)
		snprintf(text, sizeof(text), "%s", problem.text);
	else
		CHECK_INT(log_name_time(&n, seconds, text), strlen(text));
	log_name_done(&n);
	return text;
}

/* Returns the tags of a file, separated by blanks. */
static const char *tags(const char *format, const char *file)
{
	struct str found[LOG_NAME_TAGS];
	static char text[1024];
	struct log_name n;
	size_t count, at = 0;

	CHECK(!log_name_init(&n, format, &problem));
	count = log_name_tags(&n, file, found);
	text[0] = 0;
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s", i ? " " : "", (int)found[i].n,
				       found[i].p);
	log_name_done(&n);
	return text;
}

#define AT 1795284622	/* 2026-11-21T18:10:22Z, a Saturday */

TEST(times_are_written_as_strftime_does_in_utc)
{
	CHECK_STR(made("%Y-%m-%d_%H", AT), "2026-11-21_18");
	CHECK_STR(made("%F", AT), "2026-11-21");
	CHECK_STR(made("%Y-%m-%d_%H.excimer-wall", AT), "2026-11-21_18.excimer-wall");
	CHECK_STR(made("day %-j of %G, %A %e %B %I%p 100%%", AT), "day 325 of 2026, Saturday 21 November 06PM 100%");
	CHECK_STR(made("%c", AT), "Sat Nov 21 18:10:22 2026");
	CHECK_STR(made("%OH%Ey%Z%z", AT), "1826");
	CHECK_STR(made("%-m_%_d_%^a", 1780531200), "6_ 4_THU");
	CHECK_STR(made("%Y", 0), "1970");
}

TEST(a_format_that_yields_no_plain_file_name_is_rejected)
{
	CHECK_STR(made("%Y/%m", AT), "its names contain '/', but a log is one file in the directory of its "
				     "period; use - or _ instead");
	CHECK_STR(made("%D", AT), made("%Y/%m", AT));
	CHECK_STR(made("%Y%n", AT), "its names contain a control character; remove it");
	CHECK_STR(made("", AT), "its names are empty; use conversions such as %Y, %m, %d, %H");
	CHECK_STR(made("%Z", AT), "its names are empty; use conversions such as %Y, %m, %d, %H");
	CHECK_STR(made("..", AT), "its names begin with '.', which hides the files; begin with the year");
	CHECK_STR(made("%Y%", AT), "it ends with a lone %");
	CHECK_STR(made("%s", AT), "unknown conversion %s; use conversions such as %Y, %m, %d, %H");
	CHECK_STR(made("%10Y", AT), "unknown conversion %1; use conversions such as %Y, %m, %d, %H");
	CHECK_STR(made("%c%c%c%c%c", AT), "its names are longer than 100 bytes; shorten it");
}

TEST(only_names_that_match_the_format_have_a_tag)
{
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21_18.index.log"), "index");
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21_18.index.log.gz"), "index");
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21_18.index.log.zst"), "index");
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21_18.wp-cron.log"), "wp-cron");
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21_18.excimer-wall.index.log"), "excimer-wall.index");
	CHECK_STR(tags("%Y-%m-%d_%H.excimer-wall", "2026-11-21_18.excimer-wall.index.log"), "index");
	CHECK_STR(tags("%Y-%m-%d_%H.excimer-wall", "2026-11-21_18.index.log"), "");
	CHECK_STR(tags("%Y-%m-%d", "2026-11-21_18.index.log"), "");
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21.index.log"), "");
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21_18.index.log.gz.tmp"), "");
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21_18..log"), "");
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21_18.log"), "");
	CHECK_STR(tags("%Y-%m-%d_%H", ".log"), "");
	CHECK_STR(tags("%Y-%m-%d_%H", ""), "");
	CHECK_STR(tags("%Y-%m-%d_%H", "2026-11-21_18.a b.log"), "");
	CHECK_STR(tags("%-d.%-m", "1.2.3.log"), "3");
	CHECK_STR(tags("%Y.%m", "2026.11.22.index.log"), "22.index");
	CHECK_STR(tags("%B%A", "NovemberSaturday.x.log"), "x");
	CHECK_STR(tags("%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d%-d",
		       "1111111111111111111111111111111.x.log"),
		  "x");
}

TEST(each_generated_name_is_recognized)
{
	static const char *const formats[] = { "%Y-%m-%d_%H", "%F", "%c", "%-d.%-m.%Y", "%A, %e. %B %y",
					       "%_H%k%l %p %P",
		"%G-W%V-%u", "%j%U%W%w%g%C", "%r", "x%%y" };
	struct str found[LOG_NAME_TAGS];
	char time[LOG_TIME_MAX + 1], file[LOG_TIME_MAX + 100];
	struct log_name n;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		CHECK(!log_name_init(&n, formats[i], &problem));
		for (int64_t t = 0; t < 4000000000; t += 7654321) {
			log_name_time(&n, t, time);
			snprintf(file, sizeof(file), "%s.index.log", time);
			if (log_name_tags(&n, file, found) < 1 || found[0].n != 5)
				CHECK_STR(file, "a name of this format");
		}
		log_name_done(&n);
	}
}

TEST(hostile_tags_are_rejected)
{
	char many[65];

	memset(many, 'x', sizeof(many));
	CHECK(log_tag_is_fit("index", 5) && log_tag_is_fit("wp-cron", 7) && log_tag_is_fit("a.b_C-9", 7));
	CHECK(log_tag_is_fit(many, 64) && !log_tag_is_fit(many, 65));
	CHECK(!log_tag_is_fit("", 0) && !log_tag_is_fit(".", 1) && !log_tag_is_fit("..", 2));
	CHECK(!log_tag_is_fit("a/b", 3) && !log_tag_is_fit("a\0b", 3) && !log_tag_is_fit("a\nb", 3));
	CHECK(!log_tag_is_fit("\033[2J", 4) && !log_tag_is_fit("a b", 3) && !log_tag_is_fit("\xc3\xa4", 2));
	CHECK(!log_tag_is_fit("all", 3) && !log_tag_is_fit("other", 5));
	CHECK(!log_tag_is_fit("index.reversed", 14) && !log_tag_is_fit("all.fn-Edit", 11));
}

TEST_MAIN()
