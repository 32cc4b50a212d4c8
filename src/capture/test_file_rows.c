/* test_file_rows.c: tests that calls are summed by file, and in profiles by stack, operation and file. */

#include "file_registry.h"
#include "file_rows.h"
#include "test.h"

#include <string.h>

static struct stack_registry *stacks;

static void function(u64 id, const char *name)
{
	struct function_event e = { .type = EVENT_FUNCTION, .id = id, .line_start = 1 };

	snprintf(e.name, sizeof(e.name), "%s", name);
	stack_registry_note(stacks, &e, sizeof(e));
}

static void stack(u64 id, u64 leaf, u32 line)
{
	struct php_stack_event e = { .type = EVENT_PHP_STACK, .count = 2, .id = id };

	e.frames[0] = (struct php_frame){ leaf, line, 0 };
	e.frames[1] = (struct php_frame){ 1000, 1, 0 };
	stack_registry_note(stacks, &e, offsetof(struct php_stack_event, frames) + 2 * sizeof(e.frames[0]));
}

static void file(u64 id, const char *name)
{
	struct file_event e = { .type = EVENT_FILE, .kind = FILE_NAMED, .id = id, .names_size = (u32)strlen(name) + 1 };

	strcpy(e.text, name);
	stack_registry_note(stacks, &e, offsetof(struct file_event, text) + e.names_size);
}

static void calls(u64 php, u64 of_file, u32 operation, u64 n, u64 bytes, u64 ns)
{
	struct file_key key = { .php = php, .file = of_file, .operation = operation };
	struct file_count c = { n, n / 10, bytes, ns };

	stack_registry_count_file(stacks, &key, &c);
}

/* reader() reads `a` twice as long as writer(), on two lines; `a` was replaced in the meantime, so it has two ids. */
static void begin(void)
{
	stacks = stack_registry_new();
	function(1000, "main");
	function(1001, "reader");
	function(1002, "writer");
	stack(1, 1001, 5);
	stack(2, 1001, 6);
	stack(3, 1002, 7);
	file(11, "a");
	file(12, "a");
	file(13, "b");
	calls(1, 11, FILE_READ, 10, 100, 1000);
	calls(2, 12, FILE_READ, 20, 200, 3000);
	calls(3, 12, FILE_WRITE, 1, 10000, 2500);
	calls(3, 13, FILE_OPEN, 3, 0, 50);
	calls(3, 13, FILE_OPEN, 4, 0, 20);
	calls(3, 99, FILE_STAT, 1, 0, 9);
}

static const char *leaf(const struct file_rows *r, size_t row)
{
	return profile_name(r->stacks, r->stacks->node_frames[r->rows[row].stack]).p;
}

TEST(rows_are_files_with_their_heaviest_stack)
{
	struct file_rows r;

	begin();
	file_rows_init(&r, stacks, FILE_BY_LATENCY, ~0u);
	CHECK_INT(r.count, 3);
	CHECK_STR(r.rows[0].path.p, "/a");
	CHECK_INT(r.rows[0].all.calls, 31);
	CHECK_INT(r.rows[0].all.failed, 3);
	CHECK_INT(r.rows[0].all.bytes, 10300);
	CHECK_INT(r.rows[0].all.ns, 6500);
	CHECK_INT(r.rows[0].operations[FILE_READ].bytes, 300);
	CHECK_INT(r.rows[0].operations[FILE_WRITE].bytes, 10000);
	CHECK_STR(leaf(&r, 0), "reader");
	CHECK_INT(r.rows[0].by_stack.ns, 4000);
	CHECK_STR(r.rows[1].path.p, "/b");
	CHECK_INT(r.rows[1].all.calls, 7);
	CHECK_STR(r.rows[2].path.p, FILE_REGISTRY_UNKNOWN);
	CHECK_INT(r.whole.ns, 6579);
	CHECK_INT(r.whole.calls, 39);
	file_rows_done(&r);
	stack_registry_free(stacks);
}

TEST(the_weight_determines_the_order_and_the_stack_shown)
{
	struct file_rows r;

	begin();
	calls(1, 13, FILE_STAT, 100, 0, 1);
	file_rows_init(&r, stacks, FILE_BY_BYTES, ~0u);
	CHECK_STR(r.rows[0].path.p, "/a");
	CHECK_STR(leaf(&r, 0), "writer");
	file_rows_done(&r);
	file_rows_init(&r, stacks, FILE_BY_COUNT, ~0u);
	CHECK_STR(r.rows[0].path.p, "/b");
	CHECK_STR(leaf(&r, 0), "reader");
	file_rows_done(&r);
	stack_registry_free(stacks);
}

TEST(rows_can_be_limited_to_some_operations)
{
	struct file_rows r;

	begin();
	file_rows_init(&r, stacks, FILE_BY_LATENCY, 1u << FILE_WRITE);
	CHECK_INT(r.count, 1);
	CHECK_INT(r.whole.bytes, 10000);
	CHECK_INT(r.rows[0].all.calls, 1);
	CHECK_STR(leaf(&r, 0), "writer");
	file_rows_done(&r);
	stack_registry_free(stacks);
}

static const char *line_of(const struct profile *p, u32 node)
{
	static char text[512];
	size_t at = sizeof(text) - 1;

	text[at] = 0;
	for (; node; node = p->parents[node]) {
		struct str name = profile_name(p, p->node_frames[node]);

		if (text[at])
			text[--at] = ';';
		at -= name.n;
		memcpy(text + at, name.p, name.n);
	}
	return text + at;
}

TEST(profiles_end_with_the_operation_and_the_file)
{
	struct stack_registry_layers layers = { .php = true, .file_io = true, .weight = FILE_BY_BYTES };
	struct profile *p;
	u64 left_out;

	begin();
	p = stack_registry_profile(stacks, &layers, &left_out);
	CHECK_STR(p->columns[0].name, "io_bytes");
	CHECK_INT(profile_sum(p, 0), 10300);
	CHECK_INT(profile_sum(p, profile_find_column(p, "io_ns")), 6579);
	CHECK_INT(profile_sum(p, profile_find_column(p, "io_calls")), 39);
	CHECK_INT(profile_sum(p, profile_find_column(p, "io_failed")), 3);
	CHECK_STR(line_of(p, 4), "main;reader;read;/a");
	CHECK_INT(p->columns[0].self[4], 300);
	profile_free(p);
	stack_registry_free(stacks);
}

static void entry_label(void *data, const struct count_key *key, struct labels *ret)
{
	labels_set(ret, "entry", 5, key->request == 1 ? "one" : "two", 3);
}

static void take(void *data, struct profile *p)
{
	int64_t *sums = data;

	sums[!strcmp(labels_get(&p->labels, "entry"), "two")] += profile_sum(p, 0);
	profile_free(p);
}

TEST(calls_are_separated_by_labels)
{
	struct stack_registry_layers layers = { .php = true, .file_io = true, .weight = FILE_BY_COUNT };
	struct file_key key = { .php = 1, .file = 11, .request = 1 };
	struct file_count c = { 5, 0, 0, 0 };
	int64_t sums[2] = { 0, 0 };

	stacks = stack_registry_new();
	stack_registry_count_file(stacks, &key, &c);
	key.request = 2;
	stack_registry_count_file(stacks, &key, &c);
	stack_registry_count_file(stacks, &key, &c);
	key.file = 12;
	stack_registry_count_file(stacks, &key, &c);
	stack_registry_each(stacks, &layers, sums, entry_label, take);
	CHECK_INT(sums[0], 5);
	CHECK_INT(sums[1], 15);
	stack_registry_forget_counts(stacks);
	stack_registry_each(stacks, &layers, sums, entry_label, take);
	CHECK_INT(sums[1], 15);
	stack_registry_free(stacks);
}

TEST_MAIN()
