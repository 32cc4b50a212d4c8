/* terminal_none.c: replaces terminal.c if ncurses was missing when Strobe was built. */

#include "terminal.h"

#include <errno.h>

const bool terminal_is_built = false;

int terminal_open(struct terminal **ret, bool color, struct err *err)
{
	return err_set(err, -ENOTSUP, "this strobe was built without ncurses, so tables are printed one below the other; for a screen: "
		       "apt-get install libncurses-dev, and build it again");
}

struct terminal *terminal_close(struct terminal *t)
{
	return NULL;
}

void terminal_size(struct terminal *t, size_t *ret_width, size_t *ret_height)
{
	*ret_width = *ret_height = 1;
}

void terminal_show(struct terminal *t, const struct top_screen *s)
{
}

uint32_t terminal_key(struct terminal *t)
{
	return TOP_KEY_NONE;
}

bool terminal_is_there(const struct terminal *t)
{
	return false;
}
