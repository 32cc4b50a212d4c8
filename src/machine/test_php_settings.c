/* test_php_settings.c: ini files, pools and programs of a root directory that the test writes. */
#include "elf_summary.h"
#include "fpm_pools.h"
#include "php_binary.h"
#include "php_setting_check.h"
#include "php_settings.h"

#include "io.h"
#include "mem.h"
#include "test.h"

#include <ftw.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char directory[64];
static struct root_dir root;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void begin(void)
{
	snprintf(directory, sizeof(directory), "/tmp/strobe-settings-XXXXXX");
	CHECK(mkdtemp(directory) != NULL);
	CHECK_INT(root_dir_open(directory, &root), 0);
}

static void end(void)
{
	root_dir_close(&root);
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text)
{
	_cleanup_(freep) char *whole = xasprintf("%s%s", directory, path), *above = xstrdup(whole);

	*strrchr(above, '/') = '\0';
	CHECK(io_make_dirs(above, 0755, NULL) >= 0);
	CHECK(io_write_file(whole, text, strlen(text), NULL) >= 0);
}

/* The constants of Debian's program, in another order. */
static const char constants[] = "junk\0" "X-Powered-By: PHP/8.2.36\0" "API20220829,NTS\0" "Command Line Interface\0"
				"/etc/php/8.2/cli\0" "/etc/php/8.2/cli/conf.d\0" "/usr/lib/php/20220829";

TEST(version_build_and_directories_are_read_from_the_executable)
{
	struct php_binary b;

	CHECK(php_binary_parse("/usr/bin/php8.2", constants, sizeof(constants), &b));
	CHECK_STR(b.sapi, "cli");
	CHECK_STR(b.version, "8.2.36");
	CHECK_STR(b.build, "API20220829,NTS");
	CHECK_STR(b.ini_directory, "/etc/php/8.2/cli");
	CHECK_STR(b.scan_directory, "/etc/php/8.2/cli/conf.d");
	CHECK_STR(b.extension_directory, "/usr/lib/php/20220829");
	php_binary_done(&b);
	/* Parses every truncation in a buffer of its own size, so that sanitizers notice reads beyond the end. */
	for (size_t n = 0; n < sizeof(constants); n++) {
		char *copy = xmalloc(n + 1);

		memcpy(copy, constants, n);
		if (php_binary_parse("/php", copy, n, &b))
			php_binary_done(&b);
		free(copy);
	}
	CHECK(!php_binary_parse("/bin/bash", "bash", 5, &b));
}

TEST(only_complete_build_strings_are_found)
{
	static const char texts[] = "API2022,NTS\0API20220829\0API20230831,TS,debug\0API20220829,NTS";
	_cleanup_(freep) char *build = php_build_find(texts, sizeof(texts));

	CHECK_STR(build, "API20230831,TS,debug");
	CHECK(php_build_find("API20220829,NTS", 15) == NULL);
}

TEST(settings_apply_in_order_php_ini_scan_directory_and_command_line)
{
	static const char command[] = "php\0-d\0strobe.period=0.5\0-dstrobe.clock=cpu\0script.php\0-d\0strobe.clock=wall";
	struct php_settings_from from = { .command = command, .command_size = sizeof(command) };
	const struct php_setting *line;
	struct php_settings s;
	struct php_binary php;
	_cleanup_(freep) char *path = NULL;

	begin();
	CHECK(php_binary_parse("/usr/bin/php8.2", constants, sizeof(constants), &php));
	put("/etc/php/8.2/cli/php.ini", "strobe.mode = off\n; strobe.clock = x\n[PATH=/srv]\nstrobe.flush = 7\n[PHP]\nstrobe.period=0.1\n");
	put("/etc/php/8.2/cli/conf.d/90-strobe.ini", "extension = strobe\nstrobe.mode = \"sample\" ; now\n");
	put("/etc/php/8.2/cli/conf.d/10-opcache.ini", "zend_extension=opcache.so\nstrobe.mode = On\n");
	put("/etc/php/8.2/cli/conf.d/off.disabled", "strobe.mode = off\n");
	php_settings_load(&root, &php, &from, &s);
	CHECK_STR(s.ini_file, "/etc/php/8.2/cli/php.ini");
	CHECK_INT(s.files, 2);
	CHECK_STR(php_settings_get(&s, "strobe.mode", ""), "sample");
	CHECK_STR(php_settings_get(&s, "strobe.period", ""), "0.5");
	CHECK_STR(php_settings_get(&s, "strobe.clock", ""), "cpu");
	CHECK(php_settings_find(&s, "strobe.flush") == NULL);
	CHECK_INT(php_settings_extensions(&s, "strobe", &line), 1);
	CHECK_STR(line->file, "/etc/php/8.2/cli/conf.d/90-strobe.ini");
	CHECK_INT(line->line, 1);
	path = php_settings_extension_path(&s, &php, line);
	CHECK_STR(path, "/usr/lib/php/20220829/strobe.so");
	CHECK_INT(php_settings_extensions(&s, "opcache", &line), 1);
	php_settings_done(&s);

	/* php -n reads no file; PHP_INI_SCAN_DIR replaces the built-in directory or adds to it. */
	from = (struct php_settings_from){ .command = "php\0-n", .command_size = 7 };
	php_settings_load(&root, &php, &from, &s);
	CHECK_INT(s.count, 0);
	php_settings_done(&s);
	put("/more/a.ini", "strobe.mode = 1\n");
	from = (struct php_settings_from){ .scan = ":/more" };
	php_settings_load(&root, &php, &from, &s);
	CHECK_INT(s.files, 3);
	CHECK_STR(php_settings_get(&s, "strobe.mode", ""), "1");
	php_settings_done(&s);
	php_binary_done(&php);
	end();
}

TEST(included_pool_files_are_read)
{
	const struct fpm_pool *www, *jail;
	struct fpm_pools p;

	begin();
	put("/etc/php/8.2/fpm/php-fpm.conf", "[global]\npid = /run/x\ninclude=/etc/php/8.2/fpm/pool.d/*.conf\n");
	put("/etc/php/8.2/fpm/pool.d/www.conf", "[www]\nuser = www-data\ngroup = web\nphp_admin_value[strobe.labels] = \"pool=$pool\"\n"
	    "php_flag[strobe.compat_builtins] = off\nprocess.dumpable = yes\nenv[STROBE_SOCKET] = /run/s\nclear_env = no\n"
	    "php_value[strobe.labels] = \"team=web\"\n");
	put("/etc/php/8.2/fpm/pool.d/jail.conf", "[jail]\nuser = $pool\nchroot = /srv/$pool\n");
	put("/etc/php/8.2/fpm/pool.d/loop.conf", "include = /etc/php/8.2/fpm/pool.d/loop.conf\n");
	CHECK_INT(fpm_pools_read(&root, "/etc/php/8.2/fpm/php-fpm.conf", &p), 0);
	CHECK_INT(p.count, 2);
	www = fpm_pools_find(&p, "www");
	jail = fpm_pools_find(&p, "jail");
	CHECK_STR(www->user, "www-data");
	CHECK_STR(www->group, "web");
	CHECK_STR(php_settings_get(&www->environment, "STROBE_SOCKET", ""), "/run/s");
	CHECK(www->keeps_environment);
	CHECK(!jail->keeps_environment);
	CHECK(!www->chroot);
	CHECK_STR(php_settings_get(&www->settings, "strobe.labels", ""), "team=web");
	CHECK_STR(php_settings_get(&www->admin, "strobe.labels", ""), "pool=www");
	CHECK_STR(php_settings_get(&www->settings, "strobe.compat_builtins", "x"), "");
	CHECK_STR(jail->user, "jail");
	CHECK_STR(jail->chroot, "/srv/jail");
	fpm_pools_done(&p);
	CHECK_INT(fpm_pools_read(&root, "/none.conf", &p), -ENOENT);
	CHECK_STR(p.unreadable, "/none.conf");
	fpm_pools_done(&p);
	end();
}

TEST(an_ignored_pool_value_leaves_that_of_php_ini_in_effect)
{
	struct php_settings s = { 0 }, pool = { 0 };

	php_settings_add(&s, "strobe.mode", "sample", "/php.ini", 1);
	php_settings_add(&s, "strobe.period", "nonsense", "/php.ini", 2);
	php_settings_add(&pool, "strobe.mode", "on", "/www.conf", 1);
	php_settings_add(&pool, "strobe.labels", "without equals", "/www.conf", 2);
	php_settings_add_pool(&s, &pool);
	CHECK_STR(php_settings_get(&s, "strobe.mode", ""), "sample");
	CHECK_STR(php_settings_get(&s, "strobe.period", ""), "nonsense");
	CHECK_STR(php_settings_get(&s, "strobe.labels", ""), "without equals");
	php_settings_done(&s);
	php_settings_done(&pool);
}

TEST(links_are_resolved_within_their_root)
{
	_cleanup_(freep) char *link = NULL;
	struct buf b;

	begin();
	put("/etc/secret", "inside");
	link = xasprintf("%s/link", directory);
	CHECK_INT(symlink("/etc/secret", link), 0);
	buf_init(&b);
	CHECK_INT(root_dir_read(&root, "/link", 100, &b), 0);
	CHECK_STR(b.data, "inside");
	CHECK(root_dir_read(&root, "/../../../../etc/passwd", 1 << 20, &b) == -ENOENT);
	CHECK(root_dir_read(&root, "/etc", 100, &b) == -EISDIR);
	buf_done(&b);
	end();
}

/* Opens the bytes as a file in memory and runs all readers on it. Returns whether the file is complete: section
 * headers are at its end. */
static bool read_elf(const char *bytes, size_t n)
{
	_cleanup_(fd_closep) int fd = memfd_create("elf", MFD_CLOEXEC);
	_cleanup_(elf_close) struct elf e = { .fd = -1 };
	struct elf_summary summary;
	struct php_binary php;

	CHECK(fd >= 0 && io_write_all(fd, bytes, n, NULL) >= 0);
	if (php_binary_read_fd(fd, "elf", &php, NULL) == 0)
		php_binary_done(&php);
	if (elf_open(&e, fd, "elf", NULL) < 0)
		return false;
	elf_summary_read(&e, &summary);
	return e.section_count > 0;
}

TEST(a_damaged_executable_is_reported_or_read_partially)
{
	struct buf own;
	uint64_t sections;

	buf_init(&own);
	CHECK(io_read_file("/proc/self/exe", &own, 64 << 20, NULL) >= 0);
	CHECK(read_elf(own.data, own.size));
	for (size_t n = 0; n < own.size; n += 1 + n / 8)
		CHECK(!read_elf(own.data, n));
	/* Changes each byte of the header, and of the section headers at the end. */
	memcpy(&sections, own.data + offsetof(Elf64_Ehdr, e_shoff), sizeof(sections));
	for (size_t i = 0; i < own.size; i = i + 1 == sizeof(Elf64_Ehdr) ? sections : i + 1) {
		char before = own.data[i];

		own.data[i] = (char)(before ^ 0xff);
		read_elf(own.data, own.size);
		own.data[i] = before;
	}
	buf_done(&own);
}

static const char *why(const char *name, const char *value)
{
	static struct setting_verdict v;

	return php_setting_check(name, value, &v) ? v.why : "";
}

TEST(settings_ignored_by_php_are_reported)
{
	CHECK_STR(why("strobe.mode", "sample"), "");
	CHECK_STR(why("strobe.mode", "fast"), "strobe.mode=fast is ignored: unknown mode");
	CHECK_STR(why("strobe.period", "0"), "strobe.period=0 is ignored: too small");
	CHECK_STR(why("strobe.period", "0x1"), "strobe.period=0x1 is ignored: not a number");
	CHECK_STR(why("strobe.max_depth", "64.5"), "strobe.max_depth=64.5 is ignored: not a whole number");
	CHECK_STR(why("strobe.mode", "${MODE}"), "");
	CHECK_STR(why("opcache.jit", "perhaps"), "");
	CHECK(strstr(why("strobe.rate", "1"), "strobe.rate is not a setting of strobe") != NULL);
	CHECK(!strstr(why("strobe.trigger_secret", "hunter2"), "hunter2"));
}

TEST_MAIN()
