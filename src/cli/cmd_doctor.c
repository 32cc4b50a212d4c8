/* cmd_doctor.c: `strobe doctor`: finds out why there is no data. */

#include "commands.h"

#include "status_fetch.h"
#include "bounded.h"
#include "clock.h"
#include "doctor.h"
#include "io.h"
#include "mem.h"
#include "paths.h"
#include "status_text.h"

#include <string.h>

#define LOOK_NS		(15 * NS_PER_SECOND)	/* for each of the four parts */

static const char *pid, *url, *token_file;
static bool json;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'p', "pid", "PID", &pid, "Check only this process." },
	{ OPTION_FLAG, 0, "json", NULL, &json, "Print the findings as JSON." },
	{ OPTION_STRING, 'u', "url", "URL", &url,
	  "Daemon (default: " DAEMON_SERVE ").",
	  "That is `strobe serve`; if it does not answer, " DAEMON_COLLECT ", which is `strobe collect`." },
	{ OPTION_STRING, 0, "token-file", "FILE", &token_file,
	  "File with the daemon's token (or STROBE_TOKEN)." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "doctor",
	.usage = "[-p PID] [OPTIONS]",
	.summary = "find out why there is no data",
	.description =
		"Checks the daemon and its socket, recent samples, each PHP with its php.ini, the php-fpm pools and "
		"their users, all running PHP processes, and the kernel's support for sampling from outside. For "
		"each problem it names the cause and the command that fixes it. It only reads, and changes nothing. "
		"Run it as root (sudo) to see processes of other users.\n\n"
		"The exit code is 0 if there is no problem (there may be warnings), 1 for an invalid command "
		"line, 2 for a problem that keeps data from arriving, a PID without a process, an invalid URL, or a "
		"FILE that cannot be read, 4 if all is well "
		"but no sample has arrived yet.",
	.examples = "strobe doctor\nsudo strobe doctor -p 4711\nstrobe doctor --json | jq '.findings[] | select(.level == \"problem\")'\n",
	.options = options,
};

static int check_all(struct findings *f, struct err *err)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	_cleanup_(freep) char *socket_path = NULL;
	struct doctor d = { .root = "/", .proc = "/proc", .pid = pid };
	struct daemon_unit unit = daemon_unit_find("/");
	const char *address;
	bool answers;
	int r;

	buf_init(&body);
	if ((r = status_fetch_check(url, token_file, err)) < 0)
		return r;
	r = status_fetch(url, token_file, &address, &body, err);
	if (!url && r >= 0) {
		unit.serves = !strcmp(address, DAEMON_SERVE);
		unit.collects = !strcmp(address, DAEMON_COLLECT);
	}
	doctor_daemon(f, address, &unit, r < 0 ? NULL : &body, r, err->text);
	answers = r >= 0;
	if (answers)
		socket_path = status_text_socket(&body);
	d.remote = answers && !socket_path;
	if (!socket_path && (r = paths_expected_socket(&socket_path, err)) < 0)
		return r;
	d.socket = socket_path;
	d.daemon = !d.remote && doctor_socket(f, socket_path, &unit, answers);
	if (pid) {
		bounded_check(f, AREA_PROCESS, LOOK_NS, doctor_process, &d);
	} else {
		bounded_check(f, AREA_PHP, LOOK_NS, doctor_php, &d);
		bounded_check(f, AREA_PROCESSES, LOOK_NS, doctor_processes, &d);
	}
	bounded_check(f, AREA_SAMPLER, LOOK_NS, doctor_sampler, &d);
	return 0;
}

static int exit_code(const struct findings *f)
{
	bool nothing_arrived = false;

	for (size_t i = 0; i < f->count; i++) {
		if (f->items[i].level != LEVEL_PROBLEM)
			continue;
		if (strcmp(f->items[i].check, "nothing-arrived"))
			return EXIT_ERROR;
		nothing_arrived = true;
	}
	return nothing_arrived ? EXIT_NO_SAMPLES : EXIT_OK;
}

static int print(const struct findings *f, struct err *err)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	int r;

	buf_init(&out);
	if (json)
		findings_put_json(f, &out);
	else
		findings_put_text(f, command_wants_color(STDOUT_FILENO), &out);
	r = io_write_all(STDOUT_FILENO, out.data, out.size, err);
	return r < 0 ? r : 0;
}

static bool is_number(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n > 0 && n < 10 && !text[n] && *text != '0';
}

static int run(int argc, char **argv)
{
	struct findings f;
	struct err err = { 0 };
	int operands, code, r;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if (operands)
		return command_usage(&spec, "unexpected argument '%s'; to check one process, use -p PID", argv[1]);
	if (pid && !is_number(pid))
		return command_invalid(&spec, "pid", "the number of a process");
	findings_init(&f);
	r = check_all(&f, &err);
	if (r >= 0)
		r = print(&f, &err);
	code = r < 0 ? command_fail(&spec, &err) : exit_code(&f);
	findings_done(&f);
	return code;
}

const struct command command_doctor = { &spec, run };
