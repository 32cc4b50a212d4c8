/* http_problem.c: libcurl's error codes as sentences and errno values. */
#include "http_problem.h"

#include "clock.h"

#include <string.h>

static double seconds(int64_t ns)
{
	return (double)ns / NS_PER_SECOND;
}

static int set_timeout(const struct http_problem *p, struct err *err)
{
	if (p->is_connected)
		return err_set(err, -ETIMEDOUT, "%s did not answer within %g s", p->where, seconds(p->total_ns));
	return err_set(err, -ETIMEDOUT, "cannot connect to %s within %g s", p->where,
		       seconds(p->connect_ns < p->total_ns ? p->connect_ns : p->total_ns));
}

static int set_certificate(const struct http_problem *p, struct err *err)
{
	return err_set(err, -EKEYREJECTED, "the certificate of %s is not trusted by %s: %s", p->where,
		       p->ca_file ? p->ca_file : "this system (ca-file= names another authority)", p->detail);
}

int http_problem_set(const struct http_problem *p, struct err *err)
{
	switch (p->code) {
	case CURLE_OPERATION_TIMEDOUT:
		return set_timeout(p, err);
	case CURLE_COULDNT_RESOLVE_HOST:
		return err_set(err, -EHOSTUNREACH, "cannot connect to %s: the name has no address", p->where);
	case CURLE_COULDNT_CONNECT:
		return err_set(err, -EHOSTUNREACH, "cannot connect to %s: %s", p->where,
			       p->os_errno ? strerror(p->os_errno) : p->detail);
	case CURLE_PEER_FAILED_VERIFICATION:
		return set_certificate(p, err);
	case CURLE_SSL_CACERT_BADFILE:
		return err_set(err, -EKEYREJECTED, "cannot read the certificates of '%s' to verify %s",
			       p->ca_file ? p->ca_file : "the system", p->where);
	case CURLE_SSL_CONNECT_ERROR:
		return err_set(err, -EPROTO, "cannot agree on TLS with %s: %s", p->where, p->detail);
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
		return err_set(err, -ECONNRESET, "%s closed the connection before its answer was complete", p->where);
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		return err_set(err, -EPROTO, "%s did not send a valid HTTP response: %s", p->where, p->detail);
	case CURLE_ABORTED_BY_CALLBACK:
		return err_set(err, -ECANCELED, "the request to %s was canceled", p->where);
	default:
		return err_set(err, -EIO, "the request to %s failed: %s", p->where, p->detail);
	}
}
