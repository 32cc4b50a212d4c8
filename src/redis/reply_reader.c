/* reply_reader.c: feeds hiredis' reader in slices, and enforces the limits. */
#include "reply_reader.h"

#include "mem.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>

#define SLICE		(16u * 1024)
#define TLS_ALERT	'\x15'			/* begins a record; no reply begins with it */
#define ELEMENTS_MAX	(1u << 20)		/* in all arrays of a reply; hiredis allocates them in advance */

struct reply_reader {
	redisReader *reader;
	redisReplyObjectFunctions functions;
	const redisReplyObjectFunctions *of_hiredis;	/* copied from a reader, since hiredis does not export them */
	size_t reply_max;
	size_t fed, elements;			/* bytes and elements since the last reply */
	char first;				/* first byte fed */
};

#if HIREDIS_MAJOR >= 1
#define ELEMENTS size_t
#else
#define ELEMENTS int
#endif

static void *create_array(const redisReadTask *task, ELEMENTS elements)
{
	struct reply_reader *r = task->privdata;

	if ((size_t)elements > ELEMENTS_MAX - r->elements)
		return NULL;
	r->elements += (size_t)elements;
	return r->of_hiredis->createArray(task, elements);
}

static void make_reader(struct reply_reader *r)
{
	r->reader = redisReaderCreate();
	if (!r->reader)
		mem_exhausted(sizeof(*r->reader));
	r->of_hiredis = r->reader->fn;
	r->functions = *r->reader->fn;
	r->functions.createArray = create_array;
	r->reader->fn = &r->functions;
	r->reader->privdata = r;
}

struct reply_reader *reply_reader_new(size_t reply_max)
{
	struct reply_reader *r = xcalloc(1, sizeof(*r));

	r->reply_max = reply_max;
	make_reader(r);
	return r;
}

struct reply_reader *reply_reader_free(struct reply_reader *r)
{
	if (!r)
		return NULL;
	redisReaderFree(r->reader);
	free(r);
	return NULL;
}

bool reply_reader_is_empty(const struct reply_reader *r)
{
	return r->fed == 0;
}

void reply_reader_take_rest(struct reply_reader *r, const char **bytes, size_t *n)
{
	size_t unread = r->reader->len - r->reader->pos;

	assert(unread <= SLICE);
	*bytes -= unread;
	*n += unread;
	r->fed = 0;
	if (!unread)
		return;
	redisReaderFree(r->reader);
	make_reader(r);
}

static int too_large(const struct reply_reader *r, struct err *err)
{
	return err_set(err, -EMSGSIZE, "a reply is larger than %zu MB, or has more than %u elements; it is not read",
		       r->reply_max >> 20, ELEMENTS_MAX);
}

/* A TLS alert is how a server that requires TLS responds. */
static int not_redis(const struct reply_reader *r, struct err *err)
{
	if (r->first == TLS_ALERT)
		return err_set(err, -EPROTO, "it answers in TLS; use rediss:// for this port");
	return err_set(err, -EPROTO, "it does not speak the Redis protocol; is it a Redis?");
}

int reply_reader_next(struct reply_reader *r, const char **bytes, size_t *n, struct redisReply **ret, struct err *err)
{
	for (;;) {
		void *reply = NULL;
		size_t slice;

		if (redisReaderGetReply(r->reader, &reply) != REDIS_OK) {
			if (r->reader->err == REDIS_ERR_OOM)
				return too_large(r, err);
			return not_redis(r, err);
		}
		if (reply) {
			r->fed = r->reader->len - r->reader->pos;
			r->elements = 0;
			*ret = reply;
			return 1;
		}
		if (!*n)
			return 0;
		if (r->fed > r->reply_max)
			return too_large(r, err);
		slice = *n < SLICE ? *n : SLICE;
		r->first = r->fed ? r->first : **bytes;
		if (redisReaderFeed(r->reader, *bytes, slice) != REDIS_OK)
			return too_large(r, err);
		r->fed += slice;
		*bytes += slice;
		*n -= slice;
	}
}
