/* test_cfi.c: compares rows with readelf's, for every instruction where these change. */
#include "cfi.h"
#include "mem.h"
#include "test.h"
#include <fcntl.h>
#include <glob.h>

/* A line of readelf's table, such as "0000000000026200 rsp+16   u     c-16  c-8". */
struct expected {
	uint64_t pc;
	char cfa[32], rbp[16], rbx[16], ra[16];
};

static unsigned wrong;

static void differ(const char *path, const struct expected *x, const struct unwind_rule *r)
{
	if (wrong++ < 10)
		printf("# %s at %llx: readelf has cfa %s rbp %s rbx %s ra %s, we have cfa %u %+d %+d, fp %u %+d, bx %u %+d, ra %u %+d\n",
		       path, (unsigned long long)x->pc, x->cfa, x->rbp, x->rbx, x->ra, r->cfa, r->cfa_offset, r->cfa_add, r->fp,
		       r->fp_offset, r->bx, r->bx_offset, r->ra, r->ra_offset);
}

static bool is_cfa(const struct expected *x, const struct unwind_rule *r)
{
	if (!strncmp(x->cfa, "rsp", 3))
		return r->cfa == UNWIND_CFA_SP && r->cfa_offset == atoi(x->cfa + 3);
	if (!strncmp(x->cfa, "rbp", 3))
		return r->cfa == UNWIND_CFA_FP && r->cfa_offset == atoi(x->cfa + 3);
	if (!strncmp(x->cfa, "rbx", 3))
		return r->cfa == UNWIND_CFA_BX && r->cfa_offset == atoi(x->cfa + 3);
	if (!strcmp(x->cfa, "exp"))
		return r->cfa == UNWIND_CFA_PLT || r->cfa == UNWIND_CFA_AT_SP || r->cfa == UNWIND_CFA_AT_FP ||
		       r->cfa == UNWIND_CFA_UNSUPPORTED;
	return r->cfa == UNWIND_CFA_UNSUPPORTED;
}

static bool is_place(const char *expected, unsigned place, int offset)
{
	if (expected[0] == 'c')
		return place == UNWIND_REG_AT_CFA && offset == atoi(expected + 1);
	if (!strcmp(expected, "exp"))
		return place == UNWIND_REG_AT_SP || place == UNWIND_REG_AT_FP || place == UNWIND_REG_LOST;
	if (expected[0] == 'u' || expected[0] == 's' || !expected[0])
		return place == UNWIND_REG_SAME;
	return place == UNWIND_REG_LOST;
}

static bool is_ra(const struct expected *x, const struct unwind_rule *r)
{
	if (x->ra[0] == 'c')
		return r->ra == UNWIND_RA_AT_CFA && r->ra_offset == atoi(x->ra + 1);
	if (x->ra[0] == 'u')
		return r->ra == UNWIND_RA_END;
	return r->ra == UNWIND_RA_AT_SP || r->ra == UNWIND_RA_UNSUPPORTED;
}

static void compare(const char *path, const struct cfi_table *t, const struct expected *x)
{
	struct unwind_rule r = cfi_rule(t, x->pc);

	/* Code that cannot be unwound has one rule, and so has the outermost frame, which needs no CFA. */
	bool supported = strncmp(x->ra, "r", 1) && (!strncmp(x->cfa, "rsp", 3) || !strncmp(x->cfa, "rbp", 3) || !strncmp(x->cfa, "rbx", 3));

	if (!supported ? r.cfa != UNWIND_CFA_UNSUPPORTED && (strcmp(x->cfa, "exp") || !is_cfa(x, &r) || !is_ra(x, &r)) :
			 !is_ra(x, &r) || (r.ra != UNWIND_RA_END && (!is_cfa(x, &r) || !is_place(x->rbp, r.fp, r.fp_offset) || !is_place(x->rbx, r.bx, r.bx_offset))))
		differ(path, x, &r);
}

/* The words of a line; those after "LOC" name the columns. */
static unsigned split(char *line, char *words[40])
{
	unsigned n = 0;

	/* "r8 (r8)" is the name of one column. */
	for (char *save = NULL, *w = strtok_r(line, " \n", &save); w && n < 40; w = strtok_r(NULL, " \n", &save))
		if (*w != '(')
			words[n++] = w;
	return n;
}

struct function {
	uint64_t start, end;
};

static int by_function(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void check_gaps(const char *path, const struct cfi_table *t, struct function *f, size_t n)
{
	uint64_t end = 0;

	qsort(f, n, sizeof(*f), by_function);
	for (size_t i = 0; i < n; i++) {
		uint32_t start = 0;

		if (end && f[i].start > end && cfi_rule(t, end).cfa != UNWIND_CFA_NONE && wrong++ < 10)
			printf("# %s: behind the function that ends at %llx is another rule\n", path, (unsigned long long)end);
		if ((!cfi_function(t, f[i].end - 1, &start) || start != f[i].start) && wrong++ < 10)
			printf("# %s: %llx is of the function %x, not %llx\n", path, (unsigned long long)f[i].end - 1, start,
			       (unsigned long long)f[i].start);
		end = f[i].end > end ? f[i].end : end;
	}
}

static size_t compare_with_readelf(const char *path, const struct cfi_table *t)
{
	char command[600], line[4096], names[4096] = "";
	char *columns[40] = { 0 };
	struct function *functions = NULL;
	size_t compared = 0, function_count = 0, capacity = 0;
	bool in_fde = false;
	unsigned rbp = 0, rbx = 0, ra = 0;
	FILE *f;

	snprintf(command, sizeof(command), "LC_ALL=C readelf --debug-dump=frames-interp '%s' 2>/dev/null", path);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		char *words[40], *fde = strstr(line, " FDE cie="), *pc = strstr(line, "pc=");
		unsigned n;

		if (strstr(line, " CIE ") || fde || strstr(line, "ZERO terminator")) {
			unsigned long long start, end;

			in_fde = fde && pc && sscanf(pc, "pc=%llx..%llx", &start, &end) == 2 && end > start;
			if (in_fde) {
				GROW(&functions, &capacity, function_count + 1);
				functions[function_count++] = (struct function){ start, end };
			}
			continue;
		}
		if (!in_fde)
			continue;
		if (strstr(line, "LOC")) {
			snprintf(names, sizeof(names), "%s", line);
			n = split(names, columns);
			rbp = rbx = ra = 0;
			for (unsigned i = 2; i < n; i++) {
				rbp = !strcmp(columns[i], "rbp") ? i : rbp;
				rbx = !strcmp(columns[i], "rbx") ? i : rbx;
				ra = !strcmp(columns[i], "ra") ? i : ra;
			}
			continue;
		}
		n = split(line, words);
		if (n >= 3 && ra && ra < n && strlen(words[0]) == 16) {
			struct expected x = { .pc = strtoull(words[0], NULL, 16) };

			snprintf(x.cfa, sizeof(x.cfa), "%s", words[1]);
			snprintf(x.rbp, sizeof(x.rbp), "%s", rbp && rbp < n ? words[rbp] : "");
			snprintf(x.rbx, sizeof(x.rbx), "%s", rbx && rbx < n ? words[rbx] : "");
			snprintf(x.ra, sizeof(x.ra), "%s", words[ra]);
			if (x.pc >= functions[function_count - 1].end)
				continue;
			compare(path, t, &x);
			compared++;
		}
	}
	if (f)
		pclose(f);
	if (function_count)
		check_gaps(path, t, functions, function_count);
	free(functions);
	return compared;
}

/* Returns the number of rows compared. */
static size_t compare_file(const char *path)
{
	_cleanup_(elf_close) struct elf e = { .fd = -1 };
	_cleanup_(cfi_done) struct cfi_table t = { 0 };
	_cleanup_(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err err = { 0 };
	size_t compared;

	if (fd < 0)
		return 0;
	if (elf_open(&e, fd, path, &err) < 0 || cfi_read(&e, &t, &err) < 0) {
		printf("# %s\n", err.text);
		CHECK(!"it can be read");
		return 0;
	}
	CHECK_INT(t.damaged, 0);
	for (size_t i = 1; i < t.rows; i++)
		CHECK(t.pcs[i] > t.pcs[i - 1]);
	compared = compare_with_readelf(path, &t);
	printf("# %s: %zu rows, %zu rules, %u unsupported; %zu compared\n", path, t.rows, t.rule_count, t.unsupported, compared);
	return compared;
}

TEST(unwind_rows_match_those_of_readelf)
{
	static const char *const patterns[] = {
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libcrypto.so.3", "/lib/x86_64-linux-gnu/libm.so.6",
		"/lib64/ld-linux-x86-64.so.2", "/usr/bin/perl", "/usr/bin/php?.?", "/usr/lib/libphp?.?.so",
		"/usr/lib/php/20*/opcache.so", "/lib/x86_64-linux-gnu/libperl.so.*",
	};
	size_t compared = 0;

	if (system("readelf --version > /dev/null 2>&1") != 0)
		SKIP("there is no readelf to compare with (binutils)");
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		glob_t g;

		if (glob(patterns[i], 0, NULL, &g) == 0)
			for (size_t k = 0; k < g.gl_pathc; k++)
				compared += compare_file(g.gl_pathv[k]);
		globfree(&g);
	}
	CHECK_INT(wrong, 0);
	if (!compared)
		SKIP("none of the programs to compare is for x86-64");
}

TEST_MAIN()
