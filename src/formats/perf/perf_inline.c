/* perf_inline.c: queries addr2line, and nm if an address alone is ambiguous. */
#include "perf_inline.h"
#include "buf.h"
#include "mem.h"
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#define ANSWER_BYTES ((size_t)64 << 20)

struct perf_inline {
	bool context;
	int missing;			/* errno of a program that could not be run */
	struct intern addresses;		/* "address module" */
	struct str *answers;		/* by index in `addresses`; n is 0 if there is none */
	size_t capacity;
	struct arena bytes;
	char *symbols_of;		/* module of `symbols` */
	struct buf symbols;		/* output of nm */
};

struct perf_inline *perf_inline_new(bool context)
{
	struct perf_inline *x = xcalloc(1, sizeof(*x));

	x->context = context;
	intern_init(&x->addresses);
	arena_init(&x->bytes);
	buf_init(&x->symbols);
	return x;
}

struct perf_inline *perf_inline_free(struct perf_inline *x)
{
	if (!x)
		return NULL;
	intern_done(&x->addresses);
	arena_done(&x->bytes);
	buf_done(&x->symbols);
	free(x->symbols_of);
	free(x->answers);
	free(x);
	return NULL;
}

/* --- Programs --- */

static void read_all(int fd, struct buf *out)
{
	char bytes[1 << 16];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) != 0) {
		if (n < 0 && errno != EINTR)
			return;
		/* Keeps reading beyond the limit, so that the program can exit. */
		if (n > 0 && out->size < ANSWER_BYTES)
			buf_put(out, bytes, (size_t)n);
	}
}

/* Replaces `out` with the output of the program. Returns 0, or why it cannot be run. */
static int ask(char *const argv[], struct buf *out)
{
	_cleanup_(fd_closep) int from = -1;
	posix_spawn_file_actions_t actions;
	int pipes[2], status, error;
	pid_t pid;

	buf_reset(out);
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return errno;
	from = pipes[0];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	close(pipes[1]);
	if (!error) {
		read_all(from, out);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static void ask_address(struct perf_inline *x, const char *address, const char *module, struct buf *out)
{
	char *const argv[] = { (char *)"addr2line", (char *)"-a", (char *)address, (char *)"-e", (char *)module,
			       (char *)"-i", (char *)"-f", (char *)"-s", (char *)"-C", NULL };

	/* A missing program is not tried again. */
	if (!x->missing)
		x->missing = ask(argv, out);
}

static const char *symbols_of(struct perf_inline *x, const char *module)
{
	char *const argv[] = { (char *)"nm", (char *)module, NULL };

	if (!x->symbols_of || strcmp(x->symbols_of, module)) {
		free(x->symbols_of);
		x->symbols_of = xstrdup(module);
		ask(argv, &x->symbols);
	}
	return x->symbols.data;
}

/* --- Answers --- */

/* Resolves "name+0x12" to the start of the function plus 0x12; false if nm does not know it. */
static bool find_start(struct perf_inline *x, const char *module, struct str symbol, uint64_t *ret)
{
	const char *plus = memmem(symbol.p, symbol.n, "+0x", 3), *line, *next;
	_cleanup_(freep) char *name = NULL;

	if (!plus || plus == symbol.p)
		return false;
	name = xstrndup(symbol.p, (size_t)(plus - symbol.p));
	for (line = symbols_of(x, module); *line; line = next) {
		size_t n = strcspn(line, "\n");
		char *space;

		next = line + n + (line[n] == '\n');
		*ret = strtoull(line, &space, 16);
		if (space == line || space[0] != ' ' || !space[1] || space[2] != ' ')
			continue;
		if ((size_t)(line + n - space) - 3 == strlen(name) && !memcmp(space + 3, name, strlen(name))) {
			*ret += strtoull(plus + 3, NULL, 16);
			return true;
		}
	}
	return false;
}

static size_t without_discriminator(const char *line, size_t n)
{
	const char *found = memmem(line, n, " (discriminator ", 16);

	return found ? (size_t)(found - line) : n;
}

/* Converts "0xADDRESS", followed by a line with the name and one with the location for each function from the
 * innermost out, to names from the outermost in. */
static void put_names(const struct perf_inline *x, const char *answer, struct buf *out)
{
	struct buf name;

	buf_init(&name);
	answer += strcspn(answer, "\n");
	while (*answer) {
		const char *function = answer + 1, *place;
		size_t n = strcspn(function, "\n"), place_size;

		if (!function[n])
			break;
		place = function + n + 1;
		place_size = strcspn(place, "\n");
		buf_reset(&name);
		buf_put(&name, function, without_discriminator(function, n));
		if (x->context) {
			buf_putc(&name, ':');
			buf_put(&name, place, without_discriminator(place, place_size));
		}
		if (out->size)
			buf_putc(&name, '\n');
		buf_put(&name, out->data, out->size);
		buf_reset(out);
		buf_put(out, name.data, name.size);
		answer = place + place_size;
	}
	buf_done(&name);
}

static void find_names(struct perf_inline *x, const struct perf_frame *f, struct buf *out)
{
	_cleanup_(freep) char *address = xstrndup(f->address.p, f->address.n);
	_cleanup_(freep) char *module = xstrndup(f->module.p, f->module.n);
	struct buf answer;
	uint64_t start;
	char place[32];

	buf_init(&answer);
	ask_address(x, address, module, &answer);
	/* The address may be that in the running process; use the symbol and its offset in the file. */
	if (strstr(answer.data, "??\n??:0") && find_start(x, module, f->symbol, &start)) {
		snprintf(place, sizeof(place), "0x%llx", (unsigned long long)start);
		ask_address(x, place, module, &answer);
	}
	put_names(x, answer.data, out);
	buf_done(&answer);
	if (!strcmp(out->data, "??") || !strcmp(out->data, "??:??:0"))
		buf_reset(out);
}

static bool has_file(struct str module)
{
	const char *open = memchr(module.p, '[', module.n), *close;
	const char *map = memmem(module.p, module.n, "perf-", 5);

	close = open ? memchr(open, ']', (size_t)(module.p + module.n - open)) : NULL;
	return module.n && !(close && close > open + 1) && !memmem(module.p, module.n, "kernel.", 7) &&
	       !(map && memmem(map, (size_t)(module.p + module.n - map), ".map", 4));
}

bool perf_inline_find(struct perf_inline *x, const struct perf_frame *f, struct str *ret)
{
	size_t known = x->addresses.count;
	struct buf text;
	uint32_t id;

	if (!has_file(f->module))
		return false;
	buf_init(&text);
	buf_put(&text, f->address.p, f->address.n);
	buf_putc(&text, ' ');
	buf_put(&text, f->module.p, f->module.n);
	id = intern_add(&x->addresses, text.data, text.size);
	if (x->addresses.count > known) {
		GROW(&x->answers, &x->capacity, x->addresses.count);
		buf_reset(&text);
		find_names(x, f, &text);
		x->answers[id] = (struct str){ arena_copy(&x->bytes, text.data, text.size), text.size };
	}
	buf_done(&text);
	*ret = x->answers[id];
	return ret->n > 0;
}

int perf_inline_error(const struct perf_inline *x, struct err *err)
{
	if (!x || !x->missing)
		return 0;
	return err_set(err, -x->missing, "cannot run addr2line (package binutils), which finds inlined functions: %s",
		       strerror(x->missing));
}
