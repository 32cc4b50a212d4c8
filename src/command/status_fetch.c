/* status_fetch.c: sends one HTTP request to one of two URLs. */
#include "status_fetch.h"

#include "daemon_request.h"
#include "http_get.h"
#include "token.h"

#define TIMEOUT_MS	5000
#define ANSWER_MAX	((size_t)16 << 20)

static int ask(const char *address, const char *token_file, struct buf *body, struct err *err)
{
	struct daemon_request q = { .address = address, .token_file = token_file, .timeout_ms = TIMEOUT_MS, .limit = ANSWER_MAX };
	_cleanup_(buf_done) struct buf token = { 0 };
	int r;

	buf_init(&token);
	if ((r = token_get(token_file, TOKEN_VARIABLE, &token, err)) < 0)
		return r;
	q.token = token.data;
	r = daemon_get(&q, "/api/v1/status", NULL, body, err);
	if (r == -ECONNREFUSED)
		return err_set(err, r, "no daemon answers at %s; start one with `strobe serve`, or give its "
				       "address with --url; `strobe doctor` finds the cause", address);
	if (r == -ENOENT)
		return err_set(err, -EPROTO, "the program at %s is not a strobe daemon: it has no /api/v1/status; give the address of the daemon with --url",
			       address);
	return r < 0 ? r : 0;
}

int status_fetch_check(const char *url, const char *token_file, struct err *err)
{
	_cleanup_(buf_done) struct buf token = { 0 };
	int r = url ? http_check_address(url, err) : 0;

	buf_init(&token);
	return r < 0 ? r : token_get(token_file, TOKEN_VARIABLE, &token, err);
}

int status_fetch(const char *url, const char *token_file, const char **ret_address, struct buf *body, struct err *err)
{
	struct err second = { 0 };
	int r;

	*ret_address = url ? url : DAEMON_SERVE;
	r = ask(*ret_address, token_file, body, err);
	if (url || r != -ECONNREFUSED)
		return r;
	buf_reset(body);
	r = ask(DAEMON_COLLECT, token_file, body, &second);
	if (r == -ECONNREFUSED)
		return r;
	*ret_address = DAEMON_COLLECT;
	if (r < 0)
		*err = second;
	return r;
}
