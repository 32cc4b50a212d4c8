/* test_connection.c: connections to a scripted server: login, replies, loss and reconnection. */
#include "redis_client.h"
#include "clock.h"
#include "connection.h"
#include "mem.h"
#include "test.h"
#include "test_server.h"

#include <hiredis/hiredis.h>

/* The events of one connection, and the counts that stop its loop. */
struct heard {
	struct loop *loop;
	struct redis_connection *c;
	struct watch guard;
	char text[8][512];
	bool up[8];
	unsigned states, readies, losses, replies, nulls, errors, pushes;
	unsigned until_states, until_replies, until_pushes;
	char last[256];
	void (*on_ready)(struct heard *h);
	struct watch resume;
	unsigned pushes_when_resumed;
	bool timed_out;
};

static void maybe_end(struct heard *h)
{
	if ((h->until_states && h->states >= h->until_states) || (h->until_pushes && h->pushes >= h->until_pushes) ||
	    (h->until_replies && h->replies + h->nulls + h->errors >= h->until_replies))
		loop_stop(h->loop, 0);
}

static void on_state(void *data, bool is_up, const char *text)
{
	struct heard *h = data;

	if (h->states < 8) {
		h->up[h->states] = is_up;
		snprintf(h->text[h->states], sizeof(h->text[0]), "%s", text);
	}
	h->states++;
	maybe_end(h);
}

static void on_ready(struct redis_connection *c, void *data)
{
	struct heard *h = data;

	(void)c;
	h->readies++;
	if (h->on_ready)
		h->on_ready(h);
}

static void on_lost(struct redis_connection *c, void *data)
{
	(void)c;
	((struct heard *)data)->losses++;
}

static void on_reply(struct redis_connection *c, const struct redisReply *reply, void *data)
{
	struct heard *h = data;

	(void)c;
	if (!reply)
		h->nulls++;
	else if (reply->type == REDIS_REPLY_ERROR)
		h->errors++;
	else
		h->replies++;
	if (reply && reply->str)
		snprintf(h->last, sizeof(h->last), "%s", reply->str);
	maybe_end(h);
}

static void on_push(struct redis_connection *c, const struct redisReply *reply, void *data)
{
	struct heard *h = data;

	(void)c;
	h->pushes++;
	if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 && reply->element[2]->str)
		snprintf(h->last, sizeof(h->last), "%s", reply->element[2]->str);
	maybe_end(h);
}

static void guard_rang(struct watch *w, uint32_t events)
{
	struct heard *h = (struct heard *)((char *)w - offsetof(struct heard, guard));

	(void)events;
	loop_timer_read(w);
	h->timed_out = true;
	loop_stop(h->loop, 0);
}

static struct redis_url parse(const char *text)
{
	struct redis_url u;
	int r = redis_url_parse(text, &u, NULL);

	CHECK_INT(r, 0);
	return u;
}

static struct redis_connection_options quick(struct heard *h)
{
	struct redis_connection_options o;

	redis_connection_default_options(&o);
	o.connect_timeout_ns = o.answer_timeout_ns = NS_PER_SECOND / 2;
	o.ping_after_ns = NS_PER_SECOND / 4;
	o.retry_min_ns = NS_PER_SECOND / 10;
	o.retry_max_ns = NS_PER_SECOND / 2;
	o.ready = on_ready;
	o.lost = on_lost;
	o.state = on_state;
	o.data = h;
	return o;
}

/* Runs until `h` has the expected events; at most 20 seconds. */
static void run(struct heard *h, const char *url, struct redis_connection_options o)
{
	struct redis_url u = parse(url);

	h->loop = loop_new(NULL);
	h->guard = (struct watch){ .ready = guard_rang, .fd = -1 };
	o.url = &u;
	CHECK_INT(loop_add_timer(h->loop, &h->guard, 20 * NS_PER_SECOND, NULL), 0);
	CHECK_INT(redis_connection_new(&o, h->loop, &h->c, NULL), 0);
	redis_url_done(&u);
	loop_run(h->loop, NULL);
	CHECK(!h->timed_out);
	if (h->c)
		redis_connection_free(h->c);
	loop_remove_timer(h->loop, &h->guard);
	loop_free(h->loop);
}

static void run_server(struct heard *h, test_answer_fn *answer, const char *before, struct redis_connection_options o)
{
	struct test_server s = test_server_start(answer);
	_cleanup_(freep) char *url = xasprintf("redis://%s127.0.0.1:%u", before, s.port);

	run(h, url, o);
	test_server_stop(&s);
}

static void ask_three(struct heard *h)
{
	for (int i = 0; i < 3; i++)
		CHECK_INT(redis_connection_sendf(h->c, 0, on_reply, h, "ECHO %s", "hi"), 0);
}

TEST(a_connection_becomes_ready_and_answers)
{
	struct heard h = { .until_replies = 3, .on_ready = ask_three };

	run_server(&h, test_answer_ordinary, "", quick(&h));
	CHECK_INT(h.states, 1);
	CHECK(h.up[0] && !strncmp(h.text[0], "connected to 127.0.0.1:", 23));
	CHECK_INT(h.replies, 3);
	CHECK_STR(h.last, "hi");
}

TEST(host_names_are_resolved_without_blocking_the_loop)
{
	struct test_server s = test_server_start(test_answer_ordinary);
	_cleanup_(freep) char *url = xasprintf("redis://localhost:%u", s.port);
	struct heard h = { .until_states = 1 };

	run(&h, url, quick(&h));
	CHECK(h.up[0]);
	test_server_stop(&s);
}

TEST(a_path_connects_to_a_unix_socket)
{
	static const char path[] = "test_connection.sock";
	static const char url[] = "redis://%2Fproc%2Fself%2Fcwd%2Ftest_connection.sock/3?channel=a";
	struct test_server s = test_server_start_at(path, test_answer_ordinary);
	struct heard h = { .until_replies = 3, .on_ready = ask_three }, away = { .until_states = 1 };

	run(&h, url, quick(&h));
	CHECK_STR(h.text[0], "connected to /proc/self/cwd/test_connection.sock");
	CHECK_STR(h.last, "hi");
	test_server_stop(&s);
	unlink(path);
	run(&away, url, quick(&away));
	CHECK_STR(away.text[0], "cannot connect to Redis at /proc/self/cwd/test_connection.sock: No such file or "
				"directory; is Redis running? Retrying");
}

TEST(an_unreachable_server_is_reported_with_a_remedy)
{
	struct heard h = { .until_states = 1 };
	struct test_server s = test_server_start(test_answer_ordinary);
	_cleanup_(freep) char *url = xasprintf("redis://127.0.0.1:%u", s.port);
	int64_t start = clock_monotonic_ns();

	test_server_stop(&s);			/* frees its port */
	run(&h, url, quick(&h));
	CHECK(!h.up[0] && strstr(h.text[0], "cannot connect to Redis at 127.0.0.1:") &&
	      strstr(h.text[0], "Connection refused; is Redis running?"));
	CHECK(clock_monotonic_ns() - start < 5 * NS_PER_SECOND);
}

static const char *answer_password(int connection, char **words, int count)
{
	(void)connection;
	if (strcmp(words[0], "AUTH"))
		return "-NOAUTH Authentication required.\r\n";
	return count == 3 && !strcmp(words[1], "u:r") && !strcmp(words[2], "p@s") ? NULL : "-WRONGPASS invalid\r\n";
}

TEST(a_wrong_or_missing_password_is_reported_without_the_password)
{
	struct heard h = { .until_states = 1 };

	run_server(&h, answer_password, "user:secret@", quick(&h));
	CHECK(strstr(h.text[0], "rejects the user or the password") && !strstr(h.text[0], "secret"));
	h = (struct heard){ .until_states = 1 };
	run_server(&h, answer_password, "", quick(&h));
	CHECK(strstr(h.text[0], "requires a password; set password-file="));
	/* The password that is refused is the right one, decoded. */
	h = (struct heard){ .until_states = 1 };
	run_server(&h, answer_password, "u%3Ar:p%40s@", quick(&h));
	CHECK(strstr(h.text[0], "ended the connection before it was ready"));
}

static const char *answer_loading(int connection, char **words, int count)
{
	if (connection < 2 && !strcmp(words[0], "PING"))
		return "-LOADING Redis is loading the dataset in memory\r\n";
	return test_answer_ordinary(connection, words, count);
}

TEST(a_loading_server_is_retried_and_reported_once)
{
	struct heard h = { .until_states = 2 };

	run_server(&h, answer_loading, "", quick(&h));
	CHECK(!h.up[0] && strstr(h.text[0], "is loading its data"));
	CHECK(h.up[1]);
}

static const char *answer_hang(int connection, char **words, int count)
{
	if (connection == 0 && !strcmp(words[0], "ECHO"))
		return "";
	return test_answer_ordinary(connection, words, count);
}

TEST(a_command_without_a_reply_ends_the_connection_and_opens_a_new_one)
{
	struct heard h = { .until_replies = 4, .on_ready = ask_three };

	run_server(&h, answer_hang, "", quick(&h));
	CHECK_INT(h.nulls, 3);
	CHECK_INT(h.losses, 1);
	CHECK_INT(h.readies, 2);
	CHECK(!h.up[1] && strstr(h.text[1], "does not answer (ECHO)"));
}

static const char *answer_no_ping(int connection, char **words, int count)
{
	static int pings;

	if (!strcmp(words[0], "PING") && pings++ == 1)
		return "";
	return test_answer_ordinary(connection, words, count);
}

TEST(a_silent_peer_is_pinged_and_dropped_without_a_reply)
{
	struct heard h = { .until_states = 3 };

	run_server(&h, answer_no_ping, "", quick(&h));
	CHECK(h.up[0] && !h.up[1] && h.up[2]);
	CHECK(strstr(h.text[1], "does not answer (PING)"));
}

static const char *answer_readonly(int connection, char **words, int count)
{
	static int echoes;

	if (!strcmp(words[0], "ECHO") && echoes++ < 2)
		return "-READONLY You can't write against a read only replica.\r\n";
	return test_answer_ordinary(connection, words, count);
}

TEST(a_rejection_is_reported_once_and_so_is_its_end)
{
	struct heard h = { .until_states = 3, .on_ready = ask_three };

	run_server(&h, answer_readonly, "", quick(&h));
	CHECK_INT(h.errors, 2);
	CHECK(!h.up[1] && strstr(h.text[1], "is a replica and rejects writes; use its master in the URL (ECHO: "));
	CHECK(h.up[2]);
}

static const char *answer_subscribers(int connection, char **words, int count)
{
	if (!strcmp(words[0], "SUBSCRIBE"))
		return "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$5\r\nf;g 1\r\n";
	return !strcmp(words[0], "PING") ? "*2\r\n$4\r\npong\r\n$0\r\n\r\n" :
	       test_answer_ordinary(connection, words, count);
}

static const char *answer_subscribers_plain_ping(int connection, char **words, int count)
{
	static int pings;

	if (!strcmp(words[0], "PING") && pings++ == 0)
		return "+PONG\r\n";
	return answer_subscribers(connection, words, count);
}

static void subscribe(struct heard *h)
{
	const char *const words[] = { "SUBSCRIBE", "a" };
	const size_t sizes[] = { 9, 1 };

	CHECK_INT(redis_connection_subscribe(h->c, 2, words, sizes), 0);
}

TEST(pushed_messages_arrive)
{
	struct heard h = { .until_pushes = 2, .on_ready = subscribe };
	struct redis_connection_options o = quick(&h);

	o.pushed = on_push;
	run_server(&h, answer_subscribers_plain_ping, "", o);
	CHECK_STR(h.last, "f;g 1");
}

static const char *answer_garbage(int connection, char **words, int count)
{
	return connection == 0 ? "HTTP/1.1 400 Bad Request\r\n\r\n" : connection == 1 ? "*2147483647\r\n" :
	       test_answer_ordinary(connection, words, count);
}

TEST(other_protocols_and_oversized_replies_are_rejected)
{
	struct heard h = { .until_states = 3 };

	run_server(&h, answer_garbage, "", quick(&h));
	CHECK(strstr(h.text[0], "does not speak the Redis protocol"));
	CHECK(strstr(h.text[1], "a reply is larger than 256 MB, or has more than 1048576 elements"));
	CHECK(h.up[2]);
}

static const char *answer_in_tls(int connection, char **words, int count)
{
	return connection == 0 ? "\x15\x03\x01" : test_answer_ordinary(connection, words, count);
}

TEST(a_server_that_requires_tls_is_reported)
{
	struct heard h = { .until_states = 2 };

	run_server(&h, answer_in_tls, "", quick(&h));
	CHECK(strstr(h.text[0], "it answers in TLS; use rediss:// for this port"));
	CHECK(h.up[1]);
}

TEST(a_server_without_tls_ends_the_handshake)
{
	struct test_server s = test_server_start(test_answer_ordinary);
	_cleanup_(freep) char *url = xasprintf("rediss://127.0.0.1:%u/?verify=no", s.port);
	struct heard h = { .until_states = 1 };

	run(&h, url, quick(&h));
	CHECK(strstr(h.text[0], "it closed the connection during the TLS handshake; does it speak TLS on this port"));
	CHECK_INT(h.readies, 0);
	test_server_stop(&s);
}

/* The kernel accepts the connection, but nobody reads. */
TEST(the_connect_deadline_includes_the_tls_handshake)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = test_server_listen((struct sockaddr *)&address, sizeof(address));
	struct heard h = { .until_states = 1 };
	_cleanup_(freep) char *url = NULL;
	socklen_t size = sizeof(address);
	struct redis_client *a;
	struct redisReply *reply;
	struct redis_url u;
	struct err err;

	CHECK_INT(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	url = xasprintf("rediss://127.0.0.1:%u/?verify=no", ntohs(address.sin_port));
	run(&h, url, quick(&h));
	CHECK(strstr(h.text[0], "does not answer the TLS handshake"));
	u = parse(url);
	a = redis_client_new(&u, "test", NS_PER_SECOND / 4, NS_PER_SECOND);
	CHECK_INT(redis_client_commandf(a, &reply, &err, "PING"), -ETIMEDOUT);
	CHECK(strstr(err.text, "does not answer the TLS handshake"));
	redis_client_free(a);
	redis_url_done(&u);
	close(listener);
}

static void free_it(struct heard *h)
{
	h->c = redis_connection_free(h->c);
	loop_stop(h->loop, 0);
}

TEST(a_connection_can_be_freed_from_its_own_callback)
{
	struct heard h = { .on_ready = free_it };

	run_server(&h, test_answer_ordinary, "", quick(&h));
	CHECK_INT(h.readies, 1);
}

TEST(commands_are_rejected_before_the_connection_is_ready)
{
	struct redis_url u = parse("redis://127.0.0.1:1");
	struct loop *l = loop_new(NULL);
	struct redis_connection_options o;
	struct redis_connection *c;

	redis_connection_default_options(&o);
	o.url = &u;
	CHECK_INT(redis_connection_new(&o, l, &c, NULL), 0);
	CHECK_INT(redis_connection_sendf(c, 0, NULL, NULL, "PING"), -ENOTCONN);
	redis_connection_free(c);
	loop_free(l);
	redis_url_done(&u);
}

/* Sends 4,000 messages of 1 KB at once, then closes. */
static const char *answer_flood(int connection, char **words, int count)
{
	static char flood[4000 * 1100 + 200];
	size_t n;

	if (strcmp(words[0], "SUBSCRIBE"))
		return test_answer_ordinary(connection, words, count);
	n = (size_t)sprintf(flood, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
	for (int i = 0; i < 4000; i++)
		n += (size_t)sprintf(flood + n, "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1004\r\n%01000d %03d\r\n", i,
				     i % 1000);
	strcpy(flood + n, "-ERR the end\r\n!");
	return flood;
}

static void resume_reading(struct watch *w, uint32_t events)
{
	struct heard *h = (struct heard *)((char *)w - offsetof(struct heard, resume));

	(void)events;
	loop_timer_read(w);
	h->pushes_when_resumed = h->pushes;
	loop_remove_timer(h->loop, w);
	redis_connection_pause(h->c, false);
}

/* Pauses for a moment, as if full. */
static void rest_at_1000(struct heard *h)
{
	if (h->pushes != 1000)
		return;
	redis_connection_pause(h->c, true);
	h->resume = (struct watch){ .ready = resume_reading, .fd = -1 };
	CHECK_INT(loop_add_timer(h->loop, &h->resume, NS_PER_SECOND / 2, NULL), 0);
}

static void on_flood(struct redis_connection *c, const struct redisReply *reply, void *data)
{
	on_push(c, reply, data);
	rest_at_1000(data);
}

static void on_published(struct redis_connection *c, struct str channel, struct str text, void *data)
{
	struct heard *h = data;

	CHECK(channel.n == 1 && *channel.p == 'a' && text.n == 1004 && (unsigned)strtoul(text.p, NULL, 10) +
	      1 == h->pushes);
	h->pushes++;
	rest_at_1000(h);
}

static void subscribe_once(struct heard *h)
{
	if (h->readies == 1)
		subscribe(h);
}

TEST(a_paused_connection_buffers_its_input_and_resumes_to_the_end)
{
	for (int ahead = 0; ahead < 2; ahead++) {
		struct heard h = { .until_states = 2, .on_ready = subscribe_once };
		struct redis_connection_options o = quick(&h);

		o.pushed = on_flood;
		o.message = ahead ? on_published : NULL;
		o.read_ahead = ahead ? (size_t)64 << 20 : 0;
		run_server(&h, answer_flood, "", o);
		/* The rest of its chunk is still delivered. */
		CHECK(h.pushes_when_resumed >= 1000 && h.pushes_when_resumed < 1300);
		CHECK_INT(h.pushes, 4002);
		CHECK(!h.up[1] && strstr(h.text[1], "does not speak the Redis protocol"));
	}
}

/* --- The blocking client --- */

static struct redis_client *asker(const struct test_server *s, const char *before)
{
	_cleanup_(freep) char *url = xasprintf("redis://%s127.0.0.1:%u/3", before, s->port);
	struct redis_url u = parse(url);
	struct redis_client *a = redis_client_new(&u, "test", NS_PER_SECOND, NS_PER_SECOND / 2);

	redis_url_done(&u);
	return a;
}

TEST(a_command_gets_its_reply)
{
	struct test_server s = test_server_start(test_answer_ordinary);
	struct redis_client *a = asker(&s, "");
	struct redisReply *reply = NULL;
	struct err err;

	CHECK_INT(redis_client_commandf(a, &reply, &err, "ECHO %s", "hi"), 0);
	CHECK(reply && reply->str && !strcmp(reply->str, "hi"));
	freeReplyObject(reply);
	CHECK(redis_client_is_connected(a));
	redis_client_cancel(a);
	redis_client_free(a);
	test_server_stop(&s);
}

TEST(a_command_can_be_sent_to_a_unix_socket)
{
	struct test_server s = test_server_start_at("test_connection.sock", test_answer_ordinary);
	struct redis_url u = parse("redis://%2Fproc%2Fself%2Fcwd%2Ftest_connection.sock");
	struct redis_client *a = redis_client_new(&u, "test", NS_PER_SECOND, NS_PER_SECOND / 2);
	struct redisReply *reply = NULL;
	struct err err;

	redis_url_done(&u);
	CHECK_INT(redis_client_commandf(a, &reply, &err, "ECHO %s", "hi"), 0);
	freeReplyObject(reply);
	test_server_stop(&s);
	unlink("test_connection.sock");
	CHECK(redis_client_commandf(a, &reply, &err, "ECHO %s", "hi") < 0);		/* reset, or broken pipe */
	CHECK_INT(redis_client_commandf(a, &reply, &err, "ECHO %s", "hi"), -ENOENT);
	CHECK_STR(err.text, "cannot connect to Redis at /proc/self/cwd/test_connection.sock: No such file or "
			    "directory; is Redis running?");
	redis_client_free(a);
}

TEST(a_hanging_command_times_out_and_the_next_one_reconnects)
{
	struct test_server s = test_server_start(answer_hang);
	struct redis_client *a = asker(&s, "");
	struct redisReply *reply = NULL;
	struct err err;
	int64_t start = clock_monotonic_ns();

	CHECK_INT(redis_client_commandf(a, &reply, &err, "ECHO %s", "hi"), -ETIMEDOUT);
	CHECK(strstr(err.text, "does not answer within"));
	CHECK(clock_monotonic_ns() - start < 5 * NS_PER_SECOND);
	CHECK(!redis_client_is_connected(a));
	CHECK_INT(redis_client_commandf(a, &reply, &err, "ECHO %s", "hi"), 0);
	freeReplyObject(reply);
	redis_client_cancel(a);
	CHECK_INT(redis_client_commandf(a, &reply, &err, "ECHO hi"), -ECANCELED);
	redis_client_free(a);
	test_server_stop(&s);
}

TEST(refused_connections_and_wrong_passwords_are_errors)
{
	struct test_server s = test_server_start(answer_password);
	struct redis_client *a = asker(&s, "user:secret@");
	struct redisReply *reply = NULL;
	struct err err;

	CHECK_INT(redis_client_commandf(a, &reply, &err, "ECHO %s", "hi"), -EACCES);
	CHECK(strstr(err.text, "rejects") && !strstr(err.text, "secret"));
	test_server_stop(&s);
	CHECK_INT(redis_client_commandf(a, &reply, &err, "ECHO %s", "hi"), -ECONNREFUSED);
	CHECK(strstr(err.text, "is Redis running?"));
	redis_client_free(a);
}

TEST_MAIN()
