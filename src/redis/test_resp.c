/* test_resp.c: tests parsing of commands, whole and in pieces, and the replies to them. */
#include "resp.h"

#include "mem.h"
#include "test.h"

/* Returns all commands as text, a line such as "[PUBLISH][excimer][main 1]" each, followed by the error, if any. */
static char *commands(const char *data, size_t n, size_t step)
{
	struct resp_parser p;
	size_t start = 0, known = step < n ? step : n;
	struct buf out;

	resp_init(&p);
	buf_init(&out);
	for (;;) {
		ssize_t used = resp_next(&p, data + start, known - start);

		if (used < 0) {
			buf_printf(&out, "error: %s\n", p.error);
			break;
		}
		if (used == 0 && known == n)
			break;
		if (used == 0) {
			known = n - known < step ? n : known + step;
			continue;
		}
		start += (size_t)used;
		for (size_t i = 0; i < p.count; i++) {
			buf_putc(&out, '[');
			buf_put(&out, p.arguments[i].p, p.arguments[i].n);
			buf_putc(&out, ']');
		}
		buf_putc(&out, '\n');
	}
	if (start < n && !p.error[0])
		buf_printf(&out, "%zu bytes left\n", n - start);
	resp_done(&p);
	return buf_take(&out, NULL);
}

/* The commands must be the same no matter how the input is split. */
static void check_commands(const char *data, size_t n, const char *wanted)
{
	for (size_t step = n ? n : 1; step > 0; step = step > 7 ? step / 3 : step - 1) {
		char *got = commands(data, n, step);

		CHECK_STR(got, wanted);
		free(got);
	}
}

#define CHECK_COMMANDS(text, wanted)	check_commands(text, sizeof(text) - 1, wanted)

TEST(arrays_are_parsed_as_commands)
{
	CHECK_COMMANDS("*1\r\n$4\r\nPING\r\n", "[PING]\n");
	CHECK_COMMANDS("*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n$6\r\nmain 1\r\n", "[PUBLISH][excimer][main 1]\n");
	CHECK_COMMANDS("*2\r\n$4\r\nECHO\r\n$0\r\n\r\n*1\r\n$4\r\nQUIT\r\n", "[ECHO][]\n[QUIT]\n");
	CHECK_COMMANDS("*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n", "[ECHO][\r\n\r\n]\n");
}

TEST(empty_arrays_and_lines_are_skipped)
{
	CHECK_COMMANDS("*0\r\n*-1\r\n\r\n\n  \n*1\r\n$4\r\nPING\r\n", "\n\n\n\n\n[PING]\n");
}

TEST(lines_are_parsed_as_inline_commands)
{
	CHECK_COMMANDS("PING\r\nping\n", "[PING]\n[ping]\n");
	CHECK_COMMANDS("publish  excimer\t\"a;b c 12\"\r\n", "[publish][excimer][a;b c 12]\n");
	CHECK_COMMANDS("echo \"\\x41\\n\\q\\\"\" 'it\\'s \\n' a\"b\"\n", "[echo][A\nq\"][it's \\n][ab]\n");
	CHECK_COMMANDS("echo \"\" ''\n", "[echo][][]\n");
	CHECK_COMMANDS("echo \"abc\n", "error: unbalanced quotes in request\n");
	CHECK_COMMANDS("echo \"a\"b\n", "error: unbalanced quotes in request\n");
	CHECK_COMMANDS("echo 'abc\\'\n", "error: unbalanced quotes in request\n");
}

TEST(an_incomplete_command_is_kept_until_the_rest_arrives)
{
	CHECK_COMMANDS("", "");
	CHECK_COMMANDS("*1\r\n$4\r\nPING\r", "13 bytes left\n");
	CHECK_COMMANDS("PING", "4 bytes left\n");
	CHECK_COMMANDS("*2\r\n$4\r\nPING\r\n$", "15 bytes left\n");
}

TEST(an_invalid_command_is_an_error_with_the_reason)
{
	CHECK_COMMANDS("*x\r\n", "error: invalid multibulk length\n");
	CHECK_COMMANDS("*1025\r\n", "error: invalid multibulk length\n");
	CHECK_COMMANDS("*99999999999999999999999999999999999999\r\n", "error: invalid multibulk length\n");
	CHECK_COMMANDS("*1\r\nPING\r\n", "error: expected '$', got 'P'\n");
	CHECK_COMMANDS("*1\r\n\x01", "error: expected '$', got '?'\n");
	CHECK_COMMANDS("*1\r\n$-1\r\n", "error: invalid bulk length\n");
	CHECK_COMMANDS("*1\r\n$4x\r\n", "error: invalid bulk length\n");
	CHECK_COMMANDS("*1\r\n$67108865\r\n", "error: invalid bulk length\n");
	CHECK_COMMANDS("*1\r\n$4\rPING\r\n", "error: invalid bulk length\n");
	CHECK_COMMANDS("*1\r\n$3\r\nPING\r\n", "error: no line end after an argument\n");
	CHECK_COMMANDS("*1\n$4\nPING\n", "error: invalid multibulk length\n");
}

TEST(a_line_above_the_limit_is_rejected)
{
	size_t n = RESP_LINE_MAX + 1;
	char *line = xmalloc(n), *got;

	memset(line, 'a', n);
	got = commands(line, n, 4096);
	CHECK_STR(got, "error: too big inline request\n");
	free(got);
	free(line);
}

TEST(unauthenticated_clients_have_lower_limits)
{
	struct resp_parser p;

	resp_init(&p);
	p.argument_max = RESP_STRANGER_ARGUMENT_MAX;
	p.arguments_max = RESP_STRANGER_ARGUMENTS_MAX;
	CHECK(resp_next(&p, "*11\r\n", 5) == -EBADMSG);
	CHECK_STR(p.error, "unauthenticated multibulk length");
	resp_done(&p);

	resp_init(&p);
	p.argument_max = RESP_STRANGER_ARGUMENT_MAX;
	CHECK(resp_next(&p, "*1\r\n$16385\r\n", 12) == -EBADMSG);
	CHECK_STR(p.error, "unauthenticated bulk length");
	resp_done(&p);
}

TEST(the_size_of_a_large_argument_is_known_before_it_arrives)
{
	struct resp_parser p;

	resp_init(&p);
	CHECK_INT(resp_next(&p, "*1\r\n$1000000\r\nabc", 17), 0);
	CHECK_INT(resp_need(&p), 14 + 1000000 + 2);
	resp_done(&p);
}

TEST(replies_are_encoded_as_by_redis)
{
	struct buf b;

	buf_init(&b);
	resp_put_status(&b, "OK");
	resp_put_integer(&b, -12);
	resp_put_text(&b, "two\r\n");
	resp_put_null(&b, 2);
	resp_put_null(&b, 3);
	resp_put_array(&b, 0);
	resp_put_map(&b, 7, 2);
	resp_put_map(&b, 7, 3);
	resp_put_error(&b, "ERR unknown command '%s'", "a\r\n+OK");
	CHECK_STR(b.data, "+OK\r\n:-12\r\n$5\r\ntwo\r\n\r\n$-1\r\n_\r\n*0\r\n*14\r\n%7\r\n"
		  "-ERR unknown command 'a  +OK'\r\n");
	buf_done(&b);
}

TEST_MAIN()
