/* pushes.c: checks tenant, encoding and memory, and passes data to the collector. */
#include "pushes.h"

#include "push_source.h"

#include <stdarg.h>
#include <string.h>

#define MEMORY_PER_BYTE	6u		/* memory for a body and the trees parsed from it */
#define MEMORY_LEAST	((uint64_t)1 << 20)

static struct source_counters *counters_of(const struct push *p)
{
	return &p->context->options.pushes->counters;
}

void push_refuse(struct push *p, enum source_push_error why, int status, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	counters_of(p)->rejected_pushes[why]++;
	response_error(p->response, p->request, status, "%s", text);
}

void push_refuse_read(struct push *p, int code, int status, const struct err *err)
{
	bool is_large = code == -E2BIG || code == -EFBIG;

	push_refuse(p, is_large ? SOURCE_PUSH_LARGE : SOURCE_PUSH_DAMAGED, is_large ? p->large_status : status, "%s", err->text);
}

static bool check_encoding(struct push *p)
{
	const char *encoding = p->request->content_encoding;

	if (!encoding || !*encoding || !strcasecmp(encoding, "identity") || !strcasecmp(encoding, "gzip") ||
	    !strcasecmp(encoding, "zstd"))
		return true;
	push_refuse(p, SOURCE_PUSH_UNSUPPORTED, 415, "the Content-Encoding '%.60s' is not supported; send gzip, zstd or identity", encoding);
	return false;
}

static bool is_encoded(const struct request *q)
{
	return q->content_encoding && *q->content_encoding && strcasecmp(q->content_encoding, "identity");
}

static bool decompress(struct push *p, size_t body_max)
{
	const struct request *q = p->request;
	struct err err = { 0 };
	int e;

	p->body = (struct str){ q->body ? q->body : "", q->body_size };
	if (q->body_size && is_encoded(q)) {
		e = input_memory(&p->input, "the body", q->body, q->body_size, body_max, &err);
		if (e >= 0 && !p->input.packed)
			e = err_set(&err, -EINVAL, "the body is not %.10s, although its Content-Encoding says so",
				    q->content_encoding);
		if (e >= 0)
			e = input_all(&p->input, &p->body, &err);
		if (e < 0) {
			push_refuse_read(p, e, 400, &err);
			return false;
		}
	}
	if (p->body.n <= body_max)
		return true;
	push_refuse(p, SOURCE_PUSH_LARGE, 413, "the body exceeds the limit of %zu bytes", body_max);
	return false;
}

static bool take_memory(struct push *p)
{
	struct memory_cap *cap = &p->context->memory;
	uint64_t n = p->body.n * MEMORY_PER_BYTE + MEMORY_LEAST;

	if (!cap->most)
		return true;
	if (!memory_cap_reserve(cap, n < cap->most / 2 ? n : cap->most / 2)) {
		push_refuse(p, SOURCE_PUSH_BUSY, 503, "too busy: queries, uploads and pending responses use %llu of the %llu MB of "
			    "--query-memory; send it again", (unsigned long long)(cap->used >> 20), (unsigned long long)(cap->most >> 20));
		return false;
	}
	p->charged = n < cap->most / 2 ? n : cap->most / 2;
	return true;
}

bool push_begin(struct push *p, struct server_context *s, const struct request *q, enum source_push_protocol protocol, size_t body_max,
		struct response *r)
{
	struct err err = { 0 };

	*p = (struct push){ .context = s, .request = q, .response = r, .protocol = protocol, .input.fd = -1,
			   .large_status = 413 };
	pushed_init(&p->pushed);
	if (!s->options.pushes) {
		response_error(r, q, 404, "nothing is collected here");
		return false;
	}
	if (q->tenant && *q->tenant && pushed_check_tenant(q->tenant, &err) < 0) {
		push_refuse(p, SOURCE_PUSH_PARAMETERS, 400, "%s", err.text);
		return false;
	}
	return check_encoding(p) && decompress(p, body_max) && take_memory(p);
}

bool push_submit(struct push *p)
{
	_cleanup_(buf_done) struct buf messages = { 0 };
	const char *tenant = p->request->tenant;
	struct err err = { 0 };
	int e;

	buf_init(&messages);
	e = pushed_write(&p->pushed, tenant && *tenant ? tenant : NULL, p->request->now_ns, &messages, &err);
	if (e < 0) {
		push_refuse_read(p, e, 400, &err);
		return false;
	}
	e = push_source_submit(p->context->options.pushes, p->protocol, messages.data, messages.size, &err);
	if (e == -E2BIG)
		push_refuse_read(p, e, 400, &err);
	else if (e < 0)
		push_refuse(p, SOURCE_PUSH_BUSY, 503, "%s", err.text);
	if (e < 0)
		return false;
	counters_of(p)->push_bytes += p->request->body_size;
	counters_of(p)->push_ids_dropped += p->pushed.ids_dropped;
	return true;
}

void push_done(struct push *p)
{
	pushed_done(&p->pushed);
	if (p->input.name)
		input_close(&p->input);
	memory_cap_release(&p->context->memory, p->charged);
}
