/* export_pyroscope.c: batches as pushes of Pyroscope. */
#include "export_private.h"

#include "push_write.h"

#include <stdlib.h>
#include <string.h>

static ssize_t write_pushes(const struct exporter *x, const struct batch *b, size_t first, size_t end, struct buf *out,
			    struct err *err)
{
	size_t n = 0;
	int r;

	do {
		r = push_write_entry(export_entry(x, b, first + n), x->service, out, err);
		if (r < 0)
			return n ? (ssize_t)n : r;
		n++;
	} while (first + n < end && out->size < EXPORT_REQUEST_BYTES);
	return (ssize_t)n;
}

/* Retries the codes of Connect that Pyroscope's own clients retry. */
static bool push_is_retried(int status, const struct http_answer *a)
{
	return status == 429 || status == 500 || status == 502 || status == 503 || status == 504 ||
	       (status == 409 && a->body.size && memmem(a->body.data, a->body.size, "\"aborted\"", 9));
}

/* Since 1.15 Pyroscope stores each series on its own, and joins the errors of the others, mostly with status 500:
 * "push series with index 3 and id … failed: invalid_argument: …; push series with index 7 …". */
static size_t push_read_failed(const struct http_answer *a, size_t n, enum export_outcome *outcomes)
{
	static const char begin[] = "push series with index ", middle[] = " failed: ", rejected[] = "invalid_argument";
	const char *at = a->body.size ? a->body.data : "";
	size_t count = 0;

	while ((at = strstr(at, begin))) {
		size_t index = strtoul(at += strlen(begin), NULL, 10);
		const char *why = strstr(at, middle);

		if (index >= n || !why)
			return 0;
		count += outcomes[index] == EXPORT_STORED;
		outcomes[index] = strncmp(why + strlen(middle), rejected, strlen(rejected)) ? EXPORT_RETRIED : EXPORT_REJECTED;
	}
	return count;
}

static uint64_t push_read_answer(const struct http_answer *a, int status, struct buf *ret)
{
	if (!export_is_success(status) && a->body.size)
		export_put_text(a, ret);
	return 0;
}

const struct export_kind export_pyroscope = {
	.url = { .scheme = "pyroscope", .port = 4040, .name_is_user = true, .form = "use a URL such as pyroscope://host:4040" },
	.path = "/push.v1.PusherService/Push",
	.headers = { "Content-Type: application/proto", "Connect-Protocol-Version: 1", NULL },
	.write = write_pushes,
	.is_retried = push_is_retried,
	.read_failed = push_read_failed,
	.read_answer = push_read_answer,
};
