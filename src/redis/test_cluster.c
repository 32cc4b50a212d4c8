/* test_cluster.c: tests slots against Redis' own, and maps and redirects of any form. */
#include "cluster.h"

#include "test.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

/* The replies of Redis 7.0.15 to CLUSTER KEYSLOT. */
TEST(keys_have_the_same_slots_as_in_redis)
{
	CHECK_INT(cluster_slot("123456789", 9), 12739);
	CHECK_INT(cluster_slot("foo", 3), 12182);
	CHECK_INT(cluster_slot("", 0), 0);
	CHECK_INT(cluster_slot("{foo}bar", 8), 12182);
	CHECK_INT(cluster_slot("a{foo}{bar}", 11), 12182);
	CHECK_INT(cluster_slot("{}foo", 5), 9500);
	CHECK_INT(cluster_slot("{foo", 4), 13308);
	CHECK_INT(cluster_slot("{0}strobe", 9), cluster_slot("0", 1));
	CHECK_INT(cluster_slot("strobe", 6), 5872);
}

static redisReply *parse(const char *text)
{
	redisReader *reader = redisReaderCreate();
	void *reply = NULL;

	redisReaderFeed(reader, text, strlen(text));
	CHECK(redisReaderGetReply(reader, &reply) == REDIS_OK && reply);
	redisReaderFree(reader);
	return reply;
}

static int read_slots(struct cluster *c, const char *text, struct err *err)
{
	redisReply *reply = parse(text);
	int r = cluster_read_slots(c, reply, 0, err);

	freeReplyObject(reply);
	return r;
}

TEST(the_map_gives_the_node_of_a_key)
{
	struct cluster c;

	cluster_init(&c, "seed", 7000);
	CHECK_INT(cluster_find(&c, "foo"), 0);
	CHECK_INT(read_slots(&c, "*3\r\n"
			     "*3\r\n:0\r\n:5460\r\n*3\r\n$9\r\n127.0.0.1\r\n:7001\r\n$3\r\nabc\r\n"
			     "*4\r\n:5461\r\n:10922\r\n*2\r\n$9\r\n127.0.0.1\r\n:7002\r\n*2\r\n$1\r\nx\r\n:7009\r\n"
			     "*3\r\n:10923\r\n:16383\r\n*2\r\n$0\r\n\r\n:7000\r\n", NULL), 0);
	CHECK_INT(c.node_count, 3);
	CHECK_INT(cluster_find(&c, "foo"), 0);			/* a node without a name is the host that was queried */
	CHECK_INT(cluster_find(&c, "{foo}x"), 0);
	CHECK_INT(c.nodes[cluster_find(&c, "strobe")].port, 7002);
	CHECK_STR(c.nodes[cluster_find(&c, "strobe")].host, "127.0.0.1");
	CHECK_INT(c.slots[0], 1);
	CHECK_INT(c.slots[5460], 1);
	CHECK_INT(c.slots[5461], 2);
	cluster_done(&c);
}

TEST(an_invalid_map_changes_nothing)
{
	static const char *const bad[] = {
		"-ERR This instance has cluster support disabled\r\n", "$3\r\nabc\r\n", "*1\r\n:3\r\n", "*1\r\n*0\r\n",
		"*1\r\n*3\r\n:5\r\n:4\r\n*2\r\n$1\r\na\r\n:1\r\n",
		"*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
		"*1\r\n*3\r\n:-1\r\n:4\r\n*2\r\n$1\r\na\r\n:1\r\n", "*1\r\n*3\r\n:0\r\n:4\r\n*2\r\n$1\r\na\r\n:0\r\n",
		"*1\r\n*3\r\n:0\r\n:4\r\n*2\r\n:1\r\n:1\r\n", "*1\r\n*3\r\n:0\r\n:4\r\n$1\r\na\r\n",
		"*2\r\n*3\r\n:0\r\n:4\r\n*2\r\n$1\r\na\r\n:1\r\n*0\r\n",
		"*1\r\n*3\r\n:0\r\n:4\r\n*2\r\n$2\r\n/a\r\n:1\r\n",
	};
	struct cluster c;

	cluster_init(&c, "seed", 7000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = { 0 };

		CHECK_INT(read_slots(&c, bad[i], &err), -EINVAL);
		CHECK(*err.text);
		CHECK_INT(c.node_count, 1);
	}
	cluster_done(&c);
}

static bool redirect(const char *text, struct cluster_redirect *ret)
{
	return cluster_redirect_parse(text, strlen(text), ret);
}

TEST(moved_redirects_update_the_map_and_ask_redirects_do_not)
{
	struct cluster_redirect r;
	struct cluster c;

	cluster_init(&c, "seed", 7000);
	CHECK(redirect("MOVED 12182 10.0.0.2:7001", &r));
	CHECK(!r.is_ask);
	CHECK_INT(cluster_moved(&c, &r, 0), 1);
	CHECK_INT(cluster_find(&c, "foo"), 1);
	CHECK_INT(cluster_find(&c, "strobe"), 0);
	CHECK(redirect("ASK 5872 ::1:7003", &r));
	CHECK(r.is_ask);
	CHECK_STR(r.host, "::1");
	CHECK_INT(cluster_moved(&c, &r, 0), 2);
	CHECK_INT(cluster_find(&c, "strobe"), 0);		/* only for this one command */
	CHECK(redirect("MOVED 0 :7004", &r));
	CHECK_INT(cluster_moved(&c, &r, 1), 3);
	CHECK_STR(c.nodes[3].host, "10.0.0.2");
	cluster_done(&c);
}

/* Its path would lead back to the node that has just redirected us. */
TEST(behind_a_unix_socket_the_queried_host_is_this_machine)
{
	struct cluster_redirect r;
	struct cluster c;

	cluster_init(&c, "/run/redis.sock", 6379);
	CHECK(redirect("MOVED 12182 :7001", &r));
	CHECK_INT(cluster_moved(&c, &r, 0), 1);
	CHECK_STR(c.nodes[cluster_find(&c, "foo")].host, "127.0.0.1");
	CHECK_INT(c.nodes[cluster_find(&c, "foo")].port, 7001);
	CHECK_INT(read_slots(&c, "*1\r\n*3\r\n:5461\r\n:10922\r\n*2\r\n$-1\r\n:7002\r\n", NULL), 0);
	CHECK_STR(c.nodes[cluster_find(&c, "strobe")].host, "127.0.0.1");
	CHECK_INT(c.nodes[cluster_find(&c, "strobe")].port, 7002);
	CHECK_STR(c.nodes[0].host, "/run/redis.sock");
	cluster_done(&c);
}

TEST(other_errors_are_not_redirects)
{
	static const char *const none[] = {
		"", "ERR no", "MOVED", "MOVED ", "MOVED x a:1", "MOVED 1", "MOVED 1 ", "MOVED 1 a", "MOVED 1 a:",
		"MOVED 1 a:0", "MOVED 1 a:65536", "MOVED 16384 a:1", "MOVED 99999999999999999999 a:1", "MOVED 1 a:1 ",
		"ASK 1a:1", "MOVED 1 a:1x", "MOVED 1 /run/php.sock:1", "ASK 1 /a:1",
	};
	struct cluster_redirect r;
	char large[600] = "MOVED 1 ";

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		CHECK(!redirect(none[i], &r));
	memset(large + 8, 'a', 500);
	strcpy(large + 508, ":1");
	CHECK(!redirect(large, &r));
}

TEST(a_stream_has_one_key_or_several_in_different_slots)
{
	char *one = cluster_key("strobe", 0, 0), *third = cluster_key("strobe", 2, 6);

	CHECK_STR(one, "strobe");
	CHECK_STR(third, "{2}strobe");
	free(one);
	free(third);
}

TEST_MAIN()
