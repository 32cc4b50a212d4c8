/* daemon_request.c: the daemon reports in {"error": "…"} why it refuses a request. */
#include "daemon_request.h"

#include "http_get.h"
#include "text.h"
#include "token.h"

#include <stdio.h>
#include <string.h>

#define REASON_MAX	300u

/* Copies the string after `"error":`, or the whole body if there is none. Its escapes are those of json.h. */
static void put_reason(const struct buf *body, struct buf *out)
{
	static const char key[] = "\"error\"";
	_cleanup_(buf_done) struct buf plain = { 0 };
	const char *at = body->size ? strstr(body->data, key) : NULL;

	buf_init(&plain);
	if (at)
		at += strlen(key) + strspn(at + strlen(key), " :");
	if (!at || *at != '"') {
		text_put_plain(out, (struct str){ body->data, body->size < REASON_MAX ? body->size : REASON_MAX });
		return;
	}
	for (at++; *at && *at != '"'; at++) {
		unsigned code;

		if (sscanf(at, "\\u00%2x", &code) == 1 && code < 0x80) {
			buf_putc(&plain, (char)code);
			at += strlen("u003c");
			continue;
		}
		if (*at == '\\' && at[1])
			at++;
		buf_putc(&plain, *at);
	}
	text_put_plain(out, (struct str){ plain.data, plain.size });
}

static int refused(const struct daemon_request *q, int status, const struct buf *body, struct err *err)
{
	_cleanup_(buf_done) struct buf why = { 0 };

	buf_init(&why);
	put_reason(body, &why);
	if (status == 401 && (!q->token || !*q->token))
		return err_set(err, -EACCES, "the daemon at %s requires an access token; give --token-file, or set " TOKEN_VARIABLE,
			       q->address);
	if (status == 401 && q->token_file)
		return err_set(err, -EKEYREJECTED, "the daemon at %s does not accept the token in '%s'; it must be the one of the daemon's "
						   "token-file",
			       q->address, q->token_file);
	if (status == 401)
		return err_set(err, -EKEYREJECTED, "the daemon at %s does not accept the token in " TOKEN_VARIABLE "; it must be the one of "
						   "the daemon's token-file",
			       q->address);
	if (status == 429)
		return err_set(err, -EAGAIN, "the daemon at %s refused the request: %s", q->address, why.size ? why.data : "too many requests");
	return err_set(err, status == 404 ? -ENOENT : -EREMOTEIO, "the daemon at %s answered with status %d%s%s", q->address, status,
		       why.size ? ": " : "", why.size ? why.data : "");
}

int daemon_get(const struct daemon_request *q, const char *path, struct buf *head, struct buf *body, struct err *err)
{
	_cleanup_(buf_done) struct buf answer = { 0 };
	int r;

	buf_init(&answer);
	r = http_get(q->address, path, q->token && *q->token ? q->token : NULL, q->timeout_ms, q->limit, head, &answer, err);
	if (r == -ECONNREFUSED)
		return err_set(err, r, "no daemon answers at %s; start one with `strobe serve`, or give its address with --url",
			       q->address);
	if (r >= 0 && r != 200 && !(r == 302 && head))
		return refused(q, r, &answer, err);
	if (r >= 0)
		buf_put(body, answer.data, answer.size);
	return r;
}
