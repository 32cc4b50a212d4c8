/* test_stream_options.c: the URL of a stream. */

#include "redis_stream_private.h"

#include "clock.h"
#include "test.h"

TEST(stream_and_group_suffice_and_other_options_have_defaults)
{
	struct stream_options o;
	char host[256] = "";

	CHECK_INT(stream_options_parse("redis://:secret@redis.example/?stream=strobe&group=g", &o, NULL), 0);
	CHECK_STR(o.stream, "strobe");
	CHECK_STR(o.group, "g");
	gethostname(host, sizeof(host) - 1);
	CHECK_STR(o.consumer, host);
	CHECK_INT(o.keys, 0);
	CHECK_INT(o.claim_idle_ns, 60 * NS_PER_SECOND);
	CHECK(o.trim);
	CHECK(!strstr(o.url.shown, "secret"));
	stream_options_done(&o);
}

TEST(the_default_group_is_strobe)
{
	struct stream_options o;

	CHECK_INT(stream_options_parse("redis://h/?stream=a", &o, NULL), 0);
	CHECK_STR(o.group, "strobe");
	stream_options_done(&o);
}

TEST(all_options_are_parsed)
{
	struct stream_options o;

	CHECK_INT(stream_options_parse("redis://h:7/3?stream=a%7Bb&group=g&consumer=c&keys=6&claim-idle=250ms&trim=no&label.pool=api&"
				       "clock=cpu&period=0.01&password-file=/etc/x", &o, NULL), 0);
	CHECK_STR(o.stream, "a{b");
	CHECK_STR(o.consumer, "c");
	CHECK_INT(o.keys, 6);
	CHECK_INT(o.claim_idle_ns, NS_PER_SECOND / 4);
	CHECK(!o.trim);
	CHECK_STR(labels_get(&o.hints.labels, "pool"), "api");
	CHECK_INT(o.hints.clock, STROBE_CLOCK_CPU);
	CHECK_INT(o.hints.period_ns, 10000000);
	stream_options_done(&o);
}

TEST(errors_are_reported)
{
	static const struct { const char *url, *sentence; } bad[] = {
		{ "redis://h/?group=g", "a stream URL looks like" },
		{ "redis://h/?stream=&group=g", "stream= must have 1 to 256 bytes" },
		{ "redis://h/?stream=a&group=g&keys=0", "keys=0: use a number from 1 to 1024" },
		{ "redis://h/?stream=a&group=g&keys=9999", "keys=9999: use a number" },
		{ "redis://h/?stream=a&group=g&keys=6x", "keys=6x: use a number" },
		{ "redis://h/?stream=a&group=g&claim-idle=0", "claim-idle=0: it must be positive" },
		{ "redis://h/?stream=a&group=g&claim-idle=soon", "claim-idle: " },
		{ "redis://h/?stream=a&group=g&trim=maybe", "trim=maybe: use yes or no" },
		{ "redis://h/?stream=a&group=g&clock=sun", "clock=sun: use wall or cpu" },
		{ "redis://h/?stream=a&group=g&maxlen=5", "unknown parameter 'maxlen'; a stream takes" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct stream_options o;
		struct err err = { 0 };

		CHECK(stream_options_parse(bad[i].url, &o, &err) < 0);
		CHECK(strstr(err.text, bad[i].sentence) != NULL);
		stream_options_done(&o);
	}
}

TEST_MAIN()
