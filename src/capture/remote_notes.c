/* remote_notes.c: reports functions, stacks and requests as the events of the BPF programs. */
#include "remote_notes.h"

#include <string.h>

void remote_notes_init(struct remote_notes *n, const struct sampler_receiver *r)
{
	*n = (struct remote_notes){ .receiver = *r };
	map_init(&n->functions);
	map_init(&n->others);
}

void remote_notes_done(struct remote_notes *n)
{
	map_done(&n->functions);
	map_done(&n->others);
}

void remote_notes_forget(struct remote_notes *n)
{
	map_clear(&n->functions);
	map_clear(&n->others);
}

void remote_notes_event(struct remote_notes *n, u64 id, const void *event, size_t size)
{
	if (map_get(&n->others, id) != MAP_NONE)
		return;
	n->receiver.event(n->receiver.data, event, size);
	map_set(&n->others, id, 1);
}

static void note_functions(struct remote_notes *n, const struct remote_reading *r)
{
	for (size_t i = 0; i < r->function_count; i++) {
		const struct function_event *e = &r->functions[i];

		n->counters[COUNTER_NAME_UNREADABLE] += e->unreadable;
		n->receiver.event(n->receiver.data, e, sizeof(*e));
		map_set(&n->functions, e->id, 1);
	}
}

u64 remote_notes_stack(struct remote_notes *n, const struct remote_reading *r)
{
	const struct php_walk *w = &r->walk;
	bool perl = r->php.binary->kind == BINARY_PERL;
	struct php_stack_event e = { .type = perl ? EVENT_PERL_STACK : EVENT_PHP_STACK, .count = w->count, .id = w->id };

	if (perl)
		n->counters[COUNTER_FRAME_UNFINISHED] += r->perl.unfinished;
	if (!w->count)
		return 0;
	n->counters[COUNTER_FRAMES] += w->count;
	n->counters[COUNTER_TRUNCATED] += w->truncated;
	n->counters[COUNTER_FRAME_UNREADABLE] += w->unreadable_frames;
	n->counters[COUNTER_FUNCTION_UNREADABLE] += w->unreadable_functions;
	note_functions(n, r);
	memcpy(e.frames, w->frames, w->count * sizeof(w->frames[0]));
	remote_notes_event(n, w->id, &e, sizeof(e));
	return w->id;
}

u64 remote_notes_request(struct remote_notes *n, const struct remote_reading *r)
{
	if (r->request.id)
		remote_notes_event(n, r->request.id, &r->request, sizeof(r->request));
	return r->request.id;
}
