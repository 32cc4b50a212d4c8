/* grid.c: aligns the columns of text tables. */

#include "grid.h"

#include "amount.h"
#include "mem.h"
#include "text.h"

#include <assert.h>
#include <string.h>

void grid_init(struct grid *g, size_t columns)
{
	assert(columns <= GRID_COLUMNS);
	*g = (struct grid){ .columns = columns };
	buf_init(&g->text);
}

void grid_done(struct grid *g)
{
	buf_done(&g->text);
	free(g->ends);
	g->ends = NULL;
}

static struct str cell(const struct grid *g, size_t i)
{
	size_t start = i ? g->ends[i - 1] : 0;

	return (struct str){ g->text.data + start, g->ends[i] - start };
}

/* Ends a cell: the text written since the previous one. */
static void end_cell(struct grid *g)
{
	size_t column = g->cells % g->columns, width;

	GROW(&g->ends, &g->capacity, g->cells + 1);
	g->ends[g->cells++] = g->text.size;
	width = text_columns(cell(g, g->cells - 1));
	if (width > g->widths[column])
		g->widths[column] = width;
}

void grid_text(struct grid *g, const char *text)
{
	buf_puts(&g->text, text);
	end_cell(g);
}

void grid_value(struct grid *g, int64_t v, const char *unit)
{
	amount_put(&g->text, v, amount_unit(unit));
	end_cell(g);
}

void grid_share(struct grid *g, int64_t part, int64_t whole)
{
	buf_put_fixed(&g->text, whole ? 100.0 * (double)part / (double)whole : 0, 1);
	end_cell(g);
}

void grid_at_most(struct grid *g, bool at_most)
{
	buf_puts(&g->text, at_most ? REPORT_AT_MOST : "");
}

void grid_put(const struct grid *g, size_t row, struct buf *out)
{
	for (size_t c = 0; c < g->columns; c++) {
		struct str s = cell(g, row * g->columns + c);

		for (size_t n = text_columns(s); n < g->widths[c]; n++)
			buf_putc(out, ' ');
		buf_put(out, s.p, s.n);
		buf_puts(out, "  ");
	}
}

size_t grid_room(const struct grid *g, size_t width)
{
	size_t used = 0;

	for (size_t c = 0; c < g->columns; c++)
		used += g->widths[c] + 2;
	if (!width)
		return 0;
	return width > used + GRID_NAME_MIN ? width - used : GRID_NAME_MIN;
}

void grid_put_name(struct buf *out, const struct profile *p, uint32_t frame, size_t width, bool color)
{
	struct str name = profile_name(p, frame), file = profile_file(p, frame);
	size_t n = text_columns(name), place = text_columns(file) + 14;

	if (width && n > width) {
		text_put_plain(out, (struct str){ name.p, text_cut(name, width - 1) });
		buf_puts(out, "…");
		return;
	}
	buf_puts(out, color ? "\033[1m" : "");
	text_put_plain(out, name);
	buf_puts(out, color ? "\033[0m" : "");
	if (!file.n || (width && n + place > width) || p->frames[frame].file == p->frames[frame].name)
		return;
	buf_puts(out, color ? "  \033[2m" : "  ");
	text_put_plain(out, file);
	if (p->frames[frame].line)
		buf_printf(out, ":%u", p->frames[frame].line);
	buf_puts(out, color ? "\033[0m" : "");
}
