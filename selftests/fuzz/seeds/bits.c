// SPDX-License-Identifier: GPL-2.0-only
/* Bit-fields: beside one another, over byte borders, with holes, in unions. */
enum state { OFF, ON, BROKEN };

struct bits {
	unsigned int a : 1;
	unsigned int b : 7;
	unsigned int : 3;
	int c : 13;
	unsigned int : 0;
	_Bool flag : 1;
	enum state state : 2;
	unsigned long wide : 61;
	unsigned char after;
	unsigned short d : 9;
	unsigned short e : 7;
} bits;

struct __attribute__((packed)) packed_bits {
	unsigned char a : 3;
	unsigned long b : 64;
	int c : 5;
	union {
		struct {
			unsigned int x : 4, y : 4;
		};
		unsigned char xy;
	};
} packed_bits;
