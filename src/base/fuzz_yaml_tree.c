/* fuzz_yaml_tree.c: parses any bytes as a configuration file, and walks the tree like a reader, including aliases. */
#include "yaml_tree.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned visited;

static void walk(const struct yaml_node *n, unsigned depth)
{
	int64_t number;
	bool flag;

	if (++visited > YAML_NODES || depth > YAML_DEPTH || !n->line || !n->column ||
	    (n->kind == YAML_SCALAR) != !!n->text)
		abort();
	yaml_is_null(n);
	yaml_get_number(n, "x", -10, 10, &number, NULL);
	yaml_get_bool(n, "x", &flag, NULL);
	for (const struct yaml_item *i = n->first; i; i = i->next) {
		if ((n->kind == YAML_MAPPING) != !!i->key || (i->key && yaml_find(n, i->key->text) != i->value))
			abort();
		walk(i->value, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct yaml_tree t;

	visited = 0;
	if (yaml_tree_parse("fuzz.yaml", data, size, &t, &err) == 0)
		walk(t.root, 1);
	else if (!strstr(err.text, "fuzz.yaml"))
		abort();
	yaml_tree_done(&t);
	return 0;
}
