/* cmd_status.c: `strobe status`: prints the counters of the running daemon. */

#include "commands.h"

#include "status_fetch.h"
#include "container.h"
#include "io.h"
#include "mem.h"
#include "php_processes.h"
#include "status_text.h"

static const char *url, *token_file;
static bool json;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'u', "url", "URL", &url,
	  "Daemon (default: " DAEMON_SERVE ").",
	  "That is `strobe serve`; if it does not answer, " DAEMON_COLLECT ", which is `strobe collect`." },
	{ OPTION_STRING, 0, "token-file", "FILE", &token_file,
	  "File with the daemon's token (or STROBE_TOKEN)." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print all counters as JSON." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "status",
	.usage = "[OPTIONS]",
	.summary = "show what the running daemon received, stored and dropped",
	.description =
		"Prints the counters of `strobe serve` or `strobe collect`: samples received, stored and dropped by "
		"reason, samples that PHP processes could not send, each source and sink with its totals, and the "
		"size of the store. The exit code is 2 when no daemon answers.",
	.examples = "strobe status\nstrobe status --json | jq .samples\n",
	.options = options,
};

/* Recommends the doctor if nothing has arrived yet, or if a process cannot send. */
static void put_doctor(bool unreached, const struct buf *body, struct buf *out)
{
	if (unreached || status_text_is_waiting(body))
		buf_printf(out, "no data?    `%sstrobe doctor` finds the cause and names the command that fixes it\n",
			   container_without_systemd("") ? "" : "sudo ");
}

/* If the daemon's socket exists here, the daemon is on this machine. */
static bool put_unreached(const struct buf *body, struct buf *out)
{
	_cleanup_(freep) char *socket_path = status_text_socket(body);
	_cleanup_(freep) struct php_group *groups = NULL;
	size_t count, before;

	if (!socket_path || access(socket_path, F_OK) < 0)
		return false;
	before = out->size;
	count = php_processes_find("/proc", socket_path, &groups);
	status_text_put_unreached(groups, count, socket_path, out);
	return out->size > before;
}

static int show(struct buf *out, struct err *err)
{
	const char *address;
	_cleanup_(buf_done) struct buf body = { 0 };
	int r;

	buf_init(&body);
	r = status_fetch(url, token_file, &address, &body, err);
	if (r < 0)
		return r;
	if (!json) {
		r = status_text_put(address, &body, out, err);
		if (r >= 0)
			put_doctor(put_unreached(&body, out), &body, out);
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
		return command_usage(&spec, "unexpected argument '%s'; status takes options only", argv[1]);
	r = show(&out, &err);
	if (r >= 0)
		r = io_write_all(STDOUT_FILENO, out.data, out.size, &err);
	return r < 0 ? command_fail(&spec, &err) : EXIT_OK;
}

const struct command command_status = { &spec, run };
