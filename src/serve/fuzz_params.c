/* fuzz_params.c: runs any query string and headers through the parser, the view and the access checks. */

#include "auth.h"
#include "clock.h"
#include "mem.h"
#include "view.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_view(const char *query)
{
	struct params p;
	struct err err = { 0 };

	if (params_parse(&p, query, &err) >= 0) {
		_cleanup_(buf_done) struct buf words;
		struct view v;

		buf_init(&words);
		if (view_parse(&v, &p, 1795248000LL * NS_PER_SECOND, &err) >= 0) {
			assert(v.from_ns < v.to_ns);
			assert(v.steps > 0 && v.steps <= VIEW_STEPS_MAX + 1);
			assert(v.step_ns % BATCH_BUCKET_NS == 0);
			view_describe(&v, &words);
		} else {
			assert(err.text[0]);
		}
		view_done(&v);
	} else {
		assert(err.text[0]);
	}
	params_done(&p);
}

/* Only the names of this server may pass as Host. */
static void run_auth(const char *text)
{
	static const char *const proxies[] = { "192.0.2.1" };
	struct roles_options o = { .token = "0123456789abcdef", .proxies = proxies, .proxy_count = 1 };
	struct auth_rules a = { 0 };
	struct auth_request q = { .method = "GET", .host = text, .origin = text, .roles = {
		.authorization = text, .cookie = text, .user = text, .forwarded_for = text, .peer = "192.0.2.2" } };
	struct identity identity;
	_cleanup_(buf_done) struct buf why;
	struct address host;

	buf_init(&why);
	assert(address_parse("127.0.0.1:8787", &a.listen) == 0);
	assert(roles_init(&a.roles, &o, NULL) == 0);
	identity = roles_identify(&a.roles, &q.roles);
	assert(auth_check(&a, &q, &identity, &why) != 0);
	q.origin = NULL;
	if (auth_check(&a, &q, &identity, &why) != 421) {
		assert(address_parse(text, &host) == 0);
		assert(address_is_loopback(&host));
	}
	q.roles.peer = proxies[0];
	identity = roles_identify(&a.roles, &q.roles);
	assert(identity.role != ROLE_WRITE || identity.by == IDENTITY_TOKEN);
	roles_done(&a.roles);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(freep) char *text = xstrndup((const char *)data, size);

	run_view(text);
	run_auth(text);
	return 0;
}
