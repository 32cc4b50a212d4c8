/* redis_source.c: which of the two it is. */
#include "redis_source.h"

#include "redis_pubsub.h"
#include "redis_stream.h"
#include "redis_url.h"

static int redis_source_open(const char *url, struct loop *loop, const struct source_receiver *receiver,
			     struct source **ret, struct err *err)
{
	struct redis_url u;
	int r = redis_url_parse(url, &u, err);
	bool is_stream = r >= 0 && redis_url_get(&u, "stream");

	redis_url_done(&u);
	if (r < 0)
		return r;
	if (is_stream)
		return redis_stream_open(url, loop, receiver, ret, err);
	return redis_pubsub_open(url, loop, receiver, ret, err);
}

const struct source_ops redis_source_ops = {
	.scheme = "redis",
	.open = redis_source_open,
};
