/* cmd_serve.c: `strobe serve`: collect, store and show. */

#include "commands.h"

#include "clock.h"
#include "daemon.h"
#include "io.h"
#include "log.h"
#include "mem.h"
#include "places.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#define TOKEN_FILE_MAX	4096
#define RETAIN_DAYS_MAX	36500

static const char *listen_address, *store_url, *max_bytes = "10G", *runs_size = "2G", *token_file;
static struct option_list sources, allow_hosts;
static double retain_days = 30, runs_days = 30;
static long runs_count = 10000;
static bool quiet;

static const struct option_spec options[] = {
	{ OPTION_STRING, 0, "listen", "ADDRESS", &listen_address,
	  "Where the page and the API are served; 127.0.0.1:8787 unless given. Port 0 takes a free one." },
	{ OPTION_LIST, 0, "from", "URL", &sources,
	  "Where samples come from, such as unix:/run/strobe/strobe.sock; may be given several times." },
	{ OPTION_STRING, 0, "store", "URL", &store_url,
	  "Where samples are kept, such as sqlite:/var/lib/strobe." },
	{ OPTION_DOUBLE, 0, "retain", "DAYS", &retain_days, "Remove what is older; 30 unless given, 0 keeps all." },
	{ OPTION_STRING, 0, "max-bytes", "SIZE", &max_bytes,
	  "Remove the oldest days above this size (500M, 10G); 10G unless given, 0 is no limit." },
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Print warnings and errors only." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Runs (single profiles: traced requests, what `strobe import` or POST brings)" },
	{ OPTION_DOUBLE, 0, "runs-age", "DAYS", &runs_days,
	  "Remove runs that were stored longer ago; 30 unless given, 0 keeps all." },
	{ OPTION_INT, 0, "runs-count", "N", &runs_count,
	  "Keep so many runs of each source, the ones stored last; 10,000 unless given, 0 is no limit." },
	{ OPTION_STRING, 0, "runs-size", "SIZE", &runs_size,
	  "Remove the runs stored first above this size of all; 2G unless given, 0 is no limit." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Who may ask" },
	{ OPTION_STRING, 0, "token-file", "FILE", &token_file,
	  "Ask every visitor for the token in this file. Needed to listen beyond this machine." },
	{ OPTION_LIST, 0, "allow-host", "NAME", &allow_hosts,
	  "Also answer under this name, such as that of a reverse proxy; may be given several times." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "serve",
	.usage = "[OPTIONS]",
	.summary = "collect samples, store them and show them in the browser",
	.description =
		"Receives the samples of all PHP processes on this machine, keeps them in SQLite, and serves the page "
		"with flame graphs and tables. It runs until SIGTERM or Ctrl-C, and then stores what is on its way.\n\n"
		"With no options, root's daemon listens on /run/strobe/strobe.sock and keeps its samples in "
		"/var/lib/strobe; that of another user uses $XDG_RUNTIME_DIR/strobe/strobe.sock and "
		"$XDG_STATE_HOME/strobe (or ~/.local/state/strobe). STROBE_SOCKET names another socket.\n\n"
		"Accepted samples are committed every second. What is lost on the way is counted by reason: see "
		"`strobe status`.",
	.examples =
		"strobe serve\n"
		"strobe serve --listen 127.0.0.1:9000 --retain 90 --max-bytes 50G\n"
		"strobe serve --listen 0.0.0.0:8787 --token-file /etc/strobe/token\n",
	.options = options,
};

/* "500M", "10G", "10GB", "10 GiB", bytes without a unit; by powers of 1,024. */
static int parse_size(const char *text, uint64_t *ret, struct err *err)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	double v = strtod(text, &end);
	int shift = 0;

	while (*end == ' ')
		end++;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end += 1 + (end[1] == 'i' || end[1] == 'I');
	}
	if (*end == 'B' || *end == 'b')
		end++;
	v *= (double)((uint64_t)1 << shift);
	if (end == text || *end || !(v >= 0 && v < 1e18))
		return err_set(err, -EINVAL, "'%s' is no size; write 500M, 10G or a number of bytes", text);
	*ret = (uint64_t)v;
	return 0;
}

static int read_token(const char *path, struct buf *b, struct err *err)
{
	struct stat st;
	int r = io_read_file(path, b, TOKEN_FILE_MAX, err);

	if (r < 0)
		return r;
	while (b->size && isspace((unsigned char)b->data[b->size - 1]))
		b->data[--b->size] = '\0';
	if (b->size == 0 || strlen(b->data) != b->size)
		return err_set(err, -EINVAL, "'%s' holds no token; make one with: openssl rand -hex 32 > %s", path, path);
	if (stat(path, &st) == 0 && (st.st_mode & 077))
		log_warning("other users may read the token in '%s'; chmod 600 keeps it secret", path);
	return 0;
}

static int serve(struct daemon_options *o, struct err *err)
{
	_cleanup_(freep) char *socket_url = NULL, *default_store = NULL;
	_cleanup_(buf_done) struct buf token = { 0 };
	const char *one;
	int r;

	buf_init(&token);
	if (token_file && (r = read_token(token_file, &token, err)) < 0)
		return r;
	if (o->source_count == 0) {
		r = places_socket(&socket_url, err);
		if (r < 0)
			return r;
		one = socket_url;
		o->sources = &one;
		o->source_count = 1;
	}
	if (!o->store_url && (r = places_store(&default_store, err)) < 0)
		return r;
	if (!o->store_url)
		o->store_url = default_store;
	o->token = token_file ? token.data : NULL;
	return daemon_run(o, err);
}

static int run(int argc, char **argv)
{
	struct daemon_options o = { 0 };
	struct err err = { 0 };
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if (operands)
		return command_usage(&spec, "'%s' is too much; serve takes options only", argv[1]);
	if (!(retain_days >= 0 && retain_days <= RETAIN_DAYS_MAX))
		return command_usage(&spec, "--retain takes 0 to %d days", RETAIN_DAYS_MAX);
	if (parse_size(max_bytes, &o.limits.max_bytes, &err) < 0)
		return command_usage(&spec, "--max-bytes: %s", err.text);
	if (!(runs_days >= 0 && runs_days <= RETAIN_DAYS_MAX))
		return command_usage(&spec, "--runs-age takes 0 to %d days", RETAIN_DAYS_MAX);
	if (runs_count < 0)
		return command_usage(&spec, "--runs-count must not be negative");
	if (parse_size(runs_size, &o.limits.runs_max_bytes, &err) < 0)
		return command_usage(&spec, "--runs-size: %s", err.text);

	if (quiet)
		log_set_level(1);
	o.limits.max_age_ns = (int64_t)(retain_days * (double)NS_PER_DAY);
	o.limits.runs_max_age_ns = (int64_t)(runs_days * (double)NS_PER_DAY);
	o.limits.runs_max_count = (uint64_t)runs_count;
	o.store_url = store_url;
	o.listen = listen_address;
	o.sources = sources.items;
	o.source_count = sources.count;
	o.allow_hosts = allow_hosts.items;
	o.allow_host_count = allow_hosts.count;
	return serve(&o, &err) < 0 ? command_cannot(&spec, &err) : EXIT_FINE;
}

const struct command command_serve = { &spec, run };
