/* test_source_text.c: tests which of the machine's files a page shows, and that no request reaches others. */
#include "source_text.h"

#include "io.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/strobe-test-source-XXXXXX", app[64], outside[64];

static const char *in(const char *folder, const char *name)
{
	static char paths[4][160];
	static unsigned next;

	next = (next + 1) % 4;
	snprintf(paths[next], sizeof(paths[next]), "%s/%s", folder, name);
	return paths[next];
}

static void put(const char *path, const char *text)
{
	CHECK_INT(io_write_file(path, text, strlen(text), NULL), 0);
}

static void start(void)
{
	if (*app)
		return;
	CHECK(mkdtemp(dir) != NULL);
	snprintf(app, sizeof(app), "%s/app", dir);
	snprintf(outside, sizeof(outside), "%s/outside", dir);
	CHECK_INT(mkdir(app, 0755), 0);
	CHECK_INT(mkdir(outside, 0755), 0);
	put(in(app, "cart.php"), "<?php\necho 1;\n");
	put(in(outside, "secret.php"), "<?php // secret\n");
}

__attribute__((destructor)) static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (*app && system(command))
		abort();
}

/* Returns the text shown of a file, or the reason why there is none. */
static const char *shown_of(const char *path, const char *const *dirs, size_t count)
{
	static char text[512];
	struct source_text t;

	source_text_below(&t, (struct str){ path, strlen(path) }, dirs, count, 0);
	CHECK((t.text.p == NULL) == (t.state == SOURCE_MISSING));
	snprintf(text, sizeof(text), "%.*s", t.text.p ? (int)t.text.n : (int)strlen(t.why), t.text.p ? t.text.p : t.why);
	source_text_done(&t);
	return text;
}

static const char *shown(const char *path, const char *one)
{
	return shown_of(path, &one, 1);
}

#define CHECK_WHY(said, part)	CHECK(strncmp(said, "source not available: ", 22) == 0 && strstr(said, part))

TEST(a_file_below_a_directory_is_shown)
{
	start();
	CHECK_STR(shown(in(app, "cart.php"), app), "<?php\necho 1;\n");
	CHECK_STR(shown(in(app, "cart.php"), dir), "<?php\necho 1;\n");
	CHECK_STR(shown(in(app, "cart.php"), in(app, "")), "<?php\necho 1;\n");
}

TEST(without_a_matching_directory_the_error_names_the_remedy)
{
	char want[160];
	const char *said;

	start();
	snprintf(want, sizeof(want), "--source-dir %s or a directory above", app);
	said = shown_of(in(app, "cart.php"), NULL, 0);
	CHECK_WHY(said, want);
	said = shown(in(app, "cart.php"), outside);
	CHECK_WHY(said, want);
	said = shown(in(app, "cart.php"), in(dir, "ap"));	/* a prefix of the name, but not of the path */
	CHECK_WHY(said, want);
	said = shown("/x.php", outside);
	CHECK_WHY(said, "--source-dir / or");
}

TEST(a_directory_is_mapped_to_another_by_the_longest_match)
{
	const char *dirs[] = { "/srv/app=/nowhere", NULL, "/srv=/nowhere" };
	char map[128];
	const char *said;

	start();
	snprintf(map, sizeof(map), "/srv/app/7=%s", app);
	dirs[1] = map;
	CHECK_STR(shown_of("/srv/app/7/cart.php", dirs, 3), "<?php\necho 1;\n");
	said = shown_of("/srv/app/8/cart.php", dirs, 3);
	CHECK_WHY(said, "--source-dir /srv/app=/path");
	said = shown("/srv/app/7/gone.php", map);
	CHECK_WHY(said, "--source-dir /srv/app/7=/path");
	said = shown(in(app, "cart.php"), map);			/* in this mapping, only the other name is valid */
	CHECK_WHY(said, "in none of the directories");
}

TEST(a_directory_that_is_a_link_is_also_matched_by_its_target)
{
	start();
	CHECK_INT(symlink(app, in(dir, "current")), 0);
	CHECK_STR(shown(in(app, "cart.php"), in(dir, "current")), "<?php\necho 1;\n");
	CHECK_STR(shown(in(dir, "current/cart.php"), in(dir, "current")), "<?php\necho 1;\n");
}

TEST(links_and_dots_cannot_escape_the_directory)
{
	const char *said;

	start();
	CHECK_INT(symlink(in(outside, "secret.php"), in(app, "link.php")), 0);
	CHECK_INT(symlink("../outside", in(app, "folder")), 0);
	CHECK_INT(symlink("cart.php", in(app, "beside.php")), 0);
	said = shown(in(app, "link.php"), app);
	CHECK_WHY(said, "a symbolic link leads out");
	said = shown(in(app, "folder/secret.php"), app);
	CHECK_WHY(said, "a symbolic link leads out");
	said = shown(in(app, "../outside/secret.php"), app);
	CHECK_WHY(said, "the \"..\" in its path leads out");
	CHECK(!strstr(said, "link"));
	said = shown(in(app, "./../../../../../../etc/passwd"), app);
	CHECK_WHY(said, "the \"..\" in its path leads out");
	CHECK_INT(mkdir(in(app, "src"), 0755), 0);
	said = shown(in(app, "src/..//../outside/secret.php"), app);
	CHECK_WHY(said, "the \"..\" in its path leads out");
	said = shown(in(app, "src/../link.php"), app);
	CHECK_WHY(said, "a symbolic link leads out");
	CHECK_STR(shown(in(app, "src/../cart.php"), app), "<?php\necho 1;\n");
	CHECK_STR(shown(in(app, "beside.php"), app), "<?php\necho 1;\n");
	CHECK_STR(shown(in(app, "folder/secret.php"), dir), "<?php // secret\n");	/* is below */
}

TEST(only_regular_files_are_opened)
{
	const char *said;

	start();
	CHECK_INT(mkfifo(in(app, "pipe.php"), 0666), 0);
	CHECK_INT(mkdir(in(app, "folder.php"), 0755), 0);
	said = shown(in(app, "pipe.php"), app);
	CHECK_WHY(said, "not a regular file");
	said = shown(in(app, "folder.php"), app);
	CHECK_WHY(said, "not a regular file");
	said = shown("/dev/tty", "/dev");
	CHECK_WHY(said, "not a regular file");
	said = shown("/proc/self/fd/0", "/proc");		/* a link of its own kind */
	CHECK_WHY(said, "leads out");
}

TEST(only_source_code_is_shown)
{
	const char *said;

	start();
	put(in(app, ".env"), "PASSWORD=secret\n");
	put(in(app, "id_rsa"), "-----BEGIN OPENSSH PRIVATE KEY-----\n");
	put(in(app, "console"), "#!/usr/bin/env php\n");
	put(in(app, "node.module"), "<?php\n");
	put(in(app, "empty"), "");
	said = shown(in(app, ".env"), app);
	CHECK_WHY(said, "only files of PHP and Perl");
	said = shown(in(app, "id_rsa"), app);
	CHECK_WHY(said, "only files of PHP and Perl");
	said = shown(in(app, "empty"), app);
	CHECK_WHY(said, "only files of PHP and Perl");
	CHECK_STR(shown(in(app, "console"), app), "#!/usr/bin/env php\n");
	CHECK_STR(shown(in(app, "node.module"), app), "<?php\n");
}

TEST(names_other_than_those_of_files_are_rejected)
{
	const char *said;

	start();
	said = shown("", "/");
	CHECK_WHY(said, "native code have none");
	said = shown("phar:///srv/app.phar/x.php", "/");
	CHECK_WHY(said, "not that of a file");
	said = shown("relative.php", "/");
	CHECK_WHY(said, "not that of a file");
	said = shown("/srv/x.php(12) : eval()'d code", "/");
	CHECK_WHY(said, "eval() ran");
}

TEST(a_file_above_the_limit_is_not_shown)
{
	const char *said;
	int fd;

	start();
	fd = open(in(app, "large.php"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CHECK_INT(ftruncate(fd, (off_t)SOURCE_TEXT_PAGE_MAX + 1), 0);
	close(fd);
	said = shown(in(app, "large.php"), app);
	CHECK_WHY(said, "larger than");
}

TEST(a_file_without_read_permission_is_reported)
{
	const char *said;

	start();
	put(in(app, "closed.php"), "<?php\n");
	CHECK_INT(chmod(in(app, "closed.php"), 0), 0);
	if (geteuid() == 0)		/* root may read everything */
		return;
	said = shown(in(app, "closed.php"), app);
	CHECK_WHY(said, "may not read the file");
}

TEST(a_file_modified_since_the_profile_is_shown_with_a_note)
{
	const char *dirs[] = { app }, *path;
	struct source_text t;

	start();
	path = in(app, "cart.php");
	source_text_below(&t, (struct str){ path, strlen(path) }, dirs, 1, 1);
	CHECK_INT(t.state, SOURCE_CHANGED);
	CHECK(t.text.n && strstr(t.why, "was modified at 20"));
	source_text_done(&t);
	source_text_below(&t, (struct str){ path, strlen(path) }, dirs, 1, INT64_MAX);
	CHECK_INT(t.state, SOURCE_SAME);
	CHECK(!t.why);
	source_text_done(&t);
}

TEST(directories_must_be_absolute)
{
	CHECK_INT(source_text_check_dir("/srv/app", NULL), 0);
	CHECK_INT(source_text_check_dir("/srv/app=/home/x", NULL), 0);
	CHECK_INT(source_text_check_dir("/srv/a..b", NULL), 0);
	CHECK_INT(source_text_check_dir("srv/app", NULL), -EINVAL);
	CHECK_INT(source_text_check_dir("", NULL), -EINVAL);
	CHECK_INT(source_text_check_dir("app=/home/x", NULL), -EINVAL);
	CHECK_INT(source_text_check_dir("/srv/../etc", NULL), -EINVAL);
	CHECK_INT(source_text_check_dir("/srv=/home/..", NULL), -EINVAL);
}

TEST_MAIN()
