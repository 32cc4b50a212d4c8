/* test_symbols.c: tests names of this program's functions, from its own file and from files with debug symbols. */

#include "symbols.h"
#include "test.h"

#include "cleanup.h"
#include "mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Its address in the file, which may be loaded anywhere. */
extern const char __executable_start[];

static __attribute__((noinline)) int looked_for(int n)
{
	return n * 3 + (int)getpid();
}

static uint64_t address_of(const struct elf *e, const void *code)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < e->segment_count; i++)
		if (e->segments[i].p_type == PT_LOAD && e->segments[i].p_vaddr < first)
			first = e->segments[i].p_vaddr;
	return (uint64_t)((uintptr_t)code - (uintptr_t)__executable_start) + first;
}

struct opened {
	int fd;
	struct elf elf;
	struct symbols symbols;
	size_t found;
};

static void open_file(struct opened *o, const char *path)
{
	struct err err = { 0 };

	*o = (struct opened){ .fd = open(path, O_RDONLY | O_CLOEXEC), .elf.fd = -1 };
	CHECK_INT(elf_open(&o->elf, o->fd, path, &err), 0);
	o->found = symbols_add(&o->symbols, &o->elf);
	symbols_sort(&o->symbols);
}

static void close_file(struct opened *o)
{
	symbols_done(&o->symbols);
	elf_close(&o->elf);
	fd_closep(&o->fd);
}

TEST(a_function_is_found_by_each_of_its_addresses)
{
	struct opened o;
	uint64_t address;

	open_file(&o, "/proc/self/exe");
	CHECK(o.symbols.all);
	address = address_of(&o.elf, (const void *)looked_for);
	CHECK_STR(symbols_find(&o.symbols, address, address), "looked_for");
	CHECK_STR(symbols_find(&o.symbols, address + 1, address), "looked_for");
	CHECK(!symbols_find(&o.symbols, 1, 0));
	CHECK(!symbols_find(&o.symbols, UINT64_MAX, UINT64_MAX));
	close_file(&o);
}

/* --- Files with debug symbols, in a directory that acts as the root of a process */

static char root_path[64];

static bool sh(const char *format, const char *argument)
{
	_cleanup_(freep) char *command = xasprintf(format, root_path, argument, root_path);
	_cleanup_(freep) char *quiet = xasprintf("cd %s && { %s; } > /dev/null 2>&1", root_path, command);

	return system(quiet) == 0;
}

static int make_root(void)
{
	strcpy(root_path, "/tmp/strobe-symbols-XXXXXX");
	CHECK(mkdtemp(root_path) != NULL);
	if (!sh("cp /proc/%.0s$PPID/exe whole && objcopy --only-keep-debug whole debug && objcopy --strip-all "
		"--add-gnu-debuglink=debug whole stripped", ""))
		return -1;
	return open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void remove_root(void)
{
	sh("rm -rf %s", "");
}

/* Returns the name of looked_for from the file with debug symbols; NULL if there is none. */
static const char *name_by_debug_file(int root)
{
	static char name[64];
	_cleanup_(freep) char *path = xasprintf("%s/stripped", root_path);
	const char *found = NULL;
	struct opened stripped;
	int fd;

	open_file(&stripped, path);
	CHECK(!stripped.symbols.all);
	fd = symbols_open_debug(&stripped.elf, root, "/stripped");
	if (fd >= 0) {
		struct elf debug = { .fd = -1 };
		uint64_t address = address_of(&stripped.elf, (const void *)looked_for);

		CHECK_INT(elf_open(&debug, fd, "debug", NULL), 0);
		symbols_add(&stripped.symbols, &debug);
		symbols_sort(&stripped.symbols);
		found = symbols_find(&stripped.symbols, address, address);
		if (found)
			found = strcpy(name, found);
		elf_close(&debug);
		close(fd);
	}
	close_file(&stripped);
	return found;
}

TEST(a_stripped_file_has_the_symbols_of_its_debuglink)
{
	int root = make_root();

	if (root < 0) {
		remove_root();
		SKIP("there is no objcopy to make such files with (binutils)");
	}
	CHECK_STR(name_by_debug_file(root), "looked_for");
	CHECK(sh("mkdir .debug && mv debug .debug/debug", ""));
	CHECK_STR(name_by_debug_file(root), "looked_for");
	CHECK(sh("mkdir -p usr/lib/debug && mv .debug/debug usr/lib/debug/debug", ""));
	CHECK_STR(name_by_debug_file(root), "looked_for");
	close(root);
	remove_root();
}

TEST(debug_symbols_of_another_program_are_not_used)
{
	int root = make_root();

	if (root < 0) {
		remove_root();
		SKIP("there is no objcopy to make such files with (binutils)");
	}
	CHECK(sh("objcopy --only-keep-debug /bin/true debug || cp /bin/true debug", ""));
	CHECK(!name_by_debug_file(root));
	CHECK(sh("ln -sf /proc/self/exe debug", ""));
	CHECK(!name_by_debug_file(root));
	CHECK(sh("rm debug && mkfifo debug", ""));
	CHECK(!name_by_debug_file(root));
	close(root);
	remove_root();
}

TEST(a_debug_file_is_found_by_its_build_id)
{
	int root = make_root();
	char digits[2 * ELF_BUILD_ID + 2] = "";
	uint8_t id[ELF_BUILD_ID];
	struct opened o;
	size_t n;

	if (root < 0) {
		remove_root();
		SKIP("there is no objcopy to make such files with (binutils)");
	}
	open_file(&o, "/proc/self/exe");
	n = elf_build_id(&o.elf, id);
	close_file(&o);
	if (!n) {
		close(root);
		remove_root();
		SKIP("this program was linked without a build id");
	}
	for (size_t i = 0; i < n; i++)
		sprintf(digits + strlen(digits), i == 1 ? "/%02x" : "%02x", id[i]);
	CHECK(sh("mkdir -p usr/lib/debug/.build-id/%.0s$(dirname %s) && mv debug usr/lib/debug/.build-id/", digits));
	CHECK(!name_by_debug_file(root));
	CHECK(sh("mv usr/lib/debug/.build-id/debug %.0susr/lib/debug/.build-id/%s.debug", digits));
	CHECK_STR(name_by_debug_file(root), "looked_for");
	close(root);
	remove_root();
}

TEST_MAIN()
