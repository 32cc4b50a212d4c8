/* xml_check.h: checks, for tests, whether a document is well-formed XML, as far as our pictures could violate that.
 *
 * Checked: UTF-8, the characters that XML allows, tags that close in order, quoted attributes, each once, entities that
 * exist, no "]]>" in text, CDATA and the <?xml?> line. Not supported, because pictures have none: DTDs, comments. */
#ifndef RENDER_XML_CHECK_H
#define RENDER_XML_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL if it is well-formed, else the problem; *ret_at is its offset. */
const char *xml_check(const char *bytes, size_t n, size_t *ret_at);

#endif
