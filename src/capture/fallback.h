/* fallback.h: which way of sampling is open to the caller: the BPF programs, else reading memory, else the extension. */
#ifndef CAPTURE_FALLBACK_H
#define CAPTURE_FALLBACK_H

#include "obstacles.h"
#include "bpf_sampler.h"

/* Whether something keeps the caller from the BPF programs. Tries what they need. */
bool fallback_bpf_obstacle(const struct sampler_options *o, struct obstacle *ret);

/* The same of process_vm_readv. Processes may be closed even if it is permitted. */
bool fallback_memory_obstacle(struct obstacle *ret);

/* The remedy if nothing can be seen from outside; the end of a sentence. */
#define FALLBACK_EXTENSION	"or sample from inside, without privileges: strobe run -- php SCRIPT, or the extension with strobe.mode=sample"

#endif
