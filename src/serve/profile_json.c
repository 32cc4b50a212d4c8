/* profile_json.c: writes flat arrays, so that large trees need no deep nesting in readers. */

#include "profile_json.h"

#include "edges.h"

static void put_frames(struct json *j, const struct profile *p)
{
	json_key(j, "strings");
	json_open_array(j);
	for (size_t i = 0; i < p->strings.count; i++)
		json_bytes(j, intern_get(&p->strings, (uint32_t)i));
	json_end(j);

	json_key(j, "frames");
	json_open_object(j);
	json_key(j, "name");
	json_open_array(j);
	for (uint32_t f = 0; f < p->frame_count; f++)
		json_u64(j, p->frames[f].name);
	json_end(j);
	json_key(j, "file");
	json_open_array(j);
	for (uint32_t f = 0; f < p->frame_count; f++)
		json_u64(j, p->frames[f].file);
	json_end(j);
	json_key(j, "line");
	json_open_array(j);
	for (uint32_t f = 0; f < p->frame_count; f++)
		json_u64(j, p->frames[f].line);
	json_end(j);
	json_end(j);
}

static void put_nodes(struct json *j, const struct profile *p)
{
	json_key(j, "nodes");
	json_open_object(j);
	json_key(j, "parent");
	json_open_array(j);
	for (uint32_t i = 0; i < p->node_count; i++)
		json_u64(j, p->parents[i]);
	json_end(j);
	json_key(j, "frame");
	json_open_array(j);
	for (uint32_t i = 0; i < p->node_count; i++)
		json_i64(j, i == PROFILE_ROOT ? -1 : (int64_t)p->node_frames[i]);
	json_end(j);
	if (p->node_lines) {
		json_key(j, "line");
		json_open_array(j);
		for (uint32_t i = 0; i < p->node_count; i++)
			json_u64(j, p->node_lines[i]);
		json_end(j);
	}
	json_key(j, "values");
	json_open_array(j);
	for (uint32_t c = 0; c < p->column_count; c++) {
		json_open_array(j);
		for (uint32_t i = 0; i < p->node_count; i++)
			json_i64(j, p->columns[c].self[i]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void put_edge_values(struct json *j, const struct profile *p, const char *key, bool pairs)
{
	const struct edges *e = p->edges;

	json_key(j, key);
	json_open_array(j);
	for (uint32_t c = 0; c < p->column_count; c++) {
		json_open_array(j);
		for (uint32_t i = 0; i < (pairs ? e->pair_count : e->node_count); i++)
			json_i64(j, pairs ? e->pairs[i].value[c] : e->nodes[i].self[c]);
		json_end(j);
	}
	json_end(j);
}

static void put_functions(struct json *j, const struct profile *p)
{
	const struct edges *e = p->edges;

	json_key(j, "functions");
	json_open_object(j);
	json_key(j, "frame");
	json_open_array(j);
	for (uint32_t n = 0; n < e->node_count; n++)
		json_i64(j, n == EDGES_ROOT ? -1 : (int64_t)e->nodes[n].frame);
	json_end(j);
	json_key(j, "level");
	json_open_array(j);
	for (uint32_t n = 0; n < e->node_count; n++)
		json_u64(j, e->nodes[n].level);
	json_end(j);
	json_key(j, "once");
	json_open_array(j);
	for (uint32_t n = 0; n < e->node_count; n++)
		json_bool(j, e->nodes[n].once);
	json_end(j);
	put_edge_values(j, p, "self", false);
	json_end(j);
}

static void put_pairs(struct json *j, const struct profile *p)
{
	const struct edges *e = p->edges;

	json_key(j, "pairs");
	json_open_object(j);
	for (int callee = 0; callee < 2; callee++) {
		json_key(j, callee ? "callee" : "caller");
		json_open_array(j);
		for (uint32_t i = 0; i < e->pair_count; i++)
			json_u64(j, callee ? e->pairs[i].callee : e->pairs[i].caller);
		json_end(j);
	}
	put_edge_values(j, p, "values", true);
	json_end(j);
}

static void put_edges(struct json *j, const struct profile *p)
{
	json_key(j, "edges");
	json_open_object(j);
	put_functions(j, p);
	put_pairs(j, p);
	json_end(j);
}

static void put_columns(struct json *j, const struct profile *p)
{
	json_key(j, "columns");
	json_open_array(j);
	for (uint32_t c = 0; c < p->column_count; c++) {
		json_open_object(j);
		json_key(j, "name");
		json_str(j, p->columns[c].name);
		json_key(j, "unit");
		json_str(j, p->columns[c].unit);
		json_key(j, "total");
		json_i64(j, profile_sum(p, c));
		json_end(j);
	}
	json_end(j);
}

void profile_json_facts(struct json *j, const struct profile *p)
{
	json_key(j, "period_ns");
	json_i64(j, p->period_ns);
	json_key(j, "mixed_periods");
	json_bool(j, p->mixed_periods);
	if (p->estimated) {
		json_key(j, "estimated");
		json_bool(j, true);
	}
	json_key(j, "labels");
	json_open_object(j);
	for (size_t i = 0; i < p->labels.count; i++) {
		json_key(j, p->labels.items[i].key);
		json_str(j, p->labels.items[i].value);
	}
	json_end(j);
}

void profile_json_about(struct json *j, const struct profile *p)
{
	put_columns(j, p);
	profile_json_facts(j, p);
}

void profile_json_tree(struct json *j, const struct profile *p)
{
	put_frames(j, p);
	put_nodes(j, p);
	if (p->edges)
		put_edges(j, p);
}
