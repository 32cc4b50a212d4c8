/* test_unwind.c: runs the BPF walker as plain C: over this program's own stack, compared with libgcc, and over a
 * made-up stack, for rules that compilers rarely generate. */

#include "modules.h"

#include "mem.h"
#include "test.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <unistd.h>

/* --- Tables, as the maps of the programs have them */

static struct unwind_page *pages;
static struct unwind_rule rules[UNWIND_RULES];
static struct unwind_layout layout;

static int put_page(void *arg, uint32_t number, const struct unwind_page *p)
{
	pages[number] = *p;
	return 0;
}

static int put_rule(void *arg, uint32_t number, const struct unwind_rule *r)
{
	rules[number] = *r;
	return 0;
}

static int put_layout(void *arg, uint32_t number, const struct unwind_layout *l)
{
	layout = *l;
	return 0;
}

#include "bpf/unwind.h"

static const struct unwind_page *unwind_find_page(u32 number)
{
	return number < UNWIND_PAGES ? &pages[number] : NULL;
}

static const struct unwind_rule *unwind_find_rule(u32 number)
{
	return number < UNWIND_RULES ? &rules[number] : NULL;
}

/* --- Memory: this program's own, or what stands here */

#define BASE	0x10000000ull

static u64 made[64];			/* words from BASE on; NULL: the program's */
static bool use_made;

/* Reads through a pipe, so that the kernel checks the address; qemu's user mode has no process_vm_readv. */
static bool read_own(void *to, u32 size, u64 address)
{
	static int ends[2];

	if (!ends[1] && pipe(ends) < 0)
		abort();
	return write(ends[1], (const void *)(uintptr_t)address, size) == (ssize_t)size && read(ends[0], to, size) == (ssize_t)size;
}

bool read_user(void *to, u32 size, u64 address)
{
	if (!use_made)
		return read_own(to, size, address);
	if (address < BASE || address - BASE > sizeof(made) || size > sizeof(made) - (address - BASE))
		return false;
	memcpy(to, (char *)made + (address - BASE), size);
	return true;
}

static struct unwind *walk_from(u64 ip, u64 sp, u64 fp, u64 bx, u64 link)
{
	static struct unwind u;

	memset(u.memos, 0, sizeof(u.memos));
	unwind_start(&u, ip, sp, fp, bx, link);
	while (unwind_step(&u, &layout))
		;
	return &u;
}

static struct unwind *walk(u64 ip, u64 sp, u64 fp, u64 link)
{
	return walk_from(ip, sp, fp, 0, link);
}

/* --- The program's own stack */

static struct modules *modules;
static struct unwind_tables *tables;

TEST(mapped_files_get_unwind_tables)
{
	static const struct unwind_sink sink = {
		put_page, put_rule, put_layout, NULL, UNWIND_PAGES, UNWIND_RULES, UNWIND_LAYOUTS,
	};
	_cleanup_(process_maps_done) struct process_maps maps = { 0 };
	_cleanup_(freep) struct unwind_part *parts = NULL;
	uint32_t number;
	size_t n;

	/* The first walk loads libgcc, and files are read as they are mapped at that moment. */
	backtrace((void *[1]){ NULL }, 1);
	pages = xcalloc(UNWIND_PAGES, sizeof(*pages));
	tables = unwind_tables_new(&sink);
	modules = modules_new(tables);
	CHECK_INT(process_maps_read(&maps, getpid(), NULL), 0);
	CHECK_INT(maps.malformed, 0);
	modules_add_process(modules, getpid(), 1, &maps, &parts, &n);
	CHECK(n >= 2);
	CHECK_INT(unwind_tables_add_layout(tables, parts, n, &number, NULL), 0);
	CHECK_STR(modules_failures(modules)->first, "");
}

static u64 frame_at(u64 address)
{
	u32 at = unwind_range_at(&layout, address);

	return unwind_is_in(&layout, at, address) ?
	       NATIVE_FRAME(layout.ranges[at].module, address - layout.starts[at] + layout.ranges[at].address) : 0;
}

static u64 interrupted_at;		/* by a signal; 0: not */

/* Both walks begin at the caller of this, two calls up. */
static __attribute__((noinline)) void compare(size_t least)
{
	void *expected[NATIVE_DEPTH * 4];
	int n = backtrace(expected, ARRAY_SIZE(expected)), caller = 0;
	const struct unwind *u;
	ucontext_t c;

	/* A sanitizer's backtrace() includes itself. */
	while (caller < n && expected[caller] != __builtin_return_address(0))
		caller++;
	CHECK(caller < n);
	getcontext(&c);
#if defined(__x86_64__)
	u = walk_from((u64)c.uc_mcontext.gregs[REG_RIP], (u64)c.uc_mcontext.gregs[REG_RSP], (u64)c.uc_mcontext.gregs[REG_RBP],
		      (u64)c.uc_mcontext.gregs[REG_RBX], 0);
#elif defined(__aarch64__)
	u = walk(c.uc_mcontext.pc, c.uc_mcontext.sp, c.uc_mcontext.regs[29], c.uc_mcontext.regs[30]);
#endif
	CHECK((size_t)n > least);
	n -= caller - 1;
	if (n > (int)NATIVE_DEPTH) {
		CHECK_INT(u->stack.end, NATIVE_TOO_DEEP);
		CHECK_INT(u->stack.count, NATIVE_DEPTH);
	} else {
		CHECK_INT(u->stack.end, NATIVE_OUTERMOST);
		CHECK_INT(u->stack.count, n);
	}
	for (u32 i = 1; i < u->stack.count && i < (u32)n; i++) {
		u64 address = (u64)(uintptr_t)expected[caller - 1 + (int)i];

		CHECK_INT(u->stack.frames[i], frame_at(address - (address != interrupted_at)));
	}
}

static __attribute__((noinline)) int call(int depth)
{
	if (depth)
		return call(depth - 1) + 1;
	compare(5);
	return 0;
}

/* The stack pointer cannot be derived from the instruction, so the frame pointer is needed, as for its caller. */
static __attribute__((noinline)) int call_with_variable_frame(size_t n, int depth)
{
	volatile char *room = __builtin_alloca(n);

	room[n - 1] = 1;
	return depth ? call_with_variable_frame(n + 16, depth - 1) + room[n - 1] : call(2) + room[n - 1];
}

static int by_compare(const void *a, const void *b)
{
	static bool compared;

	if (!compared)
		compare(5);
	compared = true;
	return 0;
}

static void handle(int signo, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;

#if defined(__x86_64__)
	interrupted_at = (u64)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	interrupted_at = c->uc_mcontext.pc;
#endif
	compare(5);
	interrupted_at = 0;
}

TEST(callers_match_those_found_by_libgcc)
{
	call(3);
}

TEST(variable_sized_frames_are_unwound_by_the_frame_pointer)
{
	CHECK(call_with_variable_frame(100, 4) > 0);
}

TEST(walks_continue_through_callbacks_of_libraries)
{
	int list[] = { 3, 1, 2 };

	qsort(list, 3, sizeof(*list), by_compare);
}

TEST(the_interrupted_function_is_the_caller_of_a_signal_handler)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

#if defined(__aarch64__)
	if (!getauxval(AT_SYSINFO_EHDR))
		SKIP("there is no vDSO, which handlers return to on arm64");
#endif
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

TEST(overlong_stacks_are_truncated_and_marked)
{
	call(NATIVE_DEPTH + 10);
}

static const char *name_of(u64 address)
{
	static struct buf out;
	const char *path;

	if (!out.data)
		buf_init(&out);
	buf_reset(&out);
	modules_put_name(modules, frame_at(address), &out, &path);
	return out.data;
}

TEST(function_names_are_read_from_the_mapped_files)
{
	CHECK_STR(name_of((u64)(uintptr_t)call + 1), "call");
	CHECK_STR(name_of((u64)(uintptr_t)walk + 1), "walk");
	CHECK_STR(name_of(8), MODULES_UNKNOWN);
}

/* --- A stack that is made here */

#define CODE	0x400000ull
#define LIBRARY	0x500000ull

/* Makes a file with a page of rows, the n-th rule covering its n-th 16 bytes; and generated code without rows. */
static void make(const struct unwind_rule *list, u32 n)
{
	struct unwind_page *p = &pages[0];

	memset(p->pcs, 0xff, sizeof(p->pcs));
	memset(&layout, 0, sizeof(layout));
	memset(layout.starts, 0x7f, sizeof(layout.starts));
	layout.count = 2;
	layout.starts[0] = CODE;
	layout.ranges[0] = (struct unwind_range){ .size = 0x1000, .module = 1, .page = 0, .pages = 1 };
	layout.starts[1] = LIBRARY;
	layout.ranges[1] = (struct unwind_range){ .size = 0x1000, .module = 2 };
	for (u32 i = 0; i < n; i++) {
		p->pcs[i] = i * 16;
		p->rules[i] = (u16)i;
		rules[i] = list[i];
	}
	memset(made, 0, sizeof(made));
	use_made = true;
}

#define ROW(n)		(CODE + (n) * 16)
#define WORD(n)		(BASE + (n) * 8)

/* The usual frame, and the outermost one. */
#define USUAL		{ .cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8 }
#define OUTERMOST	{ .ra = UNWIND_RA_END, .cfa = UNWIND_CFA_SP }

TEST(a_saved_frame_pointer_is_restored_for_the_caller)
{
	static const struct unwind_rule list[] = {
		{ .cfa = UNWIND_CFA_SP, .cfa_offset = 32, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8, .fp = UNWIND_REG_AT_CFA,
		  .fp_offset = -16 },
		{ .cfa = UNWIND_CFA_FP, .cfa_offset = 16, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8 },
		OUTERMOST,
	};
	const struct unwind *u;

	make(list, 3);
	made[10] = WORD(20);			/* the frame pointer of row 1 */
	made[11] = ROW(1) + 4;
	made[21] = ROW(2) + 4;
	u = walk(ROW(0), WORD(8), 0, 0);
	CHECK_INT(u->stack.end, NATIVE_OUTERMOST);
	CHECK_INT(u->stack.count, 3);
	CHECK_INT(u->stack.frames[0], NATIVE_FRAME(1, 0));
	CHECK_INT(u->stack.frames[1], NATIVE_FRAME(1, 0x13));
	CHECK_INT(u->stack.frames[2], NATIVE_FRAME(1, 0x23));
}

/* As where the dynamic linker binds a function at its first call: the function called there has saved rbx. */
TEST(a_frame_can_be_located_by_rbx)
{
	static const struct unwind_rule list[] = {
		{ .cfa = UNWIND_CFA_SP, .cfa_offset = 32, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8, .bx = UNWIND_REG_AT_CFA,
		  .bx_offset = -24 },
		USUAL,			/* leaves rbx as it is */
		{ .cfa = UNWIND_CFA_BX, .cfa_offset = 56, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8, .bx = UNWIND_REG_AT_CFA,
		  .bx_offset = -56 },
		{ .cfa = UNWIND_CFA_BX, .cfa_offset = 16, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8, .bx = UNWIND_REG_LOST },
		OUTERMOST,
		{ .cfa = UNWIND_CFA_AT_SP, .ra = UNWIND_RA_AT_SP, .ra_offset = 8, .bx = UNWIND_REG_AT_SP, .bx_offset = 16,
		  .flags = UNWIND_SIGNAL },
	};
	const struct unwind *u;

	make(list, 6);
	made[9] = WORD(20);			/* rbx of row 2 */
	made[11] = ROW(1) + 4;
	made[13] = ROW(2) + 4;
	made[20] = WORD(30);			/* rbx of row 3 */
	made[26] = ROW(3) + 4;
	made[31] = ROW(4) + 4;
	u = walk_from(ROW(0), WORD(8), 0, 0, 0);
	CHECK_INT(u->stack.end, NATIVE_OUTERMOST);
	CHECK_INT(u->stack.count, 5);
	CHECK_INT(u->stack.frames[3], NATIVE_FRAME(1, 0x33));
	CHECK_INT(walk_from(ROW(2), WORD(8), 0, WORD(20), 0)->stack.end, NATIVE_OUTERMOST);
	made[31] = ROW(3) + 4;			/* lost in the previous frame */
	CHECK_INT(walk_from(ROW(3), WORD(8), 0, WORD(30), 0)->stack.end, NATIVE_UNREADABLE);
	made[31] = ROW(4) + 4;
	made[40] = WORD(8);			/* a signal interrupted row 3 */
	made[41] = ROW(3) + 4;
	made[42] = WORD(30);
	CHECK_INT(walk_from(ROW(5), WORD(40), 0, 0, 0)->stack.end, NATIVE_OUTERMOST);
}

TEST(registers_of_signal_frames_are_restored_from_the_stack)
{
	static const struct unwind_rule list[] = {
		{ .cfa = UNWIND_CFA_AT_SP, .cfa_offset = 80, .ra = UNWIND_RA_AT_SP, .ra_offset = 88, .fp = UNWIND_REG_AT_SP,
		  .fp_offset = 40, .flags = UNWIND_SIGNAL },
		{ .cfa = UNWIND_CFA_AT_FP, .cfa_offset = -8, .cfa_add = 8, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8 },
		OUTERMOST,
	};
	const struct unwind *u;

	make(list, 3);
	made[8 + 5] = WORD(41);			/* the frame pointer that was interrupted */
	made[8 + 10] = WORD(32);
	made[8 + 11] = ROW(1);			/* the first instruction of a function: not after a call */
	made[40] = WORD(44);
	made[44] = ROW(2) + 1;
	u = walk(ROW(0), WORD(8), 0, 0);
	CHECK_INT(u->stack.end, NATIVE_OUTERMOST);
	CHECK_INT(u->stack.count, 3);
	CHECK_INT(u->stack.frames[1], NATIVE_FRAME(1, 0x10));
	CHECK_INT(u->stack.frames[2], NATIVE_FRAME(1, 0x20));
}

TEST(plt_stubs_are_unwound_before_and_after_their_push)
{
	static const struct unwind_rule list[] = {
		{ .cfa = UNWIND_CFA_PLT, .cfa_offset = 8, .cfa_add = 11, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8 },
		OUTERMOST,
	};

	make(list, 2);
	made[8] = 0x1234;
	made[9] = ROW(1) + 1;
	made[10] = 0x1234;
	CHECK_INT(walk(ROW(0) + 10, WORD(9), 0, 0)->stack.end, NATIVE_OUTERMOST);
	CHECK_INT(walk(ROW(0) + 11, WORD(8), 0, 0)->stack.end, NATIVE_OUTERMOST);
	CHECK_INT(walk(ROW(0) + 11, WORD(9), 0, 0)->stack.end, NATIVE_NO_RANGE);
}

TEST(the_link_register_is_used_for_the_innermost_frame_only)
{
	static const struct unwind_rule list[] = {
		{ .cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_LINK }, USUAL, OUTERMOST,
	};
	const struct unwind *u;

	make(list, 3);
	made[9] = ROW(2) + 1;
	u = walk(ROW(0), WORD(8), 0, ROW(1) + 1);
	CHECK_INT(u->stack.end, NATIVE_OUTERMOST);
	CHECK_INT(u->stack.count, 3);
	made[9] = ROW(0) + 1;
	CHECK_INT(walk(ROW(0), WORD(8), 0, ROW(1) + 1)->stack.end, NATIVE_UNSUPPORTED);
}

TEST(jit_code_of_php_is_unwound_like_its_interpreter)
{
	static const struct unwind_rule list[] = {
		{ .cfa = UNWIND_CFA_SP, .cfa_offset = 32, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8, .fp = UNWIND_REG_AT_CFA,
		  .fp_offset = -16 },
		USUAL, OUTERMOST,
	};
	const struct unwind *u;

	make(list, 3);
	rules[3] = list[0];
	layout.ranges[1].rule = 3;
	for (u32 padding = 0; padding < UNWIND_PADDINGS; padding++) {
		memset(made, 0, sizeof(made));
		made[11 + 2 * padding] = ROW(1) + 1;
		made[13 + 2 * padding] = ROW(2) + 1;
		u = walk(LIBRARY + 7, WORD(8), 0, 0);
		CHECK_INT(u->stack.end, NATIVE_OUTERMOST);
		CHECK_INT(u->stack.count, 3);
		CHECK_INT(u->stack.frames[0], NATIVE_FRAME(2, 7));
	}
	memset(made, 0, sizeof(made));
	CHECK_INT(walk(LIBRARY + 7, WORD(8), 0, 0)->stack.end, NATIVE_NO_RULE);
	rules[3].cfa = UNWIND_CFA_FP;
	rules[3].cfa_offset = 16;
	made[31] = ROW(1) + 1;
	made[33] = ROW(2) + 1;
	CHECK_INT(walk(LIBRARY + 7, WORD(8), WORD(30), 0)->stack.end, NATIVE_OUTERMOST);
	CHECK_INT(walk(LIBRARY + 7, WORD(8), WORD(28), 0)->stack.end, NATIVE_NO_RULE);
	rules[3].bx = UNWIND_REG_AT_CFA;
	rules[3].bx_offset = -24;
	rules[1] = (struct unwind_rule){ .cfa = UNWIND_CFA_BX, .cfa_offset = 16, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8 };
	made[29] = WORD(40);
	made[33] = 0;
	made[41] = ROW(2) + 1;
	CHECK_INT(walk(LIBRARY + 7, WORD(8), WORD(30), 0)->stack.end, NATIVE_OUTERMOST);
	layout.ranges[1].rule = 0;
	CHECK_INT(walk(LIBRARY + 7, WORD(8), 0, 0)->stack.end, NATIVE_NO_TABLE);
}

TEST(a_walk_that_cannot_continue_gives_the_reason)
{
	static const struct unwind_rule list[] = {
		USUAL, { .cfa = UNWIND_CFA_NONE }, { .cfa = UNWIND_CFA_UNSUPPORTED },
		{ .cfa = UNWIND_CFA_FP, .cfa_offset = 16, .ra = UNWIND_RA_AT_CFA, .ra_offset = -8, .fp = UNWIND_REG_LOST },
	};

	make(list, 4);
	CHECK_INT(walk(0x1000, WORD(8), 0, 0)->stack.end, NATIVE_NO_RANGE);
	CHECK_INT(walk(LIBRARY + 0x1000, WORD(8), 0, 0)->stack.end, NATIVE_NO_RANGE);
	CHECK_INT(walk(ROW(1), WORD(8), 0, 0)->stack.end, NATIVE_NO_RULE);
	CHECK_INT(walk(ROW(2), WORD(8), 0, 0)->stack.end, NATIVE_UNSUPPORTED);
	CHECK_INT(walk(ROW(0), 0x77, 0, 0)->stack.end, NATIVE_UNREADABLE);
	made[21] = ROW(3) + 1;
	CHECK_INT(walk(ROW(3), WORD(8), WORD(20), 0)->stack.end, NATIVE_UNREADABLE);
	CHECK_INT(walk(ROW(3), WORD(8), WORD(20), 0)->stack.count, 2);
}

/* A stack pointer that points to itself, as on a stack that a program has overwritten. */
TEST(walking_a_cyclic_stack_terminates)
{
	static const struct unwind_rule list[] = {
		{ .cfa = UNWIND_CFA_AT_SP, .ra = UNWIND_RA_AT_SP, .ra_offset = 8 },
	};

	make(list, 1);
	made[8] = WORD(8);
	made[9] = ROW(0) + 1;
	CHECK_INT(walk(ROW(0), WORD(8), 0, 0)->stack.end, NATIVE_TOO_DEEP);
	CHECK_INT(walk(ROW(0), WORD(8), 0, 0)->stack.count, NATIVE_DEPTH);
}

static __attribute__((destructor)) void done(void)
{
	modules_free(modules);
	unwind_tables_free(tables);
	free(pages);
}

TEST_MAIN()
