/* fastcgi.c: reads the list of a fcgi_hash inside a fcgi_request.
 *
 * The offset of the list depends on how PHP was built, and is not part of any interface. So the pointer is searched
 * for after the request's output buffer: it leads to records that each have a name made of letters and a pointer to
 * the next.
 *
 *	fcgi_hash_bucket	0	unsigned hash
 *				4	unsigned length of the name
 *				8	char *name
 *				16	unsigned length of the value
 *				24	char *value
 *				32	next with the same hash
 *				40	next in the list
 */

#include "fastcgi.h"

#include "remote_memory.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES	8192u		/* fcgi_request.out_buf, in all versions */
#define SEARCH_FROM	(BUFFER_BYTES + 1024u)	/* the hash table of 128 pointers is in between */
#define SEARCH_TO	(SEARCH_FROM + 256u)
#define VARIABLES	1024u
#define NAME_MAX_BYTES	256u

struct bucket {
	u32 hash, name_size;
	u64 name;
	u32 value_size, pad;
	u64 value, next, list_next;
};

static bool read_bucket(u64 at, struct bucket *ret, char *ret_name)
{
	if (!at || at % 8 || !read_user(ret, sizeof(*ret), at) || !ret->name_size || ret->name_size >= NAME_MAX_BYTES ||
	    !read_user(ret_name, ret->name_size, ret->name))
		return false;
	ret_name[ret->name_size] = 0;
	for (const char *p = ret_name; *p; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	return true;
}

/* Returns the first record of the list, 0 if there is none. */
static u64 find_list(u64 request)
{
	for (u64 offset = SEARCH_FROM; offset < SEARCH_TO; offset += 8) {
		struct bucket first, second;
		char name[NAME_MAX_BYTES];
		u64 at;

		if (!read_user(&at, sizeof(at), request + offset))
			return 0;
		if (read_bucket(at, &first, name) && read_bucket(first.list_next, &second, name))
			return at;
	}
	return 0;
}

bool fastcgi_variable(u64 request, const char *name, char *ret, size_t size)
{
	struct bucket b;
	char text[NAME_MAX_BYTES];
	u64 at = request ? find_list(request) : 0;

	for (u32 i = 0; at && i < VARIABLES && read_bucket(at, &b, text); i++, at = b.list_next) {
		u32 n = b.value_size < size - 1 ? b.value_size : (u32)size - 1;

		if (strcmp(text, name))
			continue;
		ret[n] = 0;
		return !n || read_user(ret, n, b.value);
	}
	return false;
}
