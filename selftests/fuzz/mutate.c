// SPDX-License-Identifier: GPL-2.0-only
/*
 * Half of the time libFuzzer's own mutations; else one of 32-bit words, which is what
 * BTF, tables and control areas are made of.
 */
#include "check.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max, unsigned int seed);

static uint32_t next(uint32_t *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 8;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max, unsigned int seed)
{
	uint32_t state = seed, from, word, other;
	size_t at;

	if (next(&state) % 2 || len < HEAD + 8)
		return LLVMFuzzerMutate(data, len, max);
	at = HEAD + next(&state) % ((len - HEAD) / 4) * 4;
	from = HEAD + next(&state) % ((len - HEAD) / 4) * 4;
	memcpy(&word, data + at, sizeof(word));
	memcpy(&other, data + from, sizeof(other));
	switch (next(&state) % 6) {
	case 0:
		word = next(&state) % 32;
		break;
	case 1:
		word += next(&state) % 17 - 8;
		break;
	case 2:
		word += (next(&state) % 17 - 8) * 8;
		break;
	case 3:
		word = other;
		break;
	case 4:
		word ^= 1U << next(&state) % 32;
		break;
	case 5: /* BTF's kinds */
		word ^= (next(&state) % 16) << 24;
		break;
	}
	memcpy(data + at, &word, sizeof(word));
	return len;
}
