/* file_event.h: the structs shared by the programs for file I/O (file_io.h) and the daemon: part of the seam event.h.
 *
 * A file is described once, by an EVENT_FILE; calls are counted under its id, in two separate tables that alternate.
 */
#ifndef CAPTURE_BPF_FILE_EVENT_H
#define CAPTURE_BPF_FILE_EVENT_H

#include "event.h"

#define FILE_COUNT_ENTRIES	32768u	/* in each of the two tables */
#define FILE_PATH_SIZE		4096u	/* bytes of a path, with its NUL; a power of 2 */
#define FILE_NAME_SIZE		256u	/* bytes of one name in it */
#define SYSTEM_CALLS		512u	/* descriptors that are checked, a power of 2 */
#define HISTOGRAM_BUCKETS	64u

enum file_operation {
	FILE_READ,
	FILE_WRITE,
	FILE_OPEN,
	FILE_STAT,
	FILE_SYNC,
	FILE_OPERATIONS
};

/* The arguments of a system call that name the file. */
enum file_form {
	FORM_NONE,			/* not recorded */
	FORM_FD,			/* the first is a file descriptor */
	FORM_PATH,			/* the first is a path */
	FORM_AT,			/* a directory's descriptor and a path */
	FORM_TO_FROM,			/* sendfile(to, from): reads the second, writes the first */
	FORM_FROM_TO,			/* copy_file_range(from, offset, to) */
};

struct file_call {
	u8 operation, form;
};

struct file_io_settings {
	u8 other_kinds;			/* sockets, pipes and anonymous files too */
	u8 distribution;		/* keep the distribution of times */
	u8 pad[6];
	struct file_call calls[SYSTEM_CALLS];	/* by number */
};

enum file_kind {
	FILE_NAMED,			/* regular, directory or device */
	FILE_SOCKET,
	FILE_PIPE,
	FILE_ANONYMOUS,			/* memfd, eventfd, epoll … */
};

#define FILE_DELETED		1u
#define FILE_UNREACHABLE	2u	/* outside the process' root directory */
#define FILE_CUT		4u	/* the beginning of the path is missing */
#define FILE_UNREADABLE		8u	/* the name given by the program could not be read */

/* Names of directories, leaf first, each with a NUL, followed by the name as the program gave it, which is relative
 * to that directory unless it begins with a slash. Only `names_size + given_size` bytes of `text` are sent. */
struct file_event {
	u32 type, kind;
	u64 id;
	u32 flags, family;		/* family: of a socket */
	u32 names_size, given_size;	/* given_size includes the NUL; 0: the program used a descriptor */
	char text[2 * FILE_PATH_SIZE + FILE_PATH_SIZE];
};

struct file_key {
	u64 php, file, request;		/* ids */
	u64 process;			/* PROCESS_KEY, 0 unless per_process */
	u32 operation, pad;
};

struct file_count {
	u64 calls, failed, bytes, ns;
};

#endif
