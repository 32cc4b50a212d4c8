/* api_thread.c: creates the state of a thread on first use, and a new connection after a fork. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "api_thread.h"

#include "php_strobe.h"

#include <stdlib.h>
#include <unistd.h>

struct api_thread *api_thread_if_any(void)
{
	return STROBE_G(api);
}

void api_thread_begin_request(struct api_thread *a)
{
	a->request = (struct work){ .sampled = !STROBE_G(unsampled), .start_ns = STROBE_G(request_ns) };
	scopes_request_start(a);
}

static struct api_thread *make(void)
{
	struct api_thread *a = calloc(1, sizeof(*a));

	if (a) {
		sender_init(&a->sender);
		a->pid = getpid();
		api_thread_begin_request(a);
	}
	return STROBE_G(api) = a;
}

struct api_thread *api_thread(void)
{
	struct api_thread *a = STROBE_G(api);

	if (!a)
		return make();
	if (UNEXPECTED(a->pid != getpid())) {
		a->pid = getpid();
		a->random = (struct random){ 0 };
		sender_close(&a->sender);
		memset(a->sender.unreported, 0, sizeof(a->sender.unreported));
	}
	return a;
}

void api_thread_free(struct api_thread *a)
{
	if (!a)
		return;
	sender_close(&a->sender);
	trie_unmap(&a->spare);
	free(a->stack.frames);
	free(a);
}
