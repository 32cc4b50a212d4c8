/* native_registry.h: provides the mappings of processes to the programs that walk native stacks.
 *
 * The programs request the layout of a process at its first sample and when its mappings grow; no process is stopped,
 * and until the reply arrives its samples have no native frames. A reply is only valid for a process with the same
 * start time.
 */
#ifndef CAPTURE_NATIVE_REGISTRY_H
#define CAPTURE_NATIVE_REGISTRY_H

#include "modules.h"
#include "bpf_sampler.h"
#include <sys/types.h>

struct native_registry;

struct native_registry *native_registry_new(struct sampler *s);
struct native_registry *native_registry_free(struct native_registry *r);	/* NULL is fine; returns NULL */

void native_registry_answer(struct native_registry *r, const struct layout_event *e);

/* The same for walkers in user space; returns false if the process has ended or cannot be inspected. */
bool native_registry_layout(struct native_registry *r, const struct layout_event *e, struct unwind_layout *ret);

/* Call for each function seen: if it is written in C, the native function gets its name. */
void native_registry_note(struct native_registry *r, const struct function_event *e);

/* Reads the tables of a process that will be sampled, before the recording begins, so that its first samples have
 * native frames. */
void native_registry_add_process(struct native_registry *r, pid_t pid);

/* Names native frames; lives as long as the registry. */
struct modules *native_registry_modules(struct native_registry *r);

#endif
