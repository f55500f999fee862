// SPDX-License-Identifier: GPL-2.0-only
/* Records of every size, and the macros for records of variable size. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#define ANY_PAYLOAD	(4 << 20)
#include "anylog.bpf.h"
#include "sizes.h"

RELAY_MAP(sizes, struct sizes_fixed, RELAY_VAR(struct sizes_var));

char sizes_buf[sizeof(struct sizes_var) + SIZES_BYTES];
__u64 sizes_errors;	/* calls that did not return what they should */

/* A record with 0, 1, ... SIZES_BYTES bytes behind its head, and a fixed one each. */
SEC("syscall")
int sizes_write_var(void *ctx)
{
	struct sizes_var *rec = (struct sizes_var *)sizes_buf;
	struct sizes_fixed fixed = {};
	__u32 i;

	for (i = 0; i <= SIZES_BYTES; i++) {
		rec->seq = i;
		rec->len = i;
		if (i)
			sizes_buf[sizeof(*rec) + ((i - 1) & (SIZES_BYTES - 1))] = i;
		sizes_errors += relay_output_var(&sizes, rec, sizeof(*rec) + i) != 0;
		fixed.seq = i;
		fixed.bytes[8] = i;
		sizes_errors += relay_output(&sizes, &fixed) != 0;
	}
	/* Less than its head, and a fixed type of variable size. */
	sizes_errors += relay_output_var(&sizes, rec, sizeof(*rec) - 1) != -22;
	sizes_errors += relay_output_var(&sizes, &fixed, sizeof(fixed) - 1) != -22;
	return 0;
}
