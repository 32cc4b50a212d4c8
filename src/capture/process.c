/* process.c: reads /proc. */

#include "process.h"

#include "io.h"
#include "obstacles.h"
#include "thread_watch.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define FILE_LIMIT	((size_t)1 << 20)
#define CONTAINER_ID	64u
#define KERNEL_THREAD	0x00200000u	/* PF_KTHREAD */

static bool read_file(struct buf *b, const char *format, ...) _printf_(2, 3);
static bool read_file(struct buf *b, const char *format, ...)
{
	char path[128];
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	buf_reset(b);
	return io_read_file(path, b, FILE_LIMIT, NULL) >= 0;
}

/* Returns the text after the name, which may contain blanks and parentheses. The first field there is the third, the
 * state. */
static const char *behind_name(const struct buf *stat)
{
	const char *p = strrchr(stat->data, ')');

	return p && p[1] == ' ' ? p + 2 : NULL;
}

enum stat_field { FIELD_STATE = 3, FIELD_PARENT = 4, FIELD_FLAGS = 9, FIELD_THREADS = 20, FIELD_START = 22 };

static uint64_t number_at(const struct buf *stat, enum stat_field wanted)
{
	const char *p = behind_name(stat);

	for (unsigned field = FIELD_STATE; field < wanted && p; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

uint64_t process_start_ticks(pid_t pid)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	return read_file(&b, "/proc/%d/stat", (int)pid) ? number_at(&b, FIELD_START) : 0;
}

bool process_is_of_kernel(pid_t pid)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	return read_file(&b, "/proc/%d/stat", (int)pid) && number_at(&b, FIELD_FLAGS) & KERNEL_THREAD;
}

pid_t process_parent(pid_t pid)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	return read_file(&b, "/proc/%d/stat", (int)pid) ? (pid_t)number_at(&b, FIELD_PARENT) : 0;
}

int process_absent(pid_t pid, struct err *err)
{
	struct obstacle hides;

	if (obstacle_for_hidepid("/proc", &hides))
		return err_set(err, -ESRCH, "there is no process %d that you can see: %s; %s", (int)pid, hides.cause, hides.remedy);
	return err_set(err, -ESRCH, "there is no process %d", (int)pid);
}

/* A first thread that has ended stays a zombie until the other threads have ended, too; these are then the process. */
bool process_lives(pid_t pid, uint64_t start_ticks)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	const char *state;

	buf_init(&b);
	if (!read_file(&b, "/proc/%d/stat", (int)pid) || !(state = behind_name(&b)) || number_at(&b, FIELD_START) != start_ticks)
		return false;
	return !strchr("ZXx", *state) || number_at(&b, FIELD_THREADS) > 1;
}

bool process_command_line(pid_t pid, struct buf *ret)
{
	if (!read_file(ret, "/proc/%d/cmdline", (int)pid))
		return false;
	while (ret->size && !ret->data[ret->size - 1])
		ret->size--;
	for (size_t i = 0; i < ret->size; i++)
		if (!ret->data[i])
			ret->data[i] = ' ';
	ret->data[ret->size] = 0;
	if (ret->size)
		return true;
	if (!read_file(ret, "/proc/%d/comm", (int)pid))
		return false;
	if (ret->size && ret->data[ret->size - 1] == '\n')
		ret->data[--ret->size] = 0;
	return true;
}

bool process_fpm_pool(pid_t pid, char *ret, size_t size)
{
	static const char title[] = "php-fpm: pool ";
	_cleanup_(buf_done) struct buf b = { 0 };
	char *end;

	buf_init(&b);
	if (!process_command_line(pid, &b) || strncmp(b.data, title, sizeof(title) - 1))
		return false;
	snprintf(ret, size, "%s", b.data + sizeof(title) - 1);
	for (end = ret + strlen(ret); end > ret && end[-1] == ' '; end--)
		end[-1] = 0;
	return *ret;
}

bool process_is_fpm_master(pid_t pid)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	return process_command_line(pid, &b) && !strncmp(b.data, "php-fpm: master", 15);
}

bool process_container(pid_t pid, char *ret, size_t size)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	size_t digits = 0;

	buf_init(&b);
	if (!read_file(&b, "/proc/%d/cgroup", (int)pid))
		return false;
	for (const char *p = b.data; *p; p++) {
		digits = isxdigit((unsigned char)*p) ? digits + 1 : 0;
		if (digits == CONTAINER_ID && !isxdigit((unsigned char)p[1])) {
			snprintf(ret, size, "%.*s", (int)CONTAINER_ID, p + 1 - CONTAINER_ID);
			return true;
		}
	}
	return false;
}

pid_t thread_own_number(pid_t pid, pid_t tid)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	const char *p, *end;

	/* "NSpid: 4711 17", the innermost namespace last */
	buf_init(&b);
	if (!read_file(&b, "/proc/%d/task/%d/status", (int)pid, (int)tid) || !(p = strstr(b.data, "\nNSpid:")))
		return tid;
	end = strchr(p + 1, '\n');
	while (end && isdigit((unsigned char)end[-1]))
		end--;
	return end ? (pid_t)atol(end) : tid;
}

bool thread_switches(pid_t pid, pid_t tid, uint64_t *ret)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	const char *own, *forced;

	buf_init(&b);
	if (!read_file(&b, "/proc/%d/task/%d/status", (int)pid, (int)tid))
		return false;
	own = strstr(b.data, "\nvoluntary_ctxt_switches:");
	forced = strstr(b.data, "\nnonvoluntary_ctxt_switches:");
	if (!own || !forced)
		return false;
	*ret = strtoull(strchr(own, ':') + 1, NULL, 10) + strtoull(strchr(forced, ':') + 1, NULL, 10);
	return true;
}

bool thread_is_asleep(pid_t pid, pid_t tid)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	const char *state;

	buf_init(&b);
	return read_file(&b, "/proc/%d/task/%d/stat", (int)pid, (int)tid) && (state = behind_name(&b)) &&
	       thread_state_is_asleep(*state);
}

static void each_number(const char *path, void (*each)(pid_t number, void *data), void *data)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			each((pid_t)atol(e->d_name), data);
	if (dir)
		closedir(dir);
}

void process_each(void (*each)(pid_t pid, void *data), void *data)
{
	each_number("/proc", each, data);
}

void process_each_thread(pid_t pid, void (*each)(pid_t tid, void *data), void *data)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	each_number(path, each, data);
}
