/* test_http_tls.c: certificates, with a server whose certificate is made for this test. */
#include "http_client.h"

#include "clock.h"
#include "mem.h"
#include "test.h"
#include "test_http_server.h"

#include <fcntl.h>
#include <microhttpd.h>

static char directory[] = "/tmp/test_http_XXXXXX";
static char key[4096], certificate[8192];

static char *path_of(const char *name)
{
	static char path[4][64];
	static unsigned next;
	char *p = path[next++ % ARRAY_SIZE(path)];

	snprintf(p, sizeof(path[0]), "%s/%s", directory, name);
	return p;
}

static bool read_text(const char *path, char *text, size_t size)
{
	_cleanup_(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/* Valid for "localhost" only, not for 127.0.0.1. */
static bool make_certificate(void)
{
	_cleanup_(freep) char *command = NULL;

	if (!mkdtemp(directory))
		return false;
	command = xasprintf("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost "
			    "-addext subjectAltName=DNS:localhost -keyout %s -out %s 2>/dev/null",
			    path_of("key"), path_of("certificate"));
	return system(command) == 0 && read_text(path_of("key"), key, sizeof(key)) &&
	       read_text(path_of("certificate"), certificate, sizeof(certificate));
}

static void remove_certificate(void)
{
	unlink(path_of("key"));
	unlink(path_of("certificate"));
	rmdir(directory);
}

static enum MHD_Result answer(void *data, struct MHD_Connection *c, const char *url, const char *method, const char *version,
			      const char *upload, size_t *upload_size, void **state)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(6, (char *)"secret", MHD_RESPMEM_PERSISTENT);
	enum MHD_Result r = MHD_queue_response(c, 200, response);

	(void)data, (void)url, (void)method, (void)version, (void)upload, (void)upload_size, (void)state;
	MHD_destroy_response(response);
	return r;
}

static int get(const struct http_options *o, struct http_answer *ret, struct err *err)
{
	struct http_client *client = NULL;
	int r = http_client_new(o, &client, err);

	CHECK_INT(r, 0);
	r = http_request(client, &(struct http_request){ .method = "GET", .path = "/" }, ret, err);
	http_client_free(client);
	return r;
}

static void check_certificates(struct http_options o, struct http_answer *got)
{
	struct http_client *client;
	struct err err = { 0 };

	CHECK_INT(get(&o, got, &err), -EKEYREJECTED);
	CHECK(strstr(err.text, "the certificate of https://localhost:") && strstr(err.text, "ca-file="));
	CHECK(!got->was_sent);
	o.ca_file = path_of("certificate");
	CHECK_INT(get(&o, got, &err), 200);
	CHECK_STR(got->body.data, "secret");
	o.host = "127.0.0.1";
	CHECK_INT(get(&o, got, &err), -EKEYREJECTED);
	CHECK(strstr(err.text, o.ca_file));
	o.ca_file = path_of("missing");
	CHECK_INT(http_client_new(&o, &client, &err), -ENOENT);
	CHECK(strstr(err.text, "ca-file: cannot read '") && strstr(err.text, o.ca_file));
}

TEST(the_certificate_must_be_trusted_and_issued_for_the_host)
{
	struct http_options o = { .host = "localhost", .tls = true, .connect_ns = 20 * NS_PER_SECOND, .total_ns = 60 * NS_PER_SECOND };
	struct http_answer got;
	struct MHD_Daemon *server;

	if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
		SKIP("libmicrohttpd was built without TLS");
	if (!make_certificate()) {
		remove_certificate();
		SKIP("openssl is missing");
	}
	server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0, NULL, NULL, answer, NULL,
				  MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_HTTPS_MEM_CERT, certificate, MHD_OPTION_END);
	CHECK(server);
	o.port = MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port;
	http_answer_init(&got);
	check_certificates(o, &got);
	http_answer_done(&got);
	MHD_stop_daemon(server);
	remove_certificate();
}

static bool answer_plainly(int fd, int connection, int nth, const char *text)
{
	(void)connection, (void)nth, (void)text;
	test_http_put(fd, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
	return false;
}

TEST(a_server_without_tls_is_reported)
{
	struct http_options o = { .host = "127.0.0.1", .tls = true, .connect_ns = 20 * NS_PER_SECOND, .total_ns = 60 * NS_PER_SECOND };
	struct test_http_server server;
	struct http_answer got;
	struct err err = { 0 };

	server = test_http_start(answer_plainly);
	o.port = server.port;
	http_answer_init(&got);
	CHECK_INT(get(&o, &got, &err), -EPROTO);
	CHECK(strstr(err.text, "cannot agree on TLS with https://127.0.0.1:"));
	http_answer_done(&got);
	test_http_stop(&server);
}

TEST_MAIN()
