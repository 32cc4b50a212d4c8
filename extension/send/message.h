/* message.h: encodes a trie of samples as messages of wire/strobe_wire.h, one per set of labels. */
#ifndef STROBE_MESSAGE_H
#define STROBE_MESSAGE_H

#include "label_sets.h"
#include "sender.h"
#include "trie.h"

struct message_info {
	uint64_t start_ns, end_ns;	/* since 1970 */
	uint64_t period_ns;
	bool cpu_clock;
	bool open;			/* the same samples, and more, will be sent again: messages of kind 4 */
	uint32_t pid;
};

struct message_scratch;

/* Maps the memory that a thread needs for encoding, which is used only as needed; NULL without memory. */
struct message_scratch *message_map(void);

/* Unmaps it; NULL is fine. Always returns NULL. */
struct message_scratch *message_unmap(struct message_scratch *m);

/* Sends the samples of the trie to `path`: those below root i with the labels of `base`, overridden by those of set
 * i. Unreported losses are sent with the first message. Does not empty the trie; samples that could not be sent are
 * counted as lost. Never blocks. */
void message_send(struct message_scratch *m, struct sender *s, const char *path, const struct trie *t,
		  const struct request_labels *base, const struct label_sets *sets, const struct message_info *info);

/* Sends a message without samples, to report losses only. */
void message_send_losses(struct message_scratch *m, struct sender *s, const char *path, const struct request_labels *labels,
			 const struct message_info *info);

#endif
