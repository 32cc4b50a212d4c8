/* open_samples.h: reports the samples of a PHP thread that is in one long call and cannot send them itself.
 *
 * The ticker's thread makes messages of kind 4 from copies of the merged samples and the running call. The PHP
 * thread's data is not changed: at its next safe point it sends the same samples, and more. Only if the process is
 * killed before that, these remain.
 *
 * watch.h explains why this is safe. The state that never recurs consists of the sampler's count of changes (odd
 * while samples are merged or sent), the version of the labels, and the number of periods reported by its timer. The
 * stack is not part of it, since calls may end before PHP reaches a safe point: its frames are compared one by one,
 * and again after everything else has settled. A function entered in between, which could reuse the memory of another
 * one, reaches a safe point first, because a tick is pending. Strings and functions are copied from the addresses
 * found this way; if something cannot be read or is inconsistent, the inspection has no result.
 */
#ifndef STROBE_OPEN_SAMPLES_H
#define STROBE_OPEN_SAMPLES_H

#include "closure_home.h"
#include "message.h"
#include "watch.h"

/* The state of the PHP thread, as known to its sampler. */
struct open_samples {
	const char *path;			/* path of the socket */
	const struct trie *trie;
	const struct label_sets *sets;
	const struct request_labels *base;
	const struct request_labels *own_labels;	/* current ones; NULL: none. Memory of another thread */
	const struct closure_homes *homes;
	size_t max_depth;
	bool lines;				/* record the lines of the running call as well */
	uint64_t periods;			/* periods of the running call; 0: its stack is not read */
	struct message_info info;

	bool (*holds)(const void *owner);	/* whether nothing of this has changed since it was read */
	const void *owner;
};

/* Sends nothing if something has changed in between (watch.h): the PHP thread has then reached a safe point. */
void open_samples_send(const struct open_samples *o, const struct watch_context *context);

#endif
