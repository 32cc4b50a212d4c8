/* export_listing.h: reads an object store's listings of a tree of logs and pictures.
 *
 * A listing is a JSON array of objects with name, bytes and last_modified, as in Swift's ?format=json and our index,
 * or S3's {"Contents": [{"Key", "Size", "LastModified"}]}. The period is the last directory of a name, or given with
 * the file if each period has its own container: "daily=listing.json".
 */
#ifndef ARCLAMP_EXPORT_LISTING_H
#define ARCLAMP_EXPORT_LISTING_H

#include "options.h"
#include "tree_index.h"

struct export_listing {
	struct tree_object *objects;
	size_t count, capacity;
	uint64_t others;		/* objects that are not logs or pictures, or without a period */

	/* private */
	struct arena text;
};

/* Reads all `files`. Call export_listing_done in any case. */
int export_listing_read(struct export_listing *l, const struct option_list *files, struct err *err);
void export_listing_done(struct export_listing *l);

#endif
