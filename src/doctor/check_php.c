/* check_php.c: each PHP that is installed or runs, and its ini files. */
#include "doctor.h"

#include "container.h"
#include "fpm_pools.h"
#include "mem.h"
#include "php_view.h"
#include "expected_socket.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>

struct check {
	struct findings *f;
	const struct doctor *d;
	const struct machine_tasks *tasks;
	unsigned loading;		/* installations whose ini files load the extension */
};

/* --- pools of the configuration */

static const char *config_of(const struct check *c, const struct php_installation *php, const struct root_dir *root, char *out, size_t size)
{
	static const char *const usual[] = { "/etc/php-fpm.conf", "/usr/local/etc/php-fpm.conf" };
	struct stat st;

	for (size_t i = 0; i < c->tasks->count; i++) {
		const struct php_task *t = &c->tasks->items[i];

		if (t->master && *t->config && t->pid == php->pid)
			return t->config;
	}
	snprintf(out, size, "%s/php-fpm.conf", php->binary.ini_directory ? php->binary.ini_directory : "/etc");
	if (root_dir_stat(root, out, &st) == 0)
		return out;
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (root_dir_stat(root, usual[i], &st) == 0)
			return usual[i];
	return NULL;
}

static bool runs(const struct check *c, const struct fpm_pool *p)
{
	for (size_t i = 0; i < c->tasks->count; i++)
		if (!strcmp(c->tasks->items[i].pool, p->name))
			return true;
	return false;
}

/* Determines the credentials that workers of a pool will have. */
static bool identity_of(const struct fpm_pool *p, struct task_status *ret)
{
	struct passwd *user = p->user ? getpwnam(p->user) : NULL;
	struct group *group = p->group ? getgrnam(p->group) : NULL;
	int n = TASK_GROUPS;

	*ret = (struct task_status){ 0 };
	if (!user)
		return false;
	ret->uid = user->pw_uid;
	if (getgrouplist(p->user, group ? group->gr_gid : user->pw_gid, ret->gids, &n) < 0)
		n = TASK_GROUPS;
	ret->gid_count = (size_t)n;
	return true;
}

/* Pools with running workers are skipped: those are checked among the processes. */
static void check_resting_pool(struct check *c, const struct fpm_pool *p, const char *about, const struct php_settings *s,
			       const struct root_dir *root)
{
	_cleanup_(freep) char *directory = p->chroot ? xasprintf("%s%s", root->path, p->chroot) : NULL, *path = NULL;
	struct socket_variables variables;
	struct task_status who;
	struct root_dir own;

	if (!identity_of(p, &who)) {
		if (p->user)
			findings_add(c->f, LEVEL_WARNING, AREA_PHP, "pool-user", about, NULL, "there is no user %s (%s)", p->user, p->file);
		return;
	}
	if (root_dir_open(directory ? directory : *root->path ? root->path : "/", &own) < 0) {
		findings_add(c->f, LEVEL_WARNING, AREA_PHP, "pool-chroot", about, NULL, "its chroot %s cannot be entered (%s)", p->chroot,
			     p->file);
		return;
	}
	socket_variables_of_pool(p, who.uid, c->d->proc, 0, &variables);
	path = expected_socket(s, &variables, who.uid, &own);
	socket_variables_done(&variables);
	doctor_socket_access(c->f, c->d, LEVEL_WARNING, AREA_PHP, about, &own, p->chroot, path, s, &who, "");
	root_dir_close(&own);
}

static bool touches_strobe(const struct php_settings *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strncmp(s->items[i].name, "strobe.", 7) || !strncmp(s->items[i].name, "opcache.", 8))
			return true;
	return false;
}

static void check_pools(struct check *c, const struct php_installation *php, const struct root_dir *root, const char *name)
{
	char path[512];
	const char *config = config_of(c, php, root, path, sizeof(path));
	struct fpm_pools pools;

	if (!config)
		return;
	if (fpm_pools_read(root, config, &pools) < 0 || pools.unreadable)
		findings_add(c->f, LEVEL_NOTE, AREA_PHP, "fpm-config", name, doctor_as_root(), "cannot read %s: %s", pools.unreadable,
			     strerror(pools.unreadable_error));
	for (size_t i = 0; i < pools.count; i++) {
		const struct fpm_pool *p = &pools.items[i];
		_cleanup_(freep) char *about = xasprintf("%s, pool %s", name, p->name);
		struct php_settings s;

		if (runs(c, p))
			continue;
		php_settings_load(root, &php->binary, NULL, &s);
		php_settings_add_pool(&s, &p->settings);
		php_settings_add_pool(&s, &p->admin);
		if (touches_strobe(&p->settings) || touches_strobe(&p->admin))
			doctor_settings(c->f, LEVEL_WARNING, AREA_PHP, about, &php->binary, &s);
		check_resting_pool(c, p, about, &s, root);
		php_settings_done(&s);
	}
	fpm_pools_done(&pools);
}

/* --- one PHP */

static void put_ini(const struct php_binary *php, const struct php_settings *s, struct buf *out)
{
	if (s->ini_file)
		buf_puts(out, s->ini_file);
	else
		buf_printf(out, "no php.ini in %s", php->ini_directory ? php->ini_directory : "its directory, which is not known");
	if (php->scan_directory)
		buf_printf(out, ", %s", php->scan_directory);
}

static void add_loaded(struct check *c, const struct php_installation *php, const char *name, const struct php_settings *s)
{
	const struct php_setting *line;
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	php_settings_extensions(s, "strobe", &line);
	doctor_put_mode(s, &b);
	findings_add(c->f, LEVEL_OK, AREA_PHP, "php", name, NULL, "loads strobe (%s:%u), %s", line->file, line->line, b.data);
}

static bool too_old(const struct php_binary *php)
{
	unsigned major, minor;

	return sscanf(php->version, "%u.%u", &major, &minor) == 2 && major * 100 + minor < 802;
}

static void add_not_loaded(struct check *c, const struct php_installation *php, const char *name, const struct root_dir *root,
			   const struct php_settings *s)
{
	_cleanup_(buf_done) struct buf ini = { 0 }, fix = { 0 };

	buf_init(&ini);
	buf_init(&fix);
	put_ini(&php->binary, s, &ini);
	doctor_put_enable(root, &php->binary, "", &fix);
	if (too_old(&php->binary))
		findings_add(c->f, LEVEL_NOTE, AREA_PHP, "php", name, NULL,
			     "the extension is for PHP 8.2 and later; the system sampler needs no extension");
	else
		findings_add(c->f, LEVEL_NOTE, AREA_PHP, "php", name, fix.data, "does not load the extension (%s)", ini.data);
}

static void check_settings(struct check *c, const struct php_installation *php, const char *name, const struct root_dir *root,
			   const struct php_settings *s)
{
	bool is_fpm = !strcmp(php->binary.sapi, "fpm-fcgi");
	const struct php_setting *line;
	unsigned before;

	if (s->unreadable)
		findings_add(c->f, LEVEL_WARNING, AREA_PHP, "ini-unreadable", name, doctor_as_root(), "cannot read %s: %s", s->unreadable,
			     strerror(s->unreadable_error));
	if (!php_settings_extensions(s, "strobe", &line)) {
		add_not_loaded(c, php, name, root, s);
		return;
	}
	c->loading++;
	before = c->f->counts[LEVEL_PROBLEM];
	if (doctor_extension(c->f, LEVEL_PROBLEM, AREA_PHP, name, root, &php->binary, s))
		doctor_settings(c->f, is_fpm ? LEVEL_WARNING : LEVEL_PROBLEM, AREA_PHP, name, &php->binary, s);
	if (c->f->counts[LEVEL_PROBLEM] == before)
		add_loaded(c, php, name, s);
	if (is_fpm)
		check_pools(c, php, root, name);
}

static void check_one(struct check *c, const struct php_installation *php)
{
	struct php_settings s;
	struct root_dir root;
	char name[256];
	int r;

	php_view_name(php, name, sizeof(name));
	findings_set_subject(c->f, "%s", name);
	r = root_dir_open(php->root, &root);
	if (r < 0) {
		findings_add(c->f, LEVEL_NOTE, AREA_PHP, "root", name, doctor_as_root(), "its files cannot be read: %s", strerror(-r));
		return;
	}
	php_settings_load(&root, &php->binary, NULL, &s);
	check_settings(c, php, name, &root, &s);
	php_settings_done(&s);
	root_dir_close(&root);
}

static bool any_mapped(const struct machine_tasks *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].loaded == TRISTATE_YES)
			return true;
	return false;
}

void doctor_php(struct findings *f, const void *data)
{
	struct machine_tasks tasks;
	struct check c = { .f = f, .d = data, .tasks = &tasks };
	struct php_installation_list found;
	bool container = container_without_systemd("");

	tasks.count = php_tasks_find(c.d->proc, &tasks.items, &tasks.examined);
	php_installations_find(c.d->root, c.d->proc, tasks.items, tasks.count, &found);
	for (size_t i = 0; i < found.count; i++)
		check_one(&c, &found.items[i]);
	if (!found.count && tasks.count)
		findings_add(f, LEVEL_NOTE, AREA_PHP, "no-php", "",
			     container ? doctor_as_root() : "run strobe doctor as root, on the host if it is in a container",
			     "found no PHP in PATH, /usr, /usr/local and /opt; that of the processes below is elsewhere");
	else if (!found.count && container && !c.d->remote)
		findings_add(f, LEVEL_NOTE, AREA_PHP, "no-php", "", "with --pid host (Kubernetes: hostPID: true) it sees those of other containers",
			     "found no PHP in this container, nor among the %zu processes", tasks.examined);
	else if (!found.count)
		findings_add(f, c.d->remote ? LEVEL_NOTE : LEVEL_PROBLEM, AREA_PHP, "no-php", "", c.d->remote ? NULL : "install PHP, or put it into PATH",
			     "found no PHP in PATH, /usr, /usr/local and /opt, nor among the %zu processes", tasks.examined);
	else if (!c.loading && !any_mapped(&tasks))
		findings_add(f, LEVEL_PROBLEM, AREA_PHP, "no-extension", "", "one of the commands above, for the PHP that serves your site",
			     "no PHP of this machine loads the extension, so that nothing is sampled from inside");
	php_installations_done(&found);
	php_tasks_free(tasks.items, tasks.count);
}
