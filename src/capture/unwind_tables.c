/* unwind_tables.c: writes pages, rules and layouts, each of them once. */
#include "unwind_tables.h"

#include "hash.h"
#include "intern.h"
#include "mem.h"

#include <string.h>

struct layout {
	uint64_t hash;
	bool used;
};

struct unwind_tables {
	struct unwind_sink sink;
	struct intern rules;
	uint32_t pages;				/* written so far */
	struct layout *layouts;
	struct unwind_layout buffer;
	struct unwind_page page;
};

/* Returns the number of a file's rule among the rules of all files. */
static int rule_number(struct unwind_tables *t, const struct unwind_rule *rule, uint16_t *ret, struct err *err)
{
	size_t known = t->rules.count;
	uint32_t number = intern_find(&t->rules, (const char *)rule, sizeof(*rule));
	int r;

	if (number == UINT32_MAX) {
		if (known >= t->sink.rules || known > UINT16_MAX)
			return err_set(err, -ENOSPC, "the limit of %zu different unwinding rules is reached", known);
		number = intern_add(&t->rules, (const char *)rule, sizeof(*rule));
		r = t->sink.rule(t->sink.arg, number, rule);
		if (r < 0)
			return err_set(err, r, "cannot write an unwinding rule: %s", strerror(-r));
	}
	*ret = (uint16_t)number;
	return 0;
}

struct unwind_tables *unwind_tables_new(const struct unwind_sink *sink)
{
	static const struct unwind_rule none;
	struct unwind_tables *t = xcalloc(1, sizeof(*t));
	uint16_t zero;

	t->sink = *sink;
	t->layouts = xcalloc(sink->layouts, sizeof(*t->layouts));
	intern_init(&t->rules);
	/* Number 0 is the empty rule. */
	rule_number(t, &none, &zero, NULL);
	return t;
}

struct unwind_tables *unwind_tables_free(struct unwind_tables *t)
{
	if (!t)
		return NULL;
	intern_done(&t->rules);
	free(t->layouts);
	free(t);
	return NULL;
}

/* --- Files --- */

static int write_page(struct unwind_tables *t, uint32_t number, struct err *err)
{
	int r = t->sink.page(t->sink.arg, number, &t->page);

	return r < 0 ? err_set(err, r, "cannot write an unwinding table: %s", strerror(-r)) : 0;
}

static void clear_page(struct unwind_tables *t)
{
	memset(t->page.pcs, 0xff, sizeof(t->page.pcs));
	memset(t->page.rules, 0, sizeof(t->page.rules));
}

static int write_rows(struct unwind_tables *t, const struct cfi_table *rows, const uint16_t *numbers, uint32_t first,
		      struct err *err)
{
	int r = 0;

	for (size_t at = 0; at < rows->rows && r >= 0; at += UNWIND_PAGE_ROWS) {
		size_t n = rows->rows - at < UNWIND_PAGE_ROWS ? rows->rows - at : UNWIND_PAGE_ROWS;

		clear_page(t);
		memcpy(t->page.pcs, rows->pcs + at, n * sizeof(*rows->pcs));
		for (size_t i = 0; i < n; i++)
			t->page.rules[i] = numbers[rows->row_rules[at + i]];
		r = write_page(t, first++, err);
	}
	return r;
}

int unwind_tables_add(struct unwind_tables *t, const struct cfi_table *rows, struct unwind_place *ret, struct err *err)
{
	_cleanup_(freep) uint16_t *numbers = xcalloc(rows->rule_count + 1, sizeof(*numbers));
	uint32_t pages = (uint32_t)((rows->rows + UNWIND_PAGE_ROWS - 1) / UNWIND_PAGE_ROWS);
	uint32_t needed = pages + (pages > 1), first = t->pages;
	int r = 0;

	*ret = (struct unwind_place){ 0 };
	if (!pages)
		return 0;
	if (pages > UNWIND_TABLE_PAGES || needed > t->sink.pages - t->pages)
		return err_set(err, -ENOSPC, "there is no room for %zu more rows of unwinding tables; %u of %u pages are taken",
			       rows->rows, t->pages, t->sink.pages);
	for (size_t i = 0; i < rows->rule_count && r >= 0; i++)
		r = rule_number(t, &rows->rules[i], &numbers[i], err);
	if (r >= 0 && pages > 1) {
		clear_page(t);
		for (uint32_t i = 0; i < pages; i++)
			t->page.pcs[i] = rows->pcs[(size_t)i * UNWIND_PAGE_ROWS];
		r = write_page(t, first, err);
	}
	if (r >= 0)
		r = write_rows(t, rows, numbers, first + (pages > 1), err);
	if (r < 0)
		return r;
	t->pages += needed;
	*ret = (struct unwind_place){ first, pages };
	return 0;
}

/* --- Processes --- */

static int by_start(const void *a, const void *b)
{
	const struct unwind_part *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int larger_first(const void *a, const void *b)
{
	const struct unwind_part *x = a, *y = b;

	return x->range.size > y->range.size ? -1 : x->range.size < y->range.size ? 1 : by_start(a, b);
}

int unwind_tables_add_layout(struct unwind_tables *t, struct unwind_part *parts, size_t n, uint32_t *ret, struct err *err)
{
	struct unwind_layout *l = &t->buffer;
	uint32_t unused = UINT32_MAX;
	uint64_t hash;
	int r;

	if (n > UNWIND_RANGES) {
		qsort(parts, n, sizeof(*parts), larger_first);
		n = UNWIND_RANGES;
	}
	if (n)
		qsort(parts, n, sizeof(*parts), by_start);
	memset(l, 0, sizeof(*l));
	memset(l->starts, 0x7f, sizeof(l->starts));
	l->count = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		l->starts[i] = parts[i].start;
		l->ranges[i] = parts[i].range;
	}

	hash = XXH3_64bits(l, sizeof(*l));
	for (uint32_t i = 0; i < t->sink.layouts; i++) {
		if (t->layouts[i].used && t->layouts[i].hash == hash) {
			*ret = i;
			return 0;
		}
		if (!t->layouts[i].used && unused == UINT32_MAX)
			unused = i;
	}
	if (unused == UINT32_MAX)
		return err_set(err, -ENOSPC, "native stacks are limited to %u processes",
			       t->sink.layouts);
	r = t->sink.layout(t->sink.arg, unused, l);
	if (r < 0)
		return err_set(err, r, "cannot write the mappings of a process: %s", strerror(-r));
	t->layouts[unused] = (struct layout){ hash, true };
	*ret = unused;
	return 0;
}

void unwind_tables_drop_unused(struct unwind_tables *t, const uint8_t *used)
{
	for (uint32_t i = 0; i < t->sink.layouts; i++)
		t->layouts[i].used = t->layouts[i].used && used[i];
}

uint32_t unwind_tables_add_rule(struct unwind_tables *t, const struct unwind_rule *rule)
{
	uint16_t number;

	return rule_number(t, rule, &number, NULL) < 0 ? 0 : number;
}
