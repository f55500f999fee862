// SPDX-License-Identifier: GPL-2.0-only
/* Text, arrays, arrays of arrays, of nothing, and one that has no end. */
typedef unsigned char mac_t[6];
enum color { RED, GREEN };

struct arrays {
	char text[16];
	unsigned char bytes[3];
	mac_t macs[2];
	int matrix[2][3][4];
	char lines[4][8];
	enum color colors[3];
	int one[1];
	int none[0];
	const char *names[2];
	unsigned short tail[];
} arrays;
