/* module_names.c: names native frames. */

#include "module.h"

#include "demangle.h"
#include "mem.h"

#include <fcntl.h>
#include <string.h>

static void read_debug_symbols(struct modules *m, struct module *one)
{
	_cleanup_(fd_closep) int own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	_cleanup_(elf_close) struct elf debug = { .fd = -1 };

	if (one->root >= 0)
		fd = symbols_open_debug(&one->elf, m->roots[one->root].fd, one->path);
	if (fd < 0)
		fd = symbols_open_debug(&one->elf, own_root, one->path);
	if (fd >= 0 && elf_open(&debug, fd, one->path, NULL) >= 0)
		symbols_add(&one->symbols, &debug);
}

static void read_symbols(struct modules *m, struct module *one)
{
	one->has_symbols = true;
	if (!one->elf.size)
		return;
	symbols_add(&one->symbols, &one->elf);
	if (!one->symbols.all && one->kind == MODULE_FILE)
		read_debug_symbols(m, one);
	symbols_sort(&one->symbols);
}

/* Returns the start of the function that contains this address, so that all its frames have one name. */
static uint32_t function_start(const struct module *one, uint32_t address)
{
	size_t low = 0, high = one->function_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (one->functions[mid] <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? one->functions[low - 1] : address;
}

static struct module *file_of(const struct modules *m, u64 frame)
{
	uint32_t number = NATIVE_FRAME_MODULE(frame);
	struct module *one = number && number <= m->count ? m->list[number - 1] : NULL;

	return one && one->kind == MODULE_FILE ? one : NULL;
}

bool modules_begins_function(const struct modules *m, u64 frame)
{
	const struct module *one = file_of(m, frame);

	return one && one->function_count && function_start(one, NATIVE_FRAME_ADDRESS(frame)) == NATIVE_FRAME_ADDRESS(frame) &&
	       one->functions[0] <= NATIVE_FRAME_ADDRESS(frame);
}

void modules_name_function(struct modules *m, u64 frame, const char *name)
{
	struct module *one = file_of(m, frame);
	uint32_t *slot;
	char **there;

	if (!one)
		return;
	slot = map_slot(&one->own_names, NATIVE_FRAME_ADDRESS(frame));
	if (*slot == MAP_NONE) {
		*slot = (uint32_t)one->own_count;
		GROW(&one->own_list, &one->own_capacity, one->own_count + 1);
		one->own_list[one->own_count++] = xstrdup(name);
		return;
	}
	there = &one->own_list[*slot];
	if (strcmp(*there, name))
		**there = 0;
}

/* Returns NULL if there is none. */
static const char *own_name(const struct module *one, uint32_t start)
{
	uint32_t at = map_get(&one->own_names, start);

	return at == MAP_NONE || !*one->own_list[at] ? NULL : one->own_list[at];
}

static enum module_mark mark_of(const struct module *one, const char *symbol)
{
	static const char *const perl[] = { "Perl_runops_standard", "Perl_runops_debug" };
	static const char *const callers[] = { "zend_call_function", "zend_execute", "zend_generator_resume" };

	for (size_t i = 0; one->php && i < ARRAY_SIZE(callers); i++)
		if (!strcmp(symbol, callers[i]))
			return MARK_CALLER;
	for (size_t i = 0; i < ARRAY_SIZE(perl); i++)
		if (!strcmp(symbol, perl[i]))
			return MARK_PERL;
	return MARK_NONE;
}

static enum module_mark put_file_name(struct modules *m, struct module *one, uint32_t address, struct buf *out)
{
	uint32_t start = function_start(one, address);
	const char *slash = strrchr(one->path, '/'), *symbol;

	if (one->php && interpreter_has(&one->interpreter, address)) {
		buf_puts(out, "execute_ex");
		return MARK_INTERPRETER;
	}
	if (!one->has_symbols)
		read_symbols(m, one);
	symbol = symbols_find(&one->symbols, address, start);
	if (!symbol)
		symbol = own_name(one, start);
	if (!symbol) {
		buf_printf(out, "%s+0x%x", slash ? slash + 1 : one->path, start);
		return MARK_NONE;
	}
	if (!demangle_put(out, (struct str){ symbol, strlen(symbol) }))
		buf_puts(out, symbol);
	return mark_of(one, symbol);
}

static enum module_mark put_generated_name(struct modules *m, struct module *one, uint32_t address, struct buf *out)
{
	const char *name;

	if (!one->has_map && one->root >= 0)
		perf_map_read(&one->map, m->roots[one->root].fd, &one->who);
	one->has_map = true;
	name = perf_map_find(&one->map, one->start + address);
	if (name)
		buf_printf(out, "%s_[j]", name);
	else
		buf_puts(out, MODULES_JIT);
	return one->rule ? MARK_COMPILED : MARK_NONE;
}

enum module_mark modules_put_name(struct modules *m, u64 frame, struct buf *out, const char **ret_path)
{
	uint32_t number = NATIVE_FRAME_MODULE(frame);
	struct module *one;

	*ret_path = "";
	if (!number || number > m->count) {
		buf_puts(out, MODULES_UNKNOWN);
		return MARK_NONE;
	}
	one = m->list[number - 1];
	if (!one) {
		buf_puts(out, MODULES_JIT);
		return MARK_NONE;
	}
	if (one->kind == MODULE_GENERATED)
		return put_generated_name(m, one, NATIVE_FRAME_ADDRESS(frame), out);
	*ret_path = one->path;
	return put_file_name(m, one, NATIVE_FRAME_ADDRESS(frame), out);
}
