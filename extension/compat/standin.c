/* standin.c: chooses and registers the modules of standin.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "standin.h"

#include "php_strobe.h"

static const struct {
	const char *name;
	unsigned id;
	zend_module_entry *module;
} standins[] = {
	{ "excimer", STANDIN_EXCIMER, &strobe_excimer_module },
	{ "tideways_xhprof", STANDIN_TIDEWAYS_XHPROF, NULL },
	{ "xhprof", STANDIN_XHPROF, NULL },
	{ "uprofiler", STANDIN_UPROFILER, NULL },
};

static unsigned active;

unsigned standin_parse(const char *names, char *unknown, size_t size)
{
	unsigned found = 0;

	while (names && *names) {
		size_t n, i;

		names += strspn(names, ", \t");
		n = strcspn(names, ", \t");
		for (i = 0; i < sizeof(standins) / sizeof(*standins); i++)
			if (strlen(standins[i].name) == n && memcmp(standins[i].name, names, n) == 0)
				break;
		if (i < sizeof(standins) / sizeof(*standins))
			found |= standins[i].id;
		else if (n && unknown)
			snprintf(unknown, size, "%.*s", (int)n, names);
		names += n;
	}
	return found;
}

void standin_startup(int type)
{
	unsigned wanted = standin_parse(STROBE_G(compat), NULL, 0);

	for (size_t i = 0; i < sizeof(standins) / sizeof(*standins); i++) {
		zend_module_entry *m = standins[i].module;

		if (!(wanted & standins[i].id) || !m)
			continue;
		if (zend_hash_str_exists(&module_registry, standins[i].name, strlen(standins[i].name)))
			continue;
		m->type = type;
		m->module_number = zend_next_free_module();
		m->handle = NULL;
#if PHP_VERSION_ID >= 80400
		m = zend_register_module_ex(m, type);
#else
		m = zend_register_module_ex(m);
#endif
		if (m && zend_startup_module_ex(m) == SUCCESS)
			active |= standins[i].id;
	}
}

unsigned standin_active(void)
{
	return active;
}
