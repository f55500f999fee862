// SPDX-License-Identifier: GPL-2.0-only
/* Names that are long, alike, or those of padding; types that are only declared. */
struct unknown;

struct names {
	int a_name_of_which_the_first_forty_three_characters_are_equal_1;
	int a_name_of_which_the_first_forty_three_characters_are_equal_2;
	char pad_1;
	long pad_9;
	struct unknown *unknown;
	int align, event, stream, typedef_, string;
	char bits_0, anon_0, value, bytes;
} names;
