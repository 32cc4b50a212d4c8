/* missing.c: describes which servers of the store are missing from an answer, for headers, pages and JSON alike. */
#include "missing.h"

#include "mem.h"

#include <string.h>

void missing_warn(struct store *s, struct response *r)
{
	char missing[256];
	_cleanup_(freep) char *text = NULL;

	store_missing(s, missing, sizeof(missing));
	if (!*missing || (r->warning && strstr(r->warning, missing)))
		return;
	text = xasprintf("%s%s" STORE_MISSING, r->warning ? r->warning : "", r->warning ? "; " : "", missing);
	r->warning = arena_copy(&r->bytes, text, strlen(text));
}

void missing_put_json(struct store *s, struct response *r, struct json *j)
{
	missing_warn(s, r);
	if (!r->warning)
		return;
	json_key(j, "warning");
	json_str(j, r->warning);
}
