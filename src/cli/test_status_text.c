/* test_status_text.c: answers of a daemon, and of something else. */

#include "json_pairs.h"
#include "status_text.h"

#include "test.h"

static bool read_pairs(const char *json, struct json_pairs *ret)
{
	return json_pairs_read(json, strlen(json), ret);
}

static bool is_json(const char *json)
{
	struct json_pairs p;
	bool ok = read_pairs(json, &p);

	json_pairs_done(&p);
	return ok;
}

static const char *value(const struct json_pairs *p, const char *path)
{
	const char *v = json_pairs_get(p, path);

	return v ? v : "(none)";
}

TEST(nested_json_becomes_paths)
{
	struct json_pairs p;

	CHECK(read_pairs("{\"a\": {\"b\": 1, \"c\": {}}, \"d\": [10, {\"e\": \"x\\\"y\\u00e9\"}, [], [true]],"
			 " \"f\":null , \"g\": -1.5e3}\n", &p));
	CHECK_STR(value(&p, "a.b"), "1");
	CHECK_STR(value(&p, "d.0"), "10");
	CHECK_STR(value(&p, "d.1.e"), "x\"y\303\251");
	CHECK_STR(value(&p, "d.3.0"), "true");
	CHECK_STR(value(&p, "f"), "null");
	CHECK_STR(value(&p, "g"), "-1.5e3");
	CHECK_INT(p.count, 6);
	json_pairs_done(&p);
}

TEST(what_is_no_json_is_refused)
{
	static const char *const bad[] = {
		"", "{", "[", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "[1 2]", "[1,]", "{\"a\":1}}", "\"open", "\"\\",
		"\"\\u12", "\"\\q\"", "<html>", "{a:1}", "[}", "{]",
	};
	char deep[101] = "";

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (is_json(bad[i]))
			CHECK_STR(bad[i], "refused");
	CHECK(is_json("[[[[1]]]]"));
	memset(deep, '[', 100);
	CHECK(!is_json(deep));
}

static const char answer[] =
	"{\"version\":\"0.1.0\",\"now\":1000100.5,\"started\":1000000,\"uptime_seconds\":4000,\"ready\":true,"
	"\"not_ready\":null,\"samples\":{\"received\":1234567,\"stored\":1234560,\"queued\":3,"
	"\"dropped\":{\"queue_full\":4},\"dropped_by_senders\":{\"no_daemon\":0,\"socket_full\":12,\"refused\":1},"
	"\"last\":1000090.0},\"commits\":{\"done\":99,\"failed\":0,\"queue_bytes\":0,\"failing\":false,"
	"\"last\":1000099.9},\"sources\":[{\"url\":\"unix:/run/s\",\"connections\":14,\"messages\":7000,"
	"\"rejected\":{\"truncated\":2,\"memfd\":0}}],\"store\":{\"url\":\"sqlite:/d\",\"bytes\":5242880,\"days\":1,"
	"\"oldest\":1000000}}";

TEST(status_says_what_came_what_was_lost_and_what_is_kept)
{
	struct buf json, out;

	buf_init(&json);
	buf_init(&out);
	buf_puts(&json, answer);
	CHECK_INT(status_text_put("http://h:1", &json, &out, NULL), 0);
	CHECK_STR(out.data,
		  "strobe 0.1.0 at http://h:1, up 1 h 6 min, ready\n"
		  "samples     1,234,567 received, 1,234,560 stored, 3 on their way; the last came 10 s ago\n"
		  "dropped     queue_full 4\n"
		  "lost by PHP socket_full 12, refused 1\n"
		  "commits     99 done, 0 failed; the last was 0 s ago\n"
		  "source      unix:/run/s: 14 processes connected, 7,000 messages, rejected: truncated 2\n"
		  "store       sqlite:/d: 5.0 MB, 1 day since 1970-01-12T13:46:40Z\n");
	buf_done(&json);
	buf_done(&out);
}

TEST(another_servers_answer_is_called_so)
{
	struct buf json, out;
	struct err err;

	buf_init(&json);
	buf_init(&out);
	buf_puts(&json, "<html>");
	CHECK_INT(status_text_put("http://h:1", &json, &out, &err), -EBADMSG);
	CHECK_STR(err.text, "http://h:1 answers, but not as a strobe daemon does");
	CHECK_INT(out.size, 0);
	buf_done(&json);
	buf_done(&out);
}

TEST_MAIN()
