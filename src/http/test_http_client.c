/* test_http_client.c: requests to a good server and to bad ones, over a kept connection. */
#include "http_client.h"

#include "clock.h"
#include "http_get.h"
#include "mem.h"
#include "test.h"
#include "test_http_server.h"

#define MS	1000000LL

/* --- The server: the path selects its behavior --- */

static bool is_at(const char *text, const char *path)
{
	const char *p = strchr(text, ' ') + 1;

	return !strncmp(p, path, strlen(path)) && strchr(" ?", p[strlen(path)]);
}

static void answer_with(int fd, const char *status, const char *body)
{
	dprintf(fd, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nX-Kind: test\r\n\r\n%s", status, strlen(body), body);
}

static void answer_megabytes(int fd, int n)
{
	char *bytes = xcalloc(1, 1 << 20);

	dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", n << 20);
	memset(bytes, 'x', 1 << 20);
	while (n-- && send(fd, bytes, 1 << 20, MSG_NOSIGNAL) == 1 << 20)
		;
	free(bytes);
}

static void answer_endless_head(int fd)
{
	test_http_put(fd, "HTTP/1.1 200 OK\r\n");
	while (send(fd, "X-More: of it, and more of it\r\n", 31, MSG_NOSIGNAL) == 31)
		;
}

/* Sends `count` pieces of `size` bytes, with pauses between. */
static bool answer_in_pieces(int fd, int count, int size, int pause_ms)
{
	dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", count * size);
	while (count--) {
		usleep((useconds_t)pause_ms * 1000);
		dprintf(fd, "%*d", size, count);
	}
	return true;
}

static bool wait_for_the_end(int fd)
{
	char c;

	while (read(fd, &c, 1) > 0)
		;
	return false;
}

static bool answer(int fd, int connection, int nth, const char *text)
{
	char number[32];

	if (is_at(text, "/hello"))
		return answer_with(fd, "200 OK", "hello"), true;
	if (is_at(text, "/echo") || is_at(text, "/pre/fix/echo"))
		return answer_with(fd, "200 OK", text), true;
	if (is_at(text, "/connection")) {
		snprintf(number, sizeof(number), "%d", connection);
		return answer_with(fd, "200 OK", number), true;
	}
	if (is_at(text, "/chunked"))
		return test_http_put(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				     "5\r\nfirst\r\n8\r\n, second\r\n0\r\n\r\n"), true;
	if (is_at(text, "/continue"))
		return test_http_put(fd, "HTTP/1.1 100 Continue\r\nX-Kind: early\r\n\r\n"), answer_with(fd, "200 OK", "late"), true;
	if (is_at(text, "/closed-behind-it"))
		return answer_with(fd, "200 OK", "bye"), false;
	if (is_at(text, "/lost-if-kept"))
		return nth == 0 ? answer_with(fd, "200 OK", "again"), true : false;
	if (is_at(text, "/half"))
		return test_http_put(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), false;
	if (is_at(text, "/drip"))
		return answer_in_pieces(fd, 1000, 1, 50);
	if (is_at(text, "/steady"))
		return answer_in_pieces(fd, 8, 100, 500);
	if (is_at(text, "/late"))
		return usleep(1500000), answer_with(fd, "200 OK", "late"), true;
	if (is_at(text, "/silent"))
		return wait_for_the_end(fd);
	if (is_at(text, "/large"))
		return answer_megabytes(fd, 20), true;
	if (is_at(text, "/refused"))
		return answer_with(fd, "500 Oh", "table is read-only"), true;
	if (is_at(text, "/elsewhere"))
		return test_http_put(fd, "HTTP/1.1 302 Found\r\nLocation: /hello\r\nContent-Length: 0\r\n\r\n"), true;
	if (is_at(text, "/other"))
		return test_http_put(fd, "SSH-2.0-OpenSSH\r\n\r\n"), false;
	if (is_at(text, "/999"))
		return answer_with(fd, "999 Strange", ""), true;
	if (is_at(text, "/endless-head"))
		return answer_endless_head(fd), false;
	return false;
}

/* --- The client --- */

static struct http_options options(unsigned port)
{
	return (struct http_options){
		.host = "127.0.0.1", .port = port, .prefix = "", .connect_ns = 20 * NS_PER_SECOND, .total_ns = 60 * NS_PER_SECOND,
	};
}

static struct test_http_server server;
static struct http_client *client;
static struct http_answer got;
static struct err err;

static void set_up(const struct http_options *more)
{
	struct http_options o = more ? *more : options(0);

	/* The client must ignore these variables: nothing listens at this port. */
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("https_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	server = test_http_start(answer);
	o.port = server.port;
	err = (struct err){ 0 };
	http_answer_init(&got);
	CHECK_INT(http_client_new(&o, &client, &err), 0);
}

static void tear_down(void)
{
	client = http_client_free(client);
	http_answer_done(&got);
	test_http_stop(&server);
}

static int get(const char *path)
{
	return http_request(client, &(struct http_request){ .method = "GET", .path = path }, &got, &err);
}

static bool has(const char *part)
{
	return strstr(got.body.data, part) != NULL;
}

TEST(a_response_has_a_status_headers_and_a_body)
{
	struct buf kind;

	set_up(NULL);
	CHECK_INT(get("/hello"), 200);
	CHECK_STR(got.body.data, "hello");
	buf_init(&kind);
	CHECK(http_header(&got.head, "x-kind", &kind));
	CHECK_STR(kind.data, "test");
	buf_done(&kind);
	CHECK_INT(get("/chunked"), 200);
	CHECK_STR(got.body.data, "first, second");
	CHECK_INT(get("/continue"), 200);
	CHECK_STR(got.body.data, "late");
	CHECK(!strstr(got.head.data, "early"));
	CHECK_INT(get("/refused"), 500);
	CHECK_STR(got.body.data, "table is read-only");
	tear_down();
}

TEST(a_request_has_its_method_headers_and_body)
{
	static const char *const headers[] = { "Content-Type: application/x-protobuf", "X-Scope-OrgID: a", NULL };
	struct http_options o = options(0);

	o.prefix = "/pre/fix/";
	set_up(&o);
	CHECK_INT(http_request(client, &(struct http_request){ .method = "POST", .path = "/echo?a=b", .headers = headers,
			       .body = "x\0y", .size = 3 }, &got, &err), 200);
	CHECK(!strncmp(got.body.data, "POST /pre/fix/echo?a=b HTTP/1.1\r\n", 33));
	CHECK(has("\r\nContent-Type: application/x-protobuf\r\n") && has("\r\nX-Scope-OrgID: a\r\n"));
	CHECK(has("\r\nContent-Length: 3\r\n") && has("\r\nUser-Agent: strobe/") && !has("Expect:") && !has("Authorization"));
	CHECK_INT(http_request(client, &(struct http_request){ .method = "PUT", .path = "/echo" }, &got, &err), 200);
	CHECK(!strncmp(got.body.data, "PUT ", 4) && has("\r\nContent-Length: 0\r\n") && !has("Content-Type"));
	CHECK_INT(http_request(client, &(struct http_request){ .method = "DELETE", .path = "/echo" }, &got, &err), 200);
	CHECK(!strncmp(got.body.data, "DELETE ", 7));
	tear_down();
}

TEST(a_response_to_head_has_no_body)
{
	set_up(NULL);
	CHECK_INT(http_request(client, &(struct http_request){ .method = "HEAD", .path = "/hello" }, &got, &err), 200);
	CHECK_INT(got.body.size, 0);
	tear_down();
}

TEST(the_connection_is_reused)
{
	set_up(NULL);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(get("/connection"), 200);
		CHECK_STR(got.body.data, "0");
	}
	CHECK_INT(http_request(client, &(struct http_request){ .method = "GET", .path = "/connection", .once = true }, &got, &err), 200);
	CHECK_STR(got.body.data, "1");
	tear_down();
}

TEST(a_connection_closed_by_the_server_is_reopened)
{
	set_up(NULL);
	CHECK_INT(get("/closed-behind-it"), 200);
	CHECK_INT(get("/connection"), 200);
	CHECK_STR(got.body.data, "1");
	/* The server closes after it has received the request, so the client cannot know beforehand. */
	CHECK_INT(http_request(client, &(struct http_request){ .method = "POST", .path = "/lost-if-kept", .body = "b",
			       .size = 1 }, &got, &err), 200);
	CHECK_STR(got.body.data, "again");
	CHECK_INT(get("/connection"), 200);
	CHECK_STR(got.body.data, "2");
	tear_down();
}

TEST(a_lost_request_is_reported_with_whether_it_was_sent)
{
	set_up(NULL);
	CHECK_INT(get("/dropped"), -ECONNRESET);
	CHECK(strstr(err.text, "closed the connection before its answer was complete"));
	CHECK(got.was_sent);
	CHECK_INT(get("/half"), -ECONNRESET);
	CHECK(got.was_sent);
	test_http_stop(&server);
	CHECK_INT(get("/hello"), -EHOSTUNREACH);
	CHECK(strstr(err.text, "cannot connect to http://127.0.0.1:") && strstr(err.text, "Connection refused"));
	CHECK(!got.was_sent);
	server = test_http_start(answer);
	tear_down();
}

TEST(an_unknown_host_name_is_reported)
{
	struct http_options o = options(80);

	o.host = "nowhere.invalid";
	http_answer_init(&got);
	CHECK_INT(http_client_new(&o, &client, &err), 0);
	CHECK_INT(get("/"), -EHOSTUNREACH);
	CHECK_STR(err.text, "cannot connect to http://nowhere.invalid:80: the name has no address");
	client = http_client_free(client);
	http_answer_done(&got);
}

TEST(a_silent_server_is_abandoned_at_the_deadline)
{
	set_up(NULL);
	CHECK_INT(http_request(client, &(struct http_request){ .method = "GET", .path = "/silent", .total_ns = 200 * MS }, &got, &err),
		  -ETIMEDOUT);
	CHECK(strstr(err.text, "did not answer within 0.2 s"));
	CHECK(got.was_sent);
	CHECK_INT(get("/hello"), 200);
	tear_down();
}

static int get_at_least(const char *path, size_t bytes, int64_t ns)
{
	return http_request(client, &(struct http_request){ .method = "GET", .path = path, .least_bytes = bytes, .least_ns = ns }, &got, &err);
}

TEST(a_response_below_the_minimum_rate_is_abandoned_but_not_a_late_one)
{
	int64_t began = clock_monotonic_ns();

	set_up(NULL);
	CHECK_INT(get_at_least("/drip", 100, 500 * MS), -ETIMEDOUT);
	CHECK(strstr(err.text, "arrives too slowly: fewer than 100 bytes in 0.5 s"));
	CHECK(got.was_slow && got.was_sent);
	CHECK(clock_monotonic_ns() - began < 20000 * MS);
	CHECK_INT(get_at_least("/late", 100, 500 * MS), 200);
	CHECK(!got.was_slow);
	CHECK_INT(get_at_least("/steady", 100, 3000 * MS), 200);
	CHECK_INT(got.body.size, 800);
	tear_down();
}

/* The kernel drops what a full queue cannot take. */
TEST(a_server_that_accepts_no_connection_fails_at_the_connect_deadline)
{
	struct http_options o = options(0);
	int listener = test_http_listen(0, &o.port), others[4];
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)o.port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		others[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)!connect(others[i], (struct sockaddr *)&address, sizeof(address));
	}
	o.connect_ns = 200 * MS;
	http_answer_init(&got);
	CHECK_INT(http_client_new(&o, &client, &err), 0);
	CHECK_INT(get("/hello"), -ETIMEDOUT);
	CHECK(strstr(err.text, "cannot connect to http://127.0.0.1:") && strstr(err.text, " within 0.2 s"));
	CHECK(!got.was_sent);
	client = http_client_free(client);
	http_answer_done(&got);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		close(others[i]);
	close(listener);
}

static bool always(void *data)
{
	++*(int *)data;
	return true;
}

TEST(a_request_can_be_canceled)
{
	struct http_options o = options(0);
	int asked = 0;

	o.canceled = always;
	o.data = &asked;
	set_up(&o);
	CHECK_INT(get("/silent"), -ECANCELED);
	CHECK(asked > 0);
	tear_down();
}

struct taken {
	size_t bytes, most;
};

static int take(void *data, const char *bytes, size_t n)
{
	struct taken *t = data;

	CHECK(bytes[0] == 'x' && bytes[n - 1] == 'x');
	t->bytes += n;
	return t->bytes > t->most ? -ENOBUFS : 0;
}

TEST(a_response_has_a_size_limit_and_can_be_streamed)
{
	struct taken all = { .most = 20 << 20 }, some = { .most = 1 << 20 };

	set_up(NULL);
	CHECK_INT(get("/large"), -EFBIG);
	CHECK(strstr(err.text, "exceeds the limit of 16777216 bytes"));
	CHECK(got.body.size <= 16 << 20);
	CHECK_INT(http_request(client, &(struct http_request){ .method = "GET", .path = "/large", .take = take, .data = &all },
			       &got, &err), 200);
	CHECK_INT(all.bytes, 20 << 20);
	CHECK_INT(got.body.size, 0);
	CHECK_INT(http_request(client, &(struct http_request){ .method = "GET", .path = "/large", .take = take, .data = &some },
			       &got, &err), -ENOBUFS);
	CHECK(some.bytes < 2 << 20);
	/* The body of an error must not be mixed with streamed rows. */
	CHECK_INT(http_request(client, &(struct http_request){ .method = "GET", .path = "/refused", .take = take, .data = &all },
			       &got, &err), 500);
	CHECK_STR(got.body.data, "table is read-only");
	CHECK_INT(http_request(client, &(struct http_request){ .method = "GET", .path = "/hello", .body_max = 5 }, &got, &err), 200);
	CHECK_INT(http_request(client, &(struct http_request){ .method = "GET", .path = "/hello", .body_max = 4 }, &got, &err), -EFBIG);
	CHECK_INT(get("/endless-head"), -EFBIG);
	tear_down();
}

TEST(redirects_are_returned_without_being_followed)
{
	struct buf where;

	set_up(NULL);
	CHECK_INT(get("/elsewhere"), 302);
	buf_init(&where);
	CHECK(http_header(&got.head, "Location", &where));
	CHECK_STR(where.data, "/hello");
	buf_done(&where);
	tear_down();
}

TEST(responses_other_than_http_are_rejected)
{
	set_up(NULL);
	CHECK_INT(get("/other"), -EPROTO);
	CHECK(strstr(err.text, "did not send a valid HTTP response"));
	CHECK_INT(get("/999"), -EPROTO);
	tear_down();
}

static const char *file_with(const char *text)
{
	static char path[] = "/tmp/test_http_XXXXXX";
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	return path;
}

TEST(passwords_are_read_from_files_and_never_in_messages)
{
	struct http_options o = options(0);
	const char *path = file_with("s3cret\n");

	o.user = "ann";
	o.password_file = path;
	set_up(&o);
	CHECK_INT(get("/echo"), 200);
	CHECK(has("\r\nAuthorization: Basic YW5uOnMzY3JldA==\r\n"));
	CHECK_INT(get("/dropped"), -ECONNRESET);
	CHECK(!strstr(err.text, "s3cret") && !strstr(err.text, "ann"));
	unlink(path);
	CHECK_INT(get("/echo"), -ENOENT);
	CHECK(strstr(err.text, path));
	tear_down();
}

TEST(the_token_file_is_read_for_each_request)
{
	struct http_options o = options(0);
	const char *path = file_with("first\n");

	o.token_file = path;
	set_up(&o);
	CHECK_INT(get("/echo"), 200);
	CHECK(has("\r\nAuthorization: Bearer first\r\n"));
	CHECK_INT(truncate(path, 0), 0);
	CHECK_INT(get("/echo"), -ENOMSG);
	unlink(path);
	tear_down();
}

TEST(untrusted_text_cannot_inject_headers_or_hosts)
{
	static const char *const headers[] = { "X-A: b\r\nX-C: d", NULL };
	static const char *const hosts[] = { "a@b", "a/b", "a b", "a?b", "a#b", "", "a\nb", "[::1]" };
	struct http_options o = options(80);
	const char *path = file_with("one\nX-Evil: two");

	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		o.host = hosts[i];
		CHECK_INT(http_client_new(&o, &client, &err), -EINVAL);
	}
	o = options(80);
	o.prefix = "/a?b";
	CHECK_INT(http_client_new(&o, &client, &err), -EINVAL);
	o.prefix = "@evil";
	CHECK_INT(http_client_new(&o, &client, &err), -EINVAL);
	o = options(0);
	o.token_file = path;
	set_up(&o);
	CHECK_INT(get("/hello"), -EINVAL);
	CHECK(strstr(err.text, "more than one line"));
	unlink(path);
	CHECK_INT(get("/a\r\nX-Evil: b"), -EINVAL);
	CHECK_INT(get("/a b"), -EINVAL);
	CHECK_INT(get("@evil/"), -EINVAL);
	CHECK_INT(http_request(client, &(struct http_request){ .method = "GET", .path = "/hello", .headers = headers }, &got, &err),
		  -EINVAL);
	tear_down();
}

TEST_MAIN()
