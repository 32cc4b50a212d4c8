/* standin.h: modules that stand in for other extensions.
 *
 * strobe.compat names extensions. For each that is named and that PHP has not loaded, a module of that name is
 * registered when strobe starts: functions, classes, constants, settings and phpinfo() are then those of a module with
 * its name and version, so that extension_loaded(), phpversion() and reflection answer as if the original were there.
 * PHP registers all extensions of php.ini before it starts the first, so the order in which they are loaded does not
 * matter: if the original is present, ours is not registered.
 */
#ifndef STROBE_STANDIN_H
#define STROBE_STANDIN_H

#include "php.h"

/* The names, terminated by NULL. */
extern const char *const standin_names[];

enum standin_id {
	STANDIN_EXCIMER = 1,
	STANDIN_TIDEWAYS_XHPROF = 2,
	STANDIN_XHPROF = 4,
	STANDIN_UPROFILER = 8,
};

/* One per name, defined beside its implementation. Each has its own MINIT, RINIT, … as any module. */
extern zend_module_entry strobe_excimer_module, strobe_tideways_module, strobe_xhprof_module, strobe_uprofiler_module;

/* The names in a value of strobe.compat ("excimer,xhprof", blanks allowed) as STANDIN_ bits; unknown ones are listed in
 * `unknown`, cut to `size` bytes, unless `size` is 0. Needs no PHP. */
unsigned standin_parse(const char *names, char *unknown, size_t size);

/* The modules that strobe.compat names and that PHP has not loaded itself. For MINIT. */
unsigned standin_wanted(void);

/* Modules that need the tracer; they decide strobe.instrument=auto. */
#define STANDIN_TRACERS (STANDIN_TIDEWAYS_XHPROF | STANDIN_XHPROF | STANDIN_UPROFILER)

/* In MINIT: registers the modules that are named and absent, and sees to strobe.compat_builtins. */
void standin_startup(int type);

/* Rows for phpinfo(): what was registered, what was not and why. */
void standin_info(void);

#endif
