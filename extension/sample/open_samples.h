/* open_samples.h: reports the samples of a PHP thread that is in one long call and cannot send them itself.
 *
 * The ticker's thread makes messages of kind 4 from the merged samples and the running call, all by
 * copies. The PHP thread's data is not changed: at its next safe point it sends the same samples, and more. Only if it
 * never reaches one, because the process is killed, do these remain.
 *
 * watch.h explains why this is safe. The state that never recurs is the sampler's count of changes (odd while samples are
 * merged or sent), the number of the labels, and the periods that its timer has reported. The stack is not part of it, since calls
 * may end before PHP comes to a safe point: its frames are compared one by one, again after all else has settled. A function
 * that is entered meanwhile, and could take the memory of one that was there, comes to a safe point first, because a tick is
 * waiting. Strings and functions are copied from addresses that were found like this; if something cannot be read or makes no
 * sense, the inspection has no result.
 */
#ifndef STROBE_OPEN_SAMPLES_H
#define STROBE_OPEN_SAMPLES_H

#include "closure_home.h"
#include "message.h"
#include "watch.h"

/* The state of the PHP thread, as its sampler has it. */
struct open_samples {
	const char *path;			/* path of the socket */
	const struct trie *trie;
	const struct label_sets *sets;
	const struct request_labels *base;
	const struct request_labels *own_labels;	/* that hold now; NULL: none. Another thread's memory */
	const struct closure_homes *homes;
	size_t max_depth;
	bool lines;				/* the running call is reported, too */
	uint64_t periods;			/* for the running call; 0: it is not read */
	struct message_info info;

	bool (*holds)(const void *owner);	/* whether nothing of this has changed since it was looked up */
	const void *owner;
};

/* Sends nothing if something has changed meanwhile (watch.h): then the PHP thread has come to a safe point. */
void open_samples_send(const struct open_samples *o, const struct watch_context *context);

#endif
