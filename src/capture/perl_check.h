/* perl_check.h: checks that the table of offsets fits a running Perl, like php_check.h for PHP. */
#ifndef CAPTURE_PERL_CHECK_H
#define CAPTURE_PERL_CHECK_H

#include "perl_image.h"
#include "php_check.h"

/* Inspects a process that runs the Perl; `bias` is added to the file's addresses. `ret_why`, of at least 128 bytes,
 * explains the mismatch if the result is WRONG. */
enum php_check perl_check(const struct perl_image *i, pid_t pid, u64 bias, char *ret_why, size_t size);

#endif
