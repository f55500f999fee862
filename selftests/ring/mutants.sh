#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Negative controls: rings that are broken on purpose. Each must apply, build,
# and fail every test that is named for it; the same tests pass on the real ring.
#
#	mutants.sh list			names
#	mutants.sh try NAME		every test that fails on it
#	mutants.sh run			KTAP
#
# Environment: CC, CFLAGS, OUT (a directory), SRC (with ring.c, packet.c), and of
# the programs of tests: BASE (ring-tests with the real ring), their objects without
# ring and packet (OBJS, THREAD_OBJS, TSAN_OBJS) and flags (HOOKS, TSAN).
#
# Not here: broken barriers and acquire/release. A machine with total store order
# hides them, and tests that run by chance prove nothing: they are for a model
# checker. Their places: ring_wmb() in ring_take(), ring_commit(), ring_publish();
# ring_rmb() in ring_valid(); the acquires in ring_window(), ring_readable().

mode=${1:-run}
only=$2
number=0
failed=0
tests=0

build()
{
	program=$1
	[ -n "$why" ] || [ -x "$dir/$program" ] && return
	# shellcheck disable=SC2086
	$CC $CFLAGS -I"$dir" -I"$SRC" "$dir/ring.c" "$dir/packet.c" $2 -o "$dir/$program" \
		>"$dir/log" 2>&1 || why="does not build: $dir/log"
}

# mutant NAME FILE "TESTS" SED...: every SED must change something by itself.
mutant()
{
	name=$1 file=$2 expected=$3
	shift 3
	tests=$((tests + 1))
	case $mode in
	list) echo "mutants.$name"; return ;;
	count) return ;;
	names) echo "$expected" | tr ' ' '\n'; return ;;
	try) [ "$only" = "$name" ] || [ "$only" = all ] || return ;;
	esac

	dir=$OUT/$name
	why=
	rm -rf "$dir"
	mkdir -p "$dir"
	cp "$SRC"/ring*.[ch] "$SRC"/packet.[ch] "$dir"
	for s in "$@"; do
		sed "$s" "$dir/$file" >"$dir/new"
		cmp -s "$dir/$file" "$dir/new" && why="does not apply: $s"
		mv "$dir/new" "$dir/$file"
	done
	if [ "$mode" = try ]; then
		build ring "$HOOKS $OBJS"
		echo "$name: $why"
		[ -n "$why" ] || "$dir/ring" -t 10 | sed -n 's/^not ok [0-9]* - /	/p'
		return
	fi
	for t in $expected; do
		case $t in
		tsan.*) build tsan "$TSAN $TSAN_OBJS -pthread" ;;
		threads.*) build threads "$THREAD_OBJS -pthread" ;;
		*)
			build ring "$HOOKS $OBJS"
			grep -q "^ok [0-9]* - $t\$" "$BASE" || why="$why; $t fails without it"
		esac
		[ -n "$why" ] && break
		"$dir/$program" -t 20 "${t#tsan.}" >>"$dir/log" 2>&1 && why="survives $t"
		grep -q "^not ok [0-9]* - ${t#tsan.}\$" "$dir/log" || why="${why:-no result of $t}"
	done
	number=$((number + 1))
	if [ -n "$why" ]; then
		failed=1
		echo "# $name: $why"
		echo "not ok $number - mutants.$name"
	else
		echo "ok $number - mutants.$name"
	fi
}

all_mutants()
{
	. "$(dirname "$0")/mutants.list"
}

case $mode in
run)
	tests=$(mode=count; all_mutants; echo $tests)
	# Do the named tests pass on the ring as it is?
	# shellcheck disable=SC2046
	"$BASE" $(mode=names; all_mutants | grep -v threads | sort -u) >"$OUT/base.tap"
	BASE=$OUT/base.tap
	echo "KTAP version 1"
	echo "1..$tests"
	;;
esac
all_mutants
exit $failed
