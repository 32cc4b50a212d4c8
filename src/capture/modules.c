/* modules.c: files and generated code of processes, and their tables. */

#include "module.h"

#include "hash.h"
#include "mem.h"
#include "process.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct modules *modules_new(struct unwind_tables *tables)
{
	struct modules *m = xcalloc(1, sizeof(*m));

	m->tables = tables;
	map_init(&m->by_key);
	return m;
}

static void module_free(struct module *one)
{
	if (!one)
		return;
	elf_close(&one->elf);
	fd_closep(&one->fd);
	free(one->path);
	free(one->functions);
	symbols_done(&one->symbols);
	for (size_t i = 0; i < one->own_count; i++)
		free(one->own_list[i]);
	free(one->own_list);
	map_done(&one->own_names);
	if (one->has_map)
		perf_map_done(&one->map);
	free(one);
}

struct modules *modules_free(struct modules *m)
{
	if (!m)
		return NULL;
	for (size_t i = 0; i < m->count; i++)
		module_free(m->list[i]);
	for (size_t i = 0; i < m->root_count; i++)
		close(m->roots[i].fd);
	free(m->list);
	free(m->roots);
	map_done(&m->by_key);
	free(m);
	return NULL;
}

void modules_forget_gone(struct modules *m)
{
	for (size_t i = 0; i < m->count; i++) {
		struct module *one = m->list[i];

		if (!one || one->kind != MODULE_GENERATED || one->shared || process_start_ticks(one->pid) == one->start_ticks)
			continue;
		module_free(one);
		m->list[i] = NULL;
	}
}

const struct modules_failures *modules_failures(const struct modules *m)
{
	return &m->failures;
}

static void fail(struct modules *m, const struct err *err)
{
	m->failures.unread++;
	if (!*m->failures.first)
		snprintf(m->failures.first, sizeof(m->failures.first), "%s", err->text);
}

/* --- Roots --- */

/* Returns the index of a process' root directory; -1 if it cannot be opened. */
static int add_root(struct modules *m, pid_t pid)
{
	_cleanup_(fd_closep) int fd = -1;
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	for (size_t i = 0; i < m->root_count; i++)
		if (m->roots[i].device == st.st_dev && m->roots[i].inode == st.st_ino)
			return (int)i;
	GROW(&m->roots, &m->root_capacity, m->root_count + 1);
	m->roots[m->root_count] = (struct root){ st.st_dev, st.st_ino, TAKE_FD(fd) };
	return (int)m->root_count++;
}

/* --- Files --- */

static struct module *add(struct modules *m, enum module_kind kind, uint32_t *ret)
{
	struct module *one = xcalloc(1, sizeof(*one));

	one->kind = kind;
	map_init(&one->own_names);
	one->fd = one->elf.fd = -1;
	GROW(&m->list, &m->capacity, m->count + 1);
	m->list[m->count++] = one;
	*ret = (uint32_t)m->count;
	return one;
}

static void read_tables(struct modules *m, struct module *one)
{
	_cleanup_(cfi_done) struct cfi_table t = { 0 };
	struct err err = { 0 };

	if (cfi_read(&one->elf, &t, &err) < 0) {
		if (err.code != -ENOENT)
			fail(m, &err);
		return;
	}
	if (unwind_tables_add(m->tables, &t, &one->place, &err) < 0)
		fail(m, &err);
	one->php = interpreter_find(&one->elf, &t, &one->interpreter);
	if (one->php && one->interpreter.body.cfa != UNWIND_CFA_NONE)
		one->body_rule = unwind_tables_add_rule(m->tables, &one->interpreter.body);
	one->functions = TAKE_PTR(t.functions);
	one->function_count = t.function_count;
}

/* Every process has the same vDSO, at another address, so the one in this process can be read. */
static uint32_t add_vdso(struct modules *m)
{
	_cleanup_(process_maps_done) struct process_maps own = { 0 };
	uint32_t number;
	struct module *one = add(m, MODULE_VDSO, &number);

	one->path = xstrdup("[vdso]");
	process_maps_read(&own, getpid(), NULL);
	for (size_t i = 0; i < own.count; i++) {
		const struct process_map *map = &own.list[i];

		if (map->kind == MAP_VDSO && elf_open_memory(&one->elf, (const void *)(uintptr_t)map->start,
							      (size_t)(map->end - map->start), "[vdso]", NULL) >= 0) {
			read_tables(m, one);
			break;
		}
	}
	return number;
}

static uint32_t add_file(struct modules *m, pid_t pid, int root, const struct process_map *map)
{
	struct err err = { 0 };
	uint32_t number;
	struct module *one = add(m, MODULE_FILE, &number);

	one->path = xstrdup(map->path);
	one->root = root;
	one->device = map->device;
	one->inode = map->inode;
	one->fd = process_maps_open(pid, root < 0 ? -1 : m->roots[root].fd, map, &err);
	if (one->fd < 0 || elf_open(&one->elf, one->fd, map->path, &err) < 0)
		fail(m, &err);
	else
		read_tables(m, one);
	return number;
}

/* --- Processes --- */

struct process {
	struct modules *modules;
	pid_t pid;
	int root;
	uint64_t start_ticks;
	struct process_identity who;
};

/* A module's identity, as bytes without padding. */
struct module_key {
	uint64_t kind, a, b, c;
};

static uint32_t *slot_of(struct modules *m, const struct module_key *key)
{
	return map_slot(&m->by_key, XXH3_64bits(key, sizeof(*key)));
}

static uint32_t vdso(const struct process *p)
{
	uint32_t *slot = slot_of(p->modules, &(struct module_key){ MODULE_VDSO, 0, 0, 0 }), number;

	if (*slot != MAP_NONE)
		return *slot;
	number = add_vdso(p->modules);
	*slot = number;
	return number;
}

static uint32_t file(const struct process *p, const struct process_map *map)
{
	uint32_t *slot = slot_of(p->modules, &(struct module_key){ MODULE_FILE, map->device, map->inode, 0 }), number;

	if (*slot != MAP_NONE)
		return *slot;
	number = add_file(p->modules, p->pid, p->root, map);
	*slot = number;
	return number;
}

static uint32_t generated(const struct process *p, const struct process_map *map, uint32_t rule)
{
	/* Processes that share the memory share the module; otherwise each worker would have its own layout. */
	const struct module_key key = {
		.kind = MODULE_GENERATED | (uint64_t)map->shared << 8 | (uint64_t)rule << 32,
		.a = map->shared ? map->device : (uint64_t)p->pid,
		.b = map->shared ? map->inode : p->start_ticks,
		.c = map->start,
	};
	uint32_t *slot = slot_of(p->modules, &key), number;
	struct module *one;

	if (*slot != MAP_NONE)
		return *slot;
	one = add(p->modules, MODULE_GENERATED, &number);
	one->path = xstrdup("");
	one->root = p->root;
	one->who = p->who;
	one->pid = p->pid;
	one->start_ticks = p->start_ticks;
	one->start = map->start;
	one->shared = map->shared;
	one->rule = rule;
	*slot = number;
	return number;
}

static void fill_file(struct unwind_range *r, const struct module *one, uint64_t offset)
{
	uint64_t address = 0;

	if (elf_address_of(&one->elf, offset, &address) && address + r->size <= UINT32_MAX) {
		r->address = (u32)address;
		r->page = one->place.page;
		r->pages = one->place.pages;
	}
}

/* PHP's compiled code is in memory that all workers share, and runs in frames of the interpreter. */
static uint32_t compiled_rule(const struct modules *m, const struct unwind_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (m->list[parts[i].range.module - 1]->body_rule)
			return m->list[parts[i].range.module - 1]->body_rule;
	return 0;
}

void modules_add_process(struct modules *m, pid_t pid, uint64_t start_ticks, const struct process_maps *maps,
			 struct unwind_part **ret, size_t *ret_parts)
{
	struct unwind_part *parts = xcalloc(maps->count + 1, sizeof(*parts));
	struct process p = { m, pid, add_root(m, pid), start_ticks, { 0 } };
	uint32_t rule;
	size_t n = 0;

	process_identity_read(&p.who, pid);
	for (size_t i = 0; i < maps->count; i++) {
		const struct process_map *map = &maps->list[i];
		struct unwind_range range = { .size = (u32)(map->end - map->start) };

		if ((map->kind != MAP_FILE && map->kind != MAP_VDSO) || map->end - map->start > UINT32_MAX)
			continue;
		range.module = map->kind == MAP_VDSO ? vdso(&p) : file(&p, map);
		fill_file(&range, m->list[range.module - 1], map->offset);
		parts[n++] = (struct unwind_part){ map->start, range };
	}
	rule = compiled_rule(m, parts, n);
	for (size_t i = 0; i < maps->count; i++) {
		const struct process_map *map = &maps->list[i];
		struct unwind_range range = { .size = (u32)(map->end - map->start) };

		if (map->kind != MAP_ANONYMOUS || (!map->executable && !rule) || map->end - map->start > UINT32_MAX)
			continue;
		range.rule = map->shared ? rule : 0;
		range.module = generated(&p, map, range.rule);
		parts[n++] = (struct unwind_part){ map->start, range };
	}
	*ret = parts;
	*ret_parts = n;
}
