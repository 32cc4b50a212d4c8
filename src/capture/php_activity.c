/* php_activity.c: reads stack, request and state together. */

#include "php_activity.h"

#include "clock.h"
#include "fastcgi.h"
#include "fpm_worker.h"
#include "php_tasks.h"
#include "process.h"
#include "remote_memory.h"
#include "stack_registry.h"
#include "consistent_read.h"
#include "text.h"
#include "time_namespace.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_TICK	10000000	/* ticks of a process' start */

const char *php_state_name(enum php_state d)
{
	static const char *const names[] = {
		[PHP_RUNNING] = "running", [PHP_WAITING] = "waiting", [PHP_STOPPED] = "stopped", [PHP_IDLE] = "idle",
		[PHP_UNREADABLE] = "unreadable", [PHP_ENDED] = "ended",
	};

	return names[d];
}

/* Under php-fpm's SAPI, the URI that others have is the script. */
static void read_uri(struct php_activity *n)
{
	const struct remote_php *php = &n->reading.php;
	const struct php_layout *l = &php->binary->layout;
	u64 sapi = php_globals(php->binary, php->bias, php->thread, php->binary->sapi_globals), context = 0, uri = 0;

	n->uri[0] = 0;
	if (!sapi)
		return;
	if (php->binary->fpm) {
		if (read_user(&context, sizeof(context), sapi))
			fastcgi_variable(context, "REQUEST_URI", n->uri, sizeof(n->uri));
	} else if (read_user(&uri, sizeof(uri), sapi + l->path_translated + 8) && uri) {
		read_user_text(n->uri, sizeof(n->uri), uri);
	}
	n->uri[strcspn(n->uri, "?")] = 0;
}

static uint64_t read_all(void *data)
{
	struct php_activity *n = data;
	uint64_t fingerprint = remote_reading_take(&n->reading);

	if (n->reading.request.id && n->reading.request.method[0])
		read_uri(n);
	return fingerprint;
}

/* A command is as old as its process. */
static int64_t process_age_ns(pid_t pid)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return boot.tv_sec * NS_PER_SECOND + boot.tv_nsec - (int64_t)process_start_ticks(pid) * NS_PER_TICK;
}

/* The time is by the worker's monotonic clock, which may be another one in its container. Returns -1 if unknown. */
static int64_t request_age_ns(pid_t pid, int64_t accepted_ns)
{
	struct time_offsets its;

	if (!time_namespace_offsets_of(pid, &its))
		return -1;
	return (int64_t)time_namespace_kernel_ns(clock_monotonic_ns()) - (accepted_ns - its.monotonic_ns);
}

static void take_request(struct php_activity *n, bool fpm)
{
	struct fpm_worker worker;

	memcpy(n->method, n->reading.request.method, sizeof(n->method));
	memcpy(n->script, n->reading.request.script, sizeof(n->script));
	if (!n->reading.request.id)
		n->method[0] = n->script[0] = 0;
	if (fpm && fpm_worker_read(n->pid, &worker)) {
		n->requests = (int64_t)worker.requests;
		if (worker.stage != FPM_ACCEPTING)
			n->age_ns = request_age_ns(n->pid, worker.accepted_ns);
	} else if (!fpm && !*n->method) {
		n->age_ns = process_age_ns(n->pid);
	}
}

static void take_state(struct php_activity *n, const struct thread_snapshot *l)
{
	if (!n->reading.readable) {
		n->doing = PHP_UNREADABLE;
		snprintf(n->why, sizeof(n->why), "its PHP has not started yet, or its memory may not be read");
	} else if (!n->reading.walk.count && thread_state_is_asleep(l->state)) {
		n->doing = PHP_IDLE;
	} else if (l->state == 'T' || l->state == 't') {
		n->doing = PHP_STOPPED;
	} else {
		n->doing = thread_state_is_asleep(l->state) ? PHP_WAITING : PHP_RUNNING;
	}
}

static void take_name(struct php_activity *n)
{
	struct php_task task;
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)n->pid);
	if (php_task_read("/proc", number, &task) < 0)
		return;
	snprintf(n->name, sizeof(n->name), "%s", task.name);
	snprintf(n->pool, sizeof(n->pool), "%s", task.pool);
	php_task_done(&task);
}

void php_activity_read(const struct remote_thread *t, struct php_activity *ret)
{
	struct thread_snapshot snapshot = { 0 };
	enum consistent_read r = CONSISTENT_READ_ENDED;
	uint64_t torn = 0;

	*ret = (struct php_activity){ .pid = t->process->pid, .tid = t->watch.tid, .age_ns = -1, .requests = -1, .doing = PHP_ENDED };
	ret->reading.php = remote_thread_php(t);
	ret->reading.with_request = true;
	take_name(ret);
	if (thread_watch_read(&t->watch, &snapshot))
		r = consistent_read(&t->watch, false, read_all, ret, &snapshot, &torn);
	if (r == CONSISTENT_READ_OK) {
		take_state(ret, &snapshot);
		take_request(ret, t->process->php.binary.fpm);
	} else if (r == CONSISTENT_READ_TORN) {
		ret->doing = PHP_UNREADABLE;
		snprintf(ret->why, sizeof(ret->why), "it ran at each of %u attempts to read it; try again", CONSISTENT_READ_ATTEMPTS);
	}
}

void php_activity_put_name(const struct php_activity *n, u32 frame, struct buf *out)
{
	u64 id = n->reading.walk.frames[frame].function;
	const struct function_event *f = remote_reading_function(&n->reading, id);

	if (id == FUNCTION_TRUNCATED)
		buf_puts(out, STACK_REGISTRY_TRUNCATED);
	else if (!f)
		buf_puts(out, STACK_REGISTRY_UNKNOWN);
	else
		stack_registry_put_name(f, out);
}

void php_activity_put_stack(const struct php_activity *n, struct buf *out)
{
	const struct php_walk *w = &n->reading.walk;
	_cleanup_(buf_done) struct buf name = { 0 };

	buf_init(&name);
	for (u32 i = 0; i < w->count; i++) {
		const struct function_event *f = remote_reading_function(&n->reading, w->frames[i].function);

		buf_reset(&name);
		php_activity_put_name(n, i, &name);
		buf_puts(out, "    ");
		text_put_plain(out, (struct str){ name.data, name.size });
		if (f && f->file_size && f->name_size) {
			buf_puts(out, "  ");
			text_put_plain(out, (struct str){ f->file, strlen(f->file) });
		}
		if (f && f->file_size)		/* file scope is named by its file */
			buf_printf(out, ":%u", w->frames[i].line);
		buf_putc(out, '\n');
	}
}

void php_activity_done(struct php_activity *n)
{
	remote_reading_done(&n->reading);
}
