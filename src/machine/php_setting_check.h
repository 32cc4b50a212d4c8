/* php_setting_check.h: settings of strobe that PHP would ignore, and why, in the words that PHP's startup warnings have for them.
 *
 * The rules are those of extension/settings.c, which code outside of PHP cannot share; tests/system/test_doctor.py compares the two.
 */
#ifndef MACHINE_PHP_SETTING_CHECK_H
#define MACHINE_PHP_SETTING_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct setting_verdict {
	char why[200];		/* "strobe.mode=on is ignored: unknown mode" */
	char use[120];		/* "sample or off" */
	bool ignored;		/* the setting keeps the value that it had; else the value is taken, for what it is worth */
};

/* False if `value` is right for the setting `name`, or if nobody can tell before PHP runs ("${VARIABLE}"). Names that do not
 * begin with "strobe." are always right. */
bool php_setting_check(const char *name, const char *value, struct setting_verdict *ret);

/* A number as PHP reads settings; false if the text is none. */
bool php_setting_number(const char *text, double *ret);

#endif
