/* fuzz_message.c: the first byte chooses a message; the rest is parsed both as JSON and as bytes. An accepted message
 * must survive repeated conversion to JSON and back unchanged. */
#include "messages.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct message *const all[] = { &message_stacktraces_request, &message_select_series_request, &message_diff_request,
	&message_stacktraces_response, &message_google_profile, &message_heatmap_response, &message_set_settings_request };

static void check_round_trip(const struct message *m, const struct buf *bytes)
{
	struct buf json, again, more;

	buf_init(&json);
	buf_init(&again);
	buf_init(&more);
	if (message_to_json(m, bytes->data, bytes->size, &json, NULL) >= 0 &&
	    message_from_json(m, json.data, json.size, &again, NULL) >= 0 &&
	    message_to_json(m, again.data, again.size, &more, NULL) >= 0 && message_check(m, again.data, again.size, NULL) < 0)
		abort();
	buf_done(&json);
	buf_done(&again);
	buf_done(&more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct message *m = all[size ? data[0] % ARRAY_SIZE(all) : 0];
	struct buf bytes;

	if (!size)
		return 0;
	buf_init(&bytes);
	buf_put(&bytes, data + 1, size - 1);
	check_round_trip(m, &bytes);
	buf_reset(&bytes);
	if (message_from_json(m, (const char *)data + 1, size - 1, &bytes, NULL) >= 0)
		check_round_trip(m, &bytes);
	buf_done(&bytes);
	return 0;
}
