/* perl_name.h: names of Perl frames. */
#ifndef CAPTURE_PERL_NAME_H
#define CAPTURE_PERL_NAME_H

#include "bpf/event.h"
#include "buf.h"

/* Appends "Package::sub" like caller(), and for frames without a name:
 *	Package::__ANON__[FILE:LINE]	a closure, by its first statement, as Perl's debugger and profilers call it
 *	(eval)				a block or a string
 *	require FILE			also `use` and `do`
 *	Package::NAME (format)
 *	FILE				the program, outside of any sub */
void perl_put_name(const struct function_event *e, struct buf *out);

/* Returns the file, without the number of an evaluated string: "(eval)" for "(eval 42)". */
struct str perl_file_name(const struct function_event *e);

#endif
