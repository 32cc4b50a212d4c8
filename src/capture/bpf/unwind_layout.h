/* unwind_layout.h: tables for unwinding native stacks, as user space writes them and BPF reads them.
 *
 * Rows of files (unwind_table.h) are in pages. A table of several pages begins with one more page, whose rows are the
 * first addresses of the others, so any address is found in two searches of ten steps. A layout tells where each file
 * is mapped in a process; processes with the same files at the same addresses, such as workers of one php-fpm, share
 * one.
 */
#ifndef CAPTURE_BPF_UNWIND_LAYOUT_H
#define CAPTURE_BPF_UNWIND_LAYOUT_H

#include "event.h"
#include "unwind_table.h"

#define UNWIND_PAGE_ROWS	1024u
#define UNWIND_TABLE_PAGES	UNWIND_PAGE_ROWS	/* for one file at most: a million rows */
#define UNWIND_PAGES		4096u			/* for all files: 25 MB */
#define UNWIND_RULES		65536u
#define UNWIND_LAYOUTS		512u

/* Unused rows have the greatest address. */
struct unwind_page {
	u32 pcs[UNWIND_PAGE_ROWS];
	u16 rules[UNWIND_PAGE_ROWS];
};

#define UNWIND_RANGES		256u			/* PHP on the command line has about 90 */

/* An executable part of a process' memory. */
struct unwind_range {
	u32 size;
	u32 address;		/* in the file, of the first byte; 0 if there is no file */
	u32 module;		/* number of the file or of the generated code, never 0 */
	u32 page;		/* the first page of its table */
	u32 pages;		/* number of the table's pages with rows; 0: none */
	u32 rule;		/* without a table: the rule for the whole range; 0: cannot be unwound */
};

struct unwind_layout {
	u32 count, pad;
	u64 starts[UNWIND_RANGES];	/* ascending; unused ones have the greatest address */
	struct unwind_range ranges[UNWIND_RANGES];
};

/* The layout of the process with this start time, as long as its number of executable pages is the same. */
struct unwind_process {
	u64 start_ticks, executable_pages;
	u32 layout, pad;
};

/* A native frame, independent of where its file was mapped: the module's number and the address within it; 0 is an
 * address outside all ranges. */
#define NATIVE_FRAME(module, address)	((u64)(module) << 32 | (u32)(address))
#define NATIVE_FRAME_MODULE(frame)	((u32)((frame) >> 32))
#define NATIVE_FRAME_ADDRESS(frame)	((u32)(frame))

#endif
