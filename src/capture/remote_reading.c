/* remote_reading.c: reads a walk, and the names that belong to it. */

#include "remote_reading.h"

#include "bpf/perl_names.h"
#include "bpf/php_names.h"
#include "bpf/php_request.h"
#include "mem.h"
#include "remote_memory.h"

#include <stdlib.h>
#include <string.h>

const struct function_event *remote_reading_function(const struct remote_reading *r, u64 id)
{
	for (size_t i = 0; i < r->function_count; i++)
		if (r->functions[i].id == id)
			return &r->functions[i];
	return NULL;
}

static bool is_wanted(const struct remote_reading *r, u64 id)
{
	return id >= FUNCTION_SPECIAL && (!r->known || map_get(r->known, id) == MAP_NONE) && !remote_reading_function(r, id);
}

static void describe(struct remote_reading *r, u32 frame)
{
	struct function_event *e;

	GROW(&r->functions, &r->function_capacity, r->function_count + 1);
	e = &r->functions[r->function_count];
	memset(e, 0, sizeof(*e));
	e->type = EVENT_FUNCTION;
	e->id = r->walk.frames[frame].function;
	e->tgid = r->tgid;
	e->start_ticks = r->start_ticks;
	if (r->php.binary->kind == BINARY_PERL)
		perl_describe(&r->php.binary->perl.layout, &r->walk, &r->perl, frame, e);
	else
		php_describe(&r->php.binary->layout, r->walk.functions[frame], (u8 *)r->walk.function, e);
	r->function_count++;
}

static bool walk_perl(struct remote_reading *r)
{
	const struct perl_place *p = &r->php.binary->perl;
	u64 interpreter;

	remote_memory_select(r->php.pid);
	r->walk.count = 0;
	interpreter = perl_interpreter(p, r->php.bias, r->php.thread);
	if (!interpreter || !perl_walk_start(&r->walk, &r->perl, p, r->php.bias, interpreter))
		return false;
	for (u32 i = 0; perl_walk_step(&r->walk, &r->perl, &p->layout); i++) {
		if (i == PERL_STEPS) {
			php_walk_truncate(&r->walk);
			break;
		}
	}
	r->walk.id |= 1;
	return true;
}

static void take_request(struct remote_reading *r)
{
	const struct binary *b = r->php.binary;

	if (b->kind == BINARY_PERL)
		perl_request(&r->perl, &r->request);
	else
		php_request(&b->layout, php_globals(b, r->php.bias, r->php.thread, b->sapi_globals), &r->request);
}

uint64_t remote_reading_take(void *reading)
{
	struct remote_reading *r = reading;

	r->function_count = 0;
	r->request.id = 0;
	r->readable = r->php.binary->kind == BINARY_PERL ? walk_perl(r) : remote_walk(&r->php, &r->walk);
	for (u32 i = 0; i < r->walk.count; i++)
		if (is_wanted(r, r->walk.frames[i].function))
			describe(r, i);
	if (r->with_request && r->readable)
		take_request(r);
	return remote_walk_fingerprint(&r->walk);
}

void remote_reading_done(struct remote_reading *r)
{
	free(r->functions);
	r->functions = NULL;
	r->function_count = r->function_capacity = 0;
}
