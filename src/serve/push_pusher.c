/* push_pusher.c: Pyroscope's push.v1, used by Grafana Alloy and newer SDKs. */
#include "connect.h"
#include "pushes.h"
#include "push_messages.h"

/* The framing is connect.h's, so that only its refusals have to be counted here. */
static enum source_push_error reason_of(int status)
{
	return status == 413 ? SOURCE_PUSH_LARGE : status == 415 || status == 501 ? SOURCE_PUSH_UNSUPPORTED : SOURCE_PUSH_DAMAGED;
}

static void read_and_submit(struct push *p, struct buf *message)
{
	struct err err = { 0 };
	struct buf none;
	int e = push_request(&p->pushed, message->data, message->size, &err);

	if (e < 0) {
		push_refuse_read(p, e, 400, &err);
	} else if (push_submit(p)) {
		buf_init(&none);
		connect_answer(p->request, &message_push_response, &none, p->response);
		buf_done(&none);
	}
}

void push_pusher(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(buf_done) struct buf message = { 0 };
	struct request plain = *q;
	struct push p;

	buf_init(&message);
	if (push_begin(&p, s, q, SOURCE_PUSH_PUSHER, PUSHED_BYTES_MAX, r)) {
		p.large_status = 400;	/* Connect maps 413 to resource_exhausted, which clients retry */
		plain.content_encoding = NULL;
		plain.body = p.body.p;
		plain.body_size = p.body.n;
		if (connect_read(&plain, &message_push_request, PUSHED_BYTES_MAX, &message, r))
			read_and_submit(&p, &message);
		else
			s->options.pushes->counters.rejected_pushes[reason_of(r->status)]++;
	}
	push_done(&p);
}
