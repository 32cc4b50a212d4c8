/* stack_registry.h: the meanings of the ids in counts, and the profile made of them.
 *
 * The programs describe each function and stack once; counts arrive all the time. A count may arrive before its
 * description if the ring buffer was full, so ids are resolved at the end.
 */
#ifndef CAPTURE_STACK_REGISTRY_H
#define CAPTURE_STACK_REGISTRY_H

#include "bpf/event.h"
#include "bpf/file_event.h"
#include "modules.h"
#include "profile.h"
#include <stddef.h>

struct stack_registry;

struct stack_registry *stack_registry_new(void);
struct stack_registry *stack_registry_free(struct stack_registry *b);	/* NULL is fine; returns NULL */

/* Stores the descriptions of functions, PHP stacks and kernel stacks. Other events are ignored. */
void stack_registry_note(struct stack_registry *b, const void *event, size_t size);

/* Adds a count to those under the same key. */
void stack_registry_count(struct stack_registry *b, const struct count_key *key, const struct count *count);

/* Subtracts counts added before, as far as this key has that much, and leaves the rest in `count`. */
void stack_registry_take_off(struct stack_registry *b, const struct count_key *key, struct count *count);

/* The same for calls, with --file-io. */
void stack_registry_count_file(struct stack_registry *b, const struct file_key *key, const struct file_count *count);
struct file_count stack_registry_file_sum(const struct stack_registry *b, enum file_operation operation);

/* The numbers of samples and nanoseconds of a kind. */
struct count stack_registry_sum(const struct stack_registry *b, enum sample_kind kind);

enum file_weight { FILE_BY_LATENCY, FILE_BY_BYTES, FILE_BY_COUNT, FILE_WEIGHTS };

struct stack_registry_layers {
	bool php, native, kernel;	/* PHP and native frames together are one stack, see layers.h */
	struct modules *modules;	/* names of native frames; only with `native` */
	bool waits_end_in_user;		/* omit the kernel's frames of waits, whose leaf is always its scheduler */
	bool on_cpu, off_cpu;		/* columns to write; both: wall_ns comes first */
	bool lines;			/* the profile keeps executed lines, of PHP and Perl */
	const char *outside;		/* the name of a sample without any function; NULL: STACK_REGISTRY_OUTSIDE */
	bool file_io;			/* calls, and nothing else: PHP's frames, the operation, the file */
	enum file_weight weight;	/* the column of files that comes first */
};

/* Names of functions without an event, and of stacks without frames. */
#define STACK_REGISTRY_UNKNOWN	"[unknown php]"
#define STACK_REGISTRY_UNKNOWN_PERL	"[unknown perl]"
#define STACK_REGISTRY_TRUNCATED	"[truncated]"
#define STACK_REGISTRY_OUTSIDE	"[outside PHP functions]"	/* startup, compilation, between requests */
#define STACK_REGISTRY_OUTSIDE_PERL	"[outside Perl code]"
#define STACK_REGISTRY_OUTSIDE_BOTH	"[outside functions]"

/* Makes a profile of all counts. Without PHP and native frames it only has kernel stacks; `ret_left_out` is the
 * number of samples left out by that. The caller frees it. */
struct profile *stack_registry_profile(struct stack_registry *b, const struct stack_registry_layers *layers, u64 *ret_left_out);

/* Returns the script that was running, and its method; false if unknown. */
bool stack_registry_request(const struct stack_registry *b, u64 id, const char **ret_script, const char **ret_method);

/* Makes a profile per set of labels: `label` returns the set of a count, `take` gets each profile and owns it. */
void stack_registry_each(struct stack_registry *b, const struct stack_registry_layers *layers, void *data,
		     void (*label)(void *data, const struct count_key *key, struct labels *ret),
		     void (*take)(void *data, struct profile *p));

/* Adds PHP's frames of one stack to a profile, below `node`. Frames are looked up once per writer. */
struct stack_writer;
struct stack_writer *stack_writer_new(const struct stack_registry *b, struct profile *p);
struct stack_writer *stack_writer_free(struct stack_writer *w);		/* NULL is fine; returns NULL */
u32 stack_writer_add(struct stack_writer *w, u32 node, u64 php);

/* --- for recordings without end */

/* Resets the counts; names stay. */
void stack_registry_forget_counts(struct stack_registry *b);

/* Returns the number of its functions, stacks and requests. */
size_t stack_registry_size(const struct stack_registry *b);

/* Copies from another registry the descriptions of the ids in a key. */
void stack_registry_adopt(struct stack_registry *b, const struct stack_registry *from, const struct count_key *key);

/* Appends "Class::function", the file for file scope, or "Class::{closure:FILE(LINE)}"; for Perl see perl_name.h. */
void stack_registry_put_name(const struct function_event *e, struct buf *out);

#endif
