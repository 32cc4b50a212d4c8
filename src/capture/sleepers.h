/* sleepers.h: threads that slept when the recording began, with their stacks.
 *
 * The kernel reports which threads sleep, and that they run PHP or Perl. Their memory is read from user space, by
 * the same walkers as in the kernel, so that the ids are the same; the stack of a thread that ran during the walk is
 * discarded.
 */
#ifndef CAPTURE_SLEEPERS_H
#define CAPTURE_SLEEPERS_H

#include "bpf_sampler.h"
#include "native_registry.h"

struct sleepers;

/* Waits count from `since_ns` on. The settings determine whether waits outside functions are kept, and how they are
 * grouped; `native` is NULL without native frames. `r` receives the events that the programs would have sent about a
 * stack. */
struct sleepers *sleepers_new(struct sampler *s, struct native_registry *native, const struct sampler_settings *settings,
			      const struct sampler_receiver *r, u64 since_ns);
struct sleepers *sleepers_free(struct sleepers *s);		/* NULL is fine; returns NULL */

/* Counts the wait, unless the thread has run. */
void sleepers_add(struct sleepers *s, const struct sleeper_event *e);

/* Returns the number of failed reads over all threads, and of threads that may not be read at all. */
u64 sleepers_counter(const struct sleepers *s, enum counter c);
unsigned sleepers_closed(const struct sleepers *s);

#endif
