/* server_response.c: passes headers and bodies of responses to libmicrohttpd. */
#include "server_parts.h"

#include "answer_file.h"
#include "callgraph.h"
#include "render.h"

#include <stdlib.h>
#include <string.h>

#define POLICY	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " \
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
/* A picture has inline styles and scripts; the scripts are allowed by their hashes. */
#define PICTURE_POLICY "default-src 'none'; style-src 'unsafe-inline'; script-src %s %s; worker-src blob:; base-uri 'none'; " \
		"form-action 'none'; frame-ancestors 'none'"

static void add_header(struct MHD_Response *m, const char *name, const char *value)
{
	if (value)
		MHD_add_response_header(m, name, value);
}

static void add_headers(struct MHD_Response *m, const struct response *r)
{
	char policy[512] = POLICY;

	if (strcmp(r->type, "image/svg+xml") == 0)
		snprintf(policy, sizeof(policy), PICTURE_POLICY, flamegraph_svg_script_hashes, callgraph_svg_script_hash);
	add_header(m, "Content-Type", r->type);
	add_header(m, "Content-Security-Policy", policy);
	add_header(m, "X-Content-Type-Options", "nosniff");
	/* With no-referrer, browsers send "Origin: null" with forms. */
	add_header(m, "Referrer-Policy", "same-origin");
	add_header(m, "Cross-Origin-Resource-Policy", "same-origin");
	add_header(m, "Cross-Origin-Opener-Policy", "same-origin");
	add_header(m, "Cache-Control", r->etag ? "private, max-age=31536000, immutable" : "no-store");
	add_header(m, "ETag", r->etag);
	add_header(m, "Vary", r->etag ? "Accept-Encoding" : NULL);
	add_header(m, "Content-Encoding", r->gzipped ? "gzip" : NULL);
	add_header(m, "Allow", r->allow);
	add_header(m, "Location", r->location);
	add_header(m, "Accept-Post", r->accept_post);
	add_header(m, "Set-Cookie", r->set_cookie);
	add_header(m, "Content-Disposition", r->disposition);
	add_header(m, "Strobe-Warning", r->warning);
	add_header(m, "Retry-After", r->retry_after ? r->retry_after : r->status == 503 ? "5" : NULL);
	add_header(m, "WWW-Authenticate", r->status == 401 ? "Bearer" : NULL);
}

void response_put_long_address(const struct endpoint *ep, struct buf *out)
{
	/* Headers were not read, so the client is unknown. */
	const struct request q = { .path = "/", .shows_pages = !ep->only_probes && !ep->server->context.options.only_counters };
	struct response r;

	response_init(&r);
	response_error(&r, &q, 414, "the address is longer than %u bytes; it may hold a very long name of a function", PARAMS_QUERY_MAX);
	buf_printf(out, "HTTP/1.1 414 URI Too Long\r\nContent-Type: %s\r\nContent-Security-Policy: " POLICY "\r\n"
		   "X-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin\r\nCache-Control: no-store\r\n"
		   "Content-Length: %zu\r\nConnection: close\r\n\r\n", r.type, r.body.size);
	buf_put(out, r.body.data, r.body.size);
	response_done(&r);
}

/* libmicrohttpd requests whole blocks in order. */
static ssize_t read_block(void *data, uint64_t at, char *to, size_t room)
{
	struct answer *a = data;
	char block[ANSWER_BLOCK];
	ssize_t n = answer_read(a->file, &a->at, block);

	(void)at;
	if (n <= 0 || (size_t)n > room)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	memcpy(to, block, (size_t)n);
	return n;
}

static void free_answer(void *data)
{
	answer_free(data);
}

static struct MHD_Response *stream_response(struct answer *a)
{
	struct MHD_Response *m = MHD_create_response_from_callback(a->size, ANSWER_BLOCK, read_block, a, free_answer);

	if (!m)
		answer_free(a);
	return m;
}

static struct MHD_Response *buffer_response(const struct request *q, struct response *r)
{
	struct MHD_Response *m;
	size_t size;
	char *body;

	if (r->body.overflow)
		response_error(r, q, 500, "the answer is above %zu bytes; select a shorter range or fewer labels",
			       r->body.limit);
	body = buf_take(&r->body, &size);
	m = MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
	if (!m)
		free(body);
	return m;
}

enum MHD_Result response_send(struct server *s, struct MHD_Connection *c, const struct request *q,
				     struct response *r, struct answer *a)
{
	struct MHD_Response *m = a ? stream_response(a) : buffer_response(q, r);
	enum MHD_Result done;

	if (!m)
		return MHD_NO;
	add_headers(m, r);
	s->context.http.requests[http_code_index(r->status)]++;
	done = MHD_queue_response(c, (unsigned)r->status, m);
	MHD_destroy_response(m);
	return done;
}
