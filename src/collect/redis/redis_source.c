/* redis_source.c: opens a stream or a subscription, by the URL. */
#include "redis_source.h"

#include "redis_login.h"
#include "redis_pubsub.h"
#include "redis_stream.h"
#include "redis_url.h"

/* Returns 1 for a stream, 0 for channels. */
static int is_stream(const char *url, struct err *err)
{
	struct redis_url u;
	int r = redis_url_parse(url, &u, err);

	if (r >= 0)
		r = redis_url_get(&u, "stream") != NULL;
	redis_url_done(&u);
	return r;
}

static bool redis_source_acknowledges(const char *url)
{
	struct err err;

	return is_stream(url, &err) > 0;
}

/* Checks at the opening that files can be read. A failure at a later connection would only be logged, when the
 * replaced source is already closed. */
static int check_files(const char *url, struct err *err)
{
	struct redis_url u;
	int r = redis_url_parse(url, &u, err);

	if (r >= 0)
		r = redis_login_check_files(&u, err);
	redis_url_done(&u);
	return r;
}

static int redis_source_open(const char *url, struct loop *loop, const struct source_receiver *receiver,
			     struct source **ret, struct err *err)
{
	int r = check_files(url, err);

	if (r < 0 || (r = is_stream(url, err)) < 0)
		return r;
	if (r)
		return redis_stream_open(url, loop, receiver, ret, err);
	return redis_pubsub_open(url, loop, receiver, ret, err);
}

const struct source_ops redis_source_ops = {
	.scheme = "redis",
	.acknowledges = redis_source_acknowledges,
	.open = redis_source_open,
};

const struct source_ops redis_tls_source_ops = {
	.scheme = "rediss",
	.acknowledges = redis_source_acknowledges,
	.open = redis_source_open,
};
