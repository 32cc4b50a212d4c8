/* perf_name.c: names frames like stackcollapse-perf.pl, so that stacks are comparable with existing ones. */
#include "perf_name.h"
#include "mem.h"
#include "text.h"
#include <ctype.h>
#include <string.h>

void perf_names_init(struct perf_names *n)
{
	*n = (struct perf_names){ 0 };
	buf_init(&n->text);
}

void perf_names_done(struct perf_names *n)
{
	buf_done(&n->text);
	free(n->names);
}

static struct str without_offset(struct str symbol)
{
	size_t n = symbol.n;

	while (n > 0 && ((symbol.p[n - 1] >= '0' && symbol.p[n - 1] <= '9') ||
			 (symbol.p[n - 1] >= 'a' && symbol.p[n - 1] <= 'f')))
		n--;
	if (n < symbol.n && n >= 3 && !memcmp(symbol.p + n - 3, "+0x", 3))
		symbol.n = n - 3;
	return symbol;
}

static void put_module(struct buf *b, const struct perf_frame *f, bool nowhere, bool address)
{
	const char *slash = memrchr(f->module.p, '/', f->module.n);

	buf_putc(b, '[');
	if (nowhere)
		buf_puts(b, "unknown");
	else if (slash)
		buf_put(b, slash + 1, (size_t)(f->module.p + f->module.n - slash - 1));
	else
		buf_put(b, f->module.p, f->module.n);
	if (address) {
		buf_puts(b, " <");
		buf_put(b, f->address.p, f->address.n);
		buf_putc(b, '>');
	}
	buf_putc(b, ']');
}

/* Matches net/http.(*Client).Do. */
static bool is_go_method(struct str name)
{
	const char *receiver = memmem(name.p, name.n, ".(", 2);
	size_t left = receiver ? (size_t)(name.p + name.n - receiver) - 2 : 0;

	return receiver && memmem(receiver + 2, left, ").", 2);
}

/* Returns the position after the bracket that closes the one at `p`; NULL if there is none. */
static const char *behind_brackets(const char *p, const char *end)
{
	int depth = 0;

	for (; p < end; p++) {
		depth += *p == '(';
		depth -= *p == ')';
		if (depth == 0)
			return p + 1;
	}
	return NULL;
}

static bool is_operator(const char *start, const char *p)
{
	return p - start >= 8 && !memcmp(p - 8, "operator", 8) &&
	       (p - start == 8 || (!isalnum((unsigned char)p[-9]) && p[-9] != '_'));
}

static const char anonymous[] = "(anonymous namespace)";

/* Tells whether the name continues after the parameters, which are then those of an enclosing function: "f(int)
 * const::{lambda(int)#1}::operator()". */
static bool continues(const char *p, const char *end)
{
	static const char *const between[] = { " const", " volatile", " &&", " &" };

	for (size_t i = 0; i < ARRAY_SIZE(between); i++) {
		size_t n = strlen(between[i]);

		if ((size_t)(end - p) >= n && !memcmp(p, between[i], n))
			p += n;
	}
	return end - p >= 2 && p[0] == ':' && p[1] == ':';
}

/* Returns the offset of the parameters. Parentheses in template arguments, in the braces of a lambda and of an
 * enclosing function are part of the name, as are those of (anonymous namespace), decltype(auto) and operator(). */
static size_t find_parameters(struct str name)
{
	const char *p = name.p, *end = name.p + name.n, *next, *closed;
	const char *last_angle = memrchr(name.p, '>', name.n), *last_brace = memrchr(name.p, '}', name.n);
	int angles = 0, braces = 0;

	for (; p < end; p = next) {
		size_t left = (size_t)(end - p);

		next = p + 1;
		if (*p == '<' && is_operator(name.p, p))
			next += left > 1 && p[1] == '<';
		else if (*p == '<')
			angles++;
		else if (*p == '>')
			angles -= angles > 0;
		braces += *p == '{';
		braces -= *p == '}' && braces > 0;
		if (*p != '(')
			continue;
		if (left >= sizeof(anonymous) - 1 && !memcmp(p, anonymous, sizeof(anonymous) - 1))
			continue;
		if (is_operator(name.p, p) && left > 1 && p[1] == ')' && (left == 2 || p[2] == '(' || p[2] == '<')) {
			next = p + 2;
			continue;
		}
		closed = behind_brackets(p, end);
		if (!closed || !((angles && last_angle >= closed) || (braces && last_brace >= closed) || continues(closed, end) ||
				 (p - name.p == 8 && !memcmp(name.p, "decltype", 8))))
			return (size_t)(p - name.p);
		next = closed;
	}
	return name.n;
}

/* Tidies the text from `start` on. */
static void tidy(struct buf *b, size_t start, bool java)
{
	struct str name = { b->data + start, b->size - start };
	size_t n = is_go_method(name) ? name.n : find_parameters(name), kept = 0;
	char *p = b->data + start;

	for (size_t i = 0; i < n; i++)
		if (p[i] != '"' && p[i] != '\'')
			p[kept++] = p[i] == ';' ? ':' : p[i];
	if (java && kept && p[0] == 'L' && memchr(p, '/', kept))
		memmove(p, p + 1, --kept);
	b->size = start + kept;
}

/* Perf writes kernel modules in square brackets, or their file: "/lib/modules/6.1/kernel/fs/xfs.ko.xz". The kernel's
 * own file may include its version: "/usr/lib/debug/boot/vmlinux-6.1.0". */
static bool is_kernel(struct str module)
{
	static const char *const endings[] = { ".ko", ".ko.xz", ".ko.gz", ".ko.zst" };
	const char *slash = memrchr(module.p, '/', module.n);
	struct str file = slash ? (struct str){ slash + 1, (size_t)(module.p + module.n - slash - 1) } : module;

	if (text_has(module, "unknown"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (text_ends(file, endings[i]))
			return true;
	return (module.n && module.p[0] == '[') || text_is(file, "vmlinux") || (file.n > 8 && !memcmp(file.p, "vmlinux-", 8));
}

/* Tells whether a path contains `text`, then a number, and then `end`. */
static bool has_number_between(struct str path, const char *text, const char *end)
{
	const char *p = path.p, *stop = path.p + path.n, *digits;
	size_t n = strlen(text), m = strlen(end);

	while ((p = memmem(p, (size_t)(stop - p), text, n))) {
		p += n;
		for (digits = p; p < stop && *p >= '0' && *p <= '9';)
			p++;
		if (p > digits && (size_t)(stop - p) >= m && !memcmp(p, end, m))
			return true;
	}
	return false;
}

/* Matches /tmp/perf-PID.map, which compilers write while the program runs, and jitted-PID-N.so, made by `perf inject
 * --jit`. */
static bool is_compiled_late(struct str module)
{
	return has_number_between(module, "/tmp/perf-", ".map") ||
	       (has_number_between(module, "jitted-", "-") && text_ends(module, ".so"));
}

static void annotate(struct buf *b, size_t start, bool inlined, struct str module, const struct format_options *o)
{
	struct str name = { b->data + start, b->size - start };

	if (inlined) {
		if (!text_has(name, "_[i]"))
			buf_puts(b, "_[i]");
	} else if (o->kernel && is_kernel(module)) {
		buf_puts(b, "_[k]");
	} else if (o->jit && is_compiled_late(module) && !text_has(name, "_[j]")) {
		buf_puts(b, "_[j]");
	}
}

static void add_name(struct perf_names *n, struct str symbol, const struct perf_frame *f,
		     const struct format_options *o, bool java)
{
	bool unknown = text_is(symbol, "[unknown]"), nowhere = unknown && text_is(f->module, "[unknown]");
	size_t start = n->text.size;

	/* Only the first part of a name is named after the module: module names may be long, and parts many. */
	if (unknown && (n->count == 0 || nowhere))
		put_module(&n->text, f, nowhere, o->addresses);
	else
		buf_put(&n->text, symbol.p, symbol.n);
	tidy(&n->text, start, java);
	annotate(&n->text, start, n->count > 0, f->module, o);
	GROW(&n->names, &n->capacity, n->count + 1);
	n->names[n->count++] = (struct perf_name){ n->text.size, nowhere };
}

void perf_names_of(struct perf_names *n, const struct perf_frame *f, const struct format_options *o, bool java)
{
	struct str symbol = without_offset(f->symbol);

	buf_reset(&n->text);
	n->count = 0;
	/* A symbol in parentheses is the name of a process. */
	if (symbol.n && symbol.p[0] == '(' && !text_starts(symbol, anonymous))
		return;
	/* A trailing "->" would add an empty function name. */
	while (symbol.n >= 2 && !memcmp(symbol.p + symbol.n - 2, "->", 2))
		symbol.n -= 2;
	while (symbol.n) {
		const char *arrow = memmem(symbol.p, symbol.n, "->", 2);
		size_t length = arrow ? (size_t)(arrow - symbol.p) : symbol.n;

		add_name(n, (struct str){ symbol.p, length }, f, o, java);
		if (!arrow)
			break;
		symbol.p += length + 2;
		symbol.n -= length + 2;
	}
}
