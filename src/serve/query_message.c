/* query_message.c: writes consecutive fields, and reads them in the same order. */
#include "query_message.h"

#include <string.h>

struct reader {
	const char *p, *end;
	bool bad;
};

static void begin(struct buf *b, char kind)
{
	buf_reset(b);
	buf_putc(b, kind);
}

static void put_text(struct buf *b, const char *text)
{
	buf_putc(b, text != NULL);
	if (text)
		buf_put(b, text, strlen(text) + 1);
}

static void put_bytes(struct buf *b, const char *bytes, uint64_t n)
{
	buf_put(b, &n, sizeof(n));
	if (n)
		buf_put(b, bytes, n);
}

static struct reader read_from(const char *bytes, size_t n, char kind)
{
	return (struct reader){ bytes + 1, bytes + n, n < 1 || *bytes != kind };
}

static void get(struct reader *r, void *ret, size_t n)
{
	if (r->bad || (size_t)(r->end - r->p) < n) {
		r->bad = true;
		memset(ret, 0, n);
		return;
	}
	memcpy(ret, r->p, n);
	r->p += n;
}

static const char *get_text(struct reader *r)
{
	const char *text, *end;
	char is_present;

	get(r, &is_present, 1);
	if (!is_present)
		return NULL;
	text = r->p;
	end = memchr(text, 0, (size_t)(r->end - r->p));
	if (!end) {
		r->bad = true;
		return NULL;
	}
	r->p = end + 1;
	return text;
}

/* Returns NULL if there are none. */
static const char *get_bytes(struct reader *r, size_t *ret_n)
{
	const char *bytes;
	uint64_t n;

	get(r, &n, sizeof(n));
	bytes = r->p;
	*ret_n = 0;
	if (r->bad || n > (size_t)(r->end - r->p)) {
		r->bad = true;
		return NULL;
	}
	r->p += n;
	*ret_n = n;
	return n ? bytes : NULL;
}

static bool is_whole(const struct reader *r)
{
	return !r->bad && r->p == r->end;
}

/* --- Requests --- */

void query_put_request(struct buf *b, const struct query_limits *l, const struct request *q, const char *php_socket)
{
	bool accepts[3] = { q->accepts_gzip, q->accepts_html, q->shows_pages };

	begin(b, QUERY_ASK);
	buf_put(b, l, sizeof(*l));
	buf_put(b, &q->now_ns, sizeof(q->now_ns));
	buf_put(b, accepts, sizeof(accepts));
	buf_put(b, &q->identity, sizeof(q->identity));
	put_text(b, q->headers.method);
	put_text(b, q->path);
	put_text(b, q->query);
	put_text(b, q->accept);
	put_text(b, q->form_token);
	put_text(b, q->content_type);
	put_text(b, q->content_encoding);
	put_text(b, php_socket);
	put_bytes(b, q->body, q->body_size);
}

bool query_get_request(const char *bytes, size_t n, struct query_limits *l, struct request *q, const char **ret_php_socket)
{
	struct reader r = read_from(bytes, n, QUERY_ASK);
	char accepts[3];

	*q = (struct request){ 0 };
	get(&r, l, sizeof(*l));
	get(&r, &q->now_ns, sizeof(q->now_ns));
	get(&r, accepts, sizeof(accepts));
	get(&r, &q->identity, sizeof(q->identity));
	q->accepts_gzip = accepts[0];
	q->accepts_html = accepts[1];
	q->shows_pages = accepts[2];
	q->headers.method = get_text(&r);
	q->path = get_text(&r);
	q->query = get_text(&r);
	q->accept = get_text(&r);
	q->form_token = get_text(&r);
	q->content_type = get_text(&r);
	q->content_encoding = get_text(&r);
	*ret_php_socket = get_text(&r);
	q->body = get_bytes(&r, &q->body_size);
	return is_whole(&r) && q->headers.method && q->path;
}

/* --- Answers --- */

void query_put_damage(struct buf *b, int64_t day_ns, const char *why)
{
	begin(b, QUERY_DAMAGE);
	buf_put(b, &day_ns, sizeof(day_ns));
	put_text(b, why);
}

bool query_get_damage(const char *bytes, size_t n, int64_t *ret_day_ns, const char **ret_why)
{
	struct reader r = read_from(bytes, n, QUERY_DAMAGE);

	get(&r, ret_day_ns, sizeof(*ret_day_ns));
	*ret_why = get_text(&r);
	return is_whole(&r);
}

void query_put_answer(struct buf *b, const struct response *r, uint64_t size)
{
	int32_t status = r->status;
	bool facts[2] = { r->gzipped, r->pruned };

	begin(b, QUERY_ANSWER);
	buf_put(b, &size, sizeof(size));
	buf_put(b, &status, sizeof(status));
	buf_put(b, facts, sizeof(facts));
	put_text(b, r->type);
	put_text(b, r->allow);
	put_text(b, r->location);
	put_text(b, r->disposition);
	put_text(b, r->etag);
	put_text(b, r->set_cookie);
	put_text(b, r->warning);
	put_text(b, r->accept_post);
}

bool query_get_answer(const char *bytes, size_t n, struct response *r, uint64_t *ret_size)
{
	struct reader in = read_from(bytes, n, QUERY_ANSWER);
	const char **texts[] = { &r->type, &r->allow, &r->location, &r->disposition, &r->etag, &r->set_cookie, &r->warning,
				 &r->accept_post };
	const char *found[ARRAY_SIZE(texts)];
	uint64_t size;
	int32_t status;
	char facts[2];

	get(&in, &size, sizeof(size));
	get(&in, &status, sizeof(status));
	get(&in, facts, sizeof(facts));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		found[i] = get_text(&in);
	if (!is_whole(&in) || !found[0])
		return false;
	*ret_size = size;
	r->status = status;
	r->gzipped = facts[0];
	r->pruned = facts[1];
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = found[i] ? arena_copy(&r->bytes, found[i], strlen(found[i])) : NULL;
	return true;
}

void query_put_ended(struct buf *b, int status)
{
	begin(b, QUERY_ENDED);
	buf_put(b, &status, sizeof(status));
}

bool query_get_ended(const char *bytes, size_t n, int *ret_status)
{
	struct reader r = read_from(bytes, n, QUERY_ENDED);

	get(&r, ret_status, sizeof(*ret_status));
	return is_whole(&r);
}
