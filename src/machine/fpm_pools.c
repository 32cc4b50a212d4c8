/* fpm_pools.c: parses php-fpm.conf and its pools. */
#include "fpm_pools.h"

#include "mem.h"
#include "php_ini.h"

#include <string.h>
#include <strings.h>

#define FILE_MAX	((size_t)1 << 20)
#define DEPTH_MAX	8	/* nesting of includes */

struct reading {
	const struct root_dir *root;
	struct fpm_pools *pools;
	const char *file;
	unsigned depth;
};

static int read_file(struct reading *r, const char *path);

static struct fpm_pool *pool_of(struct reading *r, const char *name)
{
	struct fpm_pools *p = r->pools;

	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->items[i].name, name))
			return &p->items[i];
	GROW(&p->items, &p->capacity, p->count + 1);
	p->items[p->count] = (struct fpm_pool){ .name = xstrdup(name), .file = xstrdup(r->file) };
	return &p->items[p->count++];
}

/* Replaces "$pool" in a value by the pool's name. */
static char *expand(const char *value, const char *pool)
{
	const char *at = strstr(value, "$pool");

	return at ? xasprintf("%.*s%s%s", (int)(at - value), value, pool, at + 5) : xstrdup(value);
}

static void set(char **field, const char *value, const char *pool)
{
	free(*field);
	*field = *value ? expand(value, pool) : NULL;
}

static void include(const char *path, void *data)
{
	read_file(data, path);
}

static bool is_on(const char *value)
{
	return !strcmp(value, "1") || !strcasecmp(value, "yes") || !strcasecmp(value, "on") || !strcasecmp(value, "true");
}

static void add(struct php_settings *list, const struct fpm_pool *p, const struct reading *r, const struct php_ini_line *l)
{
	_cleanup_(freep) char *value = expand(l->value, p->name);

	php_settings_add(list, l->key, value, r->file, l->line);
}

static void add_flag(struct php_settings *list, const struct reading *r, const struct php_ini_line *l)
{
	php_settings_add(list, l->key, is_on(l->value) ? "1" : "", r->file, l->line);
}

static void take_line(const struct php_ini_line *l, void *data)
{
	struct reading *r = data;
	struct fpm_pool *p;

	if (!strcmp(l->name, "include")) {
		if (r->depth < DEPTH_MAX)
			root_dir_glob(r->root, l->value, include, r);
		return;
	}
	if (!*l->section || !strcasecmp(l->section, "global"))
		return;
	p = pool_of(r, l->section);
	if (!strcmp(l->name, "user")) {
		set(&p->user, l->value, p->name);
		free(p->file);
		p->file = xstrdup(r->file);
	} else if (!strcmp(l->name, "group")) {
		set(&p->group, l->value, p->name);
	} else if (!strcmp(l->name, "chroot")) {
		set(&p->chroot, l->value, p->name);
	} else if (!strcmp(l->name, "clear_env")) {
		p->keeps_environment = !is_on(l->value);
	} else if (!strcmp(l->name, "env")) {
		add(&p->environment, p, r, l);
	} else if (!strcmp(l->name, "php_value")) {
		add(&p->settings, p, r, l);
	} else if (!strcmp(l->name, "php_admin_value")) {
		add(&p->admin, p, r, l);
	} else if (!strcmp(l->name, "php_flag")) {
		add_flag(&p->settings, r, l);
	} else if (!strcmp(l->name, "php_admin_flag")) {
		add_flag(&p->admin, r, l);
	}
}

static int read_file(struct reading *r, const char *path)
{
	struct reading inner = { r->root, r->pools, path, r->depth + 1 };
	_cleanup_(buf_done) struct buf b = { 0 };
	int error;

	buf_init(&b);
	error = root_dir_read(r->root, path, FILE_MAX, &b);
	if (error == 0) {
		php_ini_parse(b.data, b.size, take_line, &inner);
	} else if (!r->pools->unreadable) {
		r->pools->unreadable = xstrdup(path);
		r->pools->unreadable_error = -error;
	}
	return error;
}

int fpm_pools_read(const struct root_dir *root, const char *path, struct fpm_pools *ret)
{
	struct reading r = { .root = root, .pools = ret };

	*ret = (struct fpm_pools){ 0 };
	return read_file(&r, path);
}

void fpm_pools_done(struct fpm_pools *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct fpm_pool *pool = &p->items[i];

		free(pool->name);
		free(pool->file);
		free(pool->user);
		free(pool->group);
		free(pool->chroot);
		php_settings_done(&pool->environment);
		php_settings_done(&pool->settings);
		php_settings_done(&pool->admin);
	}
	free(p->items);
	free(p->unreadable);
	*p = (struct fpm_pools){ 0 };
}

const struct fpm_pool *fpm_pools_find(const struct fpm_pools *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->items[i].name, name))
			return &p->items[i];
	return NULL;
}
