/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by writer.bpf.c and the tests. */
#ifndef _WRITER_H
#define _WRITER_H

#define WRITER_RESULTS	128
#define WRITER_PAYLOAD	8192

struct writer_seq {
	__u64 seq;
	__u64 check;
	__u32 cpu;
};

/* 13 bytes: its size is no multiple of anything. */
struct writer_odd {
	__u8 bytes[13];
};

struct writer_args {
	__u64 count;
	__u64 seq;
	__u64 flags;
	__u32 size;
};

#endif /* _WRITER_H */
