/* xml_check.h: for tests: is this a well-formed XML document, as far as our pictures could violate that?
 *
 * Checked: UTF-8, the characters that XML allows, tags that close in order, quoted attributes, each once, entities that
 * exist, no "]]>" in text, CDATA and the <?xml?> line. Not known, because pictures have none: DTDs, comments. */
#ifndef RENDER_XML_CHECK_H
#define RENDER_XML_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* NULL if it is, else what is wrong; *ret_at is the offset. */
const char *xml_check(const char *bytes, size_t n, size_t *ret_at);

#endif
