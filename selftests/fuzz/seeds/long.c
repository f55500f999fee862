// SPDX-License-Identifier: GPL-2.0-only
/* Few enough fields for a table, too many words for a text; and as deep as a table goes. */
#define NAME(n)	long a_member_whose_name_is_as_long_as_can_be_##n

struct row {
	NAME(a); NAME(b); NAME(c); NAME(d); NAME(e); NAME(f); NAME(g); NAME(h);
	NAME(i); NAME(j); NAME(k); NAME(l); NAME(m); NAME(n); NAME(o); NAME(p);
};

struct wordy {
	struct row a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v;
} wordy;

#define IN(name, in)	struct name { struct in in; }

struct s1 { int s0; };
IN(s2, s1);
IN(s3, s2);
IN(s4, s3);
IN(s5, s4);
IN(s6, s5);
IN(s7, s6);
IN(s8, s7);
IN(s9, s8);
IN(s10, s9);
IN(s11, s10);
IN(s12, s11);
IN(s13, s12);
IN(s14, s13);
IN(s15, s14);
IN(s16, s15);
IN(s17, s16) deep;
