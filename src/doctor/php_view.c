/* php_view.c: combines facts about one process from /proc, ini files and php-fpm's configuration. */
#include "php_view.h"

#include "mem.h"
#include "expected_socket.h"

#include <string.h>

static const struct php_task *master_of(const struct machine_tasks *all, const struct php_task *t)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].master && (all->items[i].pid == t->status.parent || all->items[i].pid == t->pid))
			return &all->items[i];
	return NULL;
}

/* Reads the configuration through the master's root, since workers may be in a chroot. */
static void read_pool(struct php_view *v, const struct doctor *d, const struct php_task *master)
{
	_cleanup_(freep) char *directory = xasprintf("%s/%d/root", d->proc, (int)master->pid);
	struct root_dir root;

	if (!*master->config || root_dir_open(directory, &root) < 0)
		return;
	fpm_pools_read(&root, master->config, &v->pools);
	v->pool = fpm_pools_find(&v->pools, v->task->pool);
	root_dir_close(&root);
}

/* php-fpm overwrites its command line with a title, and its workers clear their environment. A worker in a chroot
 * read its ini files before it changed its root. */
static void read_settings(struct php_view *v, const struct doctor *d, const struct php_task *master)
{
	const struct php_task *starter = master ? master : v->task;
	_cleanup_(freep) char *phprc = process_variable(d->proc, starter->pid, "PHPRC");
	_cleanup_(freep) char *scan = process_variable(d->proc, starter->pid, "PHP_INI_SCAN_DIR");
	_cleanup_(freep) char *directory = xasprintf("%s/%d/root", d->proc, (int)starter->pid);
	bool is_fpm = *v->task->pool || v->task->master;
	struct php_settings_from from = {
		.command = is_fpm ? NULL : v->task->command, .command_size = v->task->command_size, .phprc = phprc, .scan = scan,
	};
	const struct php_setting *line;
	struct root_dir root;

	if (!v->php || (root_dir_open(directory, &root) < 0 && root_dir_open("/", &root) < 0))
		return;
	php_settings_load(&root, &v->php->binary, &from, &v->settings);
	root_dir_close(&root);
	v->has_line = php_settings_extensions(&v->settings, "strobe", &line);
	if (v->pool) {
		php_settings_add_pool(&v->settings, &v->pool->settings);
		php_settings_add_pool(&v->settings, &v->pool->admin);
		v->has_line = php_settings_extensions(&v->settings, "strobe", &line);	/* php_admin_value[extension] */
	}
}

static void put_about(struct php_view *v)
{
	char user[64];

	user_name(v->task->status.uid, user, sizeof(user));
	snprintf(v->about, sizeof(v->about), "%.95s (user %s%s%.90s)", v->task->name, user, v->root_name ? ", in " : "",
		 !v->root_name ? "" : v->task->container ? "a container" : v->root_name);
}

void php_view_open(struct php_view *v, const struct doctor *d, const struct machine_tasks *all, const struct php_task *task,
		   struct php_installation_list *list)
{
	_cleanup_(freep) char *directory = xasprintf("%s/%d/root", d->proc, (int)task->pid);
	const struct php_task *master = *task->pool || task->master ? master_of(all, task) : NULL;
	struct socket_variables variables = { 0 };

	*v = (struct php_view){ .task = task };
	if (root_dir_open(directory, &v->root) < 0)
		root_dir_open("/", &v->root);
	if (task->other_root == TRISTATE_YES)
		v->root_name = task->root ? task->root : "its container";
	put_about(v);
	v->php = php_installation_add_task(list, d->proc, task, &v->err);
	if (master)
		read_pool(v, d, master);
	read_settings(v, d, master);
	if (v->pool)
		socket_variables_of_pool(v->pool, task->status.uid, d->proc, master ? master->pid : 0, &variables);
	else if (!*task->pool)
		socket_variables_of(d->proc, task->pid, &variables);
	v->socket = expected_socket(&v->settings, &variables, task->status.uid, &v->root);
	socket_variables_done(&variables);
}

void php_view_close(struct php_view *v)
{
	root_dir_close(&v->root);
	php_settings_done(&v->settings);
	fpm_pools_done(&v->pools);
	free(v->socket);
	*v = (struct php_view){ 0 };
}

void php_view_name(const struct php_installation *php, char *out, size_t size)
{
	bool other = strcmp(php->root, "/");

	snprintf(out, size, "%s %s (%.120s%s%s)", php_sapi_name(php->binary.sapi), php->binary.version, php->binary.path,
		 other ? " of " : "", other ? php->root : "");
}
