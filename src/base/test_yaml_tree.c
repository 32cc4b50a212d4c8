/* test_yaml_tree.c: tests that configuration files become trees, and that errors name their position. */
#include "yaml_tree.h"

#include "buf.h"
#include "test.h"

static struct yaml_tree tree;
static struct err problem;

static int parse(const char *text)
{
	yaml_tree_done(&tree);
	problem.text[0] = 0;
	return yaml_tree_parse("a.yaml", text, strlen(text), &tree, &problem);
}

static const char *error_of(const char *text)
{
	CHECK(parse(text) < 0);
	return problem.text;
}

TEST(mappings_lists_and_scalars_keep_their_lines_and_columns)
{
	const struct yaml_node *logs, *first;

	CHECK(!parse("base: /srv/x   # a remark\nlogs:\n  - period: hourly\n    retain: 336\n"
		     "  - {period: daily, retain: '90'}\n"));
	CHECK_STR(yaml_find(tree.root, "base")->text, "/srv/x");
	CHECK_INT(yaml_find(tree.root, "base")->line, 1);
	CHECK_INT(yaml_find(tree.root, "base")->column, 7);
	logs = yaml_find(tree.root, "logs");
	CHECK_INT(logs->kind, YAML_SEQUENCE);
	CHECK_INT(logs->count, 2);
	first = logs->first->value;
	CHECK_STR(yaml_find(first, "period")->text, "hourly");
	CHECK_INT(yaml_find(first, "retain")->line, 4);
	CHECK(!logs->first->key);
	CHECK(yaml_find(logs->first->next->value, "retain")->is_quoted);
	CHECK(!yaml_find(tree.root, "none") && !yaml_find(NULL, "x") && !yaml_find(logs, "x"));
}

TEST(an_empty_file_is_null_without_an_error)
{
	CHECK(!parse(""));
	CHECK(yaml_is_null(tree.root));
	CHECK(!parse("# only a remark\n"));
	CHECK(yaml_is_null(tree.root));
	CHECK(!parse("a:\nb: ~\nc: 'null'\n"));
	CHECK(yaml_is_null(yaml_find(tree.root, "a")));
	CHECK(yaml_is_null(yaml_find(tree.root, "b")));
	CHECK(!yaml_is_null(yaml_find(tree.root, "c")));
}

TEST(values_are_read_as_the_requested_type)
{
	const char *text = NULL;
	int64_t n = 0;
	bool yes = false;

	CHECK(!parse("port: 6379\nquoted: '12'\nname: web\nssl: Yes\nlow: -3\nlist: [1]\nnone:\nspace: ' 5'\n"));
	CHECK(!yaml_get_number(yaml_find(tree.root, "port"), "port", 1, 65535, &n, &problem));
	CHECK_INT(n, 6379);
	CHECK(!yaml_get_number(yaml_find(tree.root, "quoted"), "quoted", 1, 65535, &n, &problem));
	CHECK_INT(n, 12);
	CHECK(yaml_get_number(yaml_find(tree.root, "low"), "low", 1, 65535, &n, &problem) == -EINVAL);
	CHECK_STR(problem.text, "a.yaml:5: invalid 'low: -3'; use a whole number from 1 to 65535");
	CHECK(yaml_get_number(yaml_find(tree.root, "name"), "name", 1, 2, &n, &problem) == -EINVAL);
	CHECK(yaml_get_number(yaml_find(tree.root, "space"), "space", 1, 9, &n, &problem) == -EINVAL);
	CHECK(!yaml_get_bool(yaml_find(tree.root, "ssl"), "ssl", &yes, &problem) && yes);
	CHECK(yaml_get_bool(yaml_find(tree.root, "name"), "name", &yes, &problem) == -EINVAL);
	CHECK_STR(problem.text, "a.yaml:3: invalid 'name: web'; use true or false");
	CHECK(!yaml_get_text(yaml_find(tree.root, "name"), "name", &text, &problem));
	CHECK_STR(text, "web");
	CHECK(yaml_get_text(yaml_find(tree.root, "list"), "list", &text, &problem) == -EINVAL);
	CHECK_STR(problem.text, "a.yaml:6: 'list' must be one value, not a list");
	CHECK(yaml_get_text(yaml_find(tree.root, "none"), "none", &text, &problem) == -EINVAL);
	CHECK_STR(problem.text, "a.yaml:7: 'none' must be one value, not empty");
}

TEST(an_alias_has_the_value_of_its_anchor)
{
	CHECK(!parse("a: &x {retain: 5}\nb: *x\n"));
	CHECK_STR(yaml_find(yaml_find(tree.root, "b"), "retain")->text, "5");
	CHECK(yaml_find(tree.root, "a") == yaml_find(tree.root, "b"));
	CHECK_STR(error_of("a: *x\n"), "a.yaml:1: there is no anchor &x above *x");
	CHECK_STR(error_of("*x\n"), "a.yaml:1: there is no anchor &x above *x");
	CHECK_STR(error_of("a: &x [*x]\n"), "a.yaml:1: *x is an alias of a value that contains it");
}

TEST(expansion_of_aliases_is_capped)
{
	struct buf b;

	buf_init(&b);
	buf_puts(&b, "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
	for (int i = 1; i < 9; i++) {
		buf_printf(&b, "a%d: &a%d [", i, i);
		for (int k = 0; k < 9; k++)
			buf_printf(&b, "*a%d%s", i - 1, k < 8 ? ", " : "]\n");
	}
	CHECK_STR(error_of(b.data),
		  "a.yaml:5: more than 20000 values once aliases (*) are expanded");
	buf_reset(&b);
	for (int i = 0; i < 101; i++)
		buf_printf(&b, "k%d: &a%d 1\n", i, i);
	CHECK_STR(error_of(b.data), "a.yaml:101: more than 100 anchors; write some values out");
	buf_reset(&b);
	buf_puts(&b, "a0: &a0 [1]\n");
	for (int i = 1; i < 40; i++)
		buf_printf(&b, "a%d: &a%d [*a%d]\n", i, i, i - 1);
	CHECK_STR(error_of(b.data), "a.yaml:31: nested more than 32 levels deep");
	buf_done(&b);
}

TEST(nesting_size_and_number_of_nodes_are_limited)
{
	struct buf b;

	buf_init(&b);
	for (int i = 0; i < 40; i++)
		buf_puts(&b, "[");
	CHECK_STR(error_of(b.data), "a.yaml:1: nested more than 32 levels deep");
	buf_reset(&b);
	for (int i = 0; i < 20001; i++)
		buf_puts(&b, "- 1\n");
	CHECK_STR(error_of(b.data), "a.yaml:20000: more than 20000 values; a configuration does not need so many");
	for (size_t i = b.size; i <= YAML_BYTES; i++)
		buf_putc(&b, ' ');
	CHECK(parse(b.data) == -EFBIG);
	buf_done(&b);
}

TEST(errors_name_file_and_line)
{
	CHECK_STR(error_of("a: 1\n\tb: 2\n"), "a.yaml:2: found a tab character that violates indentation; "
		  "indent with spaces, not with tabs, and put text that begins with @ or ` in quotes");
	CHECK_STR(error_of("a: 'x\n"), "a.yaml:2: found unexpected end of stream; "
				       "check the indentation and the quotes of this line and the one above it");
	CHECK_STR(error_of("a: 1\nb: 2\na: 3\n"), "a.yaml:3: 'a' is a duplicate of line 1; remove one of them");
	CHECK_STR(error_of("? [1]\n: 2\n"), "a.yaml:1: a key must be plain text");
	CHECK_STR(error_of("a: 1\n---\nb: 1\n"),
		  "a.yaml:2: a second document begins here; only one is read, put it into a file of its own");
	CHECK_STR(error_of("a: &x {b: 1}\nc:\n  <<: *x\n"),
		  "a.yaml:3: merge keys (<<) are not supported; write the values out");
	CHECK_STR(error_of("a: !!python/name:os.system x\n"),
		  "a.yaml:1: unsupported tag 'tag:yaml.org,2002:python/name:os.system'; remove it");
	CHECK_STR(error_of("a: \"x\\0y\"\n"), "a.yaml:1: a value with a NUL byte in it; remove it");
	CHECK(parse("a: \xff\n") == -EINVAL);
	CHECK(strstr(problem.text, "the file must be UTF-8 text"));
	CHECK(!parse("a: !!str 12\n"));
}

TEST(a_missing_file_is_named)
{
	struct yaml_tree t;

	CHECK(yaml_tree_read("/nonexistent/x.yaml", &t, &problem) == -ENOENT);
	CHECK(strstr(problem.text, "/nonexistent/x.yaml"));
	yaml_tree_done(&t);
	yaml_tree_done(&tree);
}

TEST_MAIN()
