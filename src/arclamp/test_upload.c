/* test_upload.c: runs a command per file: word splitting without a shell, exit codes, and timeouts. */
#include "upload.h"

#include "io.h"
#include "mem.h"
#include "test.h"

static const char *words(const char *command)
{
	static char out[1024];
	struct upload u;
	struct err err = { 0 };

	*out = 0;
	if (upload_init(&u, command, 1, &err) < 0)
		snprintf(out, sizeof(out), "%s", err.text);
	else
		for (size_t i = 1; i < u.count; i++)
			snprintf(out + strlen(out), sizeof(out) - strlen(out), "[%s]", u.words[i]);
	upload_done(&u);
	return out;
}

TEST(a_command_is_split_into_words_without_a_shell)
{
	CHECK_STR(words("true a  b\tc"), "[a][b][c]");
	CHECK_STR(words(" true 'a b' \"c \\\" d\" e\\ f x'y'z ''"), "[a b][c \" d][e f][xyz][]");
	CHECK_STR(words("true $HOME `id` ; rm * > {}"), "[$HOME][`id`][;][rm][*][>][{}]");
	CHECK_STR(words("true 'a"), "a quote is not closed in the command 'true 'a'");
	CHECK_STR(words(""), "the command is empty");
	CHECK_STR(words("strobe-has-no-such-program x"), "program 'strobe-has-no-such-program' not found in PATH");
	CHECK_STR(words("/etc/passwd x"), "program '/etc/passwd' not found");
}

/* Returns the error of upload_run, or "fine". */
static const char *run(const char *command, double seconds, const char *path)
{
	static struct err err;
	struct upload u;
	int r;

	err = (struct err){ 0 };
	CHECK_INT(upload_init(&u, command, seconds, &err), 0);
	r = upload_run(&u, path, &err);
	upload_done(&u);
	return r < 0 ? err.text : "fine";
}

TEST(the_exit_code_is_reported)
{
	CHECK_STR(run("true", 10, "f"), "fine");
	CHECK_STR(run("false {}", 10, "f"), "'false' exited with status 1 for f");
	CHECK_STR(run("sh -c 'kill -9 $$' {}", 10, "f"), "'sh' was killed by signal 9 for f");
}

TEST(the_path_replaces_the_braces_or_is_appended)
{
	CHECK_STR(run("test {} = 'a b;c'", 10, "a b;c"), "fine");
	CHECK_STR(run("test x{}y{} = xfyf", 10, "f"), "fine");
	CHECK_STR(run("test {}:{period}/{name}:{other} = /s/daily/a.svgz:daily/a.svgz:{other}", 10, "/s/daily/a.svgz"), "fine");
	CHECK_STR(run("test {name}:{period}:{} = f::f", 10, "f"), "fine");
	CHECK_STR(run("test {name} =", 10, "f"), "fine");
	CHECK_STR(run("test f =", 10, "f"), "fine");
}

TEST(a_command_that_takes_too_long_is_killed)
{
	CHECK_STR(run("sh -c 'sleep 60 & sleep 60' {}", 0.05, "f"), "'sh' took longer than 0.05 s for f and "
		  "was killed");
}

TEST_MAIN()
