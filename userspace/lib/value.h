/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: values in a record. */
#ifndef __VALUE_H__
#define __VALUE_H__

#include "bpfrelay.h"

/* How many elements of a field there are, if left bytes of the record are from it on. */
__u32 value_elements(const struct bpf_relay_field *f, __u32 left);

/* One element, sign-extended. The field is a number, bool or enum. */
__u64 value_read(const struct bpf_relay_field *f, const void *data);

/* The same of a FLOAT. */
double value_read_double(const struct bpf_relay_field *f, const void *data);

/* The enumerator of an enum that has this value; or NULL. */
const struct bpf_relay_field *value_enumerator(const struct bpfrelay_type *type,
					       const struct bpf_relay_field *f, __u64 value);

/* Where a value is in records of a type; else as struct bpfrelay_value. */
struct place {
	const struct bpf_relay_field *field;
	__u32 offset;
	__u32 len;
	__u32 count;
};

/*
 * bpfrelay_record_find(), of any record of `len` bytes. -ERANGE: *place is the array that
 * has no such element, and its offset the length of what is its name in the path.
 */
int value_place(const struct bpfrelay_type *type, __u32 len, const char *path,
		struct place *place);

static inline bool value_is_signed(const struct bpf_relay_field *f)
{
	return f->kind == BPF_RELAY_INT ||
	       (f->kind == BPF_RELAY_ENUM && f->flags & BPF_RELAY_FIELD_SIGNED);
}

#endif /* __VALUE_H__ */
