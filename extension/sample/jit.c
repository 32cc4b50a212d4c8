/* jit.c: reads opcache's settings and watches the one that can change at run time. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "jit.h"

#include "php.h"
#include "php_ini.h"
#include "SAPI.h"
#include "zend_extensions.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define SETTING "opcache.jit"

/* Shared by all processes forked from this one, like opcache's memory. */
static _Atomic bool *was_on;
static _Atomic bool was_on_here;		/* used if there is no shared memory */

/* Whether an extension replaced the executor when opcache checked, which then permanently disables the JIT. */
static bool was_replaced;
static zend_result (*next_post_startup)(void);

static void (*started)(void);
static ZEND_INI_MH((*next_on_modify));

static zend_ini_entry *find_entry(const char *name)
{
	return zend_hash_str_find_ptr(EG(ini_directives), name, strlen(name));
}

/* Parses opcache.jit like opcache: whether this value enables compilation. A value that it rejects counts as on. */
static bool is_switched_on(const zend_string *value)
{
	static const char *const off[] = { "", "0", "off", "no", "false", "disable" };

	if (!value)
		return false;
	for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++)
		if (zend_string_equals_cstr(value, off[i], strlen(off[i])) ||
		    strcasecmp(ZSTR_VAL(value), off[i]) == 0)
			return false;
	return true;
}

static bool is_command_line(void)
{
	return strcmp(sapi_module.name, "cli") == 0 || strcmp(sapi_module.name, "phpdbg") == 0;
}

/* Whether opcache is running and has memory for compiled code. */
static bool has_room_for_code(void)
{
	if (!find_entry(SETTING) || was_replaced)
		return false;
	if (!INI_BOOL("opcache.enable") || (is_command_line() && !INI_BOOL("opcache.enable_cli")))
		return false;
	return INI_INT("opcache.jit_buffer_size") > 0;
}

static ZEND_INI_MH(on_modify)
{
	int r = next_on_modify(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);

	if (r == SUCCESS && is_switched_on(new_value) && !atomic_load(was_on) && has_room_for_code()) {
		atomic_store(was_on, true);
		if (started)
			started();
	}
	return r;
}

/* opcache registers its settings after all modules have started. In thread-safe PHP, each thread has its own table. */
static void watch(zend_ini_entry *entry)
{
	if (!entry->on_modify || entry->on_modify == on_modify)
		return;
	next_on_modify = entry->on_modify;
	entry->on_modify = on_modify;
}

/* Called by opcache right before it checks. */
static zend_result post_startup(void)
{
	was_replaced = zend_execute_ex != execute_ex;
	return next_post_startup ? next_post_startup() : SUCCESS;
}

void jit_startup(void (*on_start)(void))
{
	void *page = mmap(NULL, sizeof(*was_on), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	was_on = page == MAP_FAILED ? &was_on_here : page;
	started = on_start;
	was_replaced = false;
	next_post_startup = zend_post_startup_cb;
	zend_post_startup_cb = post_startup;
}

void jit_shutdown(void)
{
	zend_ini_entry *entry = find_entry(SETTING);

	if (entry && entry->on_modify == on_modify)
		entry->on_modify = next_on_modify;
	if (was_on != &was_on_here)
		munmap((void *)was_on, sizeof(*was_on));
	was_on = &was_on_here;
}

void jit_request_start(void)
{
	zend_ini_entry *entry = find_entry(SETTING);

	if (!entry)
		return;
	watch(entry);
	if (!atomic_load(was_on) && is_switched_on(entry->value) && has_room_for_code())
		atomic_store(was_on, true);
}

bool jit_may_run(void)
{
	return atomic_load(was_on);
}
