/* file_types.h: the kernel structs behind a file's name, trimmed as in kernel_types.h.
 *
 * "___io" marks additional views of structs that kernel_types.h has as well; the kernel's names are without it.
 */
#ifndef CAPTURE_BPF_FILE_TYPES_H
#define CAPTURE_BPF_FILE_TYPES_H

#include "kernel_types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qstr {
	u64 hash_len;
	const unsigned char *name;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
	int mnt_flags;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct inode___io {
	u16 i_mode;
};

struct file___io {
	struct path f_path;
	struct inode___io *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file___io **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct fs_struct {
	struct path root, pwd;
};

struct task_struct___io {
	struct files_struct *files;
	struct fs_struct *fs;
};

struct sock_common {
	unsigned short skc_family;
};

struct sock {
	struct sock_common __sk_common;
};

struct socket {
	struct sock *sk;
};

struct socket_alloc {
	struct socket socket;
	struct inode___io vfs_inode;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs___io {
	unsigned long di, si, dx, orig_ax;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs___io {
	u64 regs[31];
	int syscallno;
};
#endif

#pragma clang attribute pop

#define MNT_INTERNAL	0x4000		/* a file system of the kernel's own, mounted nowhere */
#define S_IFMT		0170000
#define S_IFSOCK	0140000
#define S_IFIFO		0010000
#define AT_FDCWD	(-100)

#endif
