/* php_tasks.c: finds PHP processes in /proc. */
#include "php_tasks.h"

#include "io.h"
#include "mem.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX	((size_t)4 << 20)	/* maps of a large process are about 100 KB */
#define NAMES		16384			/* bytes of one entry of a user */

static const char master[] = "php-fpm: master process", pool[] = "php-fpm: pool ";

static int read_of(const char *proc, const char *pid, const char *file, struct buf *ret)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s/%s", proc, pid, file);

	buf_reset(ret);
	return io_read_file(path, ret, FILE_MAX, NULL);
}

static char *link_of(const char *proc, const char *pid, const char *file)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s/%s", proc, pid, file);
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	return n < 0 ? NULL : xstrndup(target, (size_t)n);
}

void user_name(uid_t uid, char *out, size_t size)
{
	struct passwd entry, *p = NULL;
	char text[NAMES];

	if (getpwuid_r(uid, &entry, text, sizeof(text), &p) == 0 && p)
		snprintf(out, size, "%s", p->pw_name);
	else
		snprintf(out, size, "%lu", (unsigned long)uid);
}

/* --- the name */

static void make_plain(char *text)
{
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

/* Workers of FPM are called "php-fpm: pool www", the master "php-fpm: master process (/etc/php-fpm.conf)". */
static void put_name(struct php_task *t, const char *comm, const char *title)
{
	const char *config;

	if (strncmp(title, master, sizeof(master) - 1) == 0) {
		t->master = true;
		snprintf(t->name, sizeof(t->name), "php-fpm, master");
		config = strchr(title, '(');
		if (config)
			snprintf(t->config, sizeof(t->config), "%.*s", (int)strcspn(config + 1, ")"), config + 1);
	} else if (strncmp(title, pool, sizeof(pool) - 1) == 0) {
		snprintf(t->pool, sizeof(t->pool), "%s", title + sizeof(pool) - 1);
		/* The title may be padded with blanks to the length of the old command line. */
		for (size_t n = strlen(t->pool); n && t->pool[n - 1] == ' '; n--)
			t->pool[n - 1] = '\0';
		make_plain(t->pool);
		snprintf(t->name, sizeof(t->name), "php-fpm, pool %s", t->pool);
	} else {
		snprintf(t->name, sizeof(t->name), "%.64s", comm);
	}
	make_plain(t->name);
	make_plain(t->config);
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Apache also runs without PHP. */
static bool needs_proof(const char *name)
{
	return strcmp(name, "apache2") == 0 || strcmp(name, "httpd") == 0;
}

/* Accepts "php", "php8.2", "php82", "php-fpm8.2", "php-cgi", "php-fpm, pool www"; but not phpize, or a script such as
 * php-wrapper. */
static bool is_php_name(const char *name)
{
	static const char *const kinds[] = { "-fpm", "-cgi", "-cli" };

	if (!starts(name, "php"))
		return false;
	name += 3;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (starts(name, kinds[i]))
			return true;
	return !*name || isdigit((unsigned char)*name);
}

bool php_task_is_php(const struct php_task *t)
{
	return is_php_name(t->name) || strcmp(t->name, "frankenphp") == 0 || t->library || t->loaded == TRISTATE_YES;
}

/* --- mappings */

static bool cut_deleted(char *path)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path);

	if (n <= sizeof(mark) - 1 || strcmp(path + n - (sizeof(mark) - 1), mark))
		return false;
	path[n - (sizeof(mark) - 1)] = '\0';
	return true;
}

/* "/usr/lib/apache2/modules/libphp8.2.so" */
static bool is_library(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && starts(name, "/libphp") && strstr(name, ".so");
}

static void read_maps(const char *proc, const char *pid, struct php_task *t)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	char *line, *save = NULL;
	int r;

	buf_init(&text);
	r = read_of(proc, pid, "maps", &text);
	if (r < 0 || !text.size) {	/* kernel threads have none */
		t->maps_error = r < 0 ? -r : 0;
		return;
	}
	t->loaded = TRISTATE_NO;
	for (line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *path = strchr(line, '/');
		bool deleted = path && cut_deleted(path);
		const char *name = path ? strrchr(path, '/') : NULL;

		if (!name)
			continue;
		if (!t->extension && strcmp(name, "/strobe.so") == 0) {
			t->extension = xstrdup(path);
			t->extension_deleted = deleted;
			t->loaded = TRISTATE_YES;
		} else if (!t->library && is_library(path)) {
			t->library = xstrdup(path);
		}
	}
}

/* --- root directory and service */

static void read_root(const char *proc, const char *pid, struct php_task *t)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s/root/.", proc, pid), *link = link_of(proc, pid, "root");
	_cleanup_(freep) char *theirs = link_of(proc, pid, "ns/mnt"), *ours = link_of(proc, "self", "ns/mnt");
	struct stat own, other;

	if (!link || stat(path, &other) < 0 || stat("/", &own) < 0)
		return;
	t->other_root = own.st_dev == other.st_dev && own.st_ino == other.st_ino ? TRISTATE_NO : TRISTATE_YES;
	if (t->other_root == TRISTATE_NO)
		return;
	t->container = theirs && ours && strcmp(theirs, ours);
	if (!t->container && strcmp(link, "/"))
		t->root = TAKE_PTR(link);
}

/* "0::/system.slice/php8.2-fpm.service" */
static void read_service(const char *proc, const char *pid, struct php_task *t)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	char *end, *start;

	buf_init(&text);
	if (read_of(proc, pid, "cgroup", &text) < 0 || !(end = strstr(text.data, ".service\n")))
		return;
	for (start = end; start > text.data && start[-1] != '/' && start[-1] != '\n'; start--)
		;
	snprintf(t->service, sizeof(t->service), "%.*s", (int)(end - start), start);
	make_plain(t->service);
}

/* --- all of it */

/* Reads the cheap facts, which decide whether the rest is needed. */
static int read_names(const char *proc, const char *pid, struct php_task *t)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	char comm[64];
	int r;

	buf_init(&text);
	*t = (struct php_task){ .pid = atoi(pid) };
	if ((r = read_of(proc, pid, "comm", &text)) < 0)
		return r;
	snprintf(comm, sizeof(comm), "%.*s", (int)strcspn(text.data, "\n"), text.data);
	if ((r = read_of(proc, pid, "cmdline", &text)) < 0)
		return r;
	put_name(t, comm, text.data);
	t->command = buf_take(&text, &t->command_size);
	return 0;
}

static int read_rest(const char *proc, const char *pid, struct php_task *t)
{
	int r = task_status_read(proc, pid, &t->status);

	if (r < 0)
		return r;
	t->exe = link_of(proc, pid, "exe");
	if (t->exe)
		t->exe_deleted = cut_deleted(t->exe);
	else
		t->exe_error = errno;
	read_maps(proc, pid, t);
	read_root(proc, pid, t);
	read_service(proc, pid, t);
	return 0;
}

int php_task_read(const char *proc, const char *pid, struct php_task *ret)
{
	int r = read_names(proc, pid, ret);

	if (r == 0)
		r = read_rest(proc, pid, ret);
	if (r < 0)
		php_task_done(ret);
	return r;
}

void php_task_done(struct php_task *t)
{
	free(t->command);
	free(t->exe);
	free(t->extension);
	free(t->library);
	free(t->root);
	*t = (struct php_task){ 0 };
}

static bool may_be_php(const struct php_task *t)
{
	return t->command_size && (php_task_is_php(t) || needs_proof(t->name));
}

size_t php_tasks_find(const char *proc, struct php_task **ret, size_t *ret_examined)
{
	size_t count = 0, capacity = 0, examined = 0;
	DIR *dir = opendir(proc);
	struct dirent *e;

	*ret = NULL;
	while (dir && (e = readdir(dir))) {
		struct php_task t;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		examined++;
		if (read_names(proc, e->d_name, &t) < 0)
			continue;
		if (may_be_php(&t) && read_rest(proc, e->d_name, &t) == 0 && php_task_is_php(&t)) {
			GROW(ret, &capacity, count + 1);
			(*ret)[count++] = t;
		} else {
			php_task_done(&t);
		}
	}
	if (dir)
		closedir(dir);
	if (ret_examined)
		*ret_examined = examined;
	return count;
}

void php_tasks_free(struct php_task *tasks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		php_task_done(&tasks[i]);
	free(tasks);
}
