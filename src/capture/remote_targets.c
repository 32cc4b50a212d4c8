/* remote_targets.c: finds processes and threads in /proc. */

#include "remote_targets.h"

#include "clock.h"
#include "io.h"
#include "mem.h"
#include "obstacles.h"
#include "process.h"
#include "thread_pointer.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define SCAN_NS		NS_PER_SECOND
#define YOUNG_NS	NS_PER_SECOND
#define WAIT_MAX	64u		/* scans of /proc, one per second */
#define NUMBERS_MAX	4096		/* more new ones are found by the next scan of /proc */

/* The last field of /proc/loadavg is the newest process number. Numbers wrap around. */
static pid_t newest_number(void)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	const char *p;

	buf_init(&b);
	return io_read_file("/proc/loadavg", &b, 4096, NULL) >= 0 && (p = strrchr(b.data, ' ')) ? (pid_t)atol(p) : 0;
}

void remote_targets_init(struct remote_targets *t, struct php_registry *registry, bool (*wanted)(void *data, pid_t pid), void *data)
{
	struct rlimit files;

	*t = (struct remote_targets){ .registry = registry, .wanted = wanted, .data = data };
	/* Before the first scan: processes that start from now on may not be PHP yet when they are scanned. */
	t->last_number = newest_number();
	map_init(&t->others);
	map_init(&t->closed);
	/* Two files are open per thread. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void free_thread(struct remote_thread *thread)
{
	thread_watch_close(&thread->watch);
	free(thread);
}

void remote_targets_done(struct remote_targets *t)
{
	for (size_t i = 0; i < t->thread_count; i++)
		free_thread(t->threads[i]);
	for (size_t i = 0; i < t->count; i++)
		free(t->processes[i]);
	free(t->threads);
	free(t->processes);
	free(t->young);
	map_done(&t->others);
	map_done(&t->closed);
}

struct remote_php remote_thread_php(const struct remote_thread *t)
{
	return (struct remote_php){ t->process->pid, &t->process->php.binary, t->process->php.bias, t->pointer };
}

static struct remote_process *find(const struct remote_targets *t, pid_t pid)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->processes[i]->pid == pid)
			return t->processes[i];
	return NULL;
}

static bool has_thread(const struct remote_targets *t, const struct remote_process *p, pid_t tid)
{
	for (size_t i = 0; i < t->thread_count; i++)
		if (t->threads[i]->process == p && t->threads[i]->watch.tid == tid)
			return true;
	return false;
}

/* --- unreadable processes */

static void note_closed(struct remote_targets *t, const struct php_task *task, const struct obstacle *o)
{
	if (map_get(&t->closed, (u64)task->pid) != MAP_NONE)
		return;
	map_set(&t->closed, (u64)task->pid, 1);
	if (!*t->closed_why)
		snprintf(t->closed_why, sizeof(t->closed_why), "process %d: %s%s%s", (int)task->pid, o->cause,
			 *o->remedy ? "; " : "", o->remedy);
}

/* Reading /proc/PID/exe requires fewer privileges than reading memory: the memory of a visible process may be
 * unreadable. */
static int check_memory(struct remote_targets *t, pid_t pid, bool is_php, struct err *err)
{
	struct php_task task;
	struct obstacle o;
	char number[16];
	int e;

	snprintf(number, sizeof(number), "%d", (int)pid);
	if (php_task_read("/proc", number, &task) < 0)
		return process_absent(pid, err);
	e = obstacle_for_memory("/proc", &task, &o);
	if (e == -ESRCH)
		process_absent(pid, err);
	else if (e < 0 && (is_php || php_task_is_php(&task))) {
		note_closed(t, &task, &o);
		err_set(err, e, "no permission to read the memory of "
				"process %d: %s%s%s", (int)pid, o.cause, *o.remedy ? "; " : "", o.remedy);
	}
	php_task_done(&task);
	return e;
}

/* --- processes and threads */

struct adding {
	struct remote_targets *targets;
	struct remote_process *process;
};

static void add_thread(pid_t tid, void *data)
{
	struct remote_targets *t = ((struct adding *)data)->targets;
	struct remote_process *p = ((struct adding *)data)->process;
	struct remote_thread *thread;
	struct thread_watch watch;

	if (has_thread(t, p, tid) || thread_watch_open(&watch, p->pid, tid) < 0)
		return;
	thread = xcalloc(1, sizeof(*thread));
	thread->process = p;
	thread->watch = watch;
	if (p->php.binary.zts)
		thread_pointer_find(p->pid, tid, &thread->pointer);
	GROW(&t->threads, &t->thread_capacity, t->thread_count + 1);
	t->threads[t->thread_count++] = thread;
}

/* A thread-safe PHP may run in each thread, others only run in the first. */
static void add_threads(struct remote_targets *t, struct remote_process *p)
{
	struct adding a = { t, p };

	if (p->php.binary.zts)
		process_each_thread(p->pid, add_thread, &a);
	else
		add_thread(p->pid, &a);
}

static void remove_process(struct remote_targets *t, struct remote_process *p)
{
	size_t n = 0;

	for (size_t i = 0; i < t->thread_count; i++) {
		if (t->threads[i]->process == p)
			free_thread(t->threads[i]);
		else
			t->threads[n++] = t->threads[i];
	}
	t->thread_count = n;
	for (n = 0; n < t->count && t->processes[n] != p; n++)
		;
	t->processes[n] = t->processes[--t->count];
	free(p);
}

/* Returns the language, LANGUAGE_PHP, if it is now a target, 0 if it has no PHP, or an error. */
static int add_process(struct remote_targets *t, pid_t pid, bool fresh, struct err *err)
{
	struct remote_process p = { .pid = pid, .fresh = fresh };
	struct remote_process *there = find(t, pid);
	int language, e = php_registry_find(t->registry, pid, &p.php, err);

	if (e == -EACCES || e == -EPERM)
		check_memory(t, pid, false, err);
	if (e <= 0) {
		if (there)
			remove_process(t, there);
		return e;
	}
	language = e;
	if (there && there->php.start_ticks == p.php.start_ticks) {
		there->php = p.php;		/* after an exec it may be another one */
		add_threads(t, there);
		return language;
	}
	if ((e = check_memory(t, pid, true, err)) < 0)
		return e;
	if (there)
		remove_process(t, there);
	GROW(&t->processes, &t->capacity, t->count + 1);
	t->processes[t->count] = xcalloc(1, sizeof(p));
	*t->processes[t->count++] = p;
	if (t->count > t->max)
		t->max = t->count;
	add_threads(t, t->processes[t->count - 1]);
	return language;
}

int remote_targets_add(struct remote_targets *t, pid_t pid, struct err *err)
{
	return add_process(t, pid, false, err);
}

/* --- new ones */

static void add_young(struct remote_targets *t, pid_t pid, int64_t now_ns)
{
	GROW(&t->young, &t->young_capacity, t->young_count + 1);
	t->young[t->young_count++] = (struct young_process){ pid, now_ns, now_ns };
}

static int consider(struct remote_targets *t, pid_t pid, bool fresh)
{
	struct err err = { 0 };

	if (find(t, pid) || pid == getpid())
		return 1;
	return t->wanted(t->data, pid) ? add_process(t, pid, fresh, &err) : 0;
}

/* A process without PHP may load libphp, or run another program, later: it is checked again, with backoff. The time
 * of the next check and the following interval are stored. */
static bool is_due(struct remote_targets *t, pid_t pid)
{
	u32 *slot = map_slot(&t->others, (u64)pid), wait = *slot == MAP_NONE ? 1 : *slot & 0xff;

	if (*slot != MAP_NONE && *slot >> 8 > t->turn)
		return false;
	*slot = (t->turn + wait) << 8 | (wait < WAIT_MAX ? wait * 2 : wait);
	return true;
}

static void see_process(pid_t pid, void *data)
{
	struct remote_targets *t = data;
	struct err err = { 0 };

	if (find(t, pid))
		add_process(t, pid, false, &err);
	else if (t->wanted && is_due(t, pid))
		consider(t, pid, t->scanned_ns != 0);
}

/* Threads have numbers, too; "Tgid:" is that of the process. */
static bool is_process(pid_t number)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	char path[64];
	const char *p;

	buf_init(&b);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)number);
	return io_read_file(path, &b, 65536, NULL) >= 0 && (p = strstr(b.data, "\nTgid:")) && atol(p + 6) == number;
}

static void find_new_processes(struct remote_targets *t, int64_t now_ns)
{
	pid_t newest = newest_number();

	if (newest > t->last_number && t->last_number && newest - t->last_number <= NUMBERS_MAX)
		for (pid_t n = t->last_number + 1; n <= newest; n++)
			if (is_process(n) && consider(t, n, true) <= 0)
				add_young(t, n, now_ns);
	t->last_number = newest;
}

/* Most processes call exec soon: they are checked again whenever their age has grown by half. */
static void recheck_young(struct remote_targets *t, int64_t now_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < t->young_count; i++) {
		struct young_process y = t->young[i];

		if (now_ns >= y.due_ns) {
			if (now_ns - y.since_ns >= YOUNG_NS || !process_start_ticks(y.pid) || consider(t, y.pid, true) > 0)
				continue;
			y.due_ns = now_ns + (now_ns - y.since_ns) / 2;
		}
		t->young[n++] = y;
	}
	t->young_count = n;
}

static void remove_ended(struct remote_targets *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->thread_count; i++) {
		if (t->threads[i]->ended)
			free_thread(t->threads[i]);
		else
			t->threads[n++] = t->threads[i];
	}
	if (n == t->thread_count)
		return;
	t->thread_count = n;
	for (size_t i = t->count; i-- > 0; ) {
		bool lives = false;

		for (size_t k = 0; k < t->thread_count && !lives; k++)
			lives = t->threads[k]->process == t->processes[i];
		if (!lives)
			remove_process(t, t->processes[i]);
	}
}

void remote_targets_poll(struct remote_targets *t, int64_t now_ns)
{
	remove_ended(t);
	if (t->wanted && t->scanned_ns) {
		recheck_young(t, now_ns);
		find_new_processes(t, now_ns);
	}
	if (t->scanned_ns && now_ns - t->scanned_ns < SCAN_NS)
		return;
	if (t->wanted) {
		process_each(see_process, t);
	} else {
		for (size_t i = t->count; i-- > 0; )
			see_process(t->processes[i]->pid, t);
	}
	t->scanned_ns = now_ns;
	t->turn++;
}
