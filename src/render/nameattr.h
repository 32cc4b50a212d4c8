/* nameattr.h: attributes for frames by name: flamegraph.pl's --nameattr.
 *
 *	file	= line*
 *	line	= name TAB attribute (TAB attribute)* NEWLINE
 *	attribute	= key "=" value
 *
 * Keys are id and class; title, which replaces the usual one; href and target, which make the frame a link; g_extra
 * and a_extra, which are XML attributes for the frame and for its link. Others are ignored. Values may contain XML
 * entities; the picture always stays well-formed.
 */
#ifndef RENDER_NAMEATTR_H
#define RENDER_NAMEATTR_H

#include "buf.h"
#include "err.h"
#include "intern.h"

struct nameattr;

/* Attributes of one name, ready to be written; "" if missing. */
struct nameattr_frame {
	const char *group;		/* ' id="a" class="b"' */
	const char *link;		/* ' xlink:href="…" target="_top"'; "" if it is not a link */
	const char *title;		/* markup of the title's text */
	struct str href, target;	/* as in the file */
};

/* Parses a file's bytes. Returns -EINVAL with the line number if a line does not have the form above. */
int nameattr_read(const char *bytes, size_t n, struct nameattr **ret, struct err *err);
struct nameattr *nameattr_free(struct nameattr *a);		/* NULL is fine; returns NULL */

const struct nameattr_frame *nameattr_find(const struct nameattr *a, struct str name);	/* NULL if there are none */

/* Puts text that may contain entities (such as &amp; and &#181;), which are kept; everything else is escaped for XML.
 * With `quotes`, quotes are kept, too, which is allowed outside attributes. */
void nameattr_put_markup(struct buf *out, struct str text, bool quotes);

#endif
