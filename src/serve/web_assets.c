/* web_assets.c: serves the built files, compressed for clients that accept it. */

#include "web_assets.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

static const struct asset *find_asset(const char *name)
{
	for (const struct asset *a = assets; a->name; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

/* Browsers all accept gzip; this is for people who use curl. */
static int put_inflated(const struct asset *a, struct buf *out)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)a->gzip, .avail_in = (uInt)a->gzip_size };
	char *at = buf_reserve(out, a->size);
	int r;

	if (!at || inflateInit2(&z, 15 + 16) != Z_OK)
		return -ENOMEM;
	z.next_out = (unsigned char *)at;
	z.avail_out = (uInt)a->size;
	r = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (r != Z_STREAM_END)
		return -EIO;
	buf_wrote(out, a->size);
	return 0;
}

static bool is_known(const struct request *q)
{
	return q->if_none_match && (strstr(q->if_none_match, assets_hash) || strcmp(q->if_none_match, "*") == 0);
}

static void send_asset(const struct asset *a, const struct request *q, struct response *r)
{
	char etag[32];
	int n = snprintf(etag, sizeof(etag), "\"%s%s\"", assets_hash, q->accepts_gzip ? "" : "-plain");

	assert(n > 0 && (size_t)n < sizeof(etag));
	r->etag = arena_copy(&r->bytes, etag, (size_t)n);
	r->type = a->type;
	if (is_known(q)) {
		r->status = 304;
	} else if (q->accepts_gzip) {
		r->gzipped = true;
		buf_put(&r->body, a->gzip, a->gzip_size);
	} else if (put_inflated(a, &r->body) < 0) {
		r->etag = NULL;
		response_error(r, q, 500, "'%s' cannot be unpacked; ask for it with Accept-Encoding: gzip", a->name);
	}
}

void assets_answer(struct server_context *s, const struct request *q, struct response *r)
{
	const char *rest = q->path + strlen("/assets/");
	size_t n = strlen(assets_hash);
	const struct asset *a = NULL;

	(void)s;
	if (strncmp(rest, assets_hash, n) == 0 && rest[n] == '/')
		a = find_asset(rest + n + 1);
	if (a)
		send_asset(a, q, r);
	else
		response_error(r, q, 404, "this file is of another version; reload the page");
}

void assets_icon(struct server_context *s, const struct request *q, struct response *r)
{
	const struct asset *a = find_asset("icon.svg");

	(void)s;
	if (a)
		send_asset(a, q, r);
	else
		response_error(r, q, 404, "there is no icon");
}
