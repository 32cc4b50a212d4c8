/* php_installation.c: finds PHP in the directories of packages, and in /proc. */
#include "php_installation.h"

#include "mem.h"
#include "root_dir.h"

#include <fcntl.h>
#include <string.h>

#define FOUND_MAX	64

static const char *const patterns[] = {
	"/usr/bin/php*", "/usr/sbin/php-fpm*", "/usr/bin/frankenphp", "/usr/local/bin/php*", "/usr/local/sbin/php-fpm*",
	"/usr/local/bin/frankenphp", "/usr/lib/cgi-bin/php*",
	"/opt/*/bin/php*", "/opt/*/sbin/php-fpm*", "/opt/*/*/bin/php*", "/opt/*/*/sbin/php-fpm*",
	/* Red Hat's software collections, such as /opt/remi/php82/root. */
	"/opt/*/*/root/usr/bin/php*", "/opt/*/*/root/usr/sbin/php-fpm*",
	"/usr/lib/apache2/modules/libphp*.so", "/usr/lib*/httpd/modules/libphp*.so", "/usr/libexec/apache2/libphp*.so",
	"/usr/local/apache2/modules/libphp*.so", "/usr/lib/libphp*.so", "/usr/local/lib/libphp*.so",
};

struct search {
	struct php_installation_list *list;
	const struct root_dir *root;
	const char *directory;
};

static struct php_installation *known(struct php_installation_list *l, const struct stat *st)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->items[i].device == st->st_dev && l->items[i].inode == st->st_ino)
			return &l->items[i];
	return NULL;
}

/* Adds the file open as `fd`, which stays the caller's. */
static struct php_installation *add(struct php_installation_list *l, int fd, const char *path, const char *root, struct err *err)
{
	struct php_installation f = { 0 }, *same;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err_set(err, -EINVAL, "'%s' is not a file", path);
		return NULL;
	}
	if ((same = known(l, &st)))
		return same;
	if (l->count == FOUND_MAX) {
		err_set(err, -E2BIG, "there are more than %d kinds of PHP on this machine", FOUND_MAX);
		return NULL;
	}
	if (php_binary_read_fd(fd, path, &f.binary, err) < 0)
		return NULL;
	f.root = xstrdup(root);
	f.device = st.st_dev;
	f.inode = st.st_ino;
	GROW(&l->items, &l->capacity, l->count + 1);
	l->items[l->count] = f;
	return &l->items[l->count++];
}

static bool is_program_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	/* php-config, phpize and others are scripts, and phpdbg serves no requests. */
	return strncmp(name, "php-config", 10) && strncmp(name, "phpize", 6) && strncmp(name, "phpdbg", 6);
}

static void take(const char *path, void *data)
{
	const struct search *s = data;
	_cleanup_(fd_closep) int fd = is_program_name(path) ? root_dir_open_at(s->root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY) : -1;

	if (fd >= 0)
		add(s->list, fd, path, s->directory, NULL);
}

static void search_path(struct search *s)
{
	const char *p = getenv("PATH");

	for (; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		_cleanup_(freep) char *pattern = xasprintf("%.*s/php*", (int)strcspn(p, ":"), p);

		if (*pattern == '/' && pattern[1] != 'p')
			root_dir_glob(s->root, pattern, take, s);
	}
}

/* In mod_php and frankenphp PHP is in a library. A deleted file can still be opened below /proc. */
static int open_of_task(const char *proc, const struct php_task *t, char **ret_path, char **ret_root)
{
	_cleanup_(freep) char *exe = xasprintf("%s/%d/exe", proc, (int)t->pid);
	struct root_dir root;
	int fd;

	*ret_root = t->other_root == TRISTATE_YES ? xasprintf("%s/%d/root", proc, (int)t->pid) : xstrdup("/");
	if (!t->library) {
		*ret_path = xstrdup(t->exe ? t->exe : exe);
		fd = open(exe, O_RDONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	*ret_path = xstrdup(t->library);
	fd = root_dir_open(*ret_root, &root);
	if (fd < 0)
		return fd;
	fd = root_dir_open_at(&root, t->library, O_RDONLY | O_NONBLOCK);
	root_dir_close(&root);
	return fd;
}

struct php_installation *php_installation_add_task(struct php_installation_list *l, const char *proc, const struct php_task *t, struct err *err)
{
	_cleanup_(freep) char *path = NULL, *root = NULL;
	_cleanup_(fd_closep) int fd = open_of_task(proc, t, &path, &root);
	struct php_installation *f;

	if (fd < 0) {
		err_set(err, fd, "cannot open '%s' of process %d: %s", path, (int)t->pid, strerror(-fd));
		return NULL;
	}
	f = add(l, fd, path, root, err);
	if (!f)
		return NULL;
	f->processes++;
	if (!f->pid)
		f->pid = t->pid;
	f->deleted = t->exe_deleted && !t->library;
	return f;
}

void php_installations_find(const char *root, const char *proc, const struct php_task *tasks, size_t task_count,
		   struct php_installation_list *ret)
{
	struct root_dir r;
	struct search s = { .list = ret, .root = &r, .directory = root };

	*ret = (struct php_installation_list){ 0 };
	if (root_dir_open(root, &r) == 0) {
		search_path(&s);
		for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
			root_dir_glob(&r, patterns[i], take, &s);
		root_dir_close(&r);
	}
	for (size_t i = 0; i < task_count; i++)
		php_installation_add_task(ret, proc, &tasks[i], NULL);
}

void php_installations_done(struct php_installation_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		php_binary_done(&l->items[i].binary);
		free(l->items[i].root);
	}
	free(l->items);
	*l = (struct php_installation_list){ 0 };
}
