/* test_kernel_features.c: tests switches, and parsing of type information; a real kernel's answers differ between
 * machines. */
#include "kernel_features.h"
#include "task_status.h"

#include "test.h"

#include <errno.h>
#include <linux/btf.h>
#include <linux/capability.h>
#include <stdlib.h>

TEST(a_disabled_feature_is_not_tried)
{
	char word[16];

	CHECK_INT(setenv("STROBE_WITHOUT", "readv, tracefs,bpfx", 1), 0);
	CHECK_INT(kernel_feature_probe(KERNEL_READV), -ECANCELED);
	CHECK_INT(kernel_feature_probe(KERNEL_TRACEFS), -ECANCELED);
	CHECK(!kernel_feature_is_switched_off(KERNEL_BPF));
	CHECK(kernel_features_unknown_word(word, sizeof(word)));
	CHECK_STR(word, "bpfx");
	CHECK_INT(setenv("STROBE_WITHOUT", "bpf", 1), 0);
	CHECK_INT(kernel_feature_probe(KERNEL_BPF), -ECANCELED);
	CHECK_INT(kernel_feature_probe(KERNEL_RINGBUF), -ECANCELED);
	CHECK_INT(kernel_feature_probe(KERNEL_TP_BTF), -ECANCELED);
	CHECK_INT(kernel_feature_probe(KERNEL_BPF_LOOP), -ECANCELED);
	CHECK_INT(kernel_feature_probe(KERNEL_TASK_REGISTERS), -ECANCELED);
	CHECK_INT(kernel_feature_probe(KERNEL_TASK_ITERATOR), -ECANCELED);
	CHECK(!kernel_features_unknown_word(word, sizeof(word)));
	unsetenv("STROBE_WITHOUT");
	CHECK(kernel_feature_probe(KERNEL_READV) != -ECANCELED);
	for (unsigned f = 0; f < KERNEL_FEATURES; f++)
		CHECK(kernel_feature_name((enum kernel_feature)f) && kernel_feature_use((enum kernel_feature)f));
}

TEST(a_type_is_found_by_name_and_kind_and_damaged_data_is_harmless)
{
	struct {
		struct btf_header h;
		struct btf_type number;
		uint32_t bits;
		struct btf_type alias;
		char strings[16];
	} __attribute__((packed)) btf = {
		.h = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(struct btf_header), .type_len = 28, .str_off = 28, .str_len = 16 },
		.number = { .name_off = 1, .info = BTF_KIND_INT << 24 },
		.alias = { .name_off = 5, .info = BTF_KIND_TYPEDEF << 24 },
		.strings = "\0int\0alias",
	};

	CHECK_INT(btf_find(&btf, sizeof(btf), "alias", BTF_KIND_TYPEDEF), 2);
	CHECK_INT(btf_find(&btf, sizeof(btf), "int", BTF_KIND_TYPEDEF), 0);
	for (size_t n = 0; n < sizeof(btf); n++) {
		void *copy = malloc(n + 1);

		memcpy(copy, &btf, n);
		CHECK_INT(btf_find(copy, n, "alias", BTF_KIND_TYPEDEF), 0);
		free(copy);
	}
	for (size_t i = 0; i < sizeof(btf); i++) {
		char *byte = (char *)&btf + i, before = *byte;

		*byte = (char)0xff;
		btf_find(&btf, sizeof(btf), "alias", BTF_KIND_TYPEDEF);
		*byte = before;
	}
}

TEST(user_groups_and_capabilities_of_a_process_are_read)
{
	static const char text[] = "Name:\tphp-fpm8.2\nPPid:\t812\nUid:\t0\t33\t33\t33\nGid:\t0\t33\t33\t33\nGroups:\t33 998 \n"
				   "CapEff:\t000000c000000000\nSeccomp:\t2\n";
	struct task_status s;

	CHECK(task_status_parse(text, &s));
	CHECK_INT(s.uid, 33);
	CHECK_INT(s.parent, 812);
	CHECK_INT(s.seccomp, 2);
	CHECK(task_is_member(&s, 998) && !task_is_member(&s, 0));
	CHECK(task_has_capability(&s, CAP_BPF) && task_has_capability(&s, CAP_PERFMON) && !task_has_capability(&s, CAP_SYS_PTRACE));
	s.capabilities = 1ull << CAP_SYS_ADMIN;
	CHECK(task_has_capability(&s, CAP_BPF) && !task_has_capability(&s, CAP_SYS_PTRACE));
	CHECK(!task_status_parse("Name:\tphp\n", &s));
}

TEST_MAIN()
