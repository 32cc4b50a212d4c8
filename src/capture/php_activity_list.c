/* php_activity_list.c: finds targets, and sorts their threads. */

#include "php_activity_list.h"

#include "clock.h"
#include "io.h"
#include "fallback.h"
#include "languages.h"
#include "mem.h"
#include "process.h"
#include "consistent_read.h"

#include <ctype.h>
#include <string.h>

#define TABLE_MAX	((size_t)1 << 20)

int php_activity_list_init(struct php_activity_list *l, const char *offsets_file, bool (*wanted)(void *data, pid_t pid), void *data,
		      struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct php_offsets offsets;
	struct perl_offsets perl_offsets;
	struct obstacle closed;
	int e = 0;

	*l = (struct php_activity_list){ 0 };
	if (obstacle_for_pid_namespace("/proc", &closed))
		return err_set(err, -ENOTSUP, "%s: %s", closed.cause, closed.remedy);
	if (fallback_memory_obstacle(&closed))
		return err_set(err, -EPERM, "no permission to read the memory of processes: %s%s%s; " FALLBACK_EXTENSION, closed.cause,
			       *closed.remedy ? ": " : "", closed.remedy);
	php_offsets_init(&offsets);
	perl_offsets_init(&perl_offsets);
	buf_init(&text);
	if (offsets_file)
		e = io_read_file(offsets_file, &text, TABLE_MAX, err);
	if (e >= 0 && offsets_file)
		e = php_offsets_add(&offsets, offsets_file, text.data, text.size, err);
	if (e < 0)
		return e;
	l->registry = php_registry_new(NULL, &offsets, &perl_offsets, LANGUAGE_PHP);
	remote_targets_init(&l->targets, l->registry, wanted, data);
	return 0;
}

static void forget(struct php_activity_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		php_activity_done(&l->items[i]);
	free(l->items);
	l->items = NULL;
	l->count = 0;
}

void php_activity_list_done(struct php_activity_list *l)
{
	forget(l);
	if (!l->registry)
		return;
	remote_targets_done(&l->targets);
	php_registry_free(l->registry);
}

int php_activity_list_add(struct php_activity_list *l, const char *text, struct err *err)
{
	struct err why;
	char *end;
	long pid = strtol(text, &end, 10);
	int e;

	if (!isdigit((unsigned char)*text) || *end || pid < 1 || pid > INT32_MAX)
		return err_set(err, -EINVAL, "invalid -p '%s'; use the number of a process", text);
	e = remote_targets_add(&l->targets, (pid_t)pid, err);
	if (e == 0)
		return err_set(err, -ENOTSUP, "process %ld runs no PHP that can be inspected: neither its program nor a library of it "
			       "exports executor_globals", pid);
	why = *err;
	return e == -EACCES || e == -EPERM ? err_set(err, e, "%s; " FALLBACK_EXTENSION, why.text) : e;
}

/* A thread in a process with a thread-safe PHP may belong to the server, without PHP. */
static bool is_worker(const struct php_activity_list *l, const struct remote_thread *t)
{
	const struct binary *b = &t->process->php.binary;

	return (!b->fpm || l->masters || !process_is_fpm_master(t->process->pid)) && (!l->fpm || b->fpm) && (!b->zts || t->pointer);
}

static int compare(const void *a, const void *b)
{
	const struct php_activity *x = a, *y = b;
	int pool = strcmp(x->pool, y->pool);

	if ((x->doing >= PHP_IDLE) != (y->doing >= PHP_IDLE))
		return x->doing >= PHP_IDLE ? 1 : -1;
	if (x->doing < PHP_IDLE && x->age_ns != y->age_ns)
		return x->age_ns < y->age_ns ? 1 : -1;
	return pool ? pool : x->tid < y->tid ? -1 : x->tid > y->tid;
}

void php_activity_list_read(struct php_activity_list *l)
{
	forget(l);
	remote_targets_poll(&l->targets, clock_monotonic_ns());
	l->items = xcalloc(l->targets.thread_count + 1, sizeof(*l->items));
	for (size_t i = 0; i < l->targets.thread_count; i++) {
		const struct remote_thread *t = l->targets.threads[i];
		struct php_activity *n = &l->items[l->count];

		if (!is_worker(l, t))
			continue;
		php_activity_read(t, n);
		if (n->doing == PHP_ENDED || (n->doing == PHP_UNREADABLE && t->process->php.binary.zts))
			php_activity_done(n);
		else
			l->count++;
	}
	consistent_read_end();
	qsort(l->items, l->count, sizeof(*l->items), compare);
}

const char *php_activity_list_refused(const struct php_activity_list *l)
{
	return l->registry ? php_registry_refused(l->registry) : "";
}
