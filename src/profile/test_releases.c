/* test_releases.c: the release directories of two profiles are found. */
#include "releases.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

static void add_all(struct releases *r, bool is_after, const char *const *paths)
{
	for (; *paths; paths++)
		releases_add(r, is_after, (struct str){ *paths, strlen(*paths) });
}

/* Returns `path` as in the later release, if these are the paths of both. */
static const char *after(const char *path, const char *const *before_paths, const char *const *after_paths)
{
	static char text[100];
	_cleanup_(buf_done) struct buf b = { 0 };
	struct releases *r = releases_new();
	struct str s;

	buf_init(&b);
	add_all(r, false, before_paths);
	add_all(r, true, after_paths);
	releases_decide(r);
	s = releases_after(r, (struct str){ path, strlen(path) }, &b);
	snprintf(text, sizeof(text), "%.*s", (int)s.n, s.p);
	releases_free(r);
	return text;
}

#define PATHS(...) (const char *const[]){ __VA_ARGS__, NULL }

TEST(paths_in_a_release_directory_are_mapped_to_the_other_release)
{
	const char *const *a = PATHS("/srv/7/index.php", "/srv/7/lib/a.php", "/usr/share/php/x.php");
	const char *const *b = PATHS("/srv/8/lib/a.php", "/srv/8/index.php", "/usr/share/php/x.php", "/srv/8/new.php");

	CHECK_STR(after("/srv/7/index.php", a, b), "/srv/8/index.php");
	CHECK_STR(after("/srv/7/lib/other.php", a, b), "/srv/8/lib/other.php");
	CHECK_STR(after("/srv/70/index.php", a, b), "/srv/70/index.php");
	CHECK_STR(after("/usr/share/php/x.php", a, b), "/usr/share/php/x.php");
}

TEST(release_directories_beside_shared_code_and_in_several_places_are_found)
{
	const char *const *a = PATHS("/srv/shared/x.php", "/srv/7/a.php", "/srv/7/b.php", "/lib/1.0/c.php", "/lib/1.0/d.php");
	const char *const *b = PATHS("/srv/shared/x.php", "/srv/8/a.php", "/srv/8/b.php", "/lib/1.1/c.php", "/lib/1.1/d.php");

	CHECK_STR(after("/srv/7/a.php", a, b), "/srv/8/a.php");
	CHECK_STR(after("/lib/1.0/c.php", a, b), "/lib/1.1/c.php");
	CHECK_STR(after("/srv/shared/x.php", a, b), "/srv/shared/x.php");
}

TEST(file_names_common_to_many_directories_do_not_mix_them_up)
{
	const char *const *a = PATHS("/a/x/index.php", "/a/y/index.php", "/a/z/only.php");
	const char *const *b = PATHS("/b/y/index.php", "/b/x/index.php", "/b/w/index.php");

	CHECK_STR(after("/a/x/index.php", a, b), "/b/x/index.php");
	CHECK_STR(after("/a/y/index.php", a, b), "/b/y/index.php");
	CHECK_STR(after("/a/z/only.php", a, b), "/b/z/only.php");
}

TEST(releases_may_be_nested_or_at_the_root)
{
	CHECK_STR(after("/app/a.php", PATHS("/app/a.php"), PATHS("/app/new/a.php")), "/app/new/a.php");
	CHECK_STR(after("/a.php", PATHS("/a.php"), PATHS("/app/a.php")), "/app/a.php");
	CHECK_STR(after("/app/a.php", PATHS("/app/a.php"), PATHS("/a.php")), "/a.php");
	CHECK_STR(after("7/a.php", PATHS("7/a.php"), PATHS("8/a.php")), "8/a.php");
}

TEST(parts_of_one_release_are_not_taken_for_releases)
{
	const char *const *a = PATHS("/app/lib.php", "/app/admin/index.php");
	const char *const *b = PATHS("/app/lib.php", "/app/shop/index.php");

	CHECK_STR(after("/app/admin/index.php", a, b), "/app/admin/index.php");
	CHECK_STR(after("/app/a.php", PATHS("/app/a.php"), PATHS("/app/b.php")), "/app/a.php");
	CHECK_STR(after("/app/a.php", PATHS("/app/a.php"), PATHS("/app/ba.php")), "/app/a.php");
}

TEST_MAIN()
