/* server_request.c: reads headers and bodies of requests from libmicrohttpd. */
#include "server_parts.h"

#include "clock.h"
#include "router.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static const char *address_text(const struct sockaddr *a, char text[INET6_ADDRSTRLEN])
{
	if (a->sa_family == AF_INET)
		return inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, text, INET6_ADDRSTRLEN);
	if (a->sa_family == AF_INET6)
		return inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, text, INET6_ADDRSTRLEN);
	return NULL;
}

/* Returns the local address of the connection, as text. */
static const char *local_address(struct MHD_Connection *c, char text[INET6_ADDRSTRLEN])
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sockaddr_storage address = { 0 };
	socklen_t n = sizeof(address);

	if (!info || getsockname(info->connect_fd, (struct sockaddr *)&address, &n) < 0)
		return NULL;
	return address_text((struct sockaddr *)&address, text);
}

static const char *peer_address(struct MHD_Connection *c, char text[INET6_ADDRSTRLEN])
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? address_text(info->client_addr, text) : NULL;
}

/* A repeated header is ambiguous, so such a request is rejected. Each proxy may add an X-Forwarded-For header; the last one
 * comes from the proxy that is connected to us. */
struct header_counts {
	const char *user_header, *forwarded_for;
	unsigned host, origin, authorization, user, forwarded_proto, tenant, profiles_version;
};

static enum MHD_Result count_header(void *data, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct header_counts *counts = data;

	(void)kind;
	if (strcasecmp(name, "X-Forwarded-For") == 0)
		counts->forwarded_for = value;
	counts->user += strcasecmp(name, counts->user_header) == 0;
	counts->forwarded_proto += strcasecmp(name, "X-Forwarded-Proto") == 0;
	counts->host += strcasecmp(name, "Host") == 0;
	counts->origin += strcasecmp(name, "Origin") == 0;
	counts->authorization += strcasecmp(name, "Authorization") == 0;
	counts->tenant += strcasecmp(name, "X-Scope-OrgID") == 0;
	counts->profiles_version += strcasecmp(name, "OTLP-Profiles-Development-Version") == 0;
	return MHD_YES;
}

static struct header_counts count_headers(const struct server *s, struct MHD_Connection *c)
{
	struct header_counts counts = { .user_header = s->context.auth.roles.options.user_header };

	MHD_get_connection_values(c, MHD_HEADER_KIND, count_header, &counts);
	return counts;
}

bool request_has_duplicate_headers(const struct server *s, struct MHD_Connection *c)
{
	struct header_counts counts = count_headers(s, c);

	return counts.host > 1 || counts.origin > 1 || counts.authorization > 1 || counts.user > 1 ||
	       counts.forwarded_proto > 1 || counts.tenant > 1 || counts.profiles_version > 1;
}

bool request_has_body(struct MHD_Connection *c)
{
	const char *length = header(c, "Content-Length");

	return header(c, "Transfer-Encoding") || (length && strcmp(length, "0") != 0);
}

/* Parses at most ten digits; anything else is 0. */
static uint32_t parse_milliseconds(const char *text)
{
	size_t n = text ? strspn(text, "0123456789") : 0;
	unsigned long long ms = n && n <= 10 && !text[n] ? strtoull(text, NULL, 10) : 0;

	return ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

void request_read(struct request *q, const struct endpoint *ep, struct MHD_Connection *c, const char *method,
			 const char *path, struct exchange *e)
{
	const char *encoding = header(c, "Accept-Encoding");
	const struct server *s = ep->server;

	*q = (struct request){
		.auth = ep->auth,
		.only_probes = ep->only_probes,
		.path = path,
		.query = e->query,
		.accept = header(c, "Accept"),
		.if_none_match = header(c, "If-None-Match"),
		.has_body = request_has_body(c),
		.content_type = header(c, "Content-Type"),
		.content_encoding = header(c, "Content-Encoding"),
		.tenant = header(c, "X-Scope-OrgID"),
		.profiles_version = header(c, "OTLP-Profiles-Development-Version"),
		.timeout_ms = parse_milliseconds(header(c, "Connect-Timeout-Ms")),
		.now_ns = clock_wall_ns(),
		.arrived_ns = clock_monotonic_ns(),
		.body_too_large = e->too_large,
		.headers = {
			.method = method,
			.host = header(c, "Host"),
			.origin = header(c, "Origin"),
			.fetch_site = header(c, "Sec-Fetch-Site"),
			.fetch_mode = header(c, "Sec-Fetch-Mode"),
			.fetch_dest = header(c, "Sec-Fetch-Dest"),
			.user_agent = header(c, "User-Agent"),
			.local_address = local_address(c, e->local_address),
			.roles = {
				.authorization = header(c, "Authorization"),
				.cookie = header(c, "Cookie"),
				.user = header(c, s->context.auth.roles.options.user_header),
				.forwarded_for = count_headers(s, c).forwarded_for,
				.forwarded_proto = header(c, "X-Forwarded-Proto"),
				.origin = header(c, "Origin"),
				.peer = peer_address(c, e->peer),
			},
		},
	};
	if (e->takes_body && !e->too_large && !e->too_many) {
		q->body = e->body.data;
		q->body_size = e->body.size;
		q->has_body = true;
	}
	q->accepts_gzip = encoding && strstr(encoding, "gzip") && !strstr(encoding, "gzip;q=0");
	q->accepts_html = q->accept && strstr(q->accept, "text/html");
	q->shows_pages = q->accepts_html && !ep->only_probes && !s->context.options.only_counters;
}

/* Returns 0 if there is none. */
static uint64_t content_length(struct MHD_Connection *c)
{
	const char *length = header(c, "Content-Length");

	return length ? strtoull(length, NULL, 10) : 0;
}

bool request_wants_body(struct endpoint *ep, struct MHD_Connection *c, const char *method, const char *path,
		       struct exchange *e)
{
	struct server *s = ep->server;
	struct request q;

	request_read(&q, ep, c, method, path, e);
	e->body_max = e->too_long || e->has_nul || ep->only_probes || request_has_duplicate_headers(s, c) ? 0 :
		router_body_max(&s->context, &q);
	if (!e->body_max)
		return false;
	e->too_large = content_length(c) > e->body_max;
	e->too_many = atomic_load(&s->context.http.body_bytes) + content_length(c) > HTTP_BODIES_MAX;
	return !e->too_large && !e->too_many;
}

enum MHD_Result request_receive_body(struct server *s, struct exchange *e, const char *bytes, size_t n)
{
	e->received += n;
	if (!e->too_large && !e->too_many) {
		e->too_large = e->received > e->body_max;
		e->too_many = atomic_fetch_add(&s->context.http.body_bytes, n) + n > HTTP_BODIES_MAX;
		buf_put(&e->body, bytes, n);
	}
	if (e->too_large || e->too_many) {
		s->context.http.body_bytes -= e->body.size;
		buf_done(&e->body);
		buf_init(&e->body);
	}
	return e->received > 2 * e->body_max ? MHD_NO : MHD_YES;
}
