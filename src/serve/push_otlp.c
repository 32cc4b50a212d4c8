/* push_otlp.c: OTLP profiles over HTTP, as sent by OpenTelemetry Collectors. */
#include "mem.h"
#include "otlp_messages.h"
#include "otlp_read.h"
#include "protobuf.h"
#include "pushes.h"

#include <string.h>

#define VERSION_HEADER "OTLP-Profiles-Development-Version"

static bool is_json(const struct request *q)
{
	return http_is_type(q->content_type, "application/json");
}

static void put_message(struct response *r, const struct request *q, const struct message *m, const struct buf *bytes)
{
	struct err err = { 0 };

	buf_reset(&r->body);
	r->type = is_json(q) ? "application/json" : "application/x-protobuf";
	if (!is_json(q))
		buf_put(&r->body, bytes->data, bytes->size);
	else if (message_to_json(m, bytes->data, bytes->size, &r->body, &err) < 0)
		r->status = 500;
}

/* Codes of google.rpc.Code. */
static uint64_t code_of(int status)
{
	static const struct { int status; uint64_t code; } codes[] = {
		{ 401, 16 }, { 403, 7 }, { 404, 5 }, { 405, 12 }, { 413, 8 }, { 421, 7 }, { 429, 8 }, { 500, 13 }, { 503, 14 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].status == status)
			return codes[i].code;
	return 3;
}

void push_otlp_put_error(struct response *r, const struct request *q, int status, const char *sentence)
{
	_cleanup_(buf_done) struct buf bytes = { 0 };

	buf_init(&bytes);
	protobuf_put_number(&bytes, RPC_STATUS_CODE, code_of(status));
	protobuf_put_bytes(&bytes, RPC_STATUS_MESSAGE, sentence, strlen(sentence));
	put_message(r, q, &message_rpc_status, &bytes);
}

/* Checked before decoding, since the layout of another version cannot be recognized. */
static bool check_headers(struct push *p)
{
	const struct request *q = p->request;
	const char *version = q->profiles_version;

	if (version && strcmp(version, "1")) {
		size_t digits = strspn(version, "0123456789");
		bool is_number = digits && !version[digits] && *version != '0';

		push_refuse(p, SOURCE_PUSH_PARAMETERS, 400, is_number ? VERSION_HEADER ": version %.20s of OTLP profiles is not supported, only 1" : VERSION_HEADER ": '%.20s' is not a version; it is a number such as 1", version);
		return false;
	}
	if (is_json(q) || http_is_type(q->content_type, "application/x-protobuf"))
		return true;
	push_refuse(p, SOURCE_PUSH_UNSUPPORTED, 415, "the Content-Type '%.60s' is not supported; send application/x-protobuf or "
		    "application/json", q->content_type ? q->content_type : "");
	p->response->accept_post = "application/x-protobuf, application/json";
	return false;
}

static int read_body(struct push *p, struct otlp_outcome *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf bytes = { 0 };
	int e;

	if (!is_json(p->request))
		return otlp_read(&p->pushed, p->body.p, p->body.n, false, ret, err);
	if (p->body.n > OTLP_JSON_MAX)
		return err_set(err, -EFBIG, "the body exceeds the limit of %zu bytes of JSON; send application/x-protobuf",
			       OTLP_JSON_MAX);
	buf_init(&bytes);
	e = message_from_json(&message_otlp_request, p->body.p, p->body.n, &bytes, err);
	return e < 0 ? e : otlp_read(&p->pushed, bytes.data, bytes.size, true, ret, err);
}

/* Reports partial success; a mere warning has no rejected profiles. */
static void answer(struct push *p, const struct otlp_outcome *o)
{
	_cleanup_(buf_done) struct buf text = { 0 }, partial = { 0 }, bytes = { 0 };

	buf_init(&text);
	buf_init(&partial);
	buf_init(&bytes);
	if (o->rejected)
		buf_printf(&text, "%llu of %llu profile%s left out; the first one: %s", (unsigned long long)o->rejected,
			   (unsigned long long)o->profiles, o->profiles == 1 ? " was" : "s were", o->why.text);
	else if (p->pushed.labels_cut)
		buf_printf(&text, "%llu attribute%s cut at %u bytes", (unsigned long long)p->pushed.labels_cut,
			   p->pushed.labels_cut == 1 ? " was" : "s were", STROBE_WIRE_LABEL_VALUE);
	if (text.size) {
		protobuf_put_number(&partial, OTLP_REJECTED_PROFILES, o->rejected);
		protobuf_put_bytes(&partial, OTLP_ERROR_MESSAGE, text.data, text.size);
		protobuf_put_bytes(&bytes, OTLP_PARTIAL_SUCCESS, partial.data, partial.size);
	}
	p->context->options.pushes->counters.rejected_pushes[SOURCE_PUSH_PROFILES] += o->rejected;
	put_message(p->response, p->request, &message_otlp_response, &bytes);
}

void push_otlp(struct server_context *s, const struct request *q, struct response *r)
{
	struct otlp_outcome outcome = { 0 };
	struct err err = { 0 };
	struct push p;
	int e;

	if (push_begin(&p, s, q, SOURCE_PUSH_OTLP, PUSHED_BYTES_MAX, r) && check_headers(&p)) {
		e = p.body.n ? read_body(&p, &outcome, &err) : 0;
		if (e < 0)
			push_refuse_read(&p, e, 400, &err);
		else if (push_submit(&p))
			answer(&p, &outcome);
	}
	push_done(&p);
}
