/* fallback.h: selects the way of sampling that the caller may use: the BPF programs, else reading memory, else the extension. */
#ifndef CAPTURE_FALLBACK_H
#define CAPTURE_FALLBACK_H

#include "obstacles.h"
#include "bpf_sampler.h"
#include "buf.h"

/* Whether something keeps the caller from the BPF programs. Tries what they need. */
bool fallback_bpf_obstacle(const struct sampler_options *o, struct obstacle *ret);

/* The same of process_vm_readv. Processes may be closed even if it is permitted. */
bool fallback_memory_obstacle(struct obstacle *ret);

/* "2 PHP processes may not be read, for example process 7: …": their number, and the reason for one of them, from remote_targets.h. */
void fallback_put_closed(struct buf *out, size_t count, const char *why);

/* The remedy if nothing can be seen from outside; the end of a sentence. */
#define FALLBACK_EXTENSION	"or sample from inside, without privileges: strobe run -- php SCRIPT, or the extension with strobe.mode=sample"

#endif
