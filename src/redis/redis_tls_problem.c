/* redis_tls_problem.c: explains errors about certificates, alerts, and peers that do not speak TLS. */
#include "redis_tls_problem.h"

#include <stdio.h>

static void describe_issuer(const struct redis_tls_options *o, char *text, size_t size)
{
	if (o->ca_file)
		snprintf(text, size, "its certificate is not trusted: no authority in '%s' (ca-file=) has signed it",
			 o->ca_file);
	else
		snprintf(text, size, "its certificate is not trusted: no authority that this system knows has signed it; "
				     "name the authority with ca-file=FILE");
}

static void describe_status(unsigned status, char *text, size_t size)
{
	gnutls_datum_t why = { 0 };

	if (gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &why, 0) < 0)
		why.data = NULL;
	snprintf(text, size, "its certificate is not trusted: %s", why.data ? (const char *)why.data : "it is invalid");
	gnutls_free(why.data);
}

static void describe_certificate(unsigned status, const struct redis_tls_options *o, const char *name, char *text, size_t size)
{
	if (status & GNUTLS_CERT_SIGNER_NOT_FOUND)
		describe_issuer(o, text, size);
	else if (status & GNUTLS_CERT_EXPIRED)
		snprintf(text, size, "its certificate has expired; renew it on the server");
	else if (status & GNUTLS_CERT_NOT_ACTIVATED)
		snprintf(text, size, "its certificate is not valid yet; compare the clocks of both machines");
	else if (status & GNUTLS_CERT_UNEXPECTED_OWNER)
		snprintf(text, size, "its certificate is not for '%s'; use a host that the certificate names, or "
				     "server-name=NAME",
			 name);
	else
		describe_status(status, text, size);
}

static void describe_alert(gnutls_alert_description_t alert, const struct redis_tls_options *o, char *text, size_t size)
{
	const char *said = gnutls_alert_get_name(alert);

	said = said ? said : "an unknown alert";
	if (alert == GNUTLS_A_CERTIFICATE_REQUIRED || (alert == GNUTLS_A_HANDSHAKE_FAILURE && !o->cert_file))
		snprintf(text, size, "it refuses the TLS handshake (%s); does it require a client certificate? Give "
				     "cert-file=FILE and key-file=FILE",
			 said);
	else if (o->cert_file && alert >= GNUTLS_A_BAD_CERTIFICATE && alert <= GNUTLS_A_ACCESS_DENIED)
		snprintf(text, size, "it does not accept our certificate '%s' (cert-file=): %s", o->cert_file, said);
	else
		snprintf(text, size, "it ended TLS with an alert: %s", said);
}

void redis_tls_problem_describe(gnutls_session_t session, int code, const struct redis_tls_options *o, char *text, size_t size)
{
	if (code == GNUTLS_E_FATAL_ALERT_RECEIVED)
		describe_alert(gnutls_alert_get(session), o, text, size);
	else
		snprintf(text, size, "TLS failed: %s", gnutls_strerror(code));
}

void redis_tls_problem_of_handshake(gnutls_session_t session, int code, const struct redis_tls_options *o, const char *name,
				    char *text, size_t size)
{
	switch (code) {
	case GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR:
		describe_certificate(gnutls_session_get_verify_cert_status(session), o, name, text, size);
		break;
	case GNUTLS_E_UNEXPECTED_PACKET_LENGTH:
	case GNUTLS_E_UNSUPPORTED_VERSION_PACKET:
	case GNUTLS_E_UNEXPECTED_PACKET:
	case GNUTLS_E_RECORD_OVERFLOW:
		snprintf(text, size, "it does not speak TLS on this port (%s); use redis://, or the port of its tls-port",
			 gnutls_strerror(code));
		break;
	case GNUTLS_E_PREMATURE_TERMINATION:
		snprintf(text, size, "it closed the connection during the TLS handshake; does it speak TLS on this port, "
				     "or is it still starting up?");
		break;
	default:
		redis_tls_problem_describe(session, code, o, text, size);
	}
}
