/* test_resp_source.c: real connections, well-behaved clients and others. */

#include "buf.h"
#include "clock.h"
#include "mem.h"
#include "resp_private.h"
#include "test.h"
#include "test_message.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
	struct loop *loop;
	struct source *s;
	unsigned port;
	struct buf got;				/* "channel host line\n" */
	uint64_t messages;
	int64_t period_ns;
	struct watch timer;
	int turns;
};

static void on_line(void *data, const struct source_about *about, const char *line, size_t n)
{
	const char *host = about->labels ? labels_get(about->labels, "host") : NULL;
	struct fixture *f = data;

	buf_printf(&f->got, "%s %s ", about->channel ? about->channel : "-", host ? host : "-");
	buf_put(&f->got, line, n);
	buf_putc(&f->got, '\n');
	f->period_ns = about->period_ns;
}

static void on_message(void *data, const struct source_about *about, const struct strobe_wire_message *m)
{
	((struct fixture *)data)->messages++;
}

static int open_url(struct fixture *f, const char *url, struct err *err)
{
	struct source_receiver receiver = { .message = on_message, .line = on_line, .data = f };

	memset(f, 0, sizeof(*f));
	buf_init(&f->got);
	f->loop = loop_new(NULL);
	return source_open(url, f->loop, &receiver, &f->s, err);
}

static void start(struct fixture *f, const char *parameters)
{
	char url[512];
	struct err err = { 0 };

	snprintf(url, sizeof(url), "resp://127.0.0.1:0%s", parameters);
	CHECK_INT(open_url(f, url, &err), 0);
	if (!f->s)
		printf("# %s\n", err.text);
	f->port = (unsigned)atoi(strstr(f->s->url, "127.0.0.1:") + 10);
}

static void stop(struct fixture *f)
{
	f->s = source_close(f->s);
	loop_free(f->loop);
	buf_done(&f->got);
}

static void turn_over(struct watch *w, uint32_t events)
{
	struct fixture *f = (struct fixture *)((char *)w - offsetof(struct fixture, timer));

	loop_timer_read(w);
	if (--f->turns <= 0)
		loop_stop(f->loop, 0);
}

static void settle_for(struct fixture *f, int milliseconds)
{
	f->turns = milliseconds;
	f->timer = (struct watch){ .ready = turn_over, .fd = -1 };
	CHECK(loop_add_timer(f->loop, &f->timer, 1000000, NULL) == 0);
	loop_run(f->loop, NULL);
	loop_remove_timer(f->loop, &f->timer);
}

static int dial(const struct fixture *f)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)f->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* Sends, lets the loop work, and returns the answer: "(closed)" stands for an end behind it. */
static const char *ask_bytes(struct fixture *f, int fd, const char *bytes, size_t n)
{
	static char answer[1 << 16];
	size_t have = 0;
	ssize_t r = 0;

	CHECK_INT(send(fd, bytes, n, MSG_NOSIGNAL), n);
	for (int tries = 0; tries < 20 && !have && r != -2; tries++) {
		settle_for(f, 3);
		while ((r = recv(fd, answer + have, sizeof(answer) - 16 - have, MSG_DONTWAIT)) > 0)
			have += (size_t)r;
		if (r == 0)
			break;
	}
	strcpy(answer + have, r == 0 ? "(closed)" : "");
	return answer;
}

static const char *ask(struct fixture *f, int fd, const char *text)
{
	return ask_bytes(f, fd, text, strlen(text));
}

TEST(publish_is_answered_and_handed_over)
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

TEST(commands_are_answered_as_redis_does)
{
	static const struct { const char *command, *answer; } cases[] = {
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
		{ "eval x 0\r\n", "-ERR this is a listener of Strobe and no Redis: a relay needs a Redis, from which "
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
					     "role\r\n$6\r\n" "master\r\n$7\r\nmodules\r\n*0\r\n" },
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

TEST(xadd_takes_entries_and_its_ids_grow)
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

TEST(a_password_keeps_strangers_out)
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

TEST(a_user_may_be_asked_for)
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

TEST(only_wanted_channels_are_taken)
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

TEST(commands_may_come_in_any_pieces)
{
	static const char text[] = "*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$8\r\nmain;a 1\r\n";
	struct fixture f;
	int fd;

	start(&f, "");
	fd = dial(&f);
	for (size_t i = 0; i < sizeof(text) - 2; i++) {
		CHECK_INT(send(fd, text + i, 1, MSG_NOSIGNAL), 1);
		settle_for(&f, 1);
		CHECK_INT(f.got.size, 0);
	}
	CHECK_STR(ask(&f, fd, "\n"), ":1\r\n");
	CHECK_STR(f.got.data, "excimer - main;a 1\n");
	close(fd);
	stop(&f);
}

TEST(a_large_line_arrives_whole_and_leaves_no_memory_behind)
{
	size_t n = SOURCE_LINE_MAX, sent = 0;
	struct fixture f;
	struct buf b;
	int fd;

	start(&f, "");
	fd = dial(&f);
	buf_init(&b);
	buf_printf(&b, "*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$%zu\r\n", n);
	memset(buf_reserve(&b, n), 'x', n);
	buf_wrote(&b, n);
	memcpy(b.data + b.size - 2, " 1", 2);
	buf_puts(&b, "\r\nping\r\n");
	while (sent < b.size) {
		ssize_t r = send(fd, b.data + sent, b.size - sent, MSG_NOSIGNAL);

		sent += r > 0 ? (size_t)r : 0;
		settle_for(&f, 1);
	}
	CHECK_STR(ask(&f, fd, ""), ":1\r\n+PONG\r\n");
	CHECK_INT(f.got.size, n + 5);

	/* A byte more is no line. */
	b.size = 0;
	buf_printf(&b, "*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$%zu\r\n", n + 2);
	memset(buf_reserve(&b, n + 2), 'x', n + 2);
	buf_wrote(&b, n + 2);
	buf_puts(&b, "\r\n");
	for (sent = 0; sent < b.size; settle_for(&f, 1)) {
		ssize_t r = send(fd, b.data + sent, b.size - sent, MSG_NOSIGNAL);

		sent += r > 0 ? (size_t)r : 0;
	}
	CHECK_STR(ask(&f, fd, ""), ":0\r\n");
	CHECK_INT(f.s->counters.rejected_lines[SOURCE_LINE_TOO_LONG], 1);
	buf_done(&b);
	close(fd);
	stop(&f);
}

TEST(garbage_is_told_what_it_is_and_hung_up_on)
{
	static const struct { const char *text, *answer; } cases[] = {
		{ "*3\r\nPUBLISH\r\n", "-ERR Protocol error: expected '$', got 'P'\r\n(closed)" },
		{ "*99999\r\n", "-ERR Protocol error: invalid multibulk length\r\n(closed)" },
		{ "*1\r\n$99999999999\r\n", "-ERR Protocol error: invalid bulk length\r\n(closed)" },
		{ "echo \"a\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n(closed)" },
		{ "ping\r\n*1\r\n!\r\nping\r\n", "+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n(closed)" },
	};
	struct fixture f;

	start(&f, "");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = dial(&f);

		CHECK_STR(ask(&f, fd, cases[i].text), cases[i].answer);
		CHECK_INT(f.s->counters.connections_closed_for_garbage, i + 1);
		close(fd);
	}
	stop(&f);
}

TEST(a_browser_is_hung_up_on_before_its_body_is_read)
{
	struct fixture f;
	int fd;

	start(&f, "");
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\npublish excimer \"main 1\"\r\n"), "(closed)");
	close(fd);
	fd = dial(&f);
	CHECK(strstr(ask(&f, fd, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\npublish excimer \"main 1\"\r\n"),
		     "(closed)") != NULL);
	close(fd);
	CHECK_INT(f.got.size, 0);
	CHECK_INT(f.s->counters.connections_closed_for_garbage, 2);
	stop(&f);
}

TEST(a_client_that_does_not_read_its_answers_is_closed)
{
	char *large = xmalloc(1 << 16);
	struct fixture f;
	int fd, size = 4096;

	start(&f, "");
	fd = dial(&f);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	memset(large, 'x', 1 << 16);
	memcpy(large, "echo ", 5);
	large[(1 << 16) - 1] = '\n';
	for (int i = 0; i < 2000 && !f.s->counters.connections_closed_slow; i++) {
		if (send(fd, large, 1 << 16, MSG_NOSIGNAL) < 0 && errno != EAGAIN)
			break;
		settle_for(&f, 1);
	}
	CHECK_INT(f.s->counters.connections_closed_slow, 1);
	CHECK_INT(f.s->counters.connections_now, 0);
	close(fd);
	free(large);
	stop(&f);
}

TEST(a_client_that_reads_late_gets_all_answers)
{
	enum { TEXT = 60000, ANSWER = TEXT + 10 };
	size_t sent = 0, have = 0, asked = 0;
	struct resp_source *r;
	struct fixture f;
	char *answer = xmalloc(ANSWER);
	struct buf b;
	ssize_t n;
	int fd;

	start(&f, "");
	r = (struct resp_source *)f.s;
	fd = dial(&f);
	buf_init(&b);
	buf_puts(&b, "echo ");
	memset(buf_reserve(&b, TEXT), 'x', TEXT);
	buf_wrote(&b, TEXT);
	buf_putc(&b, '\n');
	/* Until the socket takes no more and answers have to wait. */
	while (!(r->clients && r->clients->out.size) && asked < 1000) {
		for (sent = 0; sent < b.size; settle_for(&f, 1)) {
			n = send(fd, b.data + sent, b.size - sent, MSG_NOSIGNAL);
			sent += n > 0 ? (size_t)n : 0;
		}
		asked++;
	}
	CHECK(r->clients && r->clients->out.size > 0 && r->held > 0);
	for (int i = 0; i < 2000 && have < asked * ANSWER; i++) {
		while ((n = recv(fd, answer, ANSWER, MSG_DONTWAIT)) > 0)
			have += (size_t)n;
		settle_for(&f, 1);
	}
	CHECK_INT(have, asked * ANSWER);
	CHECK_INT(r->held, 0);
	CHECK_STR(ask(&f, fd, "echo end\r\n"), "$3\r\nend\r\n");
	buf_done(&b);
	free(answer);
	close(fd);
	stop(&f);
}

TEST(silent_clients_are_closed_in_the_end)
{
	struct fixture f;
	int fd;

	start(&f, "?idle=0.1");
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "ping\r\n"), "+PONG\r\n");
	for (int i = 0; i < 100 && f.s->counters.connections_now; i++)
		settle_for(&f, 20);
	CHECK_INT(f.s->counters.connections_closed_idle, 1);
	CHECK_STR(ask(&f, fd, ""), "(closed)");
	close(fd);
	stop(&f);
}

TEST(above_the_limit_clients_are_refused_with_a_sentence)
{
	struct fixture f;
	int a, b, c;

	start(&f, "?clients=2");
	a = dial(&f);
	b = dial(&f);
	c = dial(&f);
	CHECK_STR(ask(&f, a, "ping\r\n"), "+PONG\r\n");
	CHECK_STR(ask(&f, c, ""), "-ERR max number of clients reached\r\n(closed)");
	CHECK_INT(f.s->counters.connections_refused, 1);
	close(a);
	close(c);
	settle_for(&f, 5);
	c = dial(&f);
	CHECK_STR(ask(&f, c, "ping\r\n"), "+PONG\r\n");
	close(b);
	close(c);
	stop(&f);
}

TEST(without_descriptors_clients_are_refused_and_the_loop_goes_on)
{
	struct rlimit before, l;
	struct fixture f;
	int fd, free_fd;

	start(&f, "");
	fd = dial(&f);
	getrlimit(RLIMIT_NOFILE, &before);
	l = before;
	free_fd = dup(0);
	close(free_fd);
	l.rlim_cur = (rlim_t)free_fd;
	CHECK_STR(ask(&f, fd, ""), "");
	close(fd);
	settle_for(&f, 5);
	fd = dial(&f);
	free_fd = dup(0);
	close(free_fd);
	l.rlim_cur = (rlim_t)free_fd + 1;		/* one for the timer of settle_for */
	setrlimit(RLIMIT_NOFILE, &l);
	CHECK_STR(ask(&f, fd, ""), "-ERR max number of clients reached\r\n(closed)");
	setrlimit(RLIMIT_NOFILE, &before);
	CHECK_INT(f.s->counters.connections_refused, 1);
	close(fd);
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "ping\r\n"), "+PONG\r\n");
	close(fd);
	stop(&f);
}

TEST(what_was_sent_before_the_end_is_read)
{
	struct fixture f;
	char answer[64];
	int a, b;

	start(&f, "");
	a = dial(&f);
	CHECK_STR(ask(&f, a, "ping\r\n"), "+PONG\r\n");
	b = dial(&f);			/* nobody has accepted it yet */
	CHECK(send(a, "publish c \"a 1\"\r\n", 17, MSG_NOSIGNAL) == 17);
	CHECK(send(b, "publish c \"b 1\"\r\n", 17, MSG_NOSIGNAL) == 17);
	source_stop(f.s);
	CHECK(strstr(f.got.data, "c - a 1\n") != NULL);
	CHECK(strstr(f.got.data, "c - b 1\n") != NULL);
	CHECK_INT(recv(b, answer, sizeof(answer), 0), 4);
	CHECK_INT(recv(b, answer, sizeof(answer), 0), 0);
	close(a);
	close(b);
	stop(&f);
}

/* Another one at its port, which may be written in other words; NULL: beside none. */
static int open_beside(const struct fixture *f, struct source *const *staying, struct source *const *leaving, const char *host,
		       const char *parameters, struct source **ret, struct err *err)
{
	struct source_receiver receiver = f->s->receiver;
	_cleanup_(freep) char *url = xasprintf("resp://%s:%u%s", host, f->port, parameters);

	receiver.staying = (struct source_list){ staying, staying != NULL };
	receiver.leaving = (struct source_list){ leaving, leaving != NULL };
	return source_open(url, f->loop, &receiver, ret, err);
}

/* As when sources are changed: one address goes from the one that leaves to one that comes. */
TEST(an_address_is_taken_over_once_and_only_from_one_that_leaves)
{
	struct source *second = NULL, *third = NULL;
	struct err err = { 0 };
	struct fixture f;
	int fd;

	start(&f, "");
	CHECK_INT(open_beside(&f, &f.s, NULL, "localhost", "", &third, &err), -EEXIST);
	CHECK(strstr(err.text, "cannot listen on resp://localhost:") && strstr(err.text, f.s->url) &&
	      strstr(err.text, "already listens there; remove one of them"));
	CHECK_INT(open_beside(&f, NULL, NULL, "127.0.0.1", "", &third, &err), -EADDRINUSE);
	CHECK_INT(open_beside(&f, NULL, &f.s, "127.1", "?channel=x", &second, &err), 0);
	CHECK_INT(open_beside(&f, &second, &f.s, "127.0.0.1", "", &third, &err), -EEXIST);
	CHECK(strstr(err.text, "resp://127.1:") != NULL);
	CHECK(!third);
	source_stop(f.s);
	f.s = source_close(f.s);
	f.s = second;
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "ping\r\n"), "+PONG\r\n");
	close(fd);
	stop(&f);
}

/* The HTTP port of the same program is such a listener. */
TEST(a_listener_of_this_process_that_is_no_source_is_left_alone)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct source *other = NULL;
	socklen_t size = sizeof(a);
	struct err err = { 0 };
	struct fixture f;

	start(&f, "");
	CHECK(!bind(listener, (struct sockaddr *)&a, size) && !listen(listener, 1) &&
	      !getsockname(listener, (struct sockaddr *)&a, &size));
	f.port = ntohs(a.sin_port);
	CHECK_INT(open_beside(&f, NULL, &f.s, "127.0.0.1", "", &other, &err), -EADDRINUSE);
	CHECK(strstr(err.text, "is a Redis running there?") != NULL);
	close(listener);
	stop(&f);
}

/* As when a change of sources is refused: what waits there is for the one that stays. */
TEST(one_that_is_closed_without_a_stop_takes_nothing_of_what_waits)
{
	static const char text[] = "*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$8\r\nmain;a 1\r\n";
	struct source *other = NULL;
	struct fixture f;
	int fd;

	start(&f, "");
	fd = dial(&f);
	CHECK_INT(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	CHECK_INT(open_beside(&f, NULL, &f.s, "127.0.0.1", "?channel=x", &other, NULL), 0);
	CHECK(!source_close(other));
	CHECK_INT(f.got.size, 0);
	settle_for(&f, 50);
	CHECK_INT(f.s->counters.lines, 1);
	close(fd);
	stop(&f);
}

TEST(what_cannot_be_listened_on_says_why)
{
	static const struct { const char *url, *part; } cases[] = {
		{ "resp://0.0.0.0:0", "without a password: anybody could send samples" },
		{ "resp://*:0", "without a password: anybody could send samples" },
		{ "resp://[::]:0", "without a password: anybody could send samples" },
		{ "resp://", "the host is missing" },
		{ "resp://127.0.0.1:99999", "the port is not a number from 1 to 65535" },
		{ "resp://127.0.0.1:0?chanel=a", "unknown parameter 'chanel'; a listener takes" },
		{ "resp://127.0.0.1:0?clock=moon", "clock=moon: use wall or cpu" },
		{ "resp://127.0.0.1:0?period=x", "'x' is not a duration" },
		{ "resp://127.0.0.1:0?idle=0", "idle=0: it must be positive" },
		{ "resp://127.0.0.1:0?clients=0", "clients=0: use a number from 1 to 20000" },
		{ "resp://127.0.0.1:0?clients=20001", "clients=20001: use a number from 1 to 20000" },
		{ "resp://127.0.0.1:0?label.a-b=1", "a label's name has letters, digits and _" },
		{ "resp://127.0.0.1:0?password-file=/nowhere/at/all", "/nowhere/at/all" },
		{ "resp://127.0.0.1:0?password=", "the password is empty" },
		{ "resp://no such host:0", "cannot listen on" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { 0 };
		struct fixture f;

		CHECK(open_url(&f, cases[i].url, &err) < 0);
		if (!strstr(err.text, cases[i].part))
			CHECK_STR(err.text, cases[i].part);
		loop_free(f.loop);
		buf_done(&f.got);
	}
}

TEST(a_port_that_is_taken_is_named)
{
	char url[64];
	struct err err = { 0 };
	struct fixture f, g;

	start(&f, "");
	snprintf(url, sizeof(url), "resp://127.0.0.1:%u", f.port);
	CHECK_INT(open_url(&g, url, &err), -EADDRINUSE);
	CHECK(strstr(err.text, url) && strstr(err.text, "is a Redis running there?"));
	loop_free(g.loop);
	buf_done(&g.got);
	stop(&f);
}

TEST(a_password_comes_from_a_file_too)
{
	char path[] = "/tmp/strobe-test-XXXXXX", parameters[128];
	int file = mkstemp(path), fd;
	struct fixture f;

	CHECK(write(file, "from file\n", 10) == 10);
	close(file);
	snprintf(parameters, sizeof(parameters), "?password-file=%s", path);
	start(&f, parameters);
	fd = dial(&f);
	CHECK_STR(ask(&f, fd, "auth \"from file\"\r\n"), "+OK\r\n");
	close(fd);
	stop(&f);
	unlink(path);
}

TEST_MAIN()
