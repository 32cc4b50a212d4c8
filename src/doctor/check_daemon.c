/* check_daemon.c: checks the daemon's status and socket. */
#include "doctor.h"

#include "container.h"
#include "mem.h"
#include "socket_state.h"

#include <jansson.h>
#include <string.h>

#define QUIET	60	/* seconds after which samples are called old */

static int64_t whole(const json_t *object, const char *key)
{
	return (int64_t)json_number_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	const char *v = json_string_value(json_object_get(object, key));

	return v ? v : "";
}

static void put_seconds(struct buf *b, double s)
{
	uint64_t n = s > 0 ? (uint64_t)s : 0;

	if (n >= 2 * 86400)
		buf_printf(b, "%llu days", (unsigned long long)(n / 86400));
	else if (n >= 2 * 3600)
		buf_printf(b, "%llu hours", (unsigned long long)(n / 3600));
	else if (n >= 2 * 60)
		buf_printf(b, "%llu minutes", (unsigned long long)(n / 60));
	else
		buf_printf(b, "%llu s", (unsigned long long)n);
}

/* --- samples that PHP could not send */

static const struct {
	const char *reason, *cause, *fix;
} losses[] = {
	{ "no_daemon", "no daemon listened on the socket", "give PHP and the daemon the same strobe.socket; keep the daemon running" },
	{ "refused", "users of PHP may not write to the socket", "see the pools below: usermod -aG strobe USER; then restart that PHP" },
	{ "socket_full", "the daemon did not read fast enough", "look at the load of this machine: strobe status" },
	{ "jit", "PHP's JIT compiler is on, whose code must not be interrupted",
	  "strobe.instrument=1 in php.ini samples at function calls, or opcache.jit=disable" },
};

static const char *cause_of(const char *reason, const char **ret_fix)
{
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		if (!strcmp(losses[i].reason, reason)) {
			*ret_fix = losses[i].fix;
			if (!strcmp(reason, "refused") && container_without_systemd(""))
				*ret_fix = "see the pools below: run the daemon with a group of that PHP";
			return losses[i].cause;
		}
	*ret_fix = "strobe status";
	return "docs/troubleshooting.md lists the reasons";
}

/* Counters start with the daemon, so a loss may have been fixed since. */
static void add_losses(struct findings *f, const json_t *samples)
{
	const char *reason, *fix;
	json_t *count;

	json_object_foreach(json_object_get(samples, "dropped_by_senders"), reason, count)
		if (json_integer_value(count)) {
			const char *cause = cause_of(reason, &fix);

			findings_add(f, LEVEL_WARNING, AREA_DAEMON, "lost-by-php", "lost by PHP", fix,
				     "%lld sample%s since the daemon started: %s (%s)", (long long)json_integer_value(count),
				     json_integer_value(count) == 1 ? "" : "s", cause, reason);
		}
	json_object_foreach(json_object_get(samples, "dropped"), reason, count)
		if (json_integer_value(count))
			findings_add(f, LEVEL_WARNING, AREA_DAEMON, "dropped", "dropped by the daemon", "strobe status",
				     "%lld sample%s since its start (%s)", (long long)json_integer_value(count),
				     json_integer_value(count) == 1 ? "" : "s", reason);
}

/* --- sources and sinks */

static void add_sources(struct findings *f, const struct daemon_unit *unit, const json_t *status)
{
	_cleanup_(freep) char *log = daemon_unit_log(unit), *fix = xasprintf("strobe status; %s", log);
	const json_t *source, *count;
	const char *reason;
	bool any = false;
	size_t i;

	json_array_foreach(json_object_get(status, "sources"), i, source) {
		const json_t *up = json_object_get(source, "up");

		any |= !strncmp(text(source, "url"), "unix:", 5);
		if (up && !json_is_true(up))
			findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "source-down", text(source, "url"),
				     fix, "this source is down: %s", text(source, "state"));
		json_object_foreach(json_object_get(source, "rejected"), reason, count)
			if (json_integer_value(count))
				findings_add(f, LEVEL_WARNING, AREA_DAEMON, "rejected", text(source, "url"),
					     "build the extension and the daemon from one version",
					     "%lld message%s refused (%s)", (long long)json_integer_value(count),
					     json_integer_value(count) == 1 ? " was" : "s were", reason);
	}
	if (!any)
		findings_add(f, LEVEL_NOTE, AREA_DAEMON, "no-socket", "", NULL, "this daemon listens on no socket for PHP of this machine");
}

static void add_sinks(struct findings *f, const struct daemon_unit *unit, const json_t *status)
{
	_cleanup_(freep) char *log = daemon_unit_log(unit);
	const json_t *sink;
	size_t i;

	json_array_foreach(json_object_get(status, "sinks"), i, sink)
	{
		if (json_is_true(json_object_get(sink, "failing")) && json_is_true(json_object_get(sink, "draining")))
			findings_add(f, LEVEL_WARNING, AREA_DAEMON, "removed-sink-failing", text(sink, "url"),
				     "to keep its queue, add the sink again; else wait until it is given up",
				     "this sink was removed, and its queue cannot be stored: %s", text(sink, "why"));
		else if (json_is_true(json_object_get(sink, "failing")))
			findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "sink-failing", text(sink, "url"), log,
				     "samples cannot be stored: %s", text(sink, "why"));
	}
}

/* --- received data */

static unsigned connections(const json_t *status)
{
	const json_t *source;
	int64_t n = 0;
	size_t i;

	json_array_foreach(json_object_get(status, "sources"), i, source)
		n += whole(source, "connections");
	return n > 0 ? (unsigned)n : 0;
}

/* Appends "50 stored". Several sinks are listed one by one, since the daemon's sum has only samples that no sink has
 * queued any more. */
static void put_stored(struct buf *b, const json_t *status)
{
	const json_t *sinks = json_object_get(status, "sinks"), *sink;
	size_t i;

	if (json_array_size(sinks) < 2) {
		buf_printf(b, "%lld stored", (long long)whole(json_object_get(status, "samples"), "stored"));
		return;
	}
	json_array_foreach(sinks, i, sink)
		buf_printf(b, "%s%lld stored in %s", i ? ", " : "", (long long)whole(json_object_get(sink, "samples"), "stored"), text(sink, "url"));
}

static void add_arrived(struct findings *f, const json_t *status)
{
	const json_t *samples = json_object_get(status, "samples");
	double now = json_number_value(json_object_get(status, "now")), last = json_number_value(json_object_get(samples, "last"));
	unsigned connected = connections(status);
	_cleanup_(buf_done) struct buf b = { 0 }, stored = { 0 };

	buf_init(&b);
	buf_init(&stored);
	if (!whole(samples, "received")) {
		put_seconds(&b, json_number_value(json_object_get(status, "uptime_seconds")));
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "nothing-arrived", "samples",
			     connected ? "send the site some traffic" : "see the PHPs below; then send the site some traffic",
			     "none has arrived in the %s since the daemon started; connections from PHP: %u", b.data, connected);
		return;
	}
	put_seconds(&b, now - last);
	put_stored(&stored, status);
	findings_add(f, now - last > QUIET ? LEVEL_NOTE : LEVEL_OK, AREA_DAEMON, "arrived", "samples",
		     now - last > QUIET ? "nothing, if there was no request since: only running "
					  "requests are sampled" :
					  NULL,
		     "%lld received, %s, the last %s ago; connections from PHP: %u",
		     (long long)whole(samples, "received"), stored.data, b.data, connected);
}

static void add_answer(struct findings *f, const char *url, const struct daemon_unit *unit, const json_t *status)
{
	_cleanup_(freep) char *log = daemon_unit_log(unit);

	if (json_is_true(json_object_get(status, "ready")))
		findings_add(f, LEVEL_OK, AREA_DAEMON, "daemon", "", NULL, "strobe %s answers at %s", text(status, "version"), url);
	else
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "not-ready", url, log, "the daemon is not ready: %s",
			     text(status, "not_ready"));
	add_arrived(f, status);
	add_losses(f, json_object_get(status, "samples"));
	add_sources(f, unit, status);
	add_sinks(f, unit, status);
}

static char *restart_advice(const struct daemon_unit *unit)
{
	_cleanup_(freep) char *log = daemon_unit_log(unit), *command = daemon_unit_command(unit, "restart");

	return xasprintf("%s; %s", log, command);
}

static void add_no_answer(struct findings *f, const char *url, const struct daemon_unit *unit, int error, const char *why)
{
	_cleanup_(freep) char *start = daemon_unit_start(unit), *restart = restart_advice(unit), *log = daemon_unit_log(unit);

	switch (-error) {
	case ECONNREFUSED:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "daemon", "", start, "no daemon answers at %s (another address: --url)", url);
		break;
	case EACCES:
		findings_add(f, LEVEL_WARNING, AREA_DAEMON, "token", "", "strobe doctor --token-file FILE", "%s", why);
		break;
	case EKEYREJECTED:
		findings_add(f, LEVEL_WARNING, AREA_DAEMON, "token", "", "give the file of the daemon's token-file: strobe doctor --token-file FILE",
			     "%s", why);
		break;
	case EAGAIN:
		findings_add(f, LEVEL_WARNING, AREA_DAEMON, "token", "", "wait, and run strobe doctor again with the right token", "%s", why);
		break;
	case ETIME:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "daemon", "", restart, "%s", why);
		break;
	case ECONNRESET:
	case EREMOTEIO:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "daemon", "", log, "%s", why);
		break;
	default:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "daemon", "", "strobe doctor --url URL-of-the-daemon", "%s", why);
	}
}

void doctor_daemon(struct findings *f, const char *url, const struct daemon_unit *unit, const struct buf *json, int error,
		   const char *why)
{
	_cleanup_(json_decrefp) json_t *status = json ? json_loadb(json->data, json->size, 0, NULL) : NULL;

	if (!json)
		add_no_answer(f, url, unit, error, why);
	else if (!json_object_get(status, "version"))
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "daemon", url, "strobe doctor --url URL-of-the-daemon",
			     "another program answers there, not a strobe daemon");
	else
		add_answer(f, url, unit, status);
}

/* --- the socket */

bool doctor_socket(struct findings *f, const char *path, const struct daemon_unit *unit, bool daemon_answers)
{
	_cleanup_(freep) char *start = daemon_unit_start(unit), *restart = daemon_unit_command(unit, "restart");
	int r = socket_state(path);

	switch (-r) {
	case 0:
		findings_add(f, LEVEL_OK, AREA_DAEMON, "socket", path, NULL, "a daemon listens");
		break;
	case EACCES:
	case EPERM:
		findings_add(f, LEVEL_NOTE, AREA_DAEMON, "socket", path, doctor_as_root(),
			     "you may not write to it, so whether a daemon listens is unknown");
		break;
	case ENOENT:
	case ENOTDIR:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "socket", path,
			     daemon_answers ? restart : start,
			     "the socket does not exist%s", daemon_answers ? ": it was removed while the daemon was running" : "");
		break;
	case ECONNREFUSED:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "socket", path, start, "the socket exists, but no daemon listens on it");
		break;
	case EAGAIN:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "socket", path, restart,
			     "the daemon takes no connections: it is stopped, or hangs");
		break;
	case ENOTSOCK:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "socket", path, "move that file away and restart the daemon", "this is not a socket");
		break;
	case EPROTOTYPE:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "socket", path, "name the daemon's socket in strobe.socket and STROBE_SOCKET",
			     "this socket is another program's: it is of another type");
		break;
	case ENAMETOOLONG:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "socket", path, "choose a shorter path",
			     "the path of a socket has at most 107 bytes");
		break;
	default:
		findings_add(f, LEVEL_PROBLEM, AREA_DAEMON, "socket", path, NULL, "cannot connect: %s", strerror(-r));
	}
	return r == 0;
}
