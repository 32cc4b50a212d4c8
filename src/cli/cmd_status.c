/* cmd_status.c: `strobe status`: asks the running daemon how it is. */

#include "commands.h"

#include "http_get.h"
#include "io.h"
#include "mem.h"
#include "php_processes.h"
#include "status_text.h"
#include "token.h"

#define TIMEOUT_MS	5000

/* Where `strobe serve` and `strobe collect` are unless told otherwise. */
#define SERVE		"http://127.0.0.1:8787"
#define COLLECT		"http://127.0.0.1:8788"

static const char *url, *token_file;
static bool json;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'u', "url", "URL", &url, "Address of the daemon; unless given that of `strobe serve`, "
	  SERVE ", or where there is none that of `strobe collect`, " COLLECT "." },
	{ OPTION_STRING, 0, "token-file", "FILE", &token_file, "File with the token that the daemon asks for, if it is not in STROBE_TOKEN." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print all counters as JSON." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "status",
	.usage = "[OPTIONS]",
	.summary = "show what the running daemon received, stored and dropped",
	.description =
		"Asks `strobe serve` or `strobe collect` for its counters: samples received, stored and dropped by "
		"reason, what PHP processes could not hand over and why, each source and each sink with its sum, and "
		"the size of the store. Exits with 2 when no daemon answers.",
	.examples = "strobe status\nstrobe status --json | jq .samples\n",
	.options = options,
};

static int ask(const char *address, struct buf *body, struct err *err)
{
	_cleanup_(buf_done) struct buf token = { 0 };
	int r;

	buf_init(&token);
	if ((r = token_get(token_file, TOKEN_VARIABLE, &token, err)) < 0)
		return r;
	r = http_get(address, "/api/v1/status", token.size ? token.data : NULL, TIMEOUT_MS, body, err);
	if (r == -ECONNREFUSED)
		return err_set(err, r, "no daemon answers at %s; start one with `strobe serve`, or name its address "
			       "with --url", address);
	if (r == 401)
		return err_set(err, -EACCES, "the daemon at %s asks for its token; give --token-file, or set STROBE_TOKEN", address);
	if (r >= 0 && r != 200)
		return err_set(err, -EPROTO, "the daemon at %s answered with status %d", address, r);
	return r;
}

/* `*ret_address` is the one that answered, well or not, or the first if nobody did. */
static int ask_usual(const char **ret_address, struct buf *body, struct err *err)
{
	struct err second = { 0 };
	int r = ask(SERVE, body, err);

	*ret_address = SERVE;
	if (r != -ECONNREFUSED)
		return r;
	buf_reset(body);
	r = ask(COLLECT, body, &second);
	if (r == -ECONNREFUSED)
		return r;
	*ret_address = COLLECT;
	if (r < 0)
		*err = second;
	return r;
}

/* Whether the daemon is on this machine shows in its socket being here. */
static void put_unreached(const struct buf *body, struct buf *out)
{
	_cleanup_(freep) char *socket_path = status_text_socket(body);
	_cleanup_(freep) struct php_group *groups = NULL;
	size_t count;

	if (!socket_path || access(socket_path, F_OK) < 0)
		return;
	count = php_processes_find("/proc", socket_path, &groups);
	status_text_put_unreached(groups, count, socket_path, out);
}

static int show(struct buf *out, struct err *err)
{
	const char *address = url;
	_cleanup_(buf_done) struct buf body = { 0 };
	int r;

	buf_init(&body);
	r = url ? ask(url, &body, err) : ask_usual(&address, &body, err);
	if (r < 0)
		return r;
	if (!json) {
		r = status_text_put(address, &body, out, err);
		if (r >= 0)
			put_unreached(&body, out);
		return r;
	}
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
