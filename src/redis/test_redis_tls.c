/* test_redis_tls.c: tests against a GnuTLS peer in a thread, through a socket pair with small buffers, with
 * certificates generated for this test. */
#include "redis_tls.h"

#include "mem.h"
#include "test.h"

#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#define LARGE (2u << 20)

static char directory[] = "/tmp/test_redis_tls_XXXXXX";

static char *path_of(const char *name)
{
	static char path[128][64];	/* some are the peer's */
	static _Atomic unsigned next;
	char *p = path[next++ % ARRAY_SIZE(path)];

	snprintf(p, sizeof(path[0]), "%s/%s", directory, name);
	return p;
}

static bool make_certificate(const char *name, const char *more)
{
	_cleanup_(freep) char *command =
		xasprintf("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=%s %s -keyout %s.key "
			  "-out %s.pem 2>/dev/null",
			  name, more, path_of(name), path_of(name));

	return system(command) == 0;
}

static void remove_certificates(void)
{
	static const char *const names[] = { "server.key", "server.pem", "client.key", "client.pem", "empty" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(path_of(names[i]));
	rmdir(directory);
}

static bool have_certificates;

/* Runs before any test uses their paths. */
__attribute__((constructor)) static void make_certificates(void)
{
	have_certificates = mkdtemp(directory) &&
			    make_certificate("server", "-days 2 -addext subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1") &&
			    make_certificate("client", "-days 2 -addext extendedKeyUsage=clientAuth -addext subjectAltName=DNS:localhost");
	atexit(remove_certificates);
}

/* --- The peer --- */

struct peer {
	int fd, ours;			/* its end and our end */
	const char *certificate;	/* "server" */
	bool wants_certificate;
	const char *plain;		/* sends only this, without TLS */
	size_t echo;			/* reads this many bytes, then sends them back */
	pthread_t thread;
};

static void echo(gnutls_session_t s, size_t size)
{
	_cleanup_(freep) char *bytes = xmalloc(size + 1);
	size_t n = 0;
	ssize_t r = 1;

	while (n < size && r > 0) {
		r = gnutls_record_recv(s, bytes + n, size - n);
		n += r > 0 ? (size_t)r : 0;
	}
	for (size_t at = 0; at < n && r > 0; at += r > 0 ? (size_t)r : 0)
		r = gnutls_record_send(s, bytes + at, n - at);
	if (r > 0)
		gnutls_bye(s, GNUTLS_SHUT_WR);
}

static void speak_tls(struct peer *p)
{
	gnutls_certificate_credentials_t credentials;
	gnutls_session_t s;
	_cleanup_(freep) char *pem = xasprintf("%s.pem", path_of(p->certificate)), *key = xasprintf("%s.key", path_of(p->certificate));
	int r;

	gnutls_certificate_allocate_credentials(&credentials);
	r = gnutls_certificate_set_x509_key_file(credentials, pem, key, GNUTLS_X509_FMT_PEM);
	CHECK_INT(r, 0);
	gnutls_init(&s, GNUTLS_SERVER | GNUTLS_NO_SIGNAL);
	gnutls_set_default_priority(s);
	gnutls_credentials_set(s, GNUTLS_CRD_CERTIFICATE, credentials);
	gnutls_certificate_server_set_request(s, p->wants_certificate ? GNUTLS_CERT_REQUIRE : GNUTLS_CERT_IGNORE);
	gnutls_transport_set_int(s, p->fd);
	while ((r = gnutls_handshake(s)) < 0 && !gnutls_error_is_fatal(r))
		;
	if (r < 0)
		gnutls_alert_send_appropriate(s, r);
	else
		echo(s, p->echo);
	gnutls_deinit(s);
	gnutls_certificate_free_credentials(credentials);
}

static void *run_peer(void *data)
{
	struct peer *p = data;

	if (!p->plain)
		speak_tls(p);
	else if (send(p->fd, p->plain, strlen(p->plain), MSG_NOSIGNAL) < 0)
		CHECK(false);
	shutdown(p->fd, SHUT_WR);
	return NULL;
}

static struct peer peer_start(struct peer *p)
{
	const int small = 8192;
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	p->ours = fds[0];
	p->fd = fds[1];
	p->certificate = p->certificate ? p->certificate : "server";
	CHECK_INT(fcntl(p->ours, F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 2; i++)
		CHECK_INT(setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	CHECK_INT(pthread_create(&p->thread, NULL, run_peer, p), 0);
	return *p;
}

static void peer_stop(struct peer *p)
{
	close(p->ours);
	pthread_join(p->thread, NULL);
	close(p->fd);
}

static void wait_for(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	CHECK_INT(poll(&p, 1, 20000), 1);
}

/* --- The client --- */

static int shake_hands(struct redis_tls *t, int fd, struct err *err)
{
	int r;

	while ((r = redis_tls_handshake(t, err)) == -EAGAIN)
		wait_for(fd, redis_tls_wants_write(t) ? POLLOUT : POLLIN);
	return r;
}

static int connect_to(struct peer *p, const struct redis_tls_options *o, const char *host, struct redis_tls **ret, struct err *err)
{
	int r;

	*err = (struct err){ 0 };
	peer_start(p);
	r = redis_tls_new(o, host, "HOST:1", p->ours, ret, err);
	return r < 0 ? r : shake_hands(*ret, p->ours, err);
}

static void check_handshake(struct redis_tls_options o, const char *host, const char *sentence)
{
	struct peer p = { 0 };
	struct redis_tls *t = NULL;
	struct err err;
	int r;

	o.is_wanted = true;
	r = connect_to(&p, &o, host, &t, &err);
	if (sentence && !strstr(err.text, sentence))
		CHECK_STR(err.text, sentence);
	if (!sentence)
		CHECK_STR(err.text, "");
	CHECK(sentence ? r < 0 && !strncmp(err.text, "Redis at HOST:1: ", 17) : r == 0);
	redis_tls_free(t);
	peer_stop(&p);
}

TEST(the_certificate_must_be_trusted_and_issued_for_the_host)
{
	char *ca = path_of("server.pem"), *other_ca = path_of("client.pem");

	if (!have_certificates)
		SKIP("openssl is missing");
	check_handshake((struct redis_tls_options){ .ca_file = ca }, "localhost", NULL);
	check_handshake((struct redis_tls_options){ .ca_file = ca }, "127.0.0.1", NULL);
	check_handshake((struct redis_tls_options){ .ca_file = ca }, "::1", NULL);
	check_handshake((struct redis_tls_options){ .ca_file = ca }, "127.0.0.2", "its certificate is not for '127.0.0.2'");
	check_handshake((struct redis_tls_options){ .ca_file = ca }, "redis.example", "its certificate is not for 'redis.example'");
	check_handshake((struct redis_tls_options){ .ca_file = ca, .server_name = (char *)"localhost" }, "redis.example", NULL);
	check_handshake((struct redis_tls_options){ .ca_file = other_ca }, "localhost", "(ca-file=) has signed it");
	check_handshake((struct redis_tls_options){ .ca_file = NULL }, "localhost", "ca-file=FILE");
	check_handshake((struct redis_tls_options){ .is_unverified = true }, "redis.example", NULL);
}

TEST(unusable_files_are_named)
{
	char *pem = path_of("server.pem"), *key = path_of("server.key");

	if (!have_certificates)
		SKIP("openssl is missing");
	check_handshake((struct redis_tls_options){ .ca_file = path_of("missing") }, "localhost", "No such file or directory");
	check_handshake((struct redis_tls_options){ .ca_file = key }, "localhost", "contains no PEM certificate");
	check_handshake((struct redis_tls_options){ .ca_file = pem, .cert_file = pem, .key_file = path_of("missing") }, "localhost",
			"(key-file=): No such file");
	check_handshake((struct redis_tls_options){ .ca_file = pem, .cert_file = pem, .key_file = path_of("client.key") },
			"localhost", "cannot use the certificate '/tmp/");
}

static void check_peer(struct peer p, const char *sentence)
{
	struct redis_tls_options o = { .is_wanted = true, .ca_file = path_of("server.pem") };
	struct redis_tls *t = NULL;
	struct err err;

	CHECK(connect_to(&p, &o, "localhost", &t, &err) < 0);
	if (!strstr(err.text, sentence))
		CHECK_STR(err.text, sentence);
	redis_tls_free(t);
	peer_stop(&p);
}

TEST(a_peer_without_tls_is_reported)
{
	if (!have_certificates)
		SKIP("openssl is missing");
	check_peer((struct peer){ .plain = "-ERR unknown command\r\n" }, "it does not speak TLS on this port");
	check_peer((struct peer){ .plain = "" }, "it closed the connection during the TLS handshake");
}

/* Since TLS 1.3 our handshake completes before the server has checked. */
TEST(a_server_that_requires_a_client_certificate_is_reported)
{
	struct redis_tls_options o = { .is_wanted = true, .ca_file = path_of("server.pem") };
	struct peer p = { .wants_certificate = true };
	char *bytes = xmalloc(REDIS_TLS_RECORD);
	struct redis_tls *t = NULL;
	struct err err;
	ssize_t n;

	if (!have_certificates)
		SKIP("openssl is missing");
	CHECK_INT(connect_to(&p, &o, "localhost", &t, &err), 0);
	while ((n = redis_tls_recv(t, bytes, REDIS_TLS_RECORD)) < 0 && errno == EAGAIN)
		wait_for(p.ours, POLLIN);
	CHECK_INT(n, -1);
	CHECK_INT(errno, EPROTO);
	CHECK(redis_tls_problem(t) && strstr(redis_tls_problem(t), "cert-file=FILE and key-file=FILE"));
	redis_tls_free(t);
	peer_stop(&p);
	o.cert_file = path_of("client.pem");
	o.key_file = path_of("client.key");
	p = (struct peer){ .wants_certificate = true, .echo = 2 };
	CHECK_INT(connect_to(&p, &o, "localhost", &t, &err), 0);
	CHECK_INT(redis_tls_send(t, "hi", 2), 2);
	while ((n = redis_tls_recv(t, bytes, REDIS_TLS_RECORD)) < 0 && errno == EAGAIN)
		wait_for(p.ours, POLLIN);
	CHECK_INT(n, 2);
	CHECK(!redis_tls_problem(t));
	redis_tls_free(t);
	peer_stop(&p);
	free(bytes);
}

/* Sends like a connection with a buffer that may move and grow while it waits. Returns how often there was no room. */
static unsigned send_slowly(struct redis_tls *t, int fd, const char *bytes, size_t size)
{
	unsigned waits = 0;
	size_t at = 0;

	while (at < size) {
		char *copy = xmalloc(size - at);
		ssize_t n;

		memcpy(copy, bytes + at, size - at);
		n = redis_tls_send(t, copy, size - at);
		explicit_bzero(copy, size - at);
		free(copy);
		at += n > 0 ? (size_t)n : 0;
		if (n > 0)
			continue;
		CHECK_INT(errno, EAGAIN);
		waits++;
		wait_for(fd, POLLOUT);
	}
	return waits;
}

TEST(a_send_interrupted_by_a_full_socket_continues)
{
	struct redis_tls_options o = { .is_wanted = true, .ca_file = path_of("server.pem") };
	char *bytes = xmalloc(LARGE), *back = xmalloc(LARGE + REDIS_TLS_RECORD);
	struct peer p = { .echo = LARGE };
	struct redis_tls *t = NULL;
	struct err err;
	size_t n = 0;
	ssize_t r = 1;

	if (!have_certificates)
		SKIP("openssl is missing");
	for (size_t i = 0; i < LARGE; i++)
		bytes[i] = (char)(i * 2654435761u >> 24);
	CHECK_INT(connect_to(&p, &o, "localhost", &t, &err), 0);
	CHECK(send_slowly(t, p.ours, bytes, LARGE) > 10);
	while (n <= LARGE && r) {
		r = redis_tls_recv(t, back + n, REDIS_TLS_RECORD);
		if (r < 0)
			wait_for(p.ours, POLLIN);
		n += r > 0 ? (size_t)r : 0;
	}
	CHECK_INT(n, LARGE);
	CHECK(!memcmp(bytes, back, LARGE));
	CHECK(!redis_tls_problem(t));
	redis_tls_free(t);
	peer_stop(&p);
	free(bytes);
	free(back);
}

TEST_MAIN()
