/* clickhouse_part.c: resets and frees the answers of one shard. */
#include "clickhouse_part.h"

void clickhouse_part_init(struct clickhouse_part *p)
{
	*p = (struct clickhouse_part){ 0 };
	buf_init(&p->rows);
	buf_init(&p->ranges);
	buf_init(&p->series);
	buf_init(&p->days);
}

void clickhouse_part_done(struct clickhouse_part *p)
{
	clickhouse_kinds_done(&p->kinds);
	clickhouse_stacks_done(&p->stacks);
	buf_done(&p->rows);
	buf_done(&p->ranges);
	buf_done(&p->series);
	buf_done(&p->days);
}

void clickhouse_part_reset(struct clickhouse_part *p)
{
	clickhouse_part_done(p);
	clickhouse_part_init(p);
}
