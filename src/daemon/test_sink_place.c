/* test_sink_place.c: tests the detection of conflicting sinks, and its error messages. */

#include "sink_place.h"

#include "cleanup.h"
#include "test.h"

#include <string.h>
#include <unistd.h>

static bool is_at(const char *url, const char *place)
{
	_cleanup_(freep) char *found = sink_place(url, "/nowhere/state");

	return found && strcmp(found, place) == 0;
}

TEST(a_sink_is_identified_by_its_directory_in_any_spelling)
{
	CHECK(is_at("sqlite:/nowhere/a", "/nowhere/a"));
	CHECK(is_at("/nowhere/a", "/nowhere/a"));
	CHECK(is_at("logs:/nowhere/a//", "/nowhere/a"));
	CHECK(is_at("sqlite:/usr/../usr//", "/usr"));
	CHECK(is_at("logs:/usr/bin/..", "/usr"));
}

TEST(relays_to_one_stream_share_a_spool_whatever_their_other_parameters)
{
	static const char place[] = "/nowhere/state/spool-h-6379-x";

	CHECK(is_at("redis://h/?stream=x", place));
	CHECK(is_at("redis://u:p@h:6379/0?stream=x&window=1&spool=2M", place));
	CHECK(is_at("rediss://h/?stream=x&ca-file=/c", place));
	CHECK(!is_at("redis://h/?stream=y", place));
	CHECK(is_at("redis://127.0.0.1/?stream=x", "/nowhere/state/spool-localhost-6379-x"));
	CHECK(is_at("redis://LOCALHOST/?stream=x", "/nowhere/state/spool-localhost-6379-x"));
	CHECK(sink_place("redis://h/?stream=x", NULL) == NULL);
}

TEST(relays_to_two_databases_have_two_spools)
{
	char *old = sink_old_place("redis://127.0.0.1/3?stream=x", "/nowhere/state");

	CHECK(is_at("redis://h/3?stream=x", "/nowhere/state/spool-h-6379.3-x"));
	CHECK_STR(old, "/nowhere/state/spool-localhost-6379-x");
	free(old);
	CHECK(sink_old_place("redis://h/0?stream=x", "/nowhere/state") == NULL);
	CHECK(sink_old_place("sqlite:/nowhere/a", "/nowhere/state") == NULL);
}

TEST(a_receiver_is_identified_by_its_url_in_any_spelling)
{
	CHECK(is_at("otlp://h", "otlp://h:4318"));
	CHECK(is_at("otlp://H:4318/", "otlp://h:4318"));
	CHECK(is_at("otlp://h:1/v1//?tenant=a", "otlp://h:1/v1?tenant=a"));
	CHECK(is_at("pyroscope://127.0.0.1/", "pyroscope://localhost:4040"));
	CHECK(sink_place("otlp://u:secret@h/", NULL) == NULL);
}

TEST(an_invalid_sink_url_has_no_identity)
{
	static const char *const urls[] = { "", "-", "sqlite:", "logs:", "logs:/x?y", "otlp:", "redis://h/",
					    "redis://h/?stream=x&window=soon",
					    "redis://h/?stream=x&windw=1", "gopher:x" };

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++)
		CHECK(sink_place(urls[i], "/nowhere/state") == NULL);
}

static bool differs_by(const char *before, const char *after, const char *wanted)
{
	_cleanup_(freep) char *difference = sink_place_difference(before, after);

	return strcmp(difference, wanted) == 0;
}

TEST(differing_parameters_are_named_without_their_values)
{
	CHECK(differs_by("redis://h/?stream=x", "redis://h/?stream=x&window=2", "another window="));
	CHECK(differs_by("redis://h/?stream=x&window=2", "redis://h/?stream=x", "another window="));
	CHECK(differs_by("redis://h/?stream=x&window=1&spool=1M", "redis://h/?spool=2M&stream=x&window=2",
		     "another spool= and window="));
	CHECK(differs_by("redis://u:a@h/?stream=x", "redis://u:b@h/?stream=x", "another password"));
	CHECK(differs_by("redis://h/?stream=x", "rediss://h/?stream=x&ca-file=/c", "another scheme and ca-file="));
	CHECK(differs_by("redis://h/?stream=x", "redis://v:b@h/2?stream=x", "another user and password and database"));
	CHECK(differs_by("sqlite:/a", "sqlite:/a/", "another spelling"));
	CHECK(differs_by("redis://h/?stream=x", "redis://h:6379/?stream=x", "another spelling"));
}

TEST(a_relay_into_the_stream_of_a_source_is_a_loop)
{
	CHECK(sink_feeds_source("redis://127.0.0.1:7/?stream=s&window=1", "redis://u:p@localhost:7/0?stream=s&group=g"));
	CHECK(!sink_feeds_source("redis://h/?stream=s", "redis://h/?stream=t"));
	CHECK(!sink_feeds_source("redis://h/?stream=s", "redis://h/1?stream=s"));
	CHECK(!sink_feeds_source("redis://h/?stream=s", "redis://h:1/?stream=s"));
	CHECK(!sink_feeds_source("redis://h/?stream=s", "redis://h/?channel=s"));
	CHECK(!sink_feeds_source("sqlite:/s", "redis://h/?stream=s"));
}

TEST(two_groups_of_one_stream_are_detected)
{
	CHECK(sources_share_stream("redis://127.0.0.1:7/?stream=s&group=a", "redis://u:p@localhost:7/0?stream=s"));
	CHECK(!sources_share_stream("redis://h/?stream=s&group=strobe", "redis://h/?stream=s"));
	CHECK(!sources_share_stream("redis://h/?stream=s&group=a", "redis://h/1?stream=s&group=b"));
	CHECK(!sources_share_stream("redis://h/?stream=s&group=a", "redis://h/?stream=t&group=b"));
	CHECK(!sources_share_stream("redis://h/?channel=s", "redis://h/?stream=s&group=b"));
}

static bool share(const char *other, const char *url, const char *wanted)
{
	_cleanup_(freep) char *server = sinks_shared_server(other, url);

	return server && wanted ? strcmp(server, wanted) == 0 : !server && !wanted;
}

TEST(two_clickhouse_urls_with_a_server_and_a_database_in_common_are_detected)
{
	CHECK(share("clickhouse://a/db?shards=a:8123,b:8123", "clickhouse://b/db", "b:8123"));
	CHECK(share("clickhouse://a/db", "clickhouse://u:p@A:8123/db?timeout=9s", "A:8123"));
	CHECK(share("clickhouse://127.0.0.1:7/db", "clickhouse://localhost:7/db", "localhost:7"));
	CHECK(share("clickhouse://x/db?shards=a:1,b:2", "clickhouse://x/db?shards=c:1,b:2", "b:2"));
	CHECK(share("clickhouse://a/db", "clickhouse://a/other", NULL));
	CHECK(share("clickhouse://a/db", "clickhouse://a:1/db", NULL));
	CHECK(share("clickhouse://a/db?shards=b:8123", "clickhouse://a/db", NULL));
	CHECK(share("clickhouse://a/db", "sqlite:/db", NULL));
	CHECK(share("clickhouse://a", "clickhouse://a", NULL));
}
TEST_MAIN()
