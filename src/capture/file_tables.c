/* file_tables.c: accesses the tables with libbpf; system call numbers come from the system's headers. */

#include "file_tables.h"

#include "cleanup.h"
#include "mem.h"

#include <string.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

struct file_tables {
	int outer, used, other;
	struct file_key *keys;		/* room for a whole table */
	struct file_count *counts;
};

struct file_tables *file_tables_new(int outer, int first, int second)
{
	struct file_tables *t = xcalloc(1, sizeof(*t));

	*t = (struct file_tables){ outer, first, second, NULL, NULL };
	t->keys = xcalloc(FILE_COUNT_ENTRIES, sizeof(*t->keys));
	t->counts = xcalloc(FILE_COUNT_ENTRIES, sizeof(*t->counts));
	return t;
}

struct file_tables *file_tables_free(struct file_tables *t)
{
	if (!t)
		return NULL;
	free(t->keys);
	free(t->counts);
	free(t);
	return NULL;
}

int file_tables_turn(struct file_tables *t, struct err *err)
{
	int zero = 0, next = t->other;

	if (bpf_map_update_elem(t->outer, &zero, &next, BPF_ANY) < 0)
		return err_set(err, -errno, "cannot change the table of calls: %s", strerror(errno));
	t->other = t->used;
	t->used = next;
	return 0;
}

int file_tables_take(struct file_tables *t, void *data,
		     void (*take)(void *data, const struct file_key *key, const struct file_count *count), struct err *err)
{
	struct file_key position;
	u32 n = FILE_COUNT_ENTRIES;

	if (bpf_map_lookup_and_delete_batch(t->other, NULL, &position, t->keys, t->counts, &n, NULL) < 0 && errno != ENOENT)
		return err_set(err, -errno, "cannot read the table of calls: %s", strerror(errno));
	for (u32 i = 0; i < n; i++)
		take(data, &t->keys[i], &t->counts[i]);
	return 0;
}

/* Newer architectures, such as arm64, only have the forms with a directory. */
static const struct {
	u16 number;
	struct file_call call;
} file_calls[] = {
	{ SYS_read, { FILE_READ, FORM_FD } },
	{ SYS_pread64, { FILE_READ, FORM_FD } },
	{ SYS_readv, { FILE_READ, FORM_FD } },
	{ SYS_preadv, { FILE_READ, FORM_FD } },
	{ SYS_preadv2, { FILE_READ, FORM_FD } },
	{ SYS_sendfile, { FILE_READ, FORM_TO_FROM } },
	{ SYS_copy_file_range, { FILE_READ, FORM_FROM_TO } },
	{ SYS_write, { FILE_WRITE, FORM_FD } },
	{ SYS_pwrite64, { FILE_WRITE, FORM_FD } },
	{ SYS_writev, { FILE_WRITE, FORM_FD } },
	{ SYS_pwritev, { FILE_WRITE, FORM_FD } },
	{ SYS_pwritev2, { FILE_WRITE, FORM_FD } },
	{ SYS_openat, { FILE_OPEN, FORM_AT } },
#ifdef SYS_openat2
	{ SYS_openat2, { FILE_OPEN, FORM_AT } },
#endif
	{ SYS_newfstatat, { FILE_STAT, FORM_AT } },
	{ SYS_fstat, { FILE_STAT, FORM_FD } },
	{ SYS_statx, { FILE_STAT, FORM_AT } },
	{ SYS_faccessat, { FILE_STAT, FORM_AT } },
#ifdef SYS_faccessat2
	{ SYS_faccessat2, { FILE_STAT, FORM_AT } },
#endif
#ifdef SYS_open
	{ SYS_open, { FILE_OPEN, FORM_PATH } },
	{ SYS_creat, { FILE_OPEN, FORM_PATH } },
	{ SYS_stat, { FILE_STAT, FORM_PATH } },
	{ SYS_lstat, { FILE_STAT, FORM_PATH } },
	{ SYS_access, { FILE_STAT, FORM_PATH } },
#endif
	{ SYS_fsync, { FILE_SYNC, FORM_FD } },
	{ SYS_fdatasync, { FILE_SYNC, FORM_FD } },
}, socket_calls[] = {
	{ SYS_recvfrom, { FILE_READ, FORM_FD } },
	{ SYS_recvmsg, { FILE_READ, FORM_FD } },
	{ SYS_sendto, { FILE_WRITE, FORM_FD } },
	{ SYS_sendmsg, { FILE_WRITE, FORM_FD } },
};

void file_calls_choose(struct file_call calls[SYSTEM_CALLS], bool sockets)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_calls); i++)
		calls[file_calls[i].number] = file_calls[i].call;
	for (size_t i = 0; sockets && i < ARRAY_SIZE(socket_calls); i++)
		calls[socket_calls[i].number] = socket_calls[i].call;
}
