/* fuzz_reply_reader.c: reads any bytes as a server's output: the replies must be the same no matter how they are
 * split, and an error must have a sentence. */
#include "push.h"
#include "reply_reader.h"

#include "buf.h"

#include <hiredis/hiredis.h>
#include <string.h>

#define REPLY_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(struct buf *out, const redisReply *r)
{
	buf_printf(out, "%d ", r->type);
	if (r->type == REDIS_REPLY_INTEGER)
		buf_printf(out, "%lld", r->integer);
	if (r->type == REDIS_REPLY_STRING || r->type == REDIS_REPLY_STATUS || r->type == REDIS_REPLY_ERROR)
		buf_put(out, r->str, (size_t)r->len);
	if (r->type == REDIS_REPLY_ARRAY)
		for (size_t i = 0; i < r->elements; i++)
			put(out, r->element[i]);
	buf_putc(out, '\n');
}

static void read_all(const uint8_t *data, size_t size, size_t step, struct buf *out)
{
	struct reply_reader *r = reply_reader_new(REPLY_MAX);
	struct err err = { 0 };
	int e = 0;

	for (size_t at = 0; at < size && e >= 0; at += step) {
		const char *p = (const char *)data + at;
		size_t n = size - at < step ? size - at : step;
		redisReply *reply;

		while ((e = reply_reader_next(r, &p, &n, &reply, &err)) > 0) {
			put(out, reply);
			freeReplyObject(reply);
		}
	}
	if (e < 0 && !err.text[0])
		abort();
	buf_puts(out, e < 0 ? "end" : "more");
	reply_reader_free(r);
}

/* The reader must find the same messages as push_parse alone. */
static void check_push(const uint8_t *data, size_t size)
{
	struct reply_reader *r = reply_reader_new(REPLY_MAX);
	struct str channel, text;
	size_t n = push_parse((const char *)data, size, &channel, &text), left = n;
	const char *p = (const char *)data;
	redisReply *reply = NULL;

	if (n) {
		const redisReply *last;

		if (reply_reader_next(r, &p, &left, &reply, NULL) != 1 || left || reply->type != REDIS_REPLY_ARRAY)
			abort();
		last = reply->element[reply->elements - 1];
		if (last->type != REDIS_REPLY_STRING || (size_t)last->len != text.n ||
		    memcmp(last->str, text.p, text.n))
			abort();
		last = reply->element[reply->elements - 2];
		if (last->type != REDIS_REPLY_STRING || (size_t)last->len != channel.n ||
		    memcmp(last->str, channel.p, channel.n))
			abort();
		freeReplyObject(reply);
	}
	reply_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_done) struct buf whole = { 0 }, pieces = { 0 };

	if (size > REPLY_MAX)
		return 0;
	buf_init(&whole);
	buf_init(&pieces);
	check_push(data, size);
	read_all(data, size, size + 1, &whole);
	read_all(data, size, 3, &pieces);
	if (whole.size != pieces.size || memcmp(whole.data, pieces.data, whole.size))
		abort();
	return 0;
}
