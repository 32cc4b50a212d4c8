/* status_fetch.c: one request over HTTP, to one of two addresses. */
#include "status_fetch.h"

#include "http_get.h"
#include "token.h"

#define TIMEOUT_MS	5000

static int ask(const char *address, const char *token_file, struct buf *body, struct err *err)
{
	_cleanup_(buf_done) struct buf token = { 0 };
	int r;

	buf_init(&token);
	if ((r = token_get(token_file, TOKEN_VARIABLE, &token, err)) < 0)
		return r;
	r = http_get(address, "/api/v1/status", token.size ? token.data : NULL, TIMEOUT_MS, body, err);
	if (r == -ECONNREFUSED)
		return err_set(err, r, "no daemon answers at %s; start one with `strobe serve`, or give its "
				       "address with --url; `strobe doctor` finds the cause", address);
	if (r == 401)
		return err_set(err, -EACCES,
		  "the daemon at %s requires an access token; give --token-file, or set STROBE_TOKEN", address);
	if (r >= 0 && r != 200)
		return err_set(err, -EPROTO, "the daemon at %s answered with status %d", address, r);
	return r < 0 ? r : 0;
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
