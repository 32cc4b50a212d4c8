/* cmd_status.c: `strobe status`: asks the running daemon how it is. */

#include "commands.h"

#include "http_get.h"
#include "io.h"
#include "status_text.h"

#include <ctype.h>

#define TIMEOUT_MS	5000

static const char *url = "http://127.0.0.1:8787", *token_file;
static bool json;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'u', "url", "URL", &url, "Address of the daemon; http://127.0.0.1:8787 unless given. `strobe collect` has http://127.0.0.1:8788." },
	{ OPTION_STRING, 0, "token-file", "FILE", &token_file, "File with the token that the daemon asks for." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print all counters as JSON." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "status",
	.usage = "[OPTIONS]",
	.summary = "show what the running daemon received, stored and dropped",
	.description =
		"Asks `strobe serve` or `strobe collect` for its counters: samples received, stored and dropped by reason, what PHP "
		"processes could not hand over and why, each source and each sink with its sum, and the size of the store. "
		"Exits with 2 when no daemon answers.",
	.examples = "strobe status\nstrobe status --json | jq .samples\n",
	.options = options,
};

static int ask(struct buf *body, struct err *err)
{
	_cleanup_(buf_done) struct buf token = { 0 };
	int r;

	buf_init(&token);
	if (token_file && (r = io_read_file(token_file, &token, 4096, err)) < 0)
		return r;
	while (token.size && isspace((unsigned char)token.data[token.size - 1]))
		token.data[--token.size] = '\0';

	r = http_get(url, "/api/v1/status", token.size ? token.data : NULL, TIMEOUT_MS, body, err);
	if (r == -ECONNREFUSED)
		return err_set(err, r, "no daemon answers at %s; start one with `strobe serve`, or name its address "
			       "with --url", url);
	if (r == 401)
		return err_set(err, -EACCES, "the daemon at %s asks for its token; give --token-file", url);
	if (r >= 0 && r != 200)
		return err_set(err, -EPROTO, "the daemon at %s answered with status %d", url, r);
	return r;
}

static int show(struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	int r;

	buf_init(&body);
	r = ask(&body, err);
	if (r < 0)
		return r;
	if (!json)
		return status_text_put(url, &body, out, err);
	buf_put(out, body.data, body.size);
	return 0;
}

static int run(int argc, char **argv)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct err err = { 0 };
	int operands, code, r;

	buf_init(&out);
	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if (operands)
		return command_usage(&spec, "'%s' is too much; status takes options only", argv[1]);
	r = show(&out, &err);
	if (r >= 0)
		r = io_write_all(STDOUT_FILENO, out.data, out.size, &err);
	return r < 0 ? command_cannot(&spec, &err) : EXIT_FINE;
}

const struct command command_status = { &spec, run };
