/* modules.h: modules of native frames: mapped files, the vDSO, generated code.
 *
 * A file is one module, whichever processes map it: its call frame information is read once, when a process is first seen
 * with it, and its symbols when the first of its frames is named, which may be after those processes have ended. The file
 * stays open meanwhile. Module numbers begin at 1.
 */
#ifndef CAPTURE_MODULES_H
#define CAPTURE_MODULES_H

#include "buf.h"
#include "process_maps.h"
#include "unwind_tables.h"

struct modules;

struct modules *modules_new(struct unwind_tables *tables);
struct modules *modules_free(struct modules *m);		/* NULL is fine; returns NULL */

/* Sorts the executable parts of a process into `ret`, which the caller frees: `parts` of them. Parts that cannot be
 * inspected are included, too, and counted. */
void modules_add_process(struct modules *m, pid_t pid, uint64_t start_ticks, const struct process_maps *maps,
			 struct unwind_part **ret, size_t *ret_parts);

/* Forgets generated code of processes that are gone, once nothing refers to it any more: recordings without end see many. */
void modules_forget_gone(struct modules *m);

/* Files that could not be opened, or whose tables found no room, and the sentence about the first one. One without call frame
 * information is none of them: libraries of data have none. */
struct modules_failures {
	unsigned unread;
	char first[sizeof(((struct err *)0)->text)];
};

const struct modules_failures *modules_failures(const struct modules *m);

/* --- Names --- */

enum module_mark {
	MARK_NONE,
	MARK_INTERPRETER,		/* execute_ex */
	MARK_COMPILED,			/* PHP code that was compiled, in a frame of the interpreter */
	MARK_PERL,			/* runops: it runs Perl code up to the return of a sub that C code called */
	MARK_CALLER,			/* code that calls the interpreter, or an internal function, once */
};

/* Appends the name of a native frame (NATIVE_FRAME): a demangled symbol; "module+0xaddress" of the function's start where it has
 * none; "[jit]_[j]" for generated code, or its name from the perf map with "_[j]" behind; "[unknown native]" for an address
 * outside of everything. `ret_path` is the file, "" for others. */
enum module_mark modules_put_name(struct modules *m, u64 frame, struct buf *out, const char **ret_path);

/* Whether a function of a file begins there, by its call frame information. */
bool modules_begins_function(const struct modules *m, u64 frame);

/* Names the function that begins there, should the file have no symbol for it. Another name for the same one, or "", and it has
 * none again. */
void modules_name_function(struct modules *m, u64 frame, const char *name);

#define MODULES_UNKNOWN	"[unknown native]"
#define MODULES_JIT	"[jit]_[j]"

#endif
