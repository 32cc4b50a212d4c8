/* file_named.h: identifies the file of a system call, as the process sees it: by an id, and by the names of its path,
 * reported once.
 *
 * bpf_d_path only works in program types that many kernels do not allow, so the directories are walked here, from the
 * file up to the process' root and across mounts. The id is computed from the directory entries on the way and the
 * hashes that the kernel keeps of their names: a file that is renamed or deleted gets another id. Names are copied
 * only when an id is new.
 */
#ifndef CAPTURE_BPF_FILE_NAMED_H
#define CAPTURE_BPF_FILE_NAMED_H

#include "file_event.h"
#include "file_types.h"
#include "record_stack.h"

#define PATH_STEPS	2304u		/* per walk: a path has at most 2,048 directories, and mounts are steps, too */

struct path_walk {
	u64 dentry, mount;		/* its location; mount is a struct mount */
	u64 root_dentry, root_mount;	/* root directory of the process */
	u64 id;
	u32 flags;			/* FILE_UNREACHABLE, FILE_CUT */
	u32 collect;			/* copy names */
	u32 size;			/* bytes of the names copied */
	u32 pad;
};

struct file_scratch {
	struct path_walk walk;
	struct path from;		/* where the walk starts */
	u64 given_id;			/* id of the name in `given`, while it is computed */
	u64 given_size;
	char given[FILE_PATH_SIZE];
	struct file_event event;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct file_scratch);
} file_scratches SEC(".maps");

static __always_inline struct file_scratch *file_scratch(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&file_scratches, &zero);
}

static __always_inline u64 mount_of(struct vfsmount *mnt)
{
	return (u64)mnt - bpf_core_field_offset(struct mount, mnt);
}

/* Appends the name of one directory entry to those collected. */
static __always_inline bool collect_name(struct file_scratch *s, struct dentry *dentry)
{
	struct path_walk *w = &s->walk;
	u32 at = w->size;
	long n;

	if (at >= FILE_PATH_SIZE) {
		w->flags |= FILE_CUT;
		return false;
	}
	n = bpf_probe_read_kernel_str(s->event.text + (at & (FILE_PATH_SIZE - 1)), FILE_NAME_SIZE, BPF_CORE_READ(dentry, d_name.name));
	if (n > 0)
		w->size = at + (u32)n;
	return true;
}

/* Handles one directory entry, or one mount. Returns whether the walk is over. */
static __always_inline long path_once(struct file_scratch *s)
{
	struct path_walk *w = &s->walk;
	struct dentry *dentry = (void *)w->dentry, *parent;
	struct mount *mount = (void *)w->mount, *up;

	if (w->dentry == w->root_dentry && w->mount == w->root_mount)
		return 1;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root) || dentry == parent) {
		up = BPF_CORE_READ(mount, mnt_parent);
		if (dentry != BPF_CORE_READ(mount, mnt.mnt_root) || !up || up == mount) {
			w->flags |= FILE_UNREACHABLE;
			return 1;
		}
		w->dentry = (u64)BPF_CORE_READ(mount, mnt_mountpoint);
		w->mount = (u64)up;
		return 0;
	}
	w->id = mix(mix(w->id, w->dentry), BPF_CORE_READ(dentry, d_name.hash_len));
	if (w->collect && !collect_name(s, dentry))
		return 1;
	w->dentry = (u64)parent;
	return 0;
}

static __always_inline long hash_once(struct file_scratch *s, u32 i)
{
	u64 at = (u64)(i & (FILE_PATH_SIZE / 8 - 1)) * 8, left, word;

	if (at >= s->given_size)
		return 1;
	word = *(u64 *)(s->given + at);
	left = s->given_size - at;
	if (left < 8)
		word &= ~0ull >> (64 - left * 8);
	s->given_id = mix(s->given_id, word);
	return 0;
}

/* As in record_stack.h: a static function for bpf_loop, and a global one for plain loops. */
static long path_step(u32 i, void *data)
{
	struct file_scratch **s = data;

	return !*s || path_once(*s);
}

static long hash_step(u32 i, void *data)
{
	struct file_scratch **s = data;

	return !*s || hash_once(*s, i);
}

__noinline int path_round(void)
{
	struct file_scratch *s = file_scratch();

	return !s || path_once(s);
}

__noinline int hash_round(u32 i)
{
	struct file_scratch *s = file_scratch();

	return !s || hash_once(s, i);
}

/* Walks up from `from`. Global functions, which take and return numbers, are verified once, however often they are
 * called. */
__noinline int walk_path(u32 collect)
{
	struct task_struct___io *task = (void *)bpf_get_current_task();
	struct file_scratch *s = file_scratch();
	struct path_walk *w;
	u32 steps = 0;

	if (!s)
		return 0;
	w = &s->walk;
	w->dentry = (u64)s->from.dentry;
	w->mount = mount_of(s->from.mnt);
	w->root_dentry = (u64)BPF_CORE_READ(task, fs, root.dentry);
	w->root_mount = mount_of(BPF_CORE_READ(task, fs, root.mnt));
	w->id = 1;
	w->flags = w->size = 0;
	w->collect = collect;
	if (settings.has_loop) {
		steps = bpf_loop(PATH_STEPS, path_step, &s, 0);
	} else {
		for (; steps < PATH_STEPS; steps++)
			if (path_round())
				break;
	}
	if (steps >= PATH_STEPS)
		w->flags |= FILE_CUT;
	return 0;
}

/* Computes the id of the name in `given`. */
__noinline int hash_given(void)
{
	struct file_scratch *s = file_scratch();

	if (!s)
		return 0;
	s->given_id = 2;
	if (settings.has_loop)
		bpf_loop(FILE_PATH_SIZE / 8, hash_step, &s, 0);
	else
		for (u32 i = 0; i < FILE_PATH_SIZE / 8; i++)
			if (hash_round(i))
				break;
	return 0;
}

static __always_inline struct file___io *open_file(struct task_struct___io *task, u64 number)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file___io *file = 0;
	u32 fd = (u32)number;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
	return file;
}

static __always_inline u32 kind_of(struct file___io *file, u32 *ret_family)
{
	struct inode___io *inode = BPF_CORE_READ(file, f_inode);
	u32 type = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	struct socket_alloc *socket;

	if (type == S_IFSOCK) {
		socket = (void *)((u64)inode - bpf_core_field_offset(struct socket_alloc, vfs_inode));
		*ret_family = BPF_CORE_READ(socket, socket.sk, __sk_common.skc_family);
		return FILE_SOCKET;
	}
	if (type == S_IFIFO)
		return FILE_PIPE;
	return BPF_CORE_READ(file, f_path.mnt, mnt_flags) & MNT_INTERNAL ? FILE_ANONYMOUS : FILE_NAMED;
}

static __always_inline bool is_deleted(struct dentry *dentry)
{
	return !BPF_CORE_READ(dentry, d_hash.pprev) && BPF_CORE_READ(dentry, d_parent) != dentry;
}

/* Reports the file; all but the names must be filled in. */
__noinline int report_file(u32 has_path)
{
	struct file_scratch *s = file_scratch();
	struct file_event *e;
	u32 names = 0, given, n;

	if (!s || is_known(&known_stacks, &s->event.id))
		return 0;
	if (has_path)
		walk_path(true);
	e = &s->event;
	if (has_path) {
		names = s->walk.size & (2 * FILE_PATH_SIZE - 1);
		e->flags |= s->walk.flags;
	}
	given = (u32)s->given_size;
	e->type = EVENT_FILE;
	e->names_size = names;
	e->given_size = given;
	/* Copies everything: a variable size is hard to prove, and this is done only once per file. */
	bpf_probe_read_kernel(e->text + names, FILE_PATH_SIZE, s->given);
	if (e->flags & FILE_CUT)
		count(COUNTER_FILE_CUT, 1);
	n = (names + given) & (4 * FILE_PATH_SIZE - 1);
	if (n > sizeof(e->text))
		return 0;
	if (bpf_ringbuf_output(&events, e, offsetof(struct file_event, text) + n, 0))
		count(COUNTER_LOST_EVENTS, 1);
	else
		set_known(&known_stacks, &e->id);
	return 0;
}

/* Fills in the event of an open file. Its id is 0 if files of this kind are left out, or the number is not an open
 * file. */
__noinline int file_by_number(u64 number)
{
	struct file___io *file = open_file((void *)bpf_get_current_task(), number);
	struct file_scratch *s = file_scratch();
	struct file_event *e;
	u32 internal, has_path;

	if (!s)
		return 0;
	e = &s->event;
	e->id = 0;
	e->family = e->flags = 0;
	s->given_size = 0;
	if (!file) {
		count(COUNTER_FILE_NOT_OPEN, 1);
		return 0;
	}
	e->kind = kind_of(file, &e->family);
	if (e->kind != FILE_NAMED && !file_io.other_kinds) {
		count(COUNTER_FILE_OTHER_KINDS, 1);
		return 0;
	}
	s->from.mnt = BPF_CORE_READ(file, f_path.mnt);
	s->from.dentry = BPF_CORE_READ(file, f_path.dentry);
	s->walk.id = 0;
	/* Pipes and sockets have no path, except those in a file system. */
	internal = BPF_CORE_READ(file, f_path.mnt, mnt_flags) & MNT_INTERNAL;
	has_path = !internal;
	if (has_path) {
		walk_path(false);
		e->flags = s->walk.flags | (is_deleted(s->from.dentry) ? FILE_DELETED : 0);
	} else if (e->kind == FILE_ANONYMOUS) {
		/* Each has its own entry, and many have the same name. */
		s->walk.id = BPF_CORE_READ(file, f_path.dentry, d_name.hash_len);
		if (bpf_probe_read_kernel_str(s->given, FILE_NAME_SIZE, BPF_CORE_READ(file, f_path.dentry, d_name.name)) > 0)
			s->given_size = (u32)(s->walk.id >> 32) + 1;
	}
	e->id = mix(mix(s->walk.id, e->kind << 16 | e->family), e->flags) | 1;
	return report_file(has_path);
}

/* The same for a file that the program named; the kernel has just read the name, so it is in memory. */
__noinline int file_by_name(u64 directory, u64 name)
{
	struct task_struct___io *task = (void *)bpf_get_current_task();
	struct file_scratch *s = file_scratch();
	struct file___io *file = 0;
	struct file_event *e;
	bool relative, here = (int)directory == AT_FDCWD;
	long n;

	if (!s)
		return 0;
	n = bpf_probe_read_user_str(s->given, FILE_PATH_SIZE, (const void *)name);
	if (n == 1 && !here)		/* fstat() */
		return file_by_number(directory);
	e = &s->event;
	e->kind = FILE_NAMED;
	e->family = 0;
	e->flags = n > 0 ? 0 : FILE_UNREADABLE;
	s->given_size = n > 0 ? n : 0;
	if (n <= 0)
		count(COUNTER_NAME_UNREADABLE, 1);
	hash_given();
	relative = n > 0 && s->given[0] != '/';
	if (relative && !here && !(file = open_file(task, directory))) {
		relative = false;
		e->flags |= FILE_CUT;
	}
	s->walk.id = 0;
	if (relative) {
		s->from.mnt = file ? BPF_CORE_READ(file, f_path.mnt) : BPF_CORE_READ(task, fs, pwd.mnt);
		s->from.dentry = file ? BPF_CORE_READ(file, f_path.dentry) : BPF_CORE_READ(task, fs, pwd.dentry);
		walk_path(false);
		e->flags |= s->walk.flags;
	}
	e->id = mix(mix(s->given_id, s->walk.id), e->flags) | 1;
	return report_file(relative);
}

#endif
