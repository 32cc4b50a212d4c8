/* php_registry.c: /proc/PID/exe, files in PATH, and libraries. */

#include "php_registry.h"

#include "languages.h"
#include "mem.h"
#include "obstacles.h"
#include "perl_check.h"
#include "php_check.h"
#include "process.h"
#include "process_maps.h"
#include "remote_memory.h"
#include "consistent_read.h"
#include "thread_pointer.h"

#include "clock.h"
#include "elf_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#define THREADS		16u		/* threads of a process that are searched for thread-safe PHP */
#define TRIES		20u
#define PAUSE_NS	5000000		/* pause between two comparisons */
#define WAITING		64u		/* processes */
#define WAIT_FIRST_NS	NS_PER_SECOND
#define WAIT_LAST_NS	(8 * NS_PER_SECOND)

struct registered_binary {
	struct binary_key key;		/* libraries: as in /proc/PID/maps, without a size */
	struct php_image php;
	struct perl_image perl;		/* if `php.binary`, then a copy of its binary, is Perl */
	int code;			/* 1 PHP or Perl, 0 none, < 0 refused */
	size_t refusal;			/* number of the reason if refused */
	bool checked;			/* its offsets matched a process */
};

struct file_list {
	struct registered_binary *items;
	size_t count, capacity;
};

/* A process whose state was not sufficient to verify the table of offsets. */
struct unproved {
	pid_t pid;
	int64_t due_ns, wait_ns;
};

struct php_registry {
	struct sampler *sampler;
	struct php_offsets offsets;
	struct perl_offsets perl_offsets;
	u8 languages;
	struct file_list programs, libraries;
	struct unproved waiting[WAITING];
	size_t waiting_count;
	char **refusals;		/* reasons, the newest last */
	size_t refusal_count, refusal_capacity;
};

struct php_registry *php_registry_new(struct sampler *s, const struct php_offsets *php, const struct perl_offsets *perl,
				      u8 languages)
{
	struct php_registry *r = xcalloc(1, sizeof(*r));

	r->sampler = s;
	r->offsets = *php;
	r->languages = languages;
	r->perl_offsets = *perl;
	return r;
}

struct php_registry *php_registry_free(struct php_registry *r)
{
	if (r) {
		free(r->programs.items);
		free(r->libraries.items);
		for (size_t i = 0; i < r->refusal_count; i++)
			free(r->refusals[i]);
		free(r->refusals);
	}
	free(r);
	return NULL;
}

static struct registered_binary *find(const struct file_list *l, const struct binary_key *key)
{
	for (size_t i = 0; i < l->count; i++)
		if (!memcmp(&l->items[i].key, key, sizeof(*key)))
			return &l->items[i];
	return NULL;
}

static struct registered_binary *add(struct file_list *l, const struct binary_key *key)
{
	GROW(&l->items, &l->capacity, l->count + 1);
	l->items[l->count] = (struct registered_binary){ .key = *key };
	return &l->items[l->count++];
}

static int refuse(struct php_registry *r, struct registered_binary *k, const struct err *why)
{
	k->code = why->code;
	k->php.binary.kind = BINARY_OTHER;
	k->refusal = r->refusal_count;
	GROW(&r->refusals, &r->refusal_capacity, r->refusal_count + 1);
	r->refusals[r->refusal_count++] = xstrdup(why->text);
	return k->code;
}

/* Inspects the file for the wanted languages. */
static void read_file(struct php_registry *r, struct registered_binary *k, int fd, const char *name)
{
	struct err err = { 0 };

	k->code = php_image_read(fd, name, &r->offsets, &k->php, &err);
	if (k->code && !(r->languages & LANGUAGE_PHP)) {
		k->code = 0;
		k->php.binary.kind = BINARY_OTHER;
	} else if (!k->code && r->languages & LANGUAGE_PERL) {
		k->code = perl_image_read(fd, name, &r->perl_offsets, &k->perl, &err);
		if (k->code > 0)
			k->php.binary = k->perl.binary;
	}
	if (k->code < 0)
		refuse(r, k, &err);
}

/* A comparison with one process, thread by thread if PHP is thread-safe, until one of them is conclusive. */
struct comparison {
	const struct php_image *php;
	pid_t pid;
	u64 bias, thread;
	unsigned left;			/* remaining threads */
	enum php_check result;
	char *ret_why;
	size_t size;
};

static uint64_t read_thread(void *data)
{
	struct comparison *c = data;

	remote_memory_select(c->pid);
	c->result = php_check(c->php, c->bias, c->thread, c->ret_why, c->size);
	return (uint64_t)c->result;
}

/* The thread's stack must not change during the comparison. */
static void compare_thread(pid_t tid, void *data)
{
	struct comparison *c = data;
	struct thread_watch watch;
	struct thread_snapshot look;
	uint64_t torn = 0;

	if (c->result != PHP_CHECK_UNKNOWN || !c->left || thread_watch_open(&watch, c->pid, tid) < 0)
		return;
	c->left--;
	c->thread = 0;
	if (c->php->binary.zts)
		thread_pointer_find(c->pid, tid, &c->thread);
	if (thread_watch_read(&watch, &look) &&
	    consistent_read(&watch, false, read_thread, c, &look, &torn) != CONSISTENT_READ_OK)
		c->result = PHP_CHECK_UNKNOWN;
	thread_watch_close(&watch);
}

/* Code may have been interrupted while changing its stack, so a single mismatch is not enough to refuse. */
static enum php_check compare(const struct registered_binary *k, pid_t pid, u64 bias, char *ret_why, size_t size)
{
	struct comparison c = { &k->php, pid, bias, .ret_why = ret_why, .size = size };
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	if (k->php.binary.kind == BINARY_PERL)
		return perl_check(&k->perl, pid, bias, ret_why, size);
	for (unsigned i = 0; i < TRIES; i++) {
		c.left = THREADS;
		c.result = PHP_CHECK_UNKNOWN;
		if (k->php.binary.zts)
			process_each_thread(pid, compare_thread, &c);
		else
			compare_thread(pid, &c);
		if (c.result != PHP_CHECK_WRONG)
			break;
		nanosleep(&pause, NULL);
	}
	consistent_read_end();
	return c.result;
}

static void wait_for(struct php_registry *r, pid_t pid)
{
	for (size_t i = 0; i < r->waiting_count; i++)
		if (r->waiting[i].pid == pid)
			return;
	if (r->waiting_count < WAITING)
		r->waiting[r->waiting_count++] = (struct unproved){ pid, clock_monotonic_ns() + WAIT_FIRST_NS, WAIT_FIRST_NS };
}

static int language_of(const struct registered_binary *k)
{
	return (int)(1u << k->php.binary.kind);
}

/* Returns the language if the table of offsets matches the process, or cannot be verified yet. */
static int check(struct php_registry *r, struct registered_binary *k, pid_t pid, u64 bias, const char *name, struct err *err)
{
	bool perl = k->php.binary.kind == BINARY_PERL;
	char why[128];

	if (k->code <= 0)
		return k->code < 0 ? err_set(err, k->code, "%s", r->refusals[k->refusal]) : 0;
	if (k->checked)
		return language_of(k);
	switch (compare(k, pid, bias, why, sizeof(why))) {
	case PHP_CHECK_WRONG:
		err_set(err, -ENOTSUP, "the offset table does not match %s (%s %s) in process %d: %s; it is not sampled. "
			"--%s-offsets FILE gives another table", name, perl ? "Perl" : "PHP",
			perl ? k->perl.version : k->php.version, (int)pid, why, perl ? "perl" : "php");
		return refuse(r, k, err);
	case PHP_CHECK_FITS:
		k->checked = true;
		break;
	case PHP_CHECK_UNKNOWN:
		wait_for(r, pid);
		break;
	}
	return language_of(k);
}

/* --- libraries */

struct host {
	struct php_registry *registry;
	struct registered_binary *library;		/* libphp or libperl, once found */
	u64 bias;
};

static struct registered_binary *read_library(struct php_registry *r, const struct binary_key *key, pid_t pid, const struct process_map *f)
{
	_cleanup_(fd_closep) int fd = process_maps_open(pid, -1, f, NULL);
	struct registered_binary *k;

	if (fd < 0)
		return NULL;
	k = add(&r->libraries, key);
	read_file(r, k, fd, f->path);
	return k;
}

/* Returns the difference between addresses in the process and in the file. */
static bool find_bias(pid_t pid, const struct process_map *f, u64 *ret)
{
	_cleanup_(fd_closep) int fd = process_maps_open(pid, -1, f, NULL);
	_cleanup_(elf_close) struct elf e = { .fd = -1 };
	uint64_t address;

	if (fd < 0 || elf_open(&e, fd, f->path, NULL) < 0 || !elf_address_of(&e, f->offset, &address))
		return false;
	*ret = f->start - address;
	return true;
}

static bool take_library(struct host *h, pid_t pid, const struct process_map *f)
{
	struct binary_key key = { .dev = f->device, .inode = f->inode };
	struct registered_binary *k = find(&h->registry->libraries, &key);

	if (!k)
		k = read_library(h->registry, &key, pid, f);
	if (!k || k->code == 0 || (k->code > 0 && !find_bias(pid, f, &h->bias)))
		return false;
	h->library = k;
	return true;
}

static bool find_library(struct host *h, pid_t pid)
{
	_cleanup_(process_maps_done) struct process_maps maps = { 0 };

	process_maps_read(&maps, pid, NULL);
	for (size_t i = 0; i < maps.count; i++)
		if (maps.list[i].kind == MAP_FILE && take_library(h, pid, &maps.list[i]))
			return true;
	return false;
}

/* --- programs */

static struct binary_key key_of(const struct stat *st)
{
	return (struct binary_key){
		.dev = major(st->st_dev) << 20 | minor(st->st_dev),
		.inode = st->st_ino,
		.size = (u64)st->st_size,
	};
}

static void notify_sampler(const struct php_registry *r, const struct registered_binary *k)
{
	if (r->sampler)
		sampler_set_binary(r->sampler, &k->key, &k->php.binary);
}

static struct registered_binary *add_program(struct php_registry *r, const struct binary_key *key, int fd, const char *name)
{
	struct registered_binary *k = add(&r->programs, key);

	read_file(r, k, fd, name);
	notify_sampler(r, k);
	return k;
}

static int check_program(struct php_registry *r, struct registered_binary *k, pid_t pid, const char *name, struct err *err)
{
	u64 bias = 0;
	int code = k->code > 0 && !k->checked && !php_check_bias(&k->php, pid, &bias) ? language_of(k) : check(r, k, pid, bias, name, err);

	if (code < 0)
		notify_sampler(r, k);
	return code;
}

/* Returns the error for a process without a program. */
static int no_program(pid_t pid, struct err *err)
{
	uint64_t start_ticks = process_start_ticks(pid);

	if (!start_ticks)
		return process_absent(pid, err);
	if (!process_lives(pid, start_ticks))
		return err_set(err, -ESRCH, "process %d is a zombie: it has exited, but its "
					    "parent has not reaped it", (int)pid);
	if (process_is_of_kernel(pid))
		return err_set(err, -ENOTSUP, "process %d is a kernel thread", (int)pid);
	/* The first thread has exited, but other threads may continue. */
	return err_set(err, -ENOTSUP, "process %d is exiting, and its program is no longer known", (int)pid);
}

/* With only CAP_PERFMON, the link to the program is unreadable, but (since Linux 6.15) not the mappings: the first
 * file is the program, which is opened by its path if that leads to the same file. */
static int open_mapped_program(pid_t pid, char *ret_name, size_t size)
{
	_cleanup_(process_maps_done) struct process_maps maps = { 0 };

	if (process_maps_read(&maps, pid, NULL) < 0)
		return -EACCES;
	for (size_t i = 0; i < maps.count; i++) {
		if (maps.list[i].kind != MAP_FILE)
			continue;
		snprintf(ret_name, size, "%s", maps.list[i].path);
		return process_maps_open(pid, -1, &maps.list[i], NULL);
	}
	return -EACCES;
}

static int no_access(pid_t pid, int error, struct err *err)
{
	struct php_task task;
	struct obstacle o;
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)pid);
	if (!err || php_task_read("/proc", number, &task) < 0)
		return err_set(err, -EACCES, "cannot inspect process %d: %s", (int)pid, strerror(error));
	obstacle_for_refusal("/proc", &task, error, &o);
	php_task_done(&task);
	return err_set(err, -EACCES, "cannot inspect process %d: %s%s%s", (int)pid, o.cause, *o.remedy ? "; " : "", o.remedy);
}

static int open_program(pid_t pid, char *ret_name, size_t size, struct err *err)
{
	char path[64];
	ssize_t n;
	int fd, error;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, ret_name, size - 1);
	ret_name[n < 0 ? 0 : n] = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	error = errno;
	if (fd < 0 && (error == ENOENT || error == ESRCH))
		return no_program(pid, err);
	if (fd < 0)
		fd = open_mapped_program(pid, ret_name, size);
	return fd < 0 ? no_access(pid, error, err) : fd;
}

/* --- processes */

static u64 from_program(u64 in_program, u64 program_bias, u64 in_library, u64 library_bias)
{
	return in_program ? in_program + program_bias - library_bias : in_library;
}

/* A program that refers to the globals of libphp contains them itself, because of the linker's copy relocations. */
static void take_copies(const struct php_image *program, pid_t pid, struct php_image *library, u64 bias)
{
	u64 own;

	if (!php_check_bias(program, pid, &own))
		return;
	library->binary.executor_globals = from_program(program->binary.executor_globals, own, library->binary.executor_globals, bias);
	library->binary.sapi_globals = from_program(program->binary.sapi_globals, own, library->binary.sapi_globals, bias);
	library->exception_class = from_program(program->exception_class, own, library->exception_class, bias);
}

static int find_slot(struct binary *b, pid_t pid, u64 bias, struct err *err)
{
	u64 offset;

	remote_memory_select(pid);
	if (!read_user(&offset, sizeof(offset), b->tls_slot + bias) || !offset)
		return err_set(err, -ENOTSUP, "process %d has a thread-safe libphp, but the location of its thread data is not in the "
			       "slot that the dynamic linker fills in", (int)pid);
	b->tls_offset = (s64)offset;
	return 0;
}

/* Looks for libphp, or libperl, in a process that runs `program`. Returns the same as php_registry_add_process, and
 * fills in `ret` unless that is 0: with kind BINARY_OTHER if refused. */
static int find_hosted_php(struct php_registry *r, const struct registered_binary *program, pid_t pid, struct hosted_php *ret, struct err *err)
{
	struct host h = { .registry = r };
	struct registered_binary here;
	struct hosted_php php = { .start_ticks = process_start_ticks(pid), .binary.kind = BINARY_OTHER };
	int code;

	if (!php.start_ticks || !find_library(&h, pid))
		return 0;
	here = *h.library;
	take_copies(&program->php, pid, &here.php, h.bias);
	*ret = php;
	if (here.php.binary.tls_slot && (code = find_slot(&here.php.binary, pid, h.bias, err)) < 0)
		return code;
	code = check(r, &here, pid, h.bias, here.php.binary.kind == BINARY_PERL ? "libperl" : "libphp", err);
	h.library->code = here.code;
	h.library->checked = here.checked;
	ret->bias = h.bias;
	ret->binary = here.php.binary;
	return code;
}

/* Returns the program of a process, examining it if it is new; NULL with a sentence on failure. */
static struct registered_binary *find_program(struct php_registry *r, pid_t pid, char *ret_name, size_t size, struct err *err)
{
	_cleanup_(fd_closep) int fd = open_program(pid, ret_name, size, err);
	struct binary_key key;
	struct registered_binary *k;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0) {
		err_set(err, -errno, "cannot stat '%s': %s", ret_name, strerror(errno));
		return NULL;
	}
	key = key_of(&st);
	k = find(&r->programs, &key);
	return k ? k : add_program(r, &key, fd, ret_name);
}

/* The kernel's number of a process is only known if it equals the caller's; otherwise it is known from the kernel's
 * request. */
static void notify_hosted(const struct php_registry *r, u32 tgid, const struct hosted_php *php)
{
	if (tgid && r->sampler)
		sampler_set_hosted(r->sampler, tgid, php);
}

int php_registry_add_process(struct php_registry *r, pid_t pid, struct err *err)
{
	struct err own = { 0 }, *e = err ? err : &own;
	struct hosted_php php;
	char name[256];
	struct registered_binary *k = find_program(r, pid, name, sizeof(name), e);
	int code;

	if (!k)
		return e->code;
	if (k->php.binary.kind != BINARY_HOST)
		return check_program(r, k, pid, name, e);
	code = find_hosted_php(r, k, pid, &php, e);
	if (code && r->sampler && sampler_sees_all_pids(r->sampler))
		notify_hosted(r, (u32)pid, &php);
	return code;
}

int php_registry_find(struct php_registry *r, pid_t pid, struct hosted_php *ret, struct err *err)
{
	char name[256];
	struct registered_binary *k = find_program(r, pid, name, sizeof(name), err);
	int code;

	if (!k)
		return err->code;
	if (k->php.binary.kind == BINARY_HOST)
		return find_hosted_php(r, k, pid, ret, err);
	code = check_program(r, k, pid, name, err);
	if (code <= 0)
		return code;
	*ret = (struct hosted_php){ .start_ticks = process_start_ticks(pid), .binary = k->php.binary };
	if (!php_check_bias(&k->php, pid, &ret->bias))
		return err_set(err, -EACCES, "cannot find the program of process %d", (int)pid);
	return code;
}

void php_registry_check_again(struct php_registry *r)
{
	struct unproved before[WAITING];
	size_t n = r->waiting_count;
	int64_t now = clock_monotonic_ns();

	memcpy(before, r->waiting, sizeof(before));
	r->waiting_count = 0;
	for (size_t i = 0; i < n; i++) {
		struct unproved w = before[i];

		if (now >= w.due_ns) {
			size_t count = r->waiting_count;

			php_registry_add_process(r, w.pid, NULL);
			if (r->waiting_count == count)
				continue;
			r->waiting_count = count;
			w.wait_ns = w.wait_ns < WAIT_LAST_NS ? 2 * w.wait_ns : w.wait_ns;
			w.due_ns = now + w.wait_ns;
		}
		r->waiting[r->waiting_count++] = w;
	}
}

static void add_directory(struct php_registry *r, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		_cleanup_(fd_closep) int fd = -1;
		struct binary_key key;
		struct stat st;

		if (strncmp(e->d_name, "php", 3) && (strncmp(e->d_name, "perl", 4) || !(r->languages & LANGUAGE_PERL)))
			continue;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		key = key_of(&st);
		if (!find(&r->programs, &key))
			add_program(r, &key, fd, e->d_name);
	}
	if (dir)
		closedir(dir);
}

void php_registry_add_path(struct php_registry *r)
{
	const char *path = getenv("PATH");
	/* php-fpm is in directories that are rarely in the PATH of users other than root. */
	_cleanup_(freep) char *copy = xasprintf("%s:/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin", path ? path : "");
	char *rest = copy, *directory;

	while ((directory = strsep(&rest, ":")))
		if (*directory == '/')
			add_directory(r, directory);
}

void php_registry_answer(struct php_registry *r, const struct binary_event *e)
{
	_cleanup_(fd_closep) int fd = -1;
	struct registered_binary *k = find(&r->programs, &e->key);
	struct err err = { 0 };
	struct stat st;
	char name[256] = "";

	if (!k) {
		fd = e->pid ? open_program((pid_t)e->pid, name, sizeof(name), &err) : -1;
		/* The process may have ended, or run another program by now; the next process that runs the file is
		 * examined. The device is not compared: some file systems report another one than the kernel uses. */
		if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != e->key.inode || (u64)st.st_size != e->key.size) {
			sampler_forget_binary(r->sampler, &e->key);
			return;
		}
		k = add_program(r, &e->key, fd, name);
	}
	check_program(r, k, (pid_t)e->pid, *name ? name : "the program", &err);
}

void php_registry_answer_host(struct php_registry *r, const struct process_event *e)
{
	struct hosted_php php;
	struct err err = { 0 };
	char name[256];
	struct registered_binary *program;

	if (!e->pid || process_start_ticks((pid_t)e->pid) != e->start_ticks)
		return;
	program = find_program(r, (pid_t)e->pid, name, sizeof(name), &err);
	if (program && program->php.binary.kind == BINARY_HOST && find_hosted_php(r, program, (pid_t)e->pid, &php, &err))
		notify_hosted(r, e->tgid, &php);
}

const char *php_registry_refused(const struct php_registry *r)
{
	return r->refusal_count ? r->refusals[r->refusal_count - 1] : "";
}

size_t php_registry_refusals(const struct php_registry *r)
{
	return r->refusal_count;
}
