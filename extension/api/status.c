/* status.c: finds the first obstacle on the path of a sample. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "status.h"

#include "php_strobe.h"
#include "request_trace.h"
#include "sampler.h"
#include "socket_path.h"
#include "settings_report.h"
#include "tracer.h"

#include "ext/standard/info.h"
#include "snprintf.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

static struct stat root;		/* root directory when we were loaded */
static bool root_is_known;

void status_startup(void)
{
	root_is_known = stat("/", &root) == 0;
}

/* php-fpm's workers enter their pool's chroot after PHP has started. */
static bool is_in_chroot(void)
{
	struct stat now;

	return root_is_known && stat("/", &now) == 0 && (now.st_dev != root.st_dev || now.st_ino != root.st_ino);
}

static void set(struct status_reason *r, const char *code, const char *format, ...) ZEND_ATTRIBUTE_FORMAT(printf, 3, 4);

static void set(struct status_reason *r, const char *code, const char *format, ...)
{
	va_list arguments;

	r->code = code;
	va_start(arguments, format);
	vsnprintf(r->sentence, sizeof(r->sentence), format, arguments);
	va_end(arguments);
}

/* A number formatted for people. */
struct plain {
	char text[40];
};

static struct plain plain(double v)
{
	struct plain p;

	php_gcvt(v, 6, '.', 'e', p.text);
	return p;
}

/* Finds the reason why no samples are taken; one case per state. */
static void find_in_request(struct status_reason *r)
{
	switch (sampler_state()) {
	case SAMPLER_SAMPLED:
		break;
	case SAMPLER_OFF:
		if (STROBE_G(sample))
			set(r, "mode", "strobe.mode was off when this request began");
		else
			set(r, "mode", "strobe.mode is off");
		break;
	case SAMPLER_NOT_CHOSEN:
		set(r, "rate", "strobe.request_rate=%s did not select it", plain(STROBE_G(request_rate)).text);
		break;
	case SAMPLER_PREVENTED:
		set(r, "jit", "%s", sampler_prevented() ? sampler_prevented() : "no sample could be taken when it began");
		break;
	case SAMPLER_PRELOADING:
		set(r, "preloading", "opcache.preload runs before requests do");
		break;
	case SAMPLER_NO_THREAD:
		set(r, "no_thread", "no thread could be started for it; look at the limits of processes and threads");
		break;
	case SAMPLER_NO_MEMORY:
		set(r, "no_memory", "there was not enough memory");
		break;
	case SAMPLER_NO_REQUEST:
		set(r, "no_request", "no request is running");
		break;
	}
}

static void explain(struct status_reason *r, const char *path, int error)
{
	const char *chroot = is_in_chroot() ? ", where this process looks for it inside a chroot; mount its directory "
			     "there" : NULL;

	switch (error) {
	case ENOENT:
	case ENOTDIR:
		if (chroot)
			set(r, "chroot", "there is no %s%s", path, chroot);
		else
			set(r, "no_daemon", "there is no socket %s; start the daemon, or set strobe.socket to its socket",
			    path);
		break;
	case ECONNREFUSED:
	case EPIPE:
	case ECONNRESET:
		set(r, "no_daemon", "no daemon listened on %s at the last attempt", path);
		break;
	case ENOTSOCK:
		set(r, "no_daemon", "%s is not a socket", path);
		break;
	case EACCES:
	case EPERM:
		set(r, "refused", "permission to write to %s is denied; add the user of this process to the group strobe "
		    "and restart it", path);
		break;
	case EAGAIN:
		set(r, "socket_full", "the daemon did not read %s fast enough at the last attempt", path);
		break;
	default:
		set(r, "no_daemon", "no connection to %s: %s", path, strerror(error));
	}
}

/* Whether the error may have been resolved, since it can also be seen in the file system. */
static bool may_be_over(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM || error == ENOTSOCK;
}

/* Finds the reason why samples do not arrive. */
static void find_in_transit(struct status_reason *r)
{
	const struct sender *s = sampler_sender();
	char path[108];
	int error;

	if (!socket_path(path, sizeof(path))) {
		set(r, "socket_path", "the path of the socket is longer than 107 bytes");
		return;
	}
	if (s && sender_is_connected(s) && s->error != EAGAIN)
		return;
	error = sender_probe(path);
	if (!error && s && s->tried && !may_be_over(s->error))
		error = s->error;
	if (error)
		explain(r, path, error);
}

#define LONG_PERIOD 1.0		/* seconds; with a shorter period, the request was merely short */

/* The first sample is taken within a period. */
static void find_period(struct status_reason *r)
{
	double seconds;

	if (sampler_request_samples(&seconds) == 0 && STROBE_G(period) > LONG_PERIOD && seconds < STROBE_G(period))
		set(r, "period", "strobe.period=%s seconds is longer than it has run yet, %.3f seconds",
		    plain(STROBE_G(period)).text, seconds);
}

void status_reason(struct status_reason *ret)
{
	*ret = (struct status_reason){ 0 };
	find_in_request(ret);
	if (!ret->code)
		find_in_transit(ret);
	if (!ret->code)
		find_period(ret);
}

static void info_problem(const char *sentence, void *data)
{
	php_info_print_table_row(2, "Setting without effect", sentence);
}

void status_info(void)
{
	const struct sender *s = sampler_sender();
	char path[108], text[600];
	struct status_reason r;

	status_reason(&r);
	snprintf(text, sizeof(text), "%s%s%s", sampler_active() ? "yes" : "no",
		 !r.code ? "" : !sampler_active() ? ": " : strcmp(r.code, "period") == 0 ? ", without a sample yet: " :
		 ", but its samples are lost: ", r.sentence);
	php_info_print_table_row(2, "This request is sampled", text);
	settings_report_list(info_problem, NULL);
	php_info_print_table_row(2, "Socket", socket_path(path, sizeof(path)) ? path : "none: the path is too long");
	php_info_print_table_row(2, "Connected", s && sender_is_connected(s) ? "yes" : "no");
}

static void add_problem(const char *sentence, void *data)
{
	add_next_index_string(data, sentence);
}

void status_array(zval *ret)
{
	const struct sender *s = sampler_sender();
	struct status_reason r;
	char path[108];
	zval problems;

	status_reason(&r);
	array_init(ret);
	add_assoc_bool(ret, "sampling", sampler_active());
	if (r.code) {
		add_assoc_string(ret, "reason", r.code);
		add_assoc_string(ret, "message", r.sentence);
	} else {
		add_assoc_null(ret, "reason");
		add_assoc_null(ret, "message");
	}
	add_assoc_bool(ret, "tracing", request_trace_active());
	add_assoc_bool(ret, "can_trace", tracer_available());
	if (socket_path(path, sizeof(path)))
		add_assoc_string(ret, "socket", path);
	else
		add_assoc_null(ret, "socket");
	add_assoc_bool(ret, "connected", s && sender_is_connected(s));
	array_init(&problems);
	settings_report_list(add_problem, &problems);
	add_assoc_zval(ret, "problems", &problems);
}
