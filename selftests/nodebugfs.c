// SPDX-License-Identifier: GPL-2.0-only
/* On a kernel booted with debugfs=off: all there but a log. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include "anylog.h"

/* Fails when: the module or a program does not load, or open does not say why not. */
TEST(nodebugfs)
{
	struct bpf_relay_opts opts = {};
	struct relay_log base, log;
	int kmsg, fd;

	if (shell("grep -qw debugfs=off /proc/cmdline"))
		SKIP(return, "not booted with debugfs=off");

	ASSERT_TRUE(module_loaded());
	ASSERT_TRUE(module_remove());
	kmsg = kmsg_open();
	ASSERT_TRUE(module_insert());
	EXPECT_NE(strstr(kmsg_read(kmsg), "no debugfs"), NULL);

	log_load(&base, "lifetime", "any");
	EXPECT_EQ(log_open(&base, NULL), -EOPNOTSUPP);
	EXPECT_NE(strstr(kmsg_read(kmsg), "debugfs is off"), NULL);
	EXPECT_EQ(log_open(&base, &opts), -EOPNOTSUPP);

	/* Programs that write find a log that is not open. */
	fd = any_create(&base, &log, "nodebugfs", 1);
	EXPECT_EQ(any_open(&base, 1, opts), -EOPNOTSUPP);
	any_write(&base, 1, 0, 0, 8, 0, 10);
	EXPECT_EQ(any_results(&base)[ENODEV], 10);
	any_close(&base, 1, fd);
	log_unload(&base);
	EXPECT_TRUE(module_remove());
}

TEST_HARNESS_MAIN
