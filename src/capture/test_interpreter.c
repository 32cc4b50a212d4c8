/* test_interpreter.c: tests finding both parts of a function that the compiler has split, like PHP's interpreter. */

#include "interpreter.h"
#include "symbols.h"
#include "test.h"

#include "cleanup.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink;

static __attribute__((noinline, cold)) void seldom(int n)
{
	sink += n;
}

/* Large enough, and with enough rarely executed code, to be split. */
int execute_ex(const int *code, int n);
__attribute__((noinline)) int execute_ex(const int *code, int n)
{
	volatile int stack[16] = { 0 };
	int sum = 0;

	for (int i = 0; i < n; i++) {
		stack[code[i] & 15] += i;
		sum += stack[i & 15];
		if (__builtin_expect(code[i] == 100, 0)) { seldom(sum); stack[1] = sum * 3; seldom(stack[2]); }
		if (__builtin_expect(code[i] == 200, 0)) { seldom(sum + 1); stack[3] = sum * 5; seldom(stack[4]); }
		if (__builtin_expect(code[i] == 300, 0)) { seldom(sum + 2); stack[5] = sum * 7; seldom(stack[6]); }
		if (__builtin_expect(code[i] == 400, 0)) { seldom(sum + 3); stack[7] = sum * 9; seldom(stack[8]); }
	}
	return sum;
}

struct found {
	int fd;
	struct elf elf;
	struct cfi_table table;
	struct interpreter interpreter;
	bool has;
};

static bool look(struct found *f, const char *path)
{
	*f = (struct found){ .fd = open(path, O_RDONLY | O_CLOEXEC), .elf.fd = -1 };
	if (elf_open(&f->elf, f->fd, path, NULL) < 0 || cfi_read(&f->elf, &f->table, NULL) < 0)
		return false;
	f->has = interpreter_find(&f->elf, &f->table, &f->interpreter);
	return true;
}

static void done(struct found *f)
{
	cfi_done(&f->table);
	elf_close(&f->elf);
	fd_closep(&f->fd);
}

TEST(cold_parts_of_the_interpreter_belong_to_it)
{
	struct found f;
	Elf64_Sym whole, cold;

	CHECK_INT(execute_ex((int[]){ 100, 1 }, 2) > 0, 1);
	CHECK(look(&f, "/proc/self/exe"));
	CHECK(f.has);
	CHECK(elf_find_symbol(&f.elf, "execute_ex", &whole));
	CHECK_INT(f.interpreter.start, whole.st_value);
	CHECK_INT(f.interpreter.end, whole.st_value + whole.st_size);
	CHECK(interpreter_has(&f.interpreter, f.interpreter.start) && !interpreter_has(&f.interpreter, f.interpreter.end));
	if (!elf_find_symbol(&f.elf, "execute_ex.cold", &cold)) {
		CHECK_INT(f.interpreter.cold_start, 0);
		done(&f);
		SKIP("this compiler does not split functions");
	}
	if (f.elf.machine != EM_X86_64) {
		done(&f);
		SKIP("jumps are only known on x86-64");
	}
	CHECK_INT(f.interpreter.cold_start, cold.st_value);
	CHECK_INT(f.interpreter.cold_end, cold.st_value + cold.st_size);
	done(&f);
}

TEST(frames_of_the_php_interpreter_have_a_constant_size)
{
	unsigned seen = 0;
	glob_t g;

	if (glob("/usr/bin/php?.?", 0, NULL, &g) == 0) {
		for (size_t i = 0; i < g.gl_pathc; i++) {
			struct found f;

			if (look(&f, g.gl_pathv[i]) && f.has && f.elf.machine == EM_X86_64) {
				/* The stack pointer in PHP 8.2 of Debian 12, the frame pointer in 8.4 of Debian 13. */
				CHECK(f.interpreter.body.cfa == UNWIND_CFA_SP || f.interpreter.body.cfa == UNWIND_CFA_FP);
				CHECK(f.interpreter.body.cfa_offset > 8);
				seen++;
			}
			done(&f);
		}
	}
	globfree(&g);
	if (!seen)
		SKIP("there is no PHP for x86-64 here");
}

TEST_MAIN()
