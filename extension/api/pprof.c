/* pprof.c: profile.proto of https://github.com/google/pprof, gzipped.
 *
 *	message Profile				field
 *	  sample_type	ValueType { type 1, unit 2 }			1
 *	  sample	Sample { location_id 1, value 2 }		2
 *	  location	Location { id 1, line 4 { function_id 1, line 2 } }	4
 *	  function	Function { id 1, name 2, system_name 3, filename 4, start_line 5 }	5
 *	  string_table	string, the first is ""				6
 *	  time_nanos, duration_nanos					9, 10
 *	  period_type, period						11, 12
 *	  default_sample_type	index of a string			14
 *
 * Extensions cannot rely on zlib, so the gzip frame contains stored blocks, which every gzip reader accepts.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "strobe_assert.h"
#include "tree_export.h"
#include "tree_walk.h"

#include "ext/standard/crc32.h"
#include "zend_smart_str.h"

#define STORED_BLOCK 65535u

struct pprof {
	const struct call_tree *tree;
	int metrics[METRICS];
	unsigned metric_count;
	smart_str out, message;		/* the profile, and the nested message being built */
	smart_str inner;
	HashTable strings;		/* to index */
};

static void put_varint(smart_str *s, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		smart_str_appendc(s, (char)(v | 0x80));
	smart_str_appendc(s, (char)v);
}

/* Appends a number; a missing field means 0. */
static void put_number(smart_str *s, unsigned field, uint64_t v)
{
	if (!v)
		return;
	put_varint(s, field << 3);
	put_varint(s, v);
}

static void put_bytes(smart_str *s, unsigned field, const char *p, size_t n)
{
	put_varint(s, field << 3 | 2);
	put_varint(s, n);
	smart_str_appendl(s, p, n);
}

/* Appends a nested message, and empties it for the next one. */
static void put_message(smart_str *s, unsigned field, smart_str *message)
{
	put_bytes(s, field, message->s ? ZSTR_VAL(message->s) : "", message->s ? ZSTR_LEN(message->s) : 0);
	if (message->s)
		ZSTR_LEN(message->s) = 0;
}

static uint64_t string_index(struct pprof *p, const char *bytes, size_t n)
{
	zval *known = zend_hash_str_find(&p->strings, bytes, n);
	zval index;

	if (known)
		return (uint64_t)Z_LVAL_P(known);
	ZVAL_LONG(&index, zend_hash_num_elements(&p->strings));
	zend_hash_str_add_new(&p->strings, bytes, n, &index);
	return (uint64_t)Z_LVAL(index);
}

static uint64_t c_string_index(struct pprof *p, const char *s)
{
	return string_index(p, s, strlen(s));
}

static void put_value_type(struct pprof *p, unsigned field, int metric)
{
	put_number(&p->message, 1, c_string_index(p, metric_name(metric)));
	put_number(&p->message, 2, c_string_index(p, metric_unit(metric)));
	put_message(&p->out, field, &p->message);
}

/* The leaf comes first. Each location is a function here, so both have the same id. */
static void put_sample(void *data, const uint32_t *functions, size_t depth, const int64_t *values)
{
	struct pprof *p = data;

	while (depth-- > 0) {
		STROBE_ASSERT(functions[depth] <= p->tree->function_count);
		put_varint(&p->inner, (uint64_t)functions[depth] + 1);
	}
	put_message(&p->message, 1, &p->inner);
	for (unsigned k = 0; k < p->metric_count; k++)
		put_varint(&p->inner, (uint64_t)values[k]);
	put_message(&p->message, 2, &p->inner);
	put_message(&p->out, 2, &p->message);
}

static void put_function(struct pprof *p, uint32_t i, const zend_string *name)
{
	const struct call_function *f = i < p->tree->function_count ? &p->tree->functions[i] : NULL;
	uint64_t index = string_index(p, ZSTR_VAL(name), ZSTR_LEN(name));

	put_number(&p->inner, 1, (uint64_t)i + 1);
	put_number(&p->inner, 2, f ? f->line : 0);
	put_number(&p->message, 1, (uint64_t)i + 1);
	put_message(&p->message, 4, &p->inner);
	put_message(&p->out, 4, &p->message);

	put_number(&p->message, 1, (uint64_t)i + 1);
	put_number(&p->message, 2, index);
	put_number(&p->message, 3, index);
	if (f && f->file)
		put_number(&p->message, 4, string_index(p, ZSTR_VAL(f->file), ZSTR_LEN(f->file)));
	put_number(&p->message, 5, f ? f->line : 0);
	put_message(&p->out, 5, &p->message);
}

static void put_all(struct pprof *p)
{
	const struct call_tree *t = p->tree;
	const struct stack_visitor v = { p->metrics, p->metric_count, put_sample };
	zend_string **names = names_new(t), *string;

	for (unsigned k = 0; k < p->metric_count; k++)
		put_value_type(p, 1, p->metrics[k]);
	stacks_walk(t, &v, p);
	for (uint32_t i = 0; i <= t->function_count; i++)
		put_function(p, i, names[i]);
	names_free(names, t);
	put_number(&p->out, 9, t->start_ns);
	put_number(&p->out, 10, t->end_ns - t->start_ns);
	if (t->period_ns) {
		put_value_type(p, 11, t->cpu_clock ? TREE_CPU_NS : TREE_WALL_NS);
		put_number(&p->out, 12, t->period_ns);
	}
	put_number(&p->out, 14, c_string_index(p, metric_name(metric_default(t))));
	/* Written last, when all are known; the order of fields is irrelevant. */
	ZEND_HASH_FOREACH_STR_KEY(&p->strings, string) {
		put_bytes(&p->out, 6, ZSTR_VAL(string), ZSTR_LEN(string));
	} ZEND_HASH_FOREACH_END();
}

static void put_le(smart_str *s, uint32_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		smart_str_appendc(s, (char)(v >> (8 * i)));
}

static zend_string *gzip_stored(const char *p, size_t n)
{
	static const char header[] = "\x1f\x8b\x08\0\0\0\0\0\0\xff";
	uint32_t crc = php_crc32_bulk_end(php_crc32_bulk_update(php_crc32_bulk_init(), p, n));
	uint32_t size = (uint32_t)n;
	smart_str out = { 0 };

	smart_str_appendl(&out, header, sizeof(header) - 1);
	do {
		uint32_t block = n < STORED_BLOCK ? (uint32_t)n : STORED_BLOCK;

		smart_str_appendc(&out, n == block);
		put_le(&out, block, 2);
		put_le(&out, ~block, 2);
		smart_str_appendl(&out, p, block);
		p += block;
		n -= block;
	} while (n);
	put_le(&out, crc, 4);
	put_le(&out, size, 4);
	return smart_str_extract(&out);
}

zend_string *export_pprof(const struct call_tree *t)
{
	struct pprof p = { .tree = t };
	zend_string *gzip;

	zend_hash_init(&p.strings, 64, NULL, NULL, 0);
	string_index(&p, "", 0);
	for (int m = 0; m < METRICS; m++)
		if (metric_exists(t, m))
			p.metrics[p.metric_count++] = m;
	put_all(&p);
	gzip = gzip_stored(ZSTR_VAL(p.out.s), ZSTR_LEN(p.out.s));
	smart_str_free(&p.out);
	smart_str_free(&p.message);
	smart_str_free(&p.inner);
	zend_hash_destroy(&p.strings);
	return gzip;
}
