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

/* One per name, defined in its implementation, with its own MINIT, RINIT, … like any module. */
extern zend_module_entry strobe_excimer_module, strobe_tideways_module, strobe_xhprof_module, strobe_uprofiler_module;

/* Returns the names in a value of strobe.compat ("excimer,xhprof", blanks allowed) as STANDIN_ bits. Unknown names
 * are listed in `unknown`, truncated to `size` bytes, unless `size` is 0. Independent of PHP. */
unsigned standin_parse(const char *names, char *unknown, size_t size);

/* Returns the modules that strobe.compat names and that PHP has not loaded itself. For use in MINIT. */
unsigned standin_wanted(void);

/* Modules that need the tracer; they make strobe.instrument=auto enable it. */
#define STANDIN_TRACERS (STANDIN_TIDEWAYS_XHPROF | STANDIN_XHPROF | STANDIN_UPROFILER)

/* Call it in MINIT: registers the modules that are named and not loaded, and applies strobe.compat_builtins. */
void standin_startup(int type);

/* Prints rows of phpinfo(): which modules were registered, and which were not and why. */
void standin_info(void);

#endif
