/* short_name.h: short names of frames, for boxes too small for the whole name.
 *
 *	"Wiki\Parser::parse"	"Parser::parse"		"parse"
 *	"/srv/wiki/index.php"	"index.php"
 *	"A\B::{closure:/srv/a.php:7}"	"B::{closure a.php:7}"	"{closure a.php:7}"	"closure"
 *
 * The browser draws the same forms (web/src/flame/names.ts).
 */
#ifndef RENDER_SHORT_NAME_H
#define RENDER_SHORT_NAME_H

#include "buf.h"
#include "intern.h"
#include <stdbool.h>

/* Appends form `number` of the name: 0 is the whole name. Returns false, and appends nothing, if it has fewer forms. */
bool short_name_put(struct str name, unsigned number, struct buf *out);

#endif
