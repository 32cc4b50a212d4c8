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
	bool ignored;		/* the setting keeps its previous value; else the value is used as it is */
};

/* False if `value` is valid for the setting `name`, or if that is unknown before PHP runs ("${VARIABLE}"). Names that do not
 * begin with "strobe." are always valid. */
bool php_setting_check(const char *name, const char *value, struct setting_verdict *ret);

/* A number as PHP reads settings; false if the text is none. */
bool php_setting_number(const char *text, double *ret);

#endif
