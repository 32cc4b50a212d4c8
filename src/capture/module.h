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
	int root;			/* a number of `roots`; generated code: of its process */

	/* Files: known by device and inode. The descriptor stays open, so neither number is given to another file. */
	uint32_t device;
	uint64_t inode;
	int fd;
	struct elf elf;
	struct unwind_place place;
	bool php;			/* it has PHP's interpreter in it */
	struct interpreter interpreter;
	uint32_t body_rule;		/* the number of its rule; 0: none */
	uint32_t *functions;		/* starts of functions, by its call frame information */
	size_t function_count;
	struct symbols symbols;
	bool has_symbols;		/* they were read */
	struct map own_names;		/* start of a function -> its number in `own_list`: names that are not the file's */
	char **own_list;		/* "" if there are several */
	size_t own_count, own_capacity;

	/* Generated code: known by process and address. */
	struct process_identity who;
	pid_t pid;
	uint64_t start_ticks, start;
	bool shared;			/* with other processes */
	uint32_t rule;
	struct perf_map map;
	bool has_map;			/* it was read */
};

/* Directories that are / to some process, kept open so that they are there when their processes are gone. */
struct root {
	uint64_t device, inode;
	int fd;
};

struct modules {
	struct unwind_tables *tables;
	struct module **list;		/* number - 1; NULL: forgotten */
	size_t count, capacity;
	struct map by_key;		/* hash of what a module is known by -> its number */
	struct root *roots;
	size_t root_count, root_capacity;
	struct modules_failures failures;
};

#endif
