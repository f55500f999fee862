#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Negative controls: render.c broken on purpose. Each must apply, build, and fail the
# test that is named for it.
#
# Environment: CC, FLAGS, OUT (a directory), SRC (with render.c), TESTS (files).
number=0
failed=0

# mutant NAME "TEST" SED
mutant()
{
	dir=$OUT/$1
	number=$((number + 1))
	mkdir -p "$dir"
	cp "$SRC"/*.[ch] "$dir"
	sed "$3" "$SRC/render.c" >"$dir/render.c"
	# shellcheck disable=SC2086 # words
	if cmp -s "$SRC/render.c" "$dir/render.c"; then
		why="does not apply"
	elif ! $CC -I"$dir" $FLAGS $TESTS "$dir/render.c" "$dir/fields.c" -o "$dir/tests" \
			>"$dir/log" 2>&1; then
		why="does not build"
	elif "$dir/tests" "$2" >"$dir/log" 2>&1; then
		why="is not found by '$2'"
	else
		echo "ok $number - mutants.$1"
		return
	fi
	failed=1
	echo "not ok $number - mutants.$1: $why"
}

echo "KTAP version 1"
echo "1..12"
mutant bound "random tables that are valid" 's/\*n > rec->have - at/*n > rec->have - at + 1/'
mutant bound-begin "random tables that are valid" 's/if (at >= rec->have)/if (0)/'
mutant number-short "random tables that are valid" 's/ || have < n)/)/'
mutant nine-bytes "bit-fields" 's/(f->bit_offset + bits + 7) \/ 8, i/(bits + 7) \/ 8, i/'
mutant depth "the deepest table" 's/level\[FIELDS_DEPTH_MAX\]/level[FIELDS_DEPTH_MAX - 2]/'
mutant window-end "every window of every size" 's/to > r->skip + r->room)/to > r->skip + r->room + 1)/'
mutant window-begin "every window of every size" 's/r->len > r->skip ? r->len : r->skip/r->len/'
mutant escape "strings and their escapes" "s/s\[i\] < ' ' || //"
mutant string-end "strings and their escapes" 's/ && s\[i\] && / \&\& /'
mutant enum-bits "enums: names, numbers without one, signed, 64 bits, bit-fields" \
	's/extend(e->value, 8 \* f->size/extend(e->value, field_bits(f)/'
mutant whole-elements "flexible arrays: whole elements" \
	's/(rec->len - at) \/ f->size/(rec->len - at + f->size - 1) \/ f->size/'
mutant stack-end "stacks end at a 0" 's/ || (f->hint == BPF_RELAY_HINT_STACK && !value)//'
exit $failed
