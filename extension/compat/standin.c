/* standin.c: chooses and registers the modules of standin.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "standin.h"

#include "php_strobe.h"

#include "ext/standard/info.h"

#include <strings.h>

#define SEPARATORS ", \t"

const char *const standin_names[] = { "excimer", "tideways_xhprof", "xhprof", "uprofiler", NULL };

/* Sorted by name. */
static const struct {
	unsigned id;
	zend_module_entry *module;
} standins[] = {
	{ STANDIN_EXCIMER, &strobe_excimer_module },
	{ STANDIN_TIDEWAYS_XHPROF, &strobe_tideways_module },
	{ STANDIN_XHPROF, &strobe_xhprof_module },
	{ STANDIN_UPROFILER, &strobe_uprofiler_module },
};

static unsigned active;

#define STANDINS (sizeof(standins) / sizeof(*standins))

/* Adds a name of `n` bytes to a list. */
static void append_name(char *list, size_t size, const char *name, size_t n)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%.*s", used ? ", " : "", (int)n, name);
}

unsigned standin_parse(const char *names, char *unknown, size_t size)
{
	unsigned found = 0;

	if (size)
		*unknown = '\0';
	while (names && *names) {
		size_t n, i;

		names += strspn(names, SEPARATORS);
		n = strcspn(names, SEPARATORS);
		for (i = 0; i < STANDINS; i++)
			if (strlen(standin_names[i]) == n && strncasecmp(standin_names[i], names, n) == 0)
				break;
		if (i < STANDINS)
			found |= standins[i].id;
		else if (n && size)
			append_name(unknown, size, names, n);
		names += n;
	}
	return found;
}

unsigned standin_wanted(void)
{
	unsigned named = standin_parse(STROBE_G(compat), NULL, 0), wanted = 0;

	for (size_t i = 0; i < STANDINS; i++)
		if ((named & standins[i].id) && standins[i].module &&
		    !zend_hash_str_exists(&module_registry, standin_names[i], strlen(standin_names[i])))
			wanted |= standins[i].id;
	return wanted;
}

static bool start_module(zend_module_entry *m, int type)
{
	m->type = type;
	m->module_number = zend_next_free_module();
	m->handle = NULL;
#if PHP_VERSION_ID >= 80400
	m = zend_register_module_ex(m, type);
#else
	m = zend_register_module_ex(m);
#endif
	return m && zend_startup_module_ex(m) == SUCCESS;
}

void standin_startup(int type)
{
	/* A module loaded by dl() in the middle of a request is not notified of the request's end. */
	unsigned wanted = type == MODULE_PERSISTENT ? standin_wanted() : 0;
	zend_module_entry *ours = EG(current_module);

	if (STROBE_G(compat_builtins))
		CG(compiler_options) |= ZEND_COMPILE_NO_BUILTINS;
	for (size_t i = 0; i < STANDINS; i++)
		if ((wanted & standins[i].id) && start_module(standins[i].module, type))
			active |= standins[i].id;
	EG(current_module) = ours;
}

static void list(char *out, size_t size, unsigned ids)
{
	*out = '\0';
	for (size_t i = 0; i < STANDINS; i++)
		if (ids & standins[i].id)
			append_name(out, size, standin_names[i], strlen(standin_names[i]));
}

void standin_info(void)
{
	char text[256], unknown[256];
	unsigned named = standin_parse(STROBE_G(compat), unknown, sizeof(unknown));

	list(text, sizeof(text), active);
	php_info_print_table_row(2, "Stands in for", *text ? text : "nothing");
	list(text, sizeof(text), named & ~active);
	if (*text)
		php_info_print_table_row(2, "Does not stand in for, because it is loaded", text);
	if (*unknown)
		php_info_print_table_row(2, "Unknown names in strobe.compat", unknown);
}
