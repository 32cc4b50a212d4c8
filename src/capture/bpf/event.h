/* event.h: the seam between the BPF programs and the daemon: shared structs, compiled by both compilers.
 *
 * All structs have fixed sizes and no hidden padding. Settings are written once, before the programs are loaded.
 * Counts are in two tables that alternate (`counts`). Anything with a long description (a stack, a function, a
 * binary) is sent once, as an event in the ring buffer. The event is written before the first count that refers to it.
 */
#ifndef CAPTURE_BPF_EVENT_H
#define CAPTURE_BPF_EVENT_H

#ifdef __bpf__
#include "kernel_types.h"
#else
#include <linux/types.h>
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
#endif

#define PHP_DEPTH		256u	/* PHP frames per stack, a power of 2; deeper stacks lose the root's side */
#define KERNEL_DEPTH		64u	/* frames of the kernel, a power of 2 */
#define NATIVE_DEPTH		128u	/* native frames, the same */
#define COUNT_ENTRIES		16384u	/* in each of the two tables */
#define CGROUPS_MAX		16u	/* limit of selected control groups */

#define NAME_SIZE		256u	/* bytes of a function's or a class' name, with its NUL */
#define FILE_SIZE		512u
#define METHOD_SIZE		16u

/* --- a PHP binary, as the programs need it */

/* Byte offsets inside PHP's structs; php_offsets.c has their limits. */
struct php_layout {
	u16 current_execute_data;	/* in executor_globals */
	u16 opline, func, type_info, prev;	/* in zend_execute_data */
	u16 fn_flags, fn_name, fn_scope, fn_filename, fn_line_start, fn_line_end;	/* in zend_function, type is 0 */
	u16 function_bytes;		/* size of zend_function up to the end of line_end */
	u16 fn_opcodes, fn_last;	/* in zend_op_array; 0: not known */
	u16 class_name;			/* in zend_class_entry */
	u16 op_line;			/* in zend_op */
	u16 string_hash, string_size, string_text;	/* in zend_string */
	u16 generator_execute_data, generator_parent;	/* in zend_generator, node.parent; 0: not known */
	u16 request_method, path_translated;	/* in sapi_globals */
	u16 pad;
	u32 immutable;			/* the bit of fn_flags for opcache's shared code */
	u32 call_top;			/* the bit of type_info for frames called from C code */
};

#include "perl_layout.h"

/* Identifies an executable file, wherever it is mounted. */
struct binary_key {
	u32 dev;			/* in the kernel's format: major << 20 | minor */
	u32 pad;
	u64 inode, size;
};

enum binary_kind {
	BINARY_OTHER,			/* not sampled */
	BINARY_PHP,
	BINARY_PERL,
	BINARY_HOST,			/* may load libphp; `hosted` has its location, by process */
};

/* Addresses are those in the ELF file. */
struct binary {
	u32 kind;
	u16 zts, hybrid;		/* thread-safe build; the interpreter keeps opline and frame in registers */
	u32 fpm, pad;
	u64 text;			/* address of the first executable segment, which the kernel knows as start_code */
	u64 executor_globals;		/* ZTS: address of executor_globals_offset */
	u64 sapi_globals;		/* the same */
	s64 tls_offset;			/* ZTS: offset from the thread pointer to the pointer to the globals */
	u64 tls_slot;			/* ZTS: if not 0, where the process has that offset; only in libraries */
	u64 execute_ex, execute_ex_end;	/* the interpreter's code */
	struct php_layout layout;
	struct perl_place perl;		/* BINARY_PERL: this, kind and text */
};

/* PHP loaded as a library into a process. */
struct hosted_php {
	u64 start_ticks;		/* start of the process, since its number may be reused */
	u64 bias;			/* added to the file's addresses */
	struct binary binary;
};

/* --- settings, constant while the programs run */

enum target_kind {
	TARGET_ALL,			/* every PHP */
	TARGET_PIDS,			/* processes in `targets` */
	TARGET_FPM,			/* every php-fpm */
	TARGET_CGROUPS,			/* below one of `cgroups` */
};

struct sampler_settings {
	u32 target;			/* enum target_kind */
	u32 pid_namespace;		/* inode of the caller's pid namespace; 0: the first one */
	u64 boottime_offset_ns;		/* in the caller's time namespace, which /proc uses for start times */
	u64 period_ns;			/* between on-CPU samples */
	u64 min_ns;			/* shorter off-CPU intervals are counted, but not recorded */
	u8 kernel, native;		/* also record those frames */
	u8 idle;			/* keep waits without a PHP frame */
	u8 per_process;			/* count processes separately */
	u8 requests;			/* count scripts and methods separately */
	u8 has_loop;			/* the kernel has bpf_loop (5.17) */
	u8 has_task_registers;		/* the kernel has bpf_task_pt_regs (5.15) */
	u8 has_task_pointer;		/* the kernel has bpf_get_current_task_btf (5.11) */
	u8 ask_programs;		/* ask user space whether a process that starts a program is a target */
	u8 languages;			/* bits 1 << BINARY_PHP, 1 << BINARY_PERL */
};

/* --- events in the ring buffer; each begins with its type */

enum event_type {
	EVENT_BINARY = 1,		/* a file that has not been described yet */
	EVENT_FUNCTION,
	EVENT_PHP_STACK,
	EVENT_PERL_STACK,		/* a struct php_stack_event, too */
	EVENT_KERNEL_STACK,
	EVENT_REQUEST,
	EVENT_PROCESS,			/* first sample of a process */
	EVENT_HOST,			/* a process that may have loaded libphp */
	EVENT_SLEEPER,			/* a thread that slept when the recording began */
	EVENT_LAYOUT,			/* a process whose mapped files are unknown */
	EVENT_NATIVE_STACK,
	EVENT_PROGRAM,			/* a process has started a program; a struct process_event, too */
	EVENT_FILE = 32,		/* file_event.h */
};

struct binary_event {
	u32 type, pid;			/* in the caller's pid namespace; 0: not visible there */
	u64 start_ticks;
	struct binary_key key;
};

/* Also used for EVENT_HOST and EVENT_PROGRAM. */
struct process_event {
	u32 type, pid;
	u64 start_ticks;
	u32 tgid, parent;		/* in the first pid namespace; parent in the caller's */
	char comm[16];
};

/* The thread's number, in the first pid namespace and in the caller's (0: not visible there). */
struct sleeper_event {
	u32 type, pid;
	u64 start_ticks;
	u32 tid, visible_tid, tgid;
	u32 runs_interpreter;		/* whether PHP or Perl may run in it */
	u64 thread;			/* its thread pointer */
	u64 switches;			/* how often it left the CPU so far; unchanged means that it has not run since */
	u64 kernel;			/* id of the kernel's stack */
	u64 bias;			/* load bias of its PHP */
	u64 executable_pages;		/* mapped */
	u64 ip, sp, fp, bx, link;	/* in user mode; 0 if unknown */
	struct binary binary;
};

#define FUNCTION_WORDS	14u		/* words of zend_internal_function: its handler is among them in every version */

/* The size of a string is 0 if it could not be read; a truncated string has a size larger than fits. */
struct function_event {
	u32 type, kind;			/* zend_function.type, or enum perl_kind */
	u64 id;
	u32 line_start, unreadable;	/* number of unreadable strings */
	u32 name_size, class_size, file_size;
	u32 tgid;			/* process that was running it, in the first pid namespace; 0: unknown */
	u64 start_ticks;
	u64 words[FUNCTION_WORDS];	/* functions written in C: the start of the struct; 0 if unreadable */
	char name[NAME_SIZE], scope[NAME_SIZE], file[FILE_SIZE];
};

/* Kinds of Perl's frames. */
enum perl_kind {
	PERL_SUB = 32,
	PERL_FORMAT,
	PERL_EVAL,			/* a block or a string */
	PERL_REQUIRE,			/* `name` is the file to be loaded */
	PERL_FILE,			/* outside of subs: the program, or a file that is being required */
};

/* Ids of frames without a function of their own. Real ids are hashes, and never one of these. */
#define FUNCTION_UNKNOWN	1ull	/* "[unknown php]" */
#define FUNCTION_TRUNCATED	2ull	/* "[truncated]" */
#define FUNCTION_UNKNOWN_PERL	3ull	/* "[unknown perl]" */
#define FUNCTION_SPECIAL	16ull

#define FRAME_TOP		1u	/* called from C code: a frame of the interpreter begins here */
#define FRAME_DELEGATE		2u	/* a generator that waits in `yield from`; adjacent ones are root first */
#define FRAME_RESUMES		4u	/* resumes a fiber; the next frame is in it */

struct php_frame {
	u64 function;
	u32 line;			/* executed line, or that of the call; 0: no PHP code */
	u32 flags;
};

struct php_stack_event {
	u32 type, count;
	u64 id;
	struct php_frame frames[PHP_DEPTH];	/* leaf first; only `count` of them are sent */
};

struct kernel_stack_event {
	u32 type, count;
	u64 id;
	u64 frames[KERNEL_DEPTH];	/* leaf first */
};

/* The reason why a walk of native frames ended. */
enum native_end {
	NATIVE_MORE,			/* the walk has not ended */
	NATIVE_OUTERMOST,		/* complete */
	NATIVE_TOO_DEEP,
	NATIVE_NO_RANGE,		/* an address outside of all known mappings */
	NATIVE_NO_TABLE,		/* a file without call frame information, or generated code */
	NATIVE_NO_RULE,			/* an address outside of all functions */
	NATIVE_UNSUPPORTED,		/* a rule that BPF cannot follow */
	NATIVE_UNREADABLE,		/* the stack's memory could not be read */
};

struct native_stack_event {
	u32 type, count;
	u64 id;
	u32 end, pad;			/* enum native_end */
	u64 frames[NATIVE_DEPTH];	/* leaf first; see NATIVE_FRAME */
};

struct layout_event {
	u32 type, pid;			/* in the caller's pid namespace; 0: not visible there */
	u64 start_ticks;
	u64 executable_pages;		/* number when the layout was requested */
	u32 tgid, pad;			/* in the first pid namespace */
};

struct request_event {
	u32 type, pad;
	u64 id;
	char method[METHOD_SIZE];	/* "" for a command */
	char script[FILE_SIZE];
};

/* --- counts */

enum sample_kind {
	SAMPLE_ON_CPU,
	SAMPLE_BLOCKED,			/* waited for something */
	SAMPLE_RUNNABLE,		/* waited for a CPU */
	SAMPLE_KINDS
};

/* Identifies a process by its number, in the first pid namespace, and its start time. */
#define PROCESS_KEY(tgid, start_ticks)	((u64)(u32)(start_ticks) << 32 | (tgid))

struct count_key {
	u64 php, native, kernel, request;	/* ids of stacks and request; 0: none */
	u64 process;			/* PROCESS_KEY, 0 unless per_process */
	u32 kind, pad;
};

struct count {
	u64 samples, ns;
};

/* A thread that is currently off CPU, by tid in the first pid namespace. */
struct waiting {
	struct count_key key;
	u64 since_ns, woken_ns;		/* monotonic; woken_ns 0: still blocked */
	u32 weight;			/* number of switches that this one represents */
	u32 preempted;
};

/* Results of ticks and switches: indexes of `counters`. */
enum counter {
	COUNTER_TICKS,			/* ticks of the sampling clock, on all CPUs */
	COUNTER_TICKS_IDLE,		/* found no process on the CPU */
	COUNTER_TICKS_OTHER,		/* found one that is not a target, or runs no PHP */
	COUNTER_SAMPLES,		/* on CPU, kept */
	COUNTER_SWITCHES,		/* targets leaving the CPU */
	COUNTER_SWITCHES_IDLE,		/* left out: no PHP frame, and `idle` was not set */
	COUNTER_SWITCHES_SHORT,		/* left out: shorter than the minimum */
	COUNTER_SWITCHES_SKIPPED,	/* skipped: represented by others */
	COUNTER_FILE_OTHER_KINDS,	/* calls left out: on sockets, pipes, and files without a name */
	COUNTER_FILE_NOT_OPEN,		/* calls left out: on a number that is not an open file */
	COUNTER_FILE_BEGUN_BEFORE,	/* calls left out: begun before the recording */
	COUNTER_FILE_SHORT,		/* calls left out: shorter than the minimum */
	COUNTER_FILE_CUT,		/* names longer than FILE_PATH_SIZE */
	COUNTER_NO_FRAMES,		/* samples of PHP outside of any function */
	COUNTER_FRAMES,			/* walked */
	COUNTER_TRUNCATED,		/* stacks deeper than PHP_DEPTH */
	COUNTER_GLOBALS_UNREADABLE,
	COUNTER_FRAME_UNREADABLE,	/* the walk ended there */
	COUNTER_FUNCTION_UNREADABLE,	/* one frame unknown */
	COUNTER_NAME_UNREADABLE,
	COUNTER_FRAME_UNFINISHED,	/* Perl subs left out because they were just being entered or left */
	COUNTER_NATIVE_FRAMES,		/* walked */
	COUNTER_NATIVE_UNKNOWN,		/* samples whose process was not known yet */
	COUNTER_NATIVE_NO_REGISTERS,	/* samples in the kernel, before 5.15 */
	COUNTER_NATIVE_TRUNCATED,	/* stacks deeper than NATIVE_DEPTH */
	COUNTER_NATIVE_INCOMPLETE,	/* stacks whose walk ended at a frame that cannot be unwound */
	COUNTER_LOST_TABLE,		/* samples lost: the table of counts was full, or busy */
	COUNTER_LOST_WAITING,		/* waits lost: too many threads */
	COUNTER_LOST_RETURNS,		/* waits that ended unseen: the kernel did not report the switch back */
	COUNTER_LOST_EVENTS,		/* the ring buffer was full; retried with the next sample */
	COUNTERS
};

#endif
