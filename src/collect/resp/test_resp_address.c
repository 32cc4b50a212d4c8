/* test_resp_address.c: ports and their passwords, and the change from one listener to another at one address. */

#include "mem.h"
#include "test_resp.h"

/* Another one at its port, which may be written in other words; NULL: beside none. */
static int open_beside(const struct fixture *f, struct source *const *kept, struct source *const *removed, const char *host,
		       const char *parameters, struct source **ret, struct err *err)
{
	struct source_receiver receiver = f->s->receiver;
	_cleanup_(freep) char *url = xasprintf("resp://%s:%u%s", host, f->port, parameters);

	receiver.kept = (struct source_list){ kept, kept != NULL };
	receiver.removed = (struct source_list){ removed, removed != NULL };
	return source_open(url, f->loop, &receiver, ret, err);
}

/* As in a reload: a new source takes over the address of a removed one. */
TEST(an_address_is_taken_over_once_and_only_from_a_removed_source)
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
TEST(a_listener_of_this_process_that_is_not_a_source_is_left_alone)
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

/* As when a reload is refused: waiting data is left to the source that remains. */
TEST(closing_an_undone_source_leaves_pending_data_to_the_remaining_one)
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

TEST(invalid_addresses_are_rejected_with_the_reason)
{
	static const struct {
		const char *url, *part;
	} cases[] = {
		{ "resp://0.0.0.0:0", "without a password: anybody could send samples" },
		{ "resp://*:0", "without a password: anybody could send samples" },
		{ "resp://[::]:0", "without a password: anybody could send samples" },
		{ "resp://", "the host is missing" },
		{ "resp://127.0.0.1:99999", "the port is not a number from 1 to 65535" },
		{ "resp://127.0.0.1:0?chanel=a", "unknown parameter 'chanel'; a listener takes" },
		{ "resp://127.0.0.1:0?clock=moon", "clock=moon: use wall or cpu" },
		{ "resp://127.0.0.1:0?period=x", "invalid duration 'x'" },
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

TEST(a_port_in_use_is_named)
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

TEST(a_password_can_come_from_a_file)
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
