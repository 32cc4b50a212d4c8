/* export_otlp.c: batches as profiles of OTLP over HTTP. */
#include "export_private.h"

#include "gzip.h"
#include "http_get.h"
#include "otlp_messages.h"
#include "otlp_write.h"
#include "protobuf.h"
#include "text.h"

#include <string.h>

static ssize_t write_otlp(const struct exporter *x, const struct batch *b, size_t first, size_t end, struct buf *out,
			  struct err *err)
{
	_cleanup_(buf_done) struct buf plain = { 0 };
	struct otlp_writer *w = otlp_writer_new(x->service);
	size_t n = 0;
	int r;

	buf_init(&plain);
	do
		otlp_writer_add(w, export_entry(x, b, first + n++));
	while (first + n < end && otlp_writer_size(w) < EXPORT_REQUEST_BYTES);
	otlp_writer_end(w, &plain);
	otlp_writer_free(w);
	r = gzip_put_fast(out, plain.data, plain.size, err);
	return r < 0 ? r : (ssize_t)n;
}

static bool otlp_is_retried(int status, const struct http_answer *a)
{
	(void)a;
	return status == 429 || status == 502 || status == 503 || status == 504;
}

/* Reads the string in field `text` of the submessage in field `inner` (0: the message itself), and returns the number
 * beside it. */
static uint64_t read_message(const struct buf *body, uint32_t inner, uint32_t number, uint32_t text, struct buf *ret)
{
	struct protobuf m = { (const uint8_t *)body->data, (const uint8_t *)body->data + body->size };
	struct protobuf_field f;
	uint64_t n = 0;

	if (inner) {
		struct protobuf all = m;

		m = (struct protobuf){ NULL, NULL };
		while (protobuf_next(&all, &f))
			if (f.number == inner && f.type == 2)
				m = f.bytes;
	}
	while (m.p && protobuf_next(&m, &f)) {
		if (f.number == number && f.type == 0)
			n = f.value;
		else if (f.number == text && f.type == 2)
			text_put_plain(ret, (struct str){ (const char *)f.bytes.p, (size_t)(f.bytes.end - f.bytes.p) });
	}
	return n;
}

static bool is_protobuf(const struct http_answer *a)
{
	_cleanup_(buf_done) struct buf type = { 0 };

	buf_init(&type);
	return http_header(&a->head, "Content-Type", &type) && !strncmp(type.data, "application/x-protobuf", 22);
}

static uint64_t otlp_read_answer(const struct http_answer *a, int status, struct buf *ret)
{
	if (!a->body.size)
		return 0;
	if (export_is_success(status))
		return read_message(&a->body, OTLP_PARTIAL_SUCCESS, OTLP_REJECTED_PROFILES, OTLP_ERROR_MESSAGE, ret);
	if (is_protobuf(a))
		read_message(&a->body, 0, RPC_STATUS_CODE, RPC_STATUS_MESSAGE, ret);
	else
		export_put_text(a, ret);
	return 0;
}

const struct export_kind export_otlp = {
	.url = { .scheme = "otlp", .port = 4318, .name_is_user = true, .form = "use a URL such as otlp://host:4318" },
	.path = "/v1development/profiles",
	.headers = { "Content-Type: application/x-protobuf", "Content-Encoding: gzip", NULL },
	.write = write_otlp,
	.is_retried = otlp_is_retried,
	.read_answer = otlp_read_answer,
};
