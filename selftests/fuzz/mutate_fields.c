// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables that are near to legal ones: one member of one field is another, or a field
 * comes or goes. A fourth of libFuzzer's mutations are its own.
 */
#include "check.h"

#define HEAD	8

size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max, unsigned int seed);

static uint32_t state;

static uint32_t below(uint32_t n)
{
	state = state * 1103515245 + 12345;
	return (state >> 8) % n;
}

/* The next n changes are these. */
#define CHANGES(n, what)		\
do {					\
	if (which < (n)) {		\
		what;			\
		return true;		\
	}				\
	which -= (n);			\
} while (0)

bool change_field(struct bpf_relay_field *f, uint32_t i, uint32_t which)
{
	static const uint32_t sizes[] = { 0, 1, 2, 4, 8, 16 };
	static const uint8_t bits[] = { 0, 1, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65 };

	CHANGES(BPF_RELAY_ARRAY + 2, f->kind = which);
	CHANGES(2, f->depth += which ? 1 : -1);
	CHANGES(2, f->offset += which ? 1 : -1);
	CHANGES(2, f->size += which ? 1 : -1);
	CHANGES(6, f->size = sizes[which]);
	CHANGES(2, f->count += which ? 1 : -1);
	CHANGES(1, f->count = 0);
	CHANGES(4, f->count ^= 1U << (28 + which));	/* times size, it wraps */
	CHANGES(12, f->bits = bits[which]);
	CHANGES(9, f->bit_offset = which);
	CHANGES(BPF_RELAY_HINT_PACKET + 2, f->hint = which);
	CHANGES(8, f->flags ^= 1U << which);
	CHANGES(5, f->value = i + 2 - which);
	CHANGES(1, f->value = BPF_RELAY_NO_FIELD);
	CHANGES(5, f->name[0] = "\0001a_;"[which]);
	CHANGES(1, memset(f->name, 'n', sizeof(f->name)));
	return false;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max, unsigned int seed)
{
	uint32_t n = len < HEAD ? 0 : (len - HEAD) / sizeof(struct bpf_relay_field), i, at;
	struct bpf_relay_field f;
	uint8_t *table = data + HEAD;

	state = seed;
	if (!n || !below(4))
		return LLVMFuzzerMutate(data, len, max);
	i = below(n);
	at = i * sizeof(f);
	memcpy(&f, table + at, sizeof(f));
	switch (below(10)) {
	case 0:		/* the record is longer or shorter, or may be */
		data[0] += below(3) - 1;
		data[4] ^= below(2);
		return len;
	case 1:		/* once more */
		if (len + sizeof(f) > max)
			return len;
		memmove(table + at + sizeof(f), table + at, len - HEAD - at);
		return len + sizeof(f);
	case 2:		/* not at all */
		memmove(table + at, table + at + sizeof(f), len - HEAD - at - sizeof(f));
		return len - sizeof(f);
	default:
		change_field(&f, i, below(80));
		memcpy(table + at, &f, sizeof(f));
		return len;
	}
}
