/* top_columns.h: the columns of the table, as many as fit into the width. */
#ifndef TOP_TOP_COLUMNS_H
#define TOP_TOP_COLUMNS_H

#include "top_view.h"

enum top_column { COLUMN_SELF_SHARE, COLUMN_TOTAL_SHARE, COLUMN_SELF, COLUMN_TOTAL, COLUMN_OFF_SELF, COLUMN_OFF_TOTAL, TOP_COLUMNS };

struct top_columns {
	bool shown[TOP_COLUMNS];
	size_t width;			/* total width */
};

/* `width` 0: no limit. */
void top_columns_choose(struct top_columns *c, const struct top_view *v, size_t width);

void top_columns_put_headings(const struct top_columns *c, const struct top_view *v, struct buf *out, size_t width);
void top_columns_put_row(const struct top_columns *c, const struct top_view *v, const struct top_row *row, struct buf *out, size_t width);

#endif
