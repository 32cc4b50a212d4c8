/* redis_tls.c: a session of GnuTLS, with its errors converted to those of a socket. */
#include "redis_tls.h"

#include "mem.h"
#include "redis_tls_problem.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>
#include <unistd.h>

struct redis_tls {
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
	gnutls_typed_vdata_st expected[2];	/* the expected certificate; GnuTLS keeps a pointer */
	const struct redis_tls_options *o;
	const char *name, *where;
	bool is_up;				/* the handshake is complete, and the connection has not ended */
	bool is_sending;			/* GnuTLS has a record that did not fit into the socket */
	char problem[512];			/* "" none */
};

/* --- Certificates --- */

static int check_readable(const char *path, const char *parameter, struct err *err)
{
	return access(path, R_OK) == 0 ? 0 : err_set(err, -errno, "cannot read '%s' (%s=): %s", path, parameter, strerror(errno));
}

static int load_authorities(const struct redis_tls_options *o, gnutls_certificate_credentials_t c, struct err *err)
{
	int n, r;

	if (o->is_unverified)
		return 0;
	if (!o->ca_file) {
		n = gnutls_certificate_set_x509_system_trust(c);
		return n > 0 ? 0 : err_set(err, -ENOKEY, "this system has no certificate authorities to verify "
							 "Redis; install ca-certificates, or give ca-file=FILE");
	}
	r = check_readable(o->ca_file, "ca-file", err);
	if (r < 0)
		return r;
	n = gnutls_certificate_set_x509_trust_file(c, o->ca_file, GNUTLS_X509_FMT_PEM);
	return n > 0 ? 0 : err_set(err, -EKEYREJECTED, "'%s' (ca-file=) contains no PEM certificate", o->ca_file);
}

static int load_own(const struct redis_tls_options *o, gnutls_certificate_credentials_t c, struct err *err)
{
	int r;

	if (!o->cert_file)
		return 0;
	if ((r = check_readable(o->cert_file, "cert-file", err)) < 0 ||
	    (r = check_readable(o->key_file, "key-file", err)) < 0)
		return r;
	r = gnutls_certificate_set_x509_key_file(c, o->cert_file, o->key_file, GNUTLS_X509_FMT_PEM);
	return r >= 0 ? 0 : err_set(err, -EKEYREJECTED, "cannot use the certificate '%s' with the key '%s': %s", o->cert_file, o->key_file, gnutls_strerror(r));
}

int redis_tls_check_files(const struct redis_tls_options *o, struct err *err)
{
	gnutls_certificate_credentials_t c;
	int r = 0;

	if (!o->ca_file && !o->cert_file)
		return 0;
	if (gnutls_certificate_allocate_credentials(&c) < 0)
		return err_set(err, -ENOMEM, "not enough memory for TLS");
	if (o->ca_file)
		r = load_authorities(o, c, err);
	if (r >= 0)
		r = load_own(o, c, err);
	gnutls_certificate_free_credentials(c);
	return r;
}

/* --- Lifecycle --- */

/* RFC 6066 does not allow addresses as the server name; the certificate is still checked for them. */
static bool is_numeric(const char *host)
{
	unsigned char address[16];

	return strchr(host, ':') || inet_pton(AF_INET, host, address) == 1;
}

static void expect_server(struct redis_tls *t)
{
	t->expected[0] = (gnutls_typed_vdata_st){ .type = GNUTLS_DT_DNS_HOSTNAME, .data = (unsigned char *)t->name };
	t->expected[1] = (gnutls_typed_vdata_st){ .type = GNUTLS_DT_KEY_PURPOSE_OID,
						  .data = (unsigned char *)GNUTLS_KP_TLS_WWW_SERVER };
	gnutls_session_set_verify_cert2(t->session, t->expected, 2, 0);
}

/* Returns a GnuTLS error. */
static int set_up_session(struct redis_tls *t, int fd)
{
	int r = gnutls_init(&t->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);

	if (r < 0 || (r = gnutls_set_default_priority_append(t->session, "-VERS-TLS1.0:-VERS-TLS1.1", NULL, 0)) < 0 ||
	    (r = gnutls_credentials_set(t->session, GNUTLS_CRD_CERTIFICATE, t->credentials)) < 0)
		return r;
	if (!is_numeric(t->name) && (r = gnutls_server_name_set(t->session, GNUTLS_NAME_DNS, t->name, strlen(t->name))) < 0)
		return r;
	if (!t->o->is_unverified)
		expect_server(t);
	gnutls_handshake_set_timeout(t->session, 0);	/* the caller has its own timeout */
	gnutls_transport_set_int(t->session, fd);
	return 0;
}

int redis_tls_new(const struct redis_tls_options *o, const char *host, const char *where, int fd, struct redis_tls **ret,
		  struct err *err)
{
	struct redis_tls *t = xcalloc(1, sizeof(*t));
	int r;

	assert(o->is_wanted);
	t->o = o;
	t->name = o->server_name ? o->server_name : host;
	t->where = where;
	if (gnutls_certificate_allocate_credentials(&t->credentials) < 0)
		r = err_set(err, -ENOMEM, "not enough memory for TLS");
	else if ((r = load_authorities(o, t->credentials, err)) >= 0 && (r = load_own(o, t->credentials, err)) >= 0 &&
		 (r = set_up_session(t, fd)) < 0)
		r = err_set(err, -EIO, "cannot set up TLS: %s", gnutls_strerror(r));
	if (r < 0) {
		redis_tls_free(t);
		return err_prefix(err, "Redis at %s", where);
	}
	*ret = t;
	return 0;
}

struct redis_tls *redis_tls_free(struct redis_tls *t)
{
	if (!t)
		return NULL;
	if (t->is_up)
		gnutls_bye(t->session, GNUTLS_SHUT_WR);
	if (t->session)
		gnutls_deinit(t->session);
	if (t->credentials)
		gnutls_certificate_free_credentials(t->credentials);
	free(t);
	return NULL;
}

/* --- Errors --- */

const char *redis_tls_problem(const struct redis_tls *t)
{
	return t->problem[0] ? t->problem : NULL;
}

static void describe(struct redis_tls *t, int code)
{
	redis_tls_problem_describe(t->session, code, t->o, t->problem, sizeof(t->problem));
}

/* GnuTLS preserves the errno of the socket, with one exception. */
static int errno_of(int code)
{
	if (code == GNUTLS_E_PREMATURE_TERMINATION)
		return ECONNRESET;
	if (code != GNUTLS_E_PUSH_ERROR && code != GNUTLS_E_PULL_ERROR)
		return EPROTO;
	return errno && errno != EAGAIN ? errno : EIO;
}

/* Sets errno like a socket; non-fatal errors, such as a session ticket, are ignored. */
static ssize_t fail(struct redis_tls *t, ssize_t code)
{
	int e = gnutls_error_is_fatal((int)code) ? errno_of((int)code) : EAGAIN;

	t->is_up = e == EAGAIN;
	if (e == EPROTO)
		describe(t, (int)code);
	errno = e;
	return -1;
}

/* --- Sending and receiving --- */

/* Frees the system's certificate authorities: they take 4 MB, and are no longer needed. */
static void forget_authorities(struct redis_tls *t)
{
	gnutls_x509_trust_list_t none;

	if (gnutls_x509_trust_list_init(&none, 1) >= 0)
		gnutls_certificate_set_trust_list(t->credentials, none, 0);
}

int redis_tls_handshake(struct redis_tls *t, struct err *err)
{
	int r, e;

	errno = 0;
	r = gnutls_handshake(t->session);
	t->is_up = r == 0;
	if (r == 0) {
		forget_authorities(t);
		return 0;
	}
	if (!gnutls_error_is_fatal(r))
		return -EAGAIN;
	e = errno_of(r);
	if (r == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
		gnutls_alert_send_appropriate(t->session, r);
	if (r == GNUTLS_E_PUSH_ERROR || r == GNUTLS_E_PULL_ERROR)
		snprintf(t->problem, sizeof(t->problem), "the connection is lost: %s", strerror(e));
	else
		redis_tls_problem_of_handshake(t->session, r, t->o, t->name, t->problem, sizeof(t->problem));
	return err_set(err, -e, "Redis at %s: %s", t->where, t->problem);
}

bool redis_tls_wants_write(const struct redis_tls *t)
{
	return gnutls_record_get_direction(t->session) == 1;
}

/* A peer that rejects us sends an alert before it closes, but our next write fails first. */
static void read_last_alert(struct redis_tls *t)
{
	_cleanup_(freep) char *rest = xmalloc(REDIS_TLS_RECORD);
	ssize_t r = gnutls_record_recv(t->session, rest, REDIS_TLS_RECORD);

	if (r == GNUTLS_E_FATAL_ALERT_RECEIVED)
		describe(t, (int)r);
}

/* A record that was encrypted but not sent is offered to the socket again, and counts once it is sent; the caller
 * still has its bytes at the front. */
ssize_t redis_tls_send(struct redis_tls *t, const void *bytes, size_t n)
{
	ssize_t r;
	int e;

	assert(n);
	errno = 0;
	r = t->is_sending ? gnutls_record_send(t->session, NULL, 0) : gnutls_record_send(t->session, bytes, n);
	t->is_sending = r < 0 && !gnutls_error_is_fatal((int)r);
	if (r >= 0)
		return r;
	r = fail(t, r);
	e = errno;
	if (e != EAGAIN && e != EPROTO)
		read_last_alert(t);
	errno = e;
	return r;
}

ssize_t redis_tls_recv(struct redis_tls *t, void *bytes, size_t n)
{
	ssize_t r;

	assert(n >= REDIS_TLS_RECORD);
	errno = 0;
	r = gnutls_record_recv(t->session, bytes, n);
	assert(r <= 0 || gnutls_record_check_pending(t->session) == 0);
	if (r > 0)
		return r;
	/* The end may come without a closure alert, or within a record: the protocol determines where a reply ends. */
	if (r == 0 || r == GNUTLS_E_PREMATURE_TERMINATION || r == GNUTLS_E_UNEXPECTED_PACKET_LENGTH) {
		t->is_up = false;
		return 0;
	}
	return fail(t, r);
}
