/* module.h: private to modules.h: mappings (modules.c) and their names (module_names.c). */
#ifndef CAPTURE_MODULE_H
#define CAPTURE_MODULE_H

#include "interpreter.h"
#include "map.h"
#include "modules.h"
#include "perf_map.h"
#include "symbols.h"

enum module_kind { MODULE_FILE, MODULE_VDSO, MODULE_GENERATED };

struct module {
	enum module_kind kind;
	char *path;
	int root;			/* index of `roots`; for generated code, that of its process */

	/* Files: identified by device and inode. The descriptor stays open, so that the inode cannot be reused. */
	uint32_t device;
	uint64_t inode;
	int fd;
	struct elf elf;
	struct unwind_place place;
	bool php;			/* contains PHP's interpreter */
	struct interpreter interpreter;
	uint32_t body_rule;		/* number of its rule; 0: none */
	uint32_t *functions;		/* starts of functions, from its call frame information */
	size_t function_count;
	struct symbols symbols;
	bool has_symbols;		/* symbols were read */
	struct map own_names;		/* start of a function -> index of `own_list`: names that the file does not have */
	char **own_list;		/* "" if there are several names */
	size_t own_count, own_capacity;

	/* Generated code: identified by process and address. */
	struct process_identity who;
	pid_t pid;
	uint64_t start_ticks, start;
	bool shared;			/* shared with other processes */
	uint32_t rule;
	struct perf_map map;
	bool has_map;			/* perf map was read */
};

/* Root directories of processes, kept open so that they are accessible after their processes have ended. */
struct root {
	uint64_t device, inode;
	int fd;
};

struct modules {
	struct unwind_tables *tables;
	struct module **list;		/* by number - 1; NULL: forgotten */
	size_t count, capacity;
	struct map by_key;		/* hash of a module's identity -> its number */
	struct root *roots;
	size_t root_count, root_capacity;
	struct modules_failures failures;
};

#endif
