/* test_resp_source.c: answers to commands, authentication, and the choice of channels. */

#include "mem.h"
#include "test_message.h"
#include "test_resp.h"

TEST(publish_is_answered_and_its_message_received)
{
	struct fixture f;
	int fd;

	start(&f, "");
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$11\r\nindex;a b 3\r\n"), ":1\r\n");
	CHECK_STR(ask(&f, fd, "publish other \"main 1\\nmain;work 2\\n\"\r\n"), ":1\r\n");
	CHECK_STR(f.got.data, "excimer - index;a b 3\nother - main 1\nother - main;work 2\n");
	CHECK_INT(f.s->counters.lines, 3);
	CHECK_STR(ask(&f, fd, "publish excimer nothing\r\n"), ":0\r\n");
	CHECK_INT(f.s->counters.rejected_lines[SOURCE_LINE_NO_COUNT], 1);
	CHECK_STR(ask(&f, fd, "quit\r\n"), "+OK\r\n(closed)");
	CHECK_INT(f.s->counters.connections_now, 0);
	close(fd);
	stop(&f);
}

TEST(commands_get_the_same_replies_as_from_redis)
{
	static const struct {
		const char *command, *answer;
	} cases[] = {
		{ "ping\r\n", "+PONG\r\n" },
		{ "PING hello\r\n", "$5\r\nhello\r\n" },
		{ "echo \"a b\"\r\n", "$3\r\na b\r\n" },
		{ "select 3\r\n", "+OK\r\n" },
		{ "select 16\r\n", "-ERR DB index is out of range\r\n" },
		{ "select x\r\n", "-ERR value is not an integer or out of range\r\n" },
		{ "client id\r\n", ":1\r\n" },
		{ "client getname\r\n", "$-1\r\n" },
		{ "client setname web1\r\n", "+OK\r\n" },
		{ "client getname\r\n", "$4\r\nweb1\r\n" },
		{ "client setname \"a b\"\r\n",
		  "-ERR Client names cannot contain spaces, newlines or special characters.\r\n" },
		{ "client setinfo lib-name x\r\n", "+OK\r\n" },
		{ "client kill x\r\n",
		  "-ERR unknown subcommand or wrong number of arguments for 'kill'. Try CLIENT HELP.\r\n" },
		{ "command\r\n", "*0\r\n" },
		{ "command docs\r\n", "*0\r\n" },
		{ "publish excimer\r\n", "-ERR wrong number of arguments for 'publish' command\r\n" },
		{ "publish a b c\r\n", "-ERR wrong number of arguments for 'publish' command\r\n" },
		{ "FLUSHALL now \"x\\r\\n\"\r\n",
		  "-ERR unknown command 'FLUSHALL', with args beginning with: 'now' 'x  ' \r\n" },
		{ "eval x 0\r\n", "-ERR this is a Strobe listener, not a Redis: a relay needs a Redis, from which "
				  "the collector "
				  "reads with --from redis://HOST/?stream=NAME&group=NAME\r\n" },
		{ "auth x\r\n", "-ERR AUTH <password> called without any password configured for the default user. "
				"Are you sure your configuration is correct?\r\n" },
		{ "auth default x\r\n", "+OK\r\n" },
		{ "auth somebody x\r\n", "-WRONGPASS invalid username-password pair or user is disabled.\r\n" },
		{ "hello 4\r\n", "-NOPROTO unsupported protocol version\r\n" },
		{ "hello two\r\n", "-ERR Protocol version is not an integer or out of range\r\n" },
		{ "hello 2 nonsense\r\n", "-ERR Syntax error in HELLO option 'nonsense'\r\n" },
		{ "hello 2\r\n", "*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\n"
				 "proto\r\n:2\r\n"
				 "$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
				 "$7\r\nmodules\r\n*0\r\n" },
		{ "hello 3 setname web2\r\n", "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n"
					      "$5\r\nproto\r\n"
					      ":3\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\n"
					      "role\r\n$6\r\n"
					      "master\r\n$7\r\nmodules\r\n*0\r\n" },
		{ "reset\r\n", "+RESET\r\n" },
		{ "client getname\r\n", "$-1\r\n" },
		{ "*0\r\n\r\nping\r\nping\r\n", "+PONG\r\n+PONG\r\n" },
		{ "client reply skip\r\nping a\r\nping b\r\n", "$1\r\nb\r\n" },
		{ "client reply off\r\nping\r\nclient reply on\r\n", "+OK\r\n" },
	};
	struct fixture f;
	int fd;

	start(&f, "");
	fd = dial(&f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_STR(ask(&f, fd, cases[i].command), cases[i].answer);
	CHECK(strstr(ask(&f, fd, "info\r\n"), "redis_version:7.0.0\r\n") != NULL);
	CHECK_INT(f.s->counters.connections_closed_for_garbage, 0);
	close(fd);
	stop(&f);
}

TEST(xadd_accepts_entries_and_returns_increasing_ids)
{
	uint8_t message[4096];
	size_t n = test_message_write(&(struct test_message){ .samples = 3 }, message, sizeof(message));
	unsigned long long ms, sequence, last_ms = 0, last_sequence = 0;
	struct fixture f;
	struct buf b;
	int fd;

	start(&f, "?label.host=url");
	fd = dial(&f);
	for (int i = 0; i < 5; i++) {
		const char *answer = strchr(ask(&f, fd, "xadd strobe maxlen ~ 1000 limit 5 * line \"a;b 1\" host "
						"web1\r\n"), '\n');

		CHECK(answer && sscanf(answer, "%llu-%llu", &ms, &sequence) == 2);
		CHECK(ms > last_ms || (ms == last_ms && sequence > last_sequence));
		last_ms = ms;
		last_sequence = sequence;
	}
	buf_reset(&f.got);
	ask(&f, fd, "xadd strobe nomkstream * anything \"c 1\"\r\n");
	ask(&f, fd, "xadd strobe * line \"d 1\" host web1\r\n");
	CHECK_STR(f.got.data, "- url c 1\n- web1 d 1\n");
	CHECK_STR(ask(&f, fd, "xadd strobe 12-3 line \"a 1\"\r\n"), "$4\r\n12-3\r\n");
	CHECK_STR(ask(&f, fd, "xadd strobe 12-x line \"a 1\"\r\n"),
		  "-ERR Invalid stream ID specified as stream command argument\r\n");
	CHECK_STR(ask(&f, fd, "xadd strobe * line\r\n"), "-ERR wrong number of arguments for 'xadd' command\r\n");
	CHECK_STR(ask(&f, fd, "xadd strobe * a 1 b\r\n"), "-ERR wrong number of arguments for 'xadd' command\r\n");
	CHECK_STR(ask(&f, fd, "xadd strobe maxlen 5 *\r\n"), "-ERR wrong number of arguments for 'xadd' command\r\n");
	CHECK_STR(ask(&f, fd, "xadd strobe * line nothing\r\n"), "-ERR line 1 is invalid: a folded line ends with "
		  "a space and a "
								"count, as in main;work 12\r\n");
	CHECK_INT(f.s->counters.rejected_entries, 1);

	buf_init(&b);
	buf_printf(&b, "*5\r\n$4\r\nXADD\r\n$6\r\nstrobe\r\n$1\r\n*\r\n$6\r\nstrobe\r\n$%zu\r\n", n);
	buf_put(&b, message, n);
	buf_puts(&b, "\r\n");
	CHECK(ask_bytes(&f, fd, b.data, b.size)[0] == '$');
	CHECK_INT(f.messages, 1);
	buf_done(&b);
	close(fd);
	stop(&f);
}

TEST(nothing_is_accepted_without_the_password)
{
	struct fixture f;
	int fd;

	start(&f, "?%70assword=s%65cret&channel=excimer");
	CHECK(!strstr(f.s->url, "cret"));
	CHECK(strstr(f.s->url, "?channel=excimer") != NULL);
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "publish excimer \"main 1\"\r\n"), "-NOAUTH Authentication required.\r\n");
	CHECK_STR(ask(&f, fd, "xadd s * line \"main 1\"\r\n"), "-NOAUTH Authentication required.\r\n");
	CHECK_STR(ask(&f, fd, "nothing\r\n"), "-NOAUTH Authentication required.\r\n");
	CHECK(strstr(ask(&f, fd, "hello 3\r\n"), "-NOAUTH HELLO must be called") != NULL);
	CHECK_STR(ask(&f, fd, "auth secre\r\n"), "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
	CHECK_STR(ask(&f, fd, "auth secrets\r\n"), "-WRONGPASS invalid username-password pair or user is "
		  "disabled.\r\n");
	CHECK_STR(ask(&f, fd, "auth \"\"\r\n"), "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
	CHECK_STR(ask(&f, fd, "auth root secret\r\n"), "-WRONGPASS invalid username-password pair or user is "
		  "disabled.\r\n");
	CHECK_INT(f.s->counters.logins_refused, 4);
	CHECK_INT(f.got.size, 0);
	CHECK_STR(ask(&f, fd, "auth secret\r\n"), "+OK\r\n");
	CHECK_STR(ask(&f, fd, "publish excimer \"main 1\"\r\n"), ":1\r\n");
	CHECK_STR(ask(&f, fd, "reset\r\n"), "+RESET\r\n");
	CHECK_STR(ask(&f, fd, "publish excimer \"main 1\"\r\n"), "-NOAUTH Authentication required.\r\n");
	CHECK(strstr(ask(&f, fd, "hello 2 auth default secret\r\n"), "*14\r\n") != NULL);
	CHECK_STR(ask(&f, fd, "*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$6\r\nmain 2\r\n"), ":1\r\n");
	close(fd);

	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "*11\r\n"), "-ERR Protocol error: unauthenticated multibulk length\r\n(closed)");
	close(fd);
	fd = dial(&f);
	for (int i = 0; i < 9; i++)
		ask(&f, fd, "auth guess\r\n");
	CHECK(strstr(ask(&f, fd, "auth guess\r\n"), "(closed)") != NULL);
	close(fd);
	stop(&f);
}

TEST(a_user_name_can_be_required)
{
	char url[] = "resp://web:secret@127.0.0.1:0";
	struct fixture f;
	int fd;

	CHECK_INT(open_url(&f, url, NULL), 0);
	CHECK(!strstr(f.s->url, "secret"));
	f.port = (unsigned)atoi(strstr(f.s->url, "127.0.0.1:") + 10);
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "auth default secret\r\n"), "-WRONGPASS invalid username-password pair or user is "
		  "disabled.\r\n");
	CHECK_STR(ask(&f, fd, "auth web secret\r\n"), "+OK\r\n");
	close(fd);
	stop(&f);
}

TEST(messages_of_other_channels_are_ignored)
{
	struct fixture f;
	int fd;

	start(&f, "?channel=excimer,other&period=0.01&clock=wall&label.host=web9");
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "publish excimer \"a 1\"\r\npublish nobody \"b 1\"\r\npublish other \"c 1\"\r\n"),
		  ":1\r\n:0\r\n:1\r\n");
	CHECK_STR(f.got.data, "excimer web9 a 1\nother web9 c 1\n");
	CHECK_INT(f.s->counters.rejected_channel, 1);
	CHECK_INT(f.period_ns, 10000000);
	close(fd);
	stop(&f);
}

TEST_MAIN()
