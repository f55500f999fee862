// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of every kind, and those that CTF has no word for. */
enum small { NONE, ONE, MANY = 1000000 };
enum negative { BELOW = -5, ABOVE = 5 };
enum wide { WIDE = 1ULL << 40 };
enum packed { LITTLE, BIT } __attribute__((packed));

struct numbers {
	unsigned char u8;
	signed char s8;
	char c;
	unsigned short u16;
	short s16;
	unsigned int u32;
	int s32;
	unsigned long u64;
	long s64;
	_Bool flag;
	float f;
	double d;
	enum small small;
	enum negative negative;
	enum wide wide;
	enum packed packed;
	void *pointer;
	int (*function)(int);
	unsigned __int128 u128;
} numbers;
