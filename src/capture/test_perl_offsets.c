/* test_perl_offsets.c: tests Perl's table of offsets, and the detection of Perl in files. */

#include "perl_image.h"
#include "test.h"

#include <fcntl.h>

static struct perl_offsets o;

TEST(the_table_has_every_documented_version)
{
	perl_offsets_init(&o);
	CHECK_INT(perl_offsets_find(&o, 5, 36)->layout.cx_size, 104);
	CHECK(perl_offsets_find(&o, 5, 8) == NULL);
}

TEST(only_a_complete_text_adds_a_version)
{
	static const char more[] = "all si_cxstack=8 si_prev=16 si_cxsubix=40 si_type=44 cx_size=104 cx_oldcop=16 cx_retop=48\n"
				   "all cx_oldsubix=56 cx_namesv=64 cx_cv=72 cv_stash=32 cv_start=40 cv_gv=56 cv_file=64 cv_flags=92\n"
				   "all cv_depth=96 gp_egv=56 gv_stash=40 gv_namehek=32 hv_name=32 hv_name_count=60 cop_line=36\n"
				   "all cop_file=48 op_type=32 type_code=13 type_format=14\n"
				   "5.99 curstackinfo=224 curcop=208 defstash=192 defgv=184 nextstate=195 dbstate=196\n";
	struct err err = { 0 };
	size_t before;

	perl_offsets_init(&o);
	before = o.count;
	CHECK_INT(perl_offsets_add(&o, "t", "5.99 si_prev=44\n", 16, &err), -EINVAL);
	CHECK_STR(err.text, "t, line 1: impossible number in 'si_prev=44'");
	CHECK_INT(perl_offsets_add(&o, "t", "5.99 si_prev=16\n", 16, &err), -EINVAL);
	CHECK_STR(err.text, "t: Perl 5.99 has no curstackinfo");
	CHECK_INT(o.count, before);
	CHECK_INT(perl_offsets_add(&o, "t", more, sizeof(more) - 1, &err), 0);
	CHECK_INT(o.count, before + 1);
	CHECK_INT(perl_offsets_find(&o, 5, 99)->layout.curcop, 208);
}

static struct perl_image image_of(const char *name, int expected)
{
	struct perl_image i = { .major = 0 };
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", TEST_CORPUS, name);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK_INT(perl_image_read(fd, name, &o, &i, NULL), expected);
	close(fd);
	return i;
}

/* Small files with the exports of a Perl. A program's block of thread-local storage, here 12 bytes that begin with
 * the pointer and are aligned to 8, ends at the thread pointer. */
TEST(perl_is_detected_by_its_exported_symbols)
{
	struct perl_image i;

	perl_offsets_init(&o);
	i = image_of("threads", 1);
	CHECK_STR(i.version, "5.36.0");
	CHECK_INT(i.binary.kind, BINARY_PERL);
	CHECK_INT(i.binary.perl.threads, 1);
	CHECK_INT(i.binary.perl.tls_offset, -16);
	CHECK_INT(i.binary.perl.tls_module, 0);
	i = image_of("library", 1);
	CHECK(i.binary.perl.tls_module != 0);
	CHECK_INT(i.binary.perl.tls_offset, 0);
	i = image_of("unthreaded", 1);
	CHECK_INT(i.binary.perl.threads, 0);
	CHECK(i.binary.perl.curstackinfo && i.binary.perl.curcop && i.binary.text);
	image_of("cut", 0);
}

TEST(a_perl_missing_from_the_table_is_named)
{
	struct perl_offsets none = { .count = 0 };
	struct perl_image i;
	struct err err = { 0 };
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/threads", TEST_CORPUS);
	fd = open(path, O_RDONLY);
	CHECK_INT(perl_image_read(fd, "/usr/bin/perl", &none, &i, &err), -ENOTSUP);
	CHECK_STR(err.text, "/usr/bin/perl is Perl 5.36.0, which the offset table lacks; add it with --perl-offsets FILE "
			    "(scripts/perl-offsets prints the line of an installed Perl)");
	close(fd);
}

TEST(a_program_without_perl_is_not_taken_for_perl)
{
	struct perl_image i;
	int fd = open("/proc/self/exe", O_RDONLY);

	perl_offsets_init(&o);
	CHECK_INT(perl_image_read(fd, "self", &o, &i, NULL), 0);
	close(fd);
	fd = open(__FILE__, O_RDONLY);
	if (fd >= 0) {
		CHECK_INT(perl_image_read(fd, "text", &o, &i, NULL), 0);
		close(fd);
	}
}

TEST_MAIN()
