/* php_setting_check.h: finds settings of strobe that PHP would ignore, and why, worded as in PHP's startup warnings.
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
	bool ignored;		/* PHP keeps the setting's previous value; false: it uses the value as it is */
};

/* Returns false if `value` is valid for the setting `name`, or depends on variables that are unknown before PHP runs
 * ("${VARIABLE}"). Names that do not begin with "strobe." are always valid. */
bool php_setting_check(const char *name, const char *value, struct setting_verdict *ret);

/* Parses a number as PHP does for settings; false if the text is not a number. */
bool php_setting_number(const char *text, double *ret);

#endif
