/* modules.h: modules of native frames: mapped files, the vDSO, generated code.
 *
 * A file is one module, no matter which processes map it: its call frame information is read when it is first seen in
 * a process, and its symbols when the first of its frames is named, which may be after those processes have ended.
 * The file stays open until then. Module numbers begin at 1.
 */
#ifndef CAPTURE_MODULES_H
#define CAPTURE_MODULES_H

#include "buf.h"
#include "process_maps.h"
#include "unwind_tables.h"

struct modules;

struct modules *modules_new(struct unwind_tables *tables);
struct modules *modules_free(struct modules *m);		/* NULL is fine; returns NULL */

/* Sorts the executable parts of a process into `ret`, which the caller frees. Parts that cannot be inspected are
 * included, too, and counted. */
void modules_add_process(struct modules *m, pid_t pid, uint64_t start_ticks, const struct process_maps *maps,
			 struct unwind_part **ret, size_t *ret_parts);

/* Forgets generated code of ended processes once nothing refers to it: endless recordings see many. */
void modules_forget_gone(struct modules *m);

/* Files that could not be opened, or whose tables did not fit, and the error for the first one. Files without call
 * frame information are not among them: data-only libraries have none. */
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
	MARK_PERL,			/* runops: runs Perl code up to the return of a sub that C code called */
	MARK_CALLER,			/* code that calls the interpreter, or an internal function, once */
};

/* Appends the name of a native frame (NATIVE_FRAME): a demangled symbol; "module+0xaddress" of the function's start
 * if it has none; "[jit]_[j]" for generated code, or its name from the perf map followed by "_[j]"; "[unknown
 * native]" for an address outside all mappings. `ret_path` is the file, or "". */
enum module_mark modules_put_name(struct modules *m, u64 frame, struct buf *out, const char **ret_path);

/* Tells whether a function of a file begins there, according to its call frame information. */
bool modules_begins_function(const struct modules *m, u64 frame);

/* Names the function that begins there, in case the file has no symbol for it. A second, different name, or "",
 * removes the name again. */
void modules_name_function(struct modules *m, u64 frame, const char *name);

#define MODULES_UNKNOWN	"[unknown native]"
#define MODULES_JIT	"[jit]_[j]"

#endif
