/* run_unfinished.c: keeps a list of messages by subject. */

#include "run_unfinished.h"

#include "mem.h"
#include "open_runs.h"
#include "wire_profile.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* The id of a run; or process and start time of samples, which never look like an id. */
#define KEY (STROBE_WIRE_RUN_KEY + 1)

/* Samples with several sets of labels are in several messages. */
struct open_part {
	struct open_part *next;
	char key[KEY];
	struct strobe_wire_message message;	/* refers to its own copy of the bytes */
	void *bytes;
};

/* Returns false for a run without an id. */
static bool key_of(const struct strobe_wire_message *m, char key[KEY])
{
	const char *id;
	size_t n;

	if (!strobe_wire_is_run(m->info.kind)) {
		snprintf(key, KEY, "%u/%llu", m->info.pid, (unsigned long long)m->info.start_ns);
		return true;
	}
	id = open_runs_label(m, "id", &n);
	if (!id)
		return false;
	memcpy(key, id, n);
	key[n] = '\0';
	return true;
}

static void forget(struct unfinished *u, const char *key)
{
	for (struct open_part **at = &u->first, *part; (part = *at);) {
		if (strcmp(part->key, key) != 0) {
			at = &part->next;
			continue;
		}
		*at = part->next;
		free(part->bytes);
		free(part);
	}
}

static uint64_t hash_of(const char *key)
{
	return XXH3_64bits(key, strlen(key));
}

static bool has_ended(const struct unfinished *u, const char *key)
{
	uint64_t hash = hash_of(key);

	for (unsigned i = 0; i < UNFINISHED_ENDED; i++)
		if (u->ended[i] == hash)
			return true;
	return false;
}

static void end(struct unfinished *u, const char *key)
{
	forget(u, key);
	if (has_ended(u, key))
		return;
	u->ended[u->next_ended] = hash_of(key);
	u->next_ended = (u->next_ended + 1) % UNFINISHED_ENDED;
}

static const struct open_part *find(const struct unfinished *u, const char *key)
{
	const struct open_part *part = u->first;

	while (part && strcmp(part->key, key) != 0)
		part = part->next;
	return part;
}

static void append(struct unfinished *u, const char *key, const struct strobe_wire_message *m)
{
	struct open_part **last = &u->first, *part = xcalloc(1, sizeof(*part));

	while (*last)
		last = &(*last)->next;
	strcpy(part->key, key);
	part->bytes = xmalloc(m->size);
	memcpy(part->bytes, wire_message_bytes(m), m->size);
	part->message = wire_message_at(m, part->bytes);
	*last = part;
}

void unfinished_put(struct unfinished *u, const struct strobe_wire_message *m)
{
	bool is_run = strobe_wire_is_run(m->info.kind);
	const struct open_part *before;
	char key[KEY];
	size_t n;

	if (!key_of(m, key) || has_ended(u, key))
		return;
	if (is_run && open_runs_label(m, "discarded", &n)) {
		end(u, key);
		return;
	}
	before = find(u, key);
	if (before && before->message.info.end_ns > m->info.end_ns)
		return;
	if (before && (is_run || before->message.info.end_ns < m->info.end_ns))
		forget(u, key);
	append(u, key, m);
}

void unfinished_end(struct unfinished *u, const struct strobe_wire_message *m)
{
	char key[KEY];

	if (key_of(m, key))
		end(u, key);
}

void unfinished_take(struct unfinished *u, void (*take)(void *data, const struct strobe_wire_message *m), void *data)
{
	for (const struct open_part *part = u->first; part; part = part->next)
		take(data, &part->message);
	unfinished_done(u);
}

void unfinished_done(struct unfinished *u)
{
	while (u->first)
		forget(u, u->first->key);
}
