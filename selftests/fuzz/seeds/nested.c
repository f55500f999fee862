// SPDX-License-Identifier: GPL-2.0-only
/* Structs in structs, in arrays, without names, packed; unions. */
struct point {
	short x, y;
};

typedef const volatile struct point const_point;

struct __attribute__((packed)) tight {
	char c;
	long l;
	struct point p;
};

struct nested {
	struct point first;
	const_point second[2];
	struct tight tight;
	struct {
		int inner;
		struct {
			char deep;
			union {
				int number;
				float real;
			};
		};
	};
	union {
		long whole;
		struct {
			int half[2];
		} halves;
	} u;
	struct {
		struct {
			struct {
				struct point corners[2][2];
			} c;
		} b;
	} a;
	struct empty {
	} empty;
	struct {
		char c;
		long l;
	} padded[3];
	struct nested *next;
} nested;
