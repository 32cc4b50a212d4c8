/* nameattr.h: attributes that frames of one name get: flamegraph.pl's --nameattr.
 *
 *	file	= line*
 *	line	= name TAB attribute (TAB attribute)* NEWLINE
 *	attribute	= key "=" value
 *
 * Keys are id and class; title, instead of the usual one; href and target, which make the frame a link; g_extra and
 * a_extra, which are attributes as XML has them, for the frame and for its link. Others are ignored. Values
 * may hold the entities of XML; the picture always stays well-formed.
 */
#ifndef RENDER_NAMEATTR_H
#define RENDER_NAMEATTR_H

#include "buf.h"
#include "err.h"
#include "intern.h"

struct nameattr;

/* Attributes of one name, ready to be written; "" where there are none. */
struct nameattr_frame {
	const char *group;		/* ' id="a" class="b"' */
	const char *link;		/* ' xlink:href="…" target="_top"'; "" if it is no link */
	const char *title;		/* markup of the title's text */
	struct str href, target;	/* as they were given */
};

/* Reads a file's bytes. -EINVAL with the number of the line when one is not as drawn above. */
int nameattr_read(const char *bytes, size_t n, struct nameattr **ret, struct err *err);
struct nameattr *nameattr_free(struct nameattr *a);		/* NULL is fine; returns NULL */

const struct nameattr_frame *nameattr_find(const struct nameattr *a, struct str name);	/* NULL if there are none */

/* Text that may hold entities (&amp; &#181; and the like), which stay; everything else is made fit for XML. With
 * `quotes` these stay too, which they may outside of attributes. */
void nameattr_put_markup(struct buf *out, struct str text, bool quotes);

#endif
