// SPDX-License-Identifier: GPL-2.0-only
/* More fields than a table holds. */
struct row {
	char a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};

struct rows {
	struct row a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};

struct many {
	struct rows first, second, third;
	char rest[];
} many;
