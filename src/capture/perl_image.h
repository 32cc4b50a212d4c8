/* perl_image.h: detects and locates Perl in a file: a program, or a library such as libperl.
 *
 * A file is recognized not by its name but by the symbols that it exports for modules written in C:
 * Perl_runops_standard, and PL_thr_key if Perl has threads.
 */
#ifndef CAPTURE_PERL_IMAGE_H
#define CAPTURE_PERL_IMAGE_H

#include "perl_offsets.h"

struct perl_image {
	struct binary binary;
	unsigned major, minor;
	char version[32];		/* "5.36.0" */
	u64 first_interpreter;		/* address of PL_curinterp, to check the offsets; 0: unknown */
};

/* Inspects an open file. Returns 1 if it contains Perl, 0 if not (`ret` is then meaningless), or -ENOTSUP with a
 * sentence for a Perl that is missing in the table, or whose threads keep their interpreter elsewhere. `name` is used
 * in errors. */
int perl_image_read(int fd, const char *name, const struct perl_offsets *o, struct perl_image *ret, struct err *err);

#endif
