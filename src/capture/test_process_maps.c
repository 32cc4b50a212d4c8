/* test_process_maps.c: tests lines of /proc/PID/maps, and opening their files. */

#include "process_maps.h"
#include "test.h"

#include "mem.h"

#include <fcntl.h>
#include <string.h>

TEST(executable_mappings_are_kept_with_their_kind)
{
	static const char text[] =
		"559411400000-559419400000 rw-s 00000000 00:01 350820                     /dev/zero (deleted)\n"
		"559419400000-55941d400000 r-xs 08000000 00:01 350820                     /dev/zero (deleted)\n"
		"7f0c8a200000-7f0c8a355000 r-xp 00028000 fe:01 123456                     /usr/lib/lib c.so.6 (deleted)\n"
		"7f0c8a400000-7f0c8a401000 rwxp 00000000 00:00 0 \n"
		"7ffc1d1f2000-7ffc1d1f4000 r-xp 00000000 00:00 0                          [vdso]\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
		/* Only data. */
		"7f0c8b000000-7f0c8b001000 rw-p 00000000 00:00 0 \n"
		"7f0c8b100000-7f0c8b101000 rw-s 00000000 fe:01 123457                     /var/lib/data\n";
	_cleanup_(process_maps_done) struct process_maps m = { 0 };

	process_maps_parse(&m, text, strlen(text));
	CHECK_INT(m.malformed, 0);
	CHECK_INT(m.count, 6);
	CHECK(m.list[0].start == 0x559411400000 && m.list[0].end == 0x559419400000);
	CHECK(m.list[0].shared && !m.list[0].executable);
	CHECK(m.list[1].shared && m.list[1].executable);
	CHECK_INT(m.list[1].kind, MAP_ANONYMOUS);
	CHECK_INT(m.list[1].offset, 0x8000000);
	CHECK_INT(m.list[2].kind, MAP_FILE);
	CHECK(m.list[2].deleted && !m.list[2].shared);
	CHECK_STR(m.list[2].path, "/usr/lib/lib c.so.6");
	CHECK_INT(m.list[2].device, 0xfe << 20 | 1);
	CHECK_INT(m.list[2].inode, 123456);
	CHECK_INT(m.list[3].kind, MAP_ANONYMOUS);
	CHECK_INT(m.list[4].kind, MAP_VDSO);
	CHECK_INT(m.list[5].kind, MAP_KERNEL);
	CHECK(m.list[5].start == 0xffffffffff600000ull);
}

TEST(malformed_lines_are_counted_and_skipped)
{
	static const char text[] = "\nabc\n1000-2000 r-x 0 0:0 0\n2000-1000 r-xp 00000000 00:00 0 \n1000-2000 r-xp 00000000 00:00 x\n"
				   "1000-2000 r-xp 00000000 00:00 5";
	_cleanup_(process_maps_done) struct process_maps m = { 0 };

	process_maps_parse(&m, text, strlen(text));
	CHECK_INT(m.malformed, 4);
	CHECK_INT(m.count, 1);
	CHECK_STR(m.list[0].path, "");
}

TEST(the_file_of_a_mapping_is_opened_by_its_inode)
{
	_cleanup_(process_maps_done) struct process_maps m = { 0 };
	_cleanup_(fd_closep) int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct err err = { 0 };
	unsigned opened = 0;

	CHECK_INT(process_maps_read(&m, getpid(), &err), 0);
	for (size_t i = 0; i < m.count; i++) {
		_cleanup_(fd_closep) int fd = -1;

		if (m.list[i].kind != MAP_FILE)
			continue;
		fd = process_maps_open(getpid(), root, &m.list[i], &err);
		CHECK(fd >= 0);
		opened += fd >= 0;
		m.list[i].start++;		/* not found in map_files */
		m.list[i].inode++;
		CHECK_INT(process_maps_open(getpid(), root, &m.list[i], &err), -ESTALE);
	}
	CHECK(opened > 0);
}

TEST(pid_and_user_of_a_process_are_read)
{
	struct process_identity who;

	CHECK(process_identity_read(&who, getpid()));
	CHECK_INT(who.inner_pid, getpid());
	CHECK_INT(who.uid, geteuid());
	CHECK(!process_identity_read(&who, 0x3fffffff));
}

TEST_MAIN()
