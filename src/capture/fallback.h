/* fallback.h: selects the sampling method that the caller may use: the BPF programs, else reading memory, else the
 * extension. */
#ifndef CAPTURE_FALLBACK_H
#define CAPTURE_FALLBACK_H

#include "obstacles.h"
#include "bpf_sampler.h"
#include "buf.h"

/* Tells whether anything prevents the caller from using the BPF programs, by trying the features they need. */
bool fallback_bpf_obstacle(const struct sampler_options *o, struct obstacle *ret);

/* The same for process_vm_readv. Individual processes may be unreadable even if it is permitted. */
bool fallback_memory_obstacle(struct obstacle *ret);

/* Appends "2 PHP processes may not be read, for example process 7: …": their number, and the reason for one of them,
 * from remote_targets.h. */
void fallback_put_closed(struct buf *out, size_t count, const char *why);

/* The remedy if no process can be read; the end of a sentence. */
#define FALLBACK_EXTENSION	"or sample from inside, without privileges: strobe run -- php SCRIPT, or the extension with strobe.mode=sample"

#endif
