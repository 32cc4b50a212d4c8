/* test_clickhouse_url.c: tests which servers a clickhouse: URL names. */
#include "clickhouse_url.h"
#include "test.h"

static void check_servers(const char *text, const char *first, const char *second)
{
	struct clickhouse_url u;

	CHECK_INT(clickhouse_url_parse(text, &u, NULL), 0);
	CHECK_INT(u.server_count, second ? 2 : 1);
	CHECK_STR(u.servers[0].name, first);
	if (second)
		CHECK_STR(u.servers[1].name, second);
	clickhouse_url_done(&u);
}

TEST(servers_default_to_the_port_of_their_protocol)
{
	check_servers("clickhouse://h/d", "h:8123", NULL);
	check_servers("clickhouse://h:9/d", "h:9", NULL);
	check_servers("clickhouse://h/d?tls=yes", "h:8443", NULL);
	check_servers("clickhouse://h:8123/d?tls=yes", "h:8123", NULL);
	check_servers("clickhouse://x/d?shards=a,b:9", "a:8123", "b:9");
	check_servers("clickhouse://x/d?shards=[::1],b:9&tls=yes", "[::1]:8443", "b:9");
}

TEST(shards_are_numbered_independently_of_their_order_except_in_a_cluster)
{
	check_servers("clickhouse://x/d?shards=a:2,a:1", "a:1", "a:2");
	check_servers("clickhouse://x/d?shards=b,a", "a:8123", "b:8123");
	check_servers("clickhouse://x/d?shards=b,a&cluster=c", "b:8123", "a:8123");
}

TEST(a_server_listed_as_two_shards_is_rejected)
{
	static const char *const twice[] = {
		"clickhouse://x/d?shards=a,a",
		"clickhouse://x/d?shards=a,b,A:8123",
		"clickhouse://x/d?shards=[::1]:1,[::1]:1",
		"clickhouse://x/d?shards=a,a:8443&tls=yes",
	};

	for (size_t i = 0; i < ARRAY_SIZE(twice); i++) {
		struct clickhouse_url u;
		struct err err = { 0 };

		CHECK_INT(clickhouse_url_parse(twice[i], &u, &err), -EINVAL);
		CHECK(strstr(err.text, "twice"));
		clickhouse_url_done(&u);
	}
	check_servers("clickhouse://x/d?shards=a:1,a:2", "a:1", "a:2");
}

TEST_MAIN()
