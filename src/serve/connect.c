/* connect.c: content types, encodings and errors of Connect; protobuf_message.h converts messages. */
#include "connect.h"

#include "decompress.h"
#include "gzip.h"
#include "http.h"

#include <string.h>

#define COMPRESS_FROM	1024u		/* bytes; smaller bodies fit into one packet anyway */

static const char *const roots[] = {
	"/push.v1.", "/querier.v1.", "/settings.v1.", "/vcs.v1.", "/adhocprofiles.v1.", "/pyroscope/",
};

/* Runs may have any name, but their paths begin differently. */
const char *connect_path(const char *path)
{
	if (!strncmp(path, "/runs/", 6) || !strncmp(path, "/api/", 5))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		const char *at = strstr(path, roots[i]);

		if (at)
			return at;
	}
	return NULL;
}

/* --- Errors --- */

const char *connect_code(int status)
{
	static const struct { int status; const char *code; } codes[] = {
		{ 400, "invalid_argument" }, { 401, "unauthenticated" }, { 403, "permission_denied" }, { 404, "not_found" },
		{ 405, "unimplemented" }, { 409, "already_exists" }, { 413, "resource_exhausted" },
		{ 415, "invalid_argument" }, { 421, "permission_denied" }, { 429, "resource_exhausted" },
		{ 500, "internal" }, { 501, "unimplemented" }, { 503, "unavailable" }, { 504, "deadline_exceeded" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].status == status)
			return codes[i].code;
	return "unknown";
}

void connect_put_error(struct response *r, int status, const char *sentence)
{
	struct json j;

	r->status = status;
	r->type = "application/json";
	json_init(&j, &r->body);
	json_open_object(&j);
	json_key(&j, "code");
	json_str(&j, connect_code(status));
	json_key(&j, "message");
	json_str(&j, sentence);
	json_end(&j);
}

/* --- Requests --- */

static bool is_json(const struct request *q)
{
	return http_is_type(q->content_type, "application/json");
}

static bool check_headers(const struct request *q, struct response *r)
{
	const char *encoding = q->content_encoding;

	if (!is_json(q) && !http_is_type(q->content_type, "application/proto")) {
		response_error(r, q, 415, "the Content-Type '%.60s' is not supported; send application/proto or application/json",
			       q->content_type ? q->content_type : "");
		r->accept_post = "application/proto, application/json";
		return false;
	}
	if (encoding && *encoding && strcasecmp(encoding, "identity") && strcasecmp(encoding, "gzip")) {
		response_error(r, q, 501, "the Content-Encoding '%.60s' is not supported; send gzip or identity", encoding);
		return false;
	}
	return true;
}

static int decompress(const struct request *q, size_t max, struct buf *ret, struct err *err)
{
	struct decompressor *d = NULL;
	const char *p = q->body, *end = q->body + q->body_size;
	int r = decompress_start(q->body, q->body_size, &d, err);
	ssize_t n = 1;

	if (r >= 0 && !d)
		r = err_set(err, -EINVAL, "the body is not gzip, although its Content-Encoding says so");
	while (r >= 0 && n > 0 && ret->size <= max) {
		char piece[16384];
		size_t taken;

		n = decompress_more(d, p, (size_t)(end - p), true, &taken, piece, sizeof(piece), err);
		p += taken;
		if (n > 0)
			buf_put(ret, piece, (size_t)n);
		r = n < 0 ? (int)n : 0;
	}
	decompress_stop(d);
	if (r >= 0 && ret->size > max)
		return err_set(err, -EFBIG, "the body has more than %zu bytes when it is decompressed", max);
	return r;
}

static int get_bytes(const struct request *q, size_t max, struct buf *ret, struct err *err)
{
	if (!q->body_size)
		return 0;
	if (q->content_encoding && !strcasecmp(q->content_encoding, "gzip"))
		return decompress(q, max, ret, err);
	if (q->body_size > max)
		return err_set(err, -EFBIG, "the body has more than %zu bytes", max);
	buf_put(ret, q->body, q->body_size);
	return 0;
}

bool connect_read(const struct request *q, const struct message *m, size_t max, struct buf *ret, struct response *r)
{
	_cleanup_(buf_done) struct buf bytes = { 0 };
	struct err err = { 0 };
	int e;

	if (!check_headers(q, r))
		return false;
	buf_init(&bytes);
	e = get_bytes(q, max, &bytes, &err);
	if (e >= 0 && is_json(q)) {
		e = message_from_json(m, bytes.data, bytes.size, ret, &err);
	} else if (e >= 0) {
		e = message_check(m, bytes.data, bytes.size, &err);
		buf_put(ret, bytes.data, bytes.size);
	}
	if (e < 0)
		response_error(r, q, e == -EFBIG ? 413 : 400, "%s", err.text);
	return e >= 0;
}

/* --- Answers --- */

void connect_compress(const struct request *q, struct response *r)
{
	struct buf packed;

	if (!q->accepts_gzip || r->body.size < COMPRESS_FROM)
		return;
	buf_init(&packed);
	if (gzip_put_fast(&packed, r->body.data, r->body.size, NULL) >= 0) {
		buf_done(&r->body);
		r->body = packed;
		r->gzipped = true;
	} else {
		buf_done(&packed);
	}
}

void connect_answer(const struct request *q, const struct message *m, const struct buf *bytes, struct response *r)
{
	struct err err = { 0 };

	buf_reset(&r->body);
	if (bytes->overflow) {
		response_error(r, q, 500, "the answer is above %zu bytes; select a shorter range or fewer labels", bytes->limit);
		return;
	}
	if (is_json(q) && message_to_json(m, bytes->data, bytes->size, &r->body, &err) < 0) {
		response_error(r, q, 500, "%s", err.text);
		return;
	}
	if (!is_json(q))
		buf_put(&r->body, bytes->data, bytes->size);
	r->type = is_json(q) ? "application/json" : "application/proto";
	connect_compress(q, r);
}
